"""Counts how often each of a few words occurs in a message."""

import numpy as np
import triton_python_backend_utils as triton

VOCABULARY = ("click", "free", "prize", "winner", "lunch", "meeting", "report", "thanks")


class TritonPythonModel:
    def execute(self, requests):
        return [self._count(request) for request in requests]

    def _count(self, request):
        messages = triton.get_input_tensor_by_name(request, "MESSAGE").as_numpy()
        counts = np.array([self._counts(text.decode()) for [text] in messages], dtype=np.float32)
        return triton.InferenceResponse([triton.Tensor("counts", counts)])

    def _counts(self, text):
        words = text.lower().split()
        return [words.count(word) for word in VOCABULARY]

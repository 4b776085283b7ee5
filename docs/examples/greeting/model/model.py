"""Greets everybody in the batch."""

import numpy as np
import triton_python_backend_utils as triton


class TritonPythonModel:
    def execute(self, requests):
        return [self._greet(request) for request in requests]

    def _greet(self, request):
        names = triton.get_input_tensor_by_name(request, "NAME").as_numpy()
        greetings = np.array([[b"Hello, " + name + b"!" for name in row] for row in names], dtype=np.object_)
        return triton.InferenceResponse([triton.Tensor("GREETING", greetings)])

"""Plays a model on an accelerator: a batch takes 20 ms, and 2 ms more for each of its rows."""

import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        given = [pb.get_input_tensor_by_name(it, "FEATURES").as_numpy() for it in requests]
        time.sleep(0.020 + 0.002 * sum(len(rows) for rows in given))
        return [pb.InferenceResponse([pb.Tensor("SCORE", self.score(rows))]) for rows in given]

    def score(self, rows):
        return np.asarray(rows.mean(axis=1, keepdims=True), dtype=np.float32)

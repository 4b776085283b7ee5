"""Stands in for a backend that the server lacks.

If a file `run_….py` beside this one can run the model's file, the answers are real; otherwise every request
is answered with zeros of the declared type. Triton loads a copy of this file as a backend written in Python,
so it uses nothing of inferstack.
https://github.com/triton-inference-server/backend/blob/main/docs/python_based_backends.md
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

SMALL = 2
"""Elements along a dimension that the model leaves open. Not 1, which would fit by accident."""
RUN_BY = "INFERSTACK_RUN_BY"
"""Parameter of a configuration: the module that runs the model."""
FILE = "INFERSTACK_FILE"
"""Parameter of a configuration: what that module runs, in the folder of the version."""


class TritonPythonModel:
    """What Triton's Python backend asks for."""

    def initialize(self, args: dict[str, str]) -> None:
        """Reads the model's configuration, as Triton understood it."""
        # Both exist only where Triton runs this.
        self._triton: Any = import_module("triton_python_backend_utils")
        self._numpy: Any = import_module("numpy")
        config = json.loads(args["model_config"])
        self._outputs: list[dict[str, Any]] = config.get("output", [])
        self._batches = int(config.get("max_batch_size", 0)) > 0
        self._decoupled = bool(config.get("model_transaction_policy", {}).get("decoupled", False))
        self._runner = _runner(Path(args["model_repository"], args["model_version"]), config)

    def execute(self, requests: list[Any]) -> list[Any] | None:
        """One answer for each request."""
        if not self._decoupled:
            return [self._answer(request) for request in requests]
        for request in requests:
            final = self._triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL
            request.get_response_sender().send(self._answer(request), flags=final)
        return None

    def _answer(self, request: Any) -> Any:
        if self._runner is None:
            batch = [request.inputs()[0].shape()[0]] if self._batches else []
            values = {output["name"]: self._zeros(batch, output) for output in self._outputs}
        else:
            values = self._runner.run({tensor.name(): tensor.as_numpy() for tensor in request.inputs()})
        return self._triton.InferenceResponse([self._triton.Tensor(*pair) for pair in values.items()])

    def _zeros(self, batch: list[int], output: dict[str, Any]) -> Any:
        # A reshaped output leaves the backend in the other shape; Triton turns it into `dims`.
        reshape = output.get("reshape")
        dims = output["dims"] if reshape is None else reshape.get("shape", [])
        shape = [*batch, *(SMALL if int(size) < 0 else int(size) for size in dims)]
        if output["data_type"] == "TYPE_STRING":
            return self._numpy.full(shape, b"", dtype=object)
        return self._numpy.zeros(shape, dtype=self._triton.triton_string_to_numpy(output["data_type"]))


def _runner(version: Path, config: dict[str, Any]) -> Any:
    parameters = config.get("parameters", {})
    if RUN_BY not in parameters:
        return None
    sys.path.append(str(Path(__file__).parent))
    module = import_module(parameters[RUN_BY]["string_value"])
    return module.Runner(str(version / parameters[FILE]["string_value"]), config)

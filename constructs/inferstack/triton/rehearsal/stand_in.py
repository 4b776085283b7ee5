"""Stands in for a backend that the server lacks.

TorchScript and ONNX are run for real where the Python has torch and onnxruntime; otherwise every request is
answered with zeros of the declared type. Triton loads a copy of this file as a backend written in Python, so
it uses nothing of inferstack.
https://github.com/triton-inference-server/backend/blob/main/docs/python_based_backends.md
"""

import json
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

SMALL = 2
"""Elements along a dimension that the model leaves open. Not 1, which would fit by accident."""
FILE = "INFERSTACK_FILE"
"""Parameter of a configuration: the file that is run, in the folder of the version."""
_DIVIDER = "__"


class TritonPythonModel:
    """The class that Triton's Python backend looks for."""

    def initialize(self, args: dict[str, str]) -> None:
        """Reads the model's configuration, as Triton understood it."""
        # Both exist only where Triton runs this.
        self._triton: Any = import_module("triton_python_backend_utils")
        self._numpy: Any = import_module("numpy")
        config = json.loads(args["model_config"])
        self._outputs: list[dict[str, Any]] = config.get("output", [])
        self._batches = int(config.get("max_batch_size", 0)) > 0
        self._decoupled = bool(config.get("model_transaction_policy", {}).get("decoupled", False))
        run = config.get("parameters", {}).get(FILE)
        version = Path(args["model_repository"], args["model_version"])
        runner = Onnx if config["backend"] == "onnxruntime" else TorchScript
        self._runner = None if run is None else runner(version / run["string_value"], config)

    def execute(self, requests: list[Any]) -> list[Any] | None:
        """One answer for each request."""
        if not self._decoupled:
            return self._together(requests) or [self._answer(request) for request in requests]
        for request in requests:
            final = self._triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL
            request.get_response_sender().send(self._answer(request), flags=final)
        return None

    def _answer(self, request: Any) -> Any:
        if self._runner is None:
            batch = [request.inputs()[0].shape()[0]] if self._batches else []
            return self._response({output["name"]: self._zeros(batch, output) for output in self._outputs})
        return self._response(self._runner.run(_given(request)))

    def _response(self, values: dict[str, Any]) -> Any:
        return self._triton.InferenceResponse([self._triton.Tensor(*pair) for pair in values.items()])

    def _together(self, requests: list[Any]) -> list[Any] | None:
        """The answers to a batch, computed at once as the real backends do, since that is what makes dynamic
        batching worth it; None where they cannot be.
        """
        if self._runner is None or not self._batches or len(requests) == 1:
            return None
        given = [_given(request) for request in requests]
        if len({tuple((name, it.shape[1:]) for name, it in sorted(one.items())) for one in given}) > 1:
            return None
        ends = list(accumulate(len(next(iter(one.values()))) for one in given))
        values = self._runner.run(
            {name: self._numpy.concatenate([one[name] for one in given]) for name in given[0]}
        )
        if any(len(it) != ends[-1] for it in values.values()):
            return None
        parts = {name: self._numpy.split(it, ends[:-1]) for name, it in values.items()}
        return [self._response({name: parts[name][i] for name in parts}) for i in range(len(requests))]

    def _zeros(self, batch: list[int], output: dict[str, Any]) -> Any:
        # A reshaped output leaves the backend in the other shape; Triton turns it into `dims`.
        reshape = output.get("reshape")
        dims = output["dims"] if reshape is None else reshape.get("shape", [])
        shape = [*batch, *(SMALL if int(size) < 0 else int(size) for size in dims)]
        if output["data_type"] == "TYPE_STRING":
            return self._numpy.full(shape, b"", dtype=object)
        return self._numpy.zeros(shape, dtype=self._triton.triton_string_to_numpy(output["data_type"]))


def _given(request: Any) -> dict[str, Any]:
    """The inputs of a request by name; arrays of numpy."""
    return {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}


def _threads(config: dict[str, Any], parameter: str) -> int:
    """The threads of one operator, from a parameter of the real backend; 0 leaves them to the library."""
    written = config.get("parameters", {}).get(parameter, {}).get("string_value", "")
    return int(written) if written.isdecimal() else 0


class TorchScript:
    """Runs a TorchScript module on the CPU, by torch.

    Which input goes where is decided as the backend does:
    https://github.com/triton-inference-server/pytorch_backend/blob/main/src/pt/model_instance_state.cc
    """

    def __init__(self, file: Path, config: dict[str, Any]) -> None:
        # Both exist only where Triton runs this.
        self._torch: Any = import_module("torch")
        self._triton: Any = import_module("triton_python_backend_utils")
        if threads := _threads(config, "INTRA_OP_THREAD_COUNT"):
            self._torch.set_num_threads(threads)
        self._module = self._torch.jit.load(str(file), map_location="cpu").eval()
        self._outputs = {output["name"]: output["data_type"] for output in config["output"]}
        names = [tensor["name"] for tensor in config["input"]]
        arguments = [(one.name, one.type.kind()) for one in self._module.forward.schema.arguments[1:]]
        self._as_mapping = [kind for _, kind in arguments] == ["DictType"]
        if not self._as_mapping and len(arguments) != len(names):
            raise ValueError(f"configuration expects {len(names)} inputs, model provides {len(arguments)}")
        self._inputs = _in_order(names, [name for name, _ in arguments])

    def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name, from the inputs by name; arrays of numpy."""
        tensors = {name: self._tensor(values) for name, values in given.items()}
        with self._torch.inference_mode():
            if self._as_mapping:
                answer = self._module(tensors)
            else:
                answer = self._module(*(tensors[name] for name in self._inputs))
        answers = answer if isinstance(answer, tuple) else (answer,)
        places = _places(list(self._outputs))
        return {name: self._array(name, answers, place) for name, place in places.items()}

    def _tensor(self, values: Any) -> Any:
        if values.dtype == object:
            return [text.decode() for text in values]
        # A copy, since the memory is Triton's and must not be written to.
        return self._torch.from_numpy(values.copy())

    def _array(self, name: str, answers: tuple[Any, ...], place: int) -> Any:
        if place >= len(answers):
            raise ValueError(f"output {name} refers to an output that is not there: there are {len(answers)}")
        answer = answers[place]
        if isinstance(answer, list):
            return import_module("numpy").array(answer, dtype=object)
        array = answer.contiguous().numpy()
        wanted = self._triton.triton_string_to_numpy(self._outputs[name])
        if array.dtype != wanted:
            expected = f"configuration expects {self._outputs[name]} for output '{name}'"
            raise ValueError(f"{expected}, model provides {array.dtype}")
        if array.ndim == 0:
            raise ValueError(f"output '{name}' is a scalar which is not supported")
        return array


def _in_order(names: list[str], arguments: list[str]) -> list[str]:
    """Names of inputs in the order of `forward`: by its arguments' names, else by the places in the names."""
    places = (
        {name: arguments.index(name) for name in names} if set(names) <= set(arguments) else _places(names)
    )
    return sorted(names, key=places.__getitem__)


def _places(names: list[str]) -> dict[str, int]:
    """`NAME__2` has the place 2; unless all names have one, the order of the configuration counts."""
    endings = [name.partition(_DIVIDER) for name in names]
    if all(divider and (not place or place.isdigit()) for _, divider, place in endings):
        return {name: int(place or 0) for name, (_, _, place) in zip(names, endings, strict=True)}
    return {name: place for place, name in enumerate(names)}


class Onnx:
    """Runs an ONNX graph on the CPU, by ONNX Runtime.

    What the backend refuses is refused, in its words:
    https://github.com/triton-inference-server/onnxruntime_backend/blob/main/src/onnxruntime.cc
    """

    def __init__(self, file: Path, config: dict[str, Any]) -> None:
        # Exists only where Triton runs this.
        runtime: Any = import_module("onnxruntime")
        path = file / file.name if file.is_dir() else file
        options = runtime.SessionOptions()
        options.intra_op_num_threads = _threads(config, "intra_op_thread_count")
        self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._batches = int(config.get("max_batch_size", 0)) > 0
        needed = {it.name: it for it in self._session.get_inputs()}
        further = {it.name: it for it in self._session.get_overridable_initializers()}
        given = [it for it in config["input"] if not it.get("optional", False)]
        if len(given) != len(needed):
            raise ValueError(f"configuration expects {len(given)} inputs, model provides {len(needed)}")
        self._inputs = {**further, **needed}
        self._outputs = {it.name: it for it in self._session.get_outputs()}
        for tensor in config["input"]:
            self._check("input", tensor, self._inputs, exact=False)
        for tensor in config["output"]:
            self._check("output", tensor, self._outputs, exact=True)
        self._declared = {it["name"]: _sizes(it) for it in config["output"]}

    def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name, from the inputs by name; arrays of numpy."""
        feeds = {name: self._fed(name, values) for name, values in given.items()}
        answers = self._session.run(list(self._declared), feeds)
        return {name: self._array(name, it) for name, it in zip(self._declared, answers, strict=True)}

    def _fed(self, name: str, values: Any) -> Any:
        if values.dtype == object:
            numpy: Any = import_module("numpy")
            values = numpy.array([it.decode() for it in values.flat], dtype=object).reshape(values.shape)
        single = not self._inputs[name].shape and values.size == 1
        return values.reshape(()) if single else values

    def _array(self, name: str, answer: Any) -> Any:
        return answer.reshape(self._declared[name]) if answer.ndim == 0 else answer

    def _check(self, side: str, tensor: dict[str, Any], known: dict[str, Any], *, exact: bool) -> None:
        name, wanted = tensor["name"], tensor["data_type"]
        if name not in known:
            allowed = ", ".join(known)
            raise ValueError(f"unexpected inference {side} '{name}', allowed {side}s are: {allowed}")
        found = known[name]
        provided = _ONNX_TYPES.get(found.type, found.type)
        if wanted != provided:
            expected = f"configuration expects datatype {wanted} for {side} '{name}'"
            raise ValueError(f"{expected}, model provides {provided}")
        shape = [size if isinstance(size, int) else -1 for size in found.shape]
        wrong = _wrong_shape(shape, _sizes(tensor), batches=self._batches, exact=exact)
        if wrong is not None:
            raise ValueError(f"tensor '{name}': {wrong}")


def _wrong_shape(shape: list[int], dims: list[int], *, batches: bool, exact: bool) -> str | None:
    """What the backend says of a model's shape and a configuration's; None if they fit."""
    if not shape:
        only = "a scalar tensor should only provide 1 in the model configuration"
        return only if any(size != 1 for size in dims) else None
    if batches and shape[0] != -1:
        return "for the model to support batching the first dimension must be -1"
    full = [-1, *dims] if batches else dims
    pairs = zip(shape, full, strict=False)
    if len(shape) == len(full) and all(size == own or (size == -1 and not exact) for size, own in pairs):
        return None
    expects = f"the model expects {len(shape)} dimensions (shape {shape})"
    return f"{expects} but the model configuration specifies {full}"


def _sizes(tensor: dict[str, Any]) -> list[int]:
    """The sizes that the backend sees of an input or output, without the batch."""
    reshape = tensor.get("reshape")
    return [int(size) for size in (tensor["dims"] if reshape is None else reshape.get("shape", []))]


_ONNX_TYPES = {
    f"tensor({name})": f"TYPE_{kind}"
    for name, kind in {
        **{"float16": "FP16", "float": "FP32", "double": "FP64", "string": "STRING", "bool": "BOOL"},
        **{f"{sign}int{bits}": f"{sign}int{bits}".upper() for sign in ("", "u") for bits in (8, 16, 32, 64)},
    }.items()
}

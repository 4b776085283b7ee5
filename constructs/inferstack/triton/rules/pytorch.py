"""What the PyTorch backend requires, and what makes it fast.

https://github.com/triton-inference-server/pytorch_backend
"""

import re
from collections.abc import Iterator

import msgspec

from inferstack.catalog.triton_container import Release
from inferstack.problems import Problem
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.rules.base import MODEL_CONFIGURATION, Context, at, each, error, warning
from inferstack.triton.rules.tensors import tensors

_README = "https://github.com/triton-inference-server/pytorch_backend#readme"
_SOURCE = "https://github.com/triton-inference-server/pytorch_backend/blob/main/src"
BOOLEANS = frozenset({"true", "on", "1", "false", "off", "0"})
"""Texts that the backend takes for yes and no, in any case."""
_YES = frozenset({"true", "on", "1"})
_INTEGER = r"\s*[-+]?\d+"
_STATE_NAMES = ("input_name", "output_name")
_NAMED_INDEX = re.compile(r".*?__\d*")


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of the backend: true or false, or a number; ``until`` is the last release with it."""

    boolean: bool
    since: Release | None = None
    until: Release | None = None


PARAMETERS: dict[str, Parameter] = {
    "DISABLE_OPTIMIZED_EXECUTION": Parameter(boolean=True),
    "INFERENCE_MODE": Parameter(boolean=True),
    "ENABLE_NVFUSER": Parameter(boolean=True, until=(23, 12)),
    "ENABLE_WEIGHT_SHARING": Parameter(boolean=True),
    "ENABLE_CACHE_CLEANING": Parameter(boolean=True, since=(22, 7)),
    "ENABLE_JIT_EXECUTOR": Parameter(boolean=True),
    "ENABLE_JIT_PROFILING": Parameter(boolean=True),
    "ENABLE_TENSOR_FUSER": Parameter(boolean=True),
    "DISABLE_CUDNN": Parameter(boolean=True, since=(24, 6)),
    "INTRA_OP_THREAD_COUNT": Parameter(boolean=False, since=(24, 5)),
    "INTER_OP_THREAD_COUNT": Parameter(boolean=False, since=(24, 5)),
}
"""Parameters by name. The backend ignores what it does not know."""
_IN_PYTHON = frozenset({"NUM_THREADS", "NUM_INTEROP_THREADS", "TORCH_COMPILE_OPTIONAL_PARAMETERS"})
# These go with every backend: Triton itself reads them.
_TRITONS = frozenset({"EXECUTION_ENV_PATH", "FORCE_CPU_ONLY_INPUT_TENSORS"})
_TYPES = frozenset(
    f"TYPE_{name}"
    for name in ("BOOL", "UINT8", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "STRING")
)


def is_torchscript(model: TritonModel) -> bool:
    """Whether the backend's C++ part runs the model as TorchScript."""
    chosen = model.chosen
    return chosen.backend == "pytorch" and chosen.platform != "torch_aoti" and not model.config.runtime


@error("IS975", _README)
def values_have_the_right_type(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Values of the PyTorch backend's parameters must have the right type.

    The backend cannot load a model with a value of another type.
    """
    for name, parameter in PARAMETERS.items() if is_torchscript(model) else ():
        if name not in model.config.parameters:
            continue
        value = model.config.parameters[name].string_value
        fits = value.lower() in BOOLEANS if parameter.boolean else re.match(_INTEGER, value) is not None
        if not fits:
            wanted = "true or false" if parameter.boolean else "a number"
            yield Problem(at(model, "parameters", name), f'{name} is "{value}"', f"write {wanted}")


@warning("IS976", _README)
def parameters_are_known(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Parameters of a PyTorch model should be known to the backend.

    It silently ignores others.
    """
    known = {*PARAMETERS, *_TRITONS}
    for name in sorted(model.config.parameters) if is_torchscript(model) else ():
        parameter = PARAMETERS.get(name)
        place = at(model, "parameters", name)
        if name not in known:
            what = "not a parameter of the PyTorch backend"
            if name in _IN_PYTHON:
                what = "a parameter of PyTorch models in Python only"
            fix = did_you_mean_then(name, list(PARAMETERS), f"allowed: {listed(list(PARAMETERS))}")
            yield Problem(place, f"`{name}` is {what}", fix)
        elif parameter is not None and _is_outside(parameter, context.release):
            message = f"the PyTorch backend of the image does not know `{name}`"
            yield Problem(place, message, "remove it: it has no effect")


def _is_outside(parameter: Parameter, release: Release | None) -> bool:
    if release is None:
        return False
    return not (parameter.since or release) <= release <= (parameter.until or release)


def _is_indexed(name: str) -> bool:
    return _NAMED_INDEX.fullmatch(name) is not None


@warning("IS977", _README)
def names_follow_one_way(model: TritonModel, context: Context) -> Iterator[Problem]:
    """All inputs, and all outputs, of a PyTorch model should be named in the same way.

    All by position, `NAME__0`, `NAME__1`, or none; else only their order in the configuration counts.
    """
    for field in ("input", "output") if is_torchscript(model) else ():
        named = [(path, tensor.name) for path, tensor in each(model, field)]
        odd = [(path, name) for path, name in named if not _is_indexed(name)]
        if odd and len(odd) < len(named):
            path, name = odd[0]
            lacks = f"`{name}` has no position in its name, unlike others"
            message = f"{lacks}, so {field}s count in the listed order"
            fix = f"call it `{field.upper()}__{path[-1]}`, or check the order"
            yield Problem(at(model, *path, "name"), message, fix)


@error("IS978", f"{_SOURCE}/pt/model_instance_state.cc")
def state_needs_positions(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A PyTorch model that keeps state must have positions in all tensor names.

    Tensors that control sequences need one as well, whether the model keeps state or not.
    """
    if not is_torchscript(model):
        return
    states = [(path, state) for path, state in each(model, "sequence_batching", "state")]
    named = [*each(model, "sequence_batching", "control_input"), *(tensors(model) if states else ())]
    names = [((*path, "name"), tensor.name) for path, tensor in named]
    names += [((*path, key), getattr(state, key)) for path, state in states for key in _STATE_NAMES]
    for path, name in names:
        if not _is_indexed(name):
            message = f"`{name}` has no position in its name"
            yield Problem(at(model, *path), message, "name it like `INPUT__0`")


@error("IS979", f"{_SOURCE}/pt/model_instance_state.cc")
def tensors_suit_pytorch(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A PyTorch model can have only tensors that PyTorch supports.

    Texts come as a list: they have one dimension, including the batch.
    """
    for path, tensor in tensors(model) if is_torchscript(model) else ():
        kind = enum_name(tensor, "data_type")
        dims = tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims
        if kind not in _TYPES and kind != "TYPE_INVALID":
            message = f"`{tensor.name}` is {kind}, which PyTorch does not support"
            yield Problem(at(model, *path, "data_type"), message, f"allowed: {listed(sorted(_TYPES))}")
        elif kind == "TYPE_STRING" and len(dims) + (model.config.max_batch_size > 0) > 1:
            message = f"the text tensor `{tensor.name}` has more than one dimension"
            instead = "tokenize the text in a model before this one"
            fix = f"write `dims: [-1]` and `max_batch_size: 0`, or {instead}"
            yield Problem(at(model, *path, "dims"), message, fix)


# ---------------------------------------------------------------- Advice


def _parameter(model: TritonModel, name: str) -> str | None:
    parameters = model.config.parameters
    return str(parameters[name].string_value).lower() if name in parameters else None


@warning("IS980", _README)
def inference_mode_is_on(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A PyTorch model should run in inference mode.

    Inference mode is the default from 23.06 on; only a model that computes gradients needs it off.
    """
    value = _parameter(model, "INFERENCE_MODE") if is_torchscript(model) else "true"
    if value in ("false", "off", "0"):
        message = f"{model.name} records gradients, which costs time and memory"
        yield Problem(at(model, "parameters", "INFERENCE_MODE"), message, "write `INFERENCE_MODE: true`")
    elif value is None and context.before((23, 6)):
        message = f"{model.name} records gradients by default in this image"
        yield Problem(at(model, "parameters"), message, "add `INFERENCE_MODE: true` to `parameters`")


@warning("IS981", _README)
def cache_is_kept(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The CUDA cache should not be cleaned after each request.

    Cleaning helps if memory is short where several models share a GPU, and slows down every request.
    """
    if is_torchscript(model) and _parameter(model, "ENABLE_CACHE_CLEANING") in _YES:
        message = f"{model.name} cleans the CUDA cache after each request, which slows it down"
        fix = "remove it, or ignore IS981 if the GPU runs out of memory without it"
        yield Problem(at(model, "parameters", "ENABLE_CACHE_CLEANING"), message, fix)


@warning("IS982", _README)
def shared_weights_keep_no_state(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Instances that share weights should not keep state.

    Otherwise one sequence would see what another one left.
    """
    shared = _parameter(model, "ENABLE_WEIGHT_SHARING") in _YES
    if is_torchscript(model) and shared and model.config.HasField("sequence_batching"):
        message = f"{model.name} keeps state between requests, but its instances share their weights"
        place = at(model, "parameters", "ENABLE_WEIGHT_SHARING")
        yield Problem(place, message, "remove `ENABLE_WEIGHT_SHARING`")


@warning("IS985", MODEL_CONFIGURATION)
def torchscript_is_warmed_up(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A TorchScript model should be warmed up before it counts as ready.

    PyTorch optimizes during the first requests, which therefore take far longer.
    """
    disabled = _parameter(model, "DISABLE_OPTIMIZED_EXECUTION") in _YES
    if is_torchscript(model) and not disabled and not model.config.model_warmup and model.complete:
        message = f"the first requests to {model.name} wait for PyTorch to optimize it"
        fix = "add `model_warmup` with a real request, or `DISABLE_OPTIMIZED_EXECUTION: true` to `parameters`"
        yield Problem(at(model), message, fix)

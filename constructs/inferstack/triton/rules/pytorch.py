"""What the PyTorch backend requires.

https://github.com/triton-inference-server/pytorch_backend
"""

import re
from collections.abc import Iterator

import msgspec

from inferstack.catalog.triton_container import Release
from inferstack.problems import Problem
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.rules.base import Context, at, error, warning
from inferstack.triton.rules.tensors import tensors

_README = "https://github.com/triton-inference-server/pytorch_backend#readme"
_SOURCE = "https://github.com/triton-inference-server/pytorch_backend/blob/main/src"
BOOLEANS = frozenset({"true", "on", "1", "false", "off", "0"})
"""Texts that the backend takes for yes and no, in any case."""
_INTEGER = r"\s*[-+]?\d+"
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

    It ignores others without a word.
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
        elif parameter is not None and _is_outside(parameter, context):
            message = f"the PyTorch backend of the image does not know `{name}`"
            yield Problem(place, message, "remove it: it has no effect")


def _is_outside(parameter: Parameter, context: Context) -> bool:
    if context.release is None:
        return False
    late = parameter.since is not None and context.release < parameter.since
    return late or (parameter.until is not None and context.release > parameter.until)


def _is_indexed(name: str) -> bool:
    return _NAMED_INDEX.fullmatch(name) is not None


@warning("IS977", _README)
def names_follow_one_way(model: TritonModel, context: Context) -> Iterator[Problem]:
    """All inputs, and all outputs, of a PyTorch model should be named in the same way.

    All by position, `NAME__0`, `NAME__1`, or none; else only their order in the configuration counts.
    """
    for field in ("input", "output") if is_torchscript(model) else ():
        odd = [
            (index, tensor.name)
            for index, tensor in enumerate(getattr(model.config, field))
            if not _is_indexed(tensor.name)
        ]
        if odd and len(odd) < len(getattr(model.config, field)):
            index, name = odd[0]
            message = (
                f"`{name}` has no position in its name, unlike others, so {field}s count in the listed order"
            )
            fix = f"call it `{field.upper()}__{index}`, or check the order"
            yield Problem(at(model, field, index, "name"), message, fix)


@error("IS978", f"{_SOURCE}/pt/model_instance_state.cc")
def state_needs_positions(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A PyTorch model that keeps state must have positions in all names of tensors.

    And so have the tensors that control sequences, whether the model keeps state or not.
    """
    if not is_torchscript(model):
        return
    batcher = model.config.sequence_batching
    names: list[tuple[tuple[str | int, ...], str]] = [
        (("sequence_batching", "control_input", index, "name"), tensor.name)
        for index, tensor in enumerate(batcher.control_input)
    ]
    for index, state in enumerate(batcher.state):
        keys = ("input_name", "output_name")
        names += [(("sequence_batching", "state", index, key), getattr(state, key)) for key in keys]
    if batcher.state:
        names += [((field, index, "name"), tensor.name) for field, index, tensor in tensors(model)]
    for path, name in names:
        if not _is_indexed(name):
            yield Problem(
                at(model, *path), f"`{name}` has no position in its name", "name it like `INPUT__0`"
            )


@error("IS979", f"{_SOURCE}/pt/model_instance_state.cc")
def tensors_suit_pytorch(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A PyTorch model can have only tensors that PyTorch supports.

    Texts come as a list: they have one dimension, including the batch.
    """
    for field, index, tensor in tensors(model) if is_torchscript(model) else ():
        kind = enum_name(tensor, "data_type")
        dims = tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims
        if kind not in _TYPES and kind != "TYPE_INVALID":
            message = f"`{tensor.name}` is {kind}, which PyTorch does not support"
            yield Problem(at(model, field, index, "data_type"), message, f"allowed: {listed(sorted(_TYPES))}")
        elif kind == "TYPE_STRING" and len(dims) + (model.config.max_batch_size > 0) > 1:
            message = f"the text tensor `{tensor.name}` has more than one dimension"
            fix = (
                "write `dims: [-1]` and `max_batch_size: 0`, or tokenize the text in a model before this one"
            )
            yield Problem(at(model, field, index, "dims"), message, fix)

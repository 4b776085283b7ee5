"""Requests that a model is tried with before it counts as loaded.

Triton really runs them, so that a sample which does not fit keeps the model from loading.
"""

from collections.abc import Iterator
from typing import Any

from inferstack.spec.problem.words import listed
from inferstack.triton.declared import fits
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.rules.base import SOURCE, Context, Finding, at, model_error
from inferstack.triton.rules.data_files import too_short

_INSTANCE = f"{SOURCE}/backend_model_instance.cc"


@model_error("IS949", "Samples for warm-up must fit the model's inputs.", _INSTANCE, about="model_warmup")
def samples_fit(model: TritonModel, context: Context) -> Iterator[Finding]:
    """A sample has all inputs, with their types, data for each, and no dimension that is left open."""
    for index, sample in enumerate(model.config.model_warmup):
        # Triton skips samples without a batch size.
        if sample.batch_size:
            yield from _batch(model, index, sample)
            yield from _inputs(model, index, sample)
            for name, tensor in sorted(sample.inputs.items()):
                yield from _tensor(model, ("model_warmup", index, "inputs", name), name, tensor)


def _batch(model: TritonModel, index: int, sample: Any) -> Iterator[Finding]:
    most = max(model.config.max_batch_size, 1)
    if sample.batch_size > most:
        message = f"a sample of {model.name} has batch size {sample.batch_size}, but may have at most {most}"
        yield Finding(at(model, "model_warmup", index, "batch_size"), message, f"allowed: 1 to {most}")


def _controls(model: TritonModel) -> set[str]:
    batcher = model.config.sequence_batching
    return {it.name for it in batcher.control_input} | {it.input_name for it in batcher.state}


def _inputs(model: TritonModel, index: int, sample: Any) -> Iterator[Finding]:
    declared = {tensor.name: tensor for tensor in model.config.input}
    if not declared:
        return
    missing = [name for name, tensor in declared.items() if not tensor.optional and name not in sample.inputs]
    if missing:
        message = f"a sample of {model.name} is missing {listed(missing, last='and')}"
        yield Finding(at(model, "model_warmup", index, "inputs"), message, "give every input a value")
    for name in sorted(sample.inputs):
        if name not in declared and name not in _controls(model):
            place = at(model, "model_warmup", index, "inputs", name)
            yield Finding(place, f"{model.name} has no input `{name}`", f"allowed: {listed(list(declared))}")


def _tensor(model: TritonModel, path: tuple[str | int, ...], name: str, tensor: Any) -> Iterator[Finding]:
    if any(size < 1 for size in tensor.dims):
        message = f"the sample for `{name}` has dimensions {list(tensor.dims)}"
        yield Finding(at(model, *path, "dims"), message, "write the sizes of one real request")
    if tensor.WhichOneof("input_data_type") is None:
        fix = "write `zero_data: true`, `random_data: true` or `input_data_file`"
        yield Finding(at(model, *path), f"the sample for `{name}` has no data", fix)
    for declared in model.config.input:
        if declared.name == name:
            yield from _against(model, path, declared, tensor)
    yield from _file(model, path, tensor)


def _against(
    model: TritonModel, path: tuple[str | int, ...], declared: Any, tensor: Any
) -> Iterator[Finding]:
    wanted, found = enum_name(declared, "data_type"), enum_name(tensor, "data_type")
    if wanted not in ("TYPE_INVALID", found):
        message = f"the sample for `{declared.name}` is {found}, but the input is {wanted}"
        yield Finding(at(model, *path, "data_type"), message, f"write `data_type: {wanted}`")
    # Dimensions that no request has are reported already.
    if declared.dims and not fits(tensor.dims, declared.dims) and all(size > 0 for size in tensor.dims):
        message = f"the sample for `{declared.name}` has dimensions {list(tensor.dims)}"
        place = at(model, *path, "dims")
        yield Finding(place, message, f"the input has {list(declared.dims)}, without the batch dimension")


def _file(model: TritonModel, path: tuple[str | int, ...], tensor: Any) -> Iterator[Finding]:
    """A data file that is here must be large enough; if it is missing, another rule says so."""
    short = too_short(model, f"warmup/{tensor.input_data_file}", tensor)
    if short is not None:
        message = f"`{tensor.input_data_file}` {short}"
        yield Finding(at(model, *path, "input_data_file"), message, "write a longer file, or smaller `dims`")

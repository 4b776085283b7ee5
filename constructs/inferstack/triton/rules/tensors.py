"""Inputs and outputs."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.facts.once import found_once
from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.backends import BACKENDS
from inferstack.triton.model import Repository, TritonModel, enum_name
from inferstack.triton.rules.base import (
    MODEL_CONFIGURATION,
    SOURCE,
    Context,
    at,
    error,
    served,
    warning,
)

_CONFIG = f"{SOURCE}/model_config_utils.cc"
_HTTP = "https://github.com/triton-inference-server/server/blob/main/src/http_server.cc"
_TENSORRT = "tensorrt_plan"
_IMAGE_DIMENSIONS = 3
_COMPLETE = {
    "name": "`name: INPUT0`",
    "data_type": "`data_type: TYPE_FP32`",
    "dims": "`dims: [-1]` for any length",
}
"""The fields that a tensor needs, each with an example."""
VARIABLE = -1
"""A dimension of any size."""


@found_once
def tensors(model: TritonModel) -> Iterator[tuple[str, int, Any]]:
    """Every input and output: field, index, tensor."""
    for field in ("input", "output"):
        for index, tensor in enumerate(getattr(model.config, field)):
            yield field, index, tensor


@error("IS935", _CONFIG)
def tensors_are_complete(model: TritonModel, context: Context) -> Iterator[Problem]:
    """An input or output must have a name, a data type and dimensions.

    Scalars have `dims: [1]`. Some backends read type and dimensions from the model file, by the name.
    """
    name = model.backend
    completed = name != "python" and name in BACKENDS and BACKENDS[name].completes
    for field, index, tensor in tensors(model):
        # TYPE_INVALID is the type 0.
        lacks = [key for key in (("name",) if completed else _COMPLETE) if not getattr(tensor, key)]
        if lacks:
            what = f"{field} `{tensor.name}`" if tensor.name else f"an {field}"
            message = f"{what} of {model.name} is missing {listed(lacks, last='and')}"
            examples = listed([_COMPLETE[key] for key in lacks], last="and", quote="")
            yield Problem(at(model, field, index), message, f"add, for example, {examples}")


@error("IS936", _CONFIG)
def dimensions_are_sizes(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A dimension must be 1 or more, or -1 for any size.

    The batch dimension is not among them.
    """
    for field, index, tensor in tensors(model):
        for path, dims in (("dims",), tensor.dims), (("reshape", "shape"), tensor.reshape.shape):
            for number, size in enumerate(dims):
                if size < 1 and size != VARIABLE:
                    place = at(model, field, index, *path, number)
                    message = f"a dimension of `{tensor.name}` of {model.name} is {size}"
                    yield Problem(place, message, "write a size of 1 or more, or -1 for any")


@error("IS937", _CONFIG)
def reshape_keeps_the_elements(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`reshape` must hold as many elements as `dims`.

    They are counted between the dimensions of any size, of which both have the same number.
    """
    for field, index, tensor in tensors(model):
        if not tensor.HasField("reshape"):
            continue
        place = at(model, field, index, "reshape")
        shape, dims = tensor.reshape.shape, tensor.dims
        if not shape and model.config.max_batch_size == 0:
            message = f"`reshape` of `{tensor.name}` is empty, but {model.name} does not batch"
            one = "write `shape: [1]`, or set `max_batch_size`"
            more = f"remove it, or write a shape with the elements of `dims` {list(dims)}"
            yield Problem(place, message, one if _pieces(dims) == [1] else more)
        elif _pieces(shape) != _pieces(dims):
            message = f"`reshape` {list(shape)} of `{tensor.name}` does not match `dims` {list(dims)}"
            yield Problem(place, message, "make the products of the sizes equal, before and after each -1")


def _pieces(dims: Sequence[int]) -> list[int]:
    """The numbers of elements before, between and after dimensions of any size."""
    pieces: list[list[int]] = [[]]
    for size in dims:
        if size == VARIABLE:
            pieces.append([])
        else:
            pieces[-1].append(size)
    return [math.prod(piece) for piece in pieces]


@error("IS938", _CONFIG)
def images_have_three_dimensions(model: TritonModel, context: Context) -> Iterator[Problem]:
    """An image `format` needs an input with three dimensions.

    These are height, width and channels; the batch is not one of them.
    """
    for index, tensor in enumerate(model.config.input):
        form = enum_name(tensor, "format")
        if form != "FORMAT_NONE" and tensor.dims and len(tensor.dims) != _IMAGE_DIMENSIONS:
            message = f"`{tensor.name}` is {form}, but has {len(tensor.dims)} dimensions"
            yield Problem(at(model, "input", index, "dims"), message, "write three, or remove `format`")


@error("IS939", _CONFIG)
def tensorrt_features(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Shape tensors and non-linear formats are only for TensorRT models.

    A non-linear tensor has three dimensions.
    """
    tensorrt = model.config.platform == _TENSORRT or model.backend == "tensorrt"
    for field, index, tensor in tensors(model):
        for flag in ("is_shape_tensor", "is_non_linear_format_io"):
            if getattr(tensor, flag) and not tensorrt:
                message = f"`{flag}` of `{tensor.name}` cannot be used: {model.name} is not a TensorRT model"
                yield Problem(at(model, field, index, flag), message, "remove it")
        if tensorrt and tensor.is_non_linear_format_io and len(tensor.dims) != _IMAGE_DIMENSIONS:
            message = f"`{tensor.name}` is in a non-linear format, but has {len(tensor.dims)} dimensions"
            yield Problem(at(model, field, index, "dims"), message, "write three")


@error("IS940", "observed on Triton 2.51")
def names_are_unique(model: TritonModel, context: Context) -> Iterator[Problem]:
    """No two inputs, and no two outputs, can have the same name.

    Triton loads such a model, but one of the two can never be filled.
    """
    for field in ("input", "output"):
        names: dict[str, int] = {}
        for index, tensor in enumerate(getattr(model.config, field)):
            names[tensor.name] = names.get(tensor.name, 0) + 1
            if tensor.name and names[tensor.name] == 2:
                message = f"{model.name} has two {field}s named `{tensor.name}`"
                yield Problem(at(model, field, index, "name"), message, "give one of them another name")


@warning("IS941", _HTTP)
def outputs_fit_json(repository: Repository, context: Context) -> Iterator[Problem]:
    """The outputs of the model that answers should have types that can be written as JSON.

    JSON has no half-precision numbers, and Triton refuses a request for them.
    """
    model = served(repository, context)
    if model is None:
        return
    for index, output in enumerate(model.config.output):
        kind = enum_name(output, "data_type")
        if kind in ("TYPE_FP16", "TYPE_BF16"):
            message = f"clients cannot get the output `{output.name}` ({kind}) as JSON"
            fix = "ask for `application/vnd.sagemaker-triton.binary+json`, or make the output TYPE_FP32"
            yield Problem(at(model, "output", index, "data_type"), message, fix)


@warning("IS942", MODEL_CONFIGURATION)
def variable_inputs_are_batched(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Requests of different shapes are batched together only if the model allows it.

    Triton joins requests of equal shape, so that a dimension of any size often leaves batches of one.
    """
    if not model.config.HasField("dynamic_batching"):
        return
    for index, tensor in enumerate(model.config.input):
        if VARIABLE in tensor.dims and not tensor.allow_ragged_batch and not tensor.is_shape_tensor:
            message = f"only requests with the same shape of `{tensor.name}` are batched together"
            fix = "let clients pad to a few sizes, or set `allow_ragged_batch` if the model can take it"
            if tensor.dims[0] == VARIABLE and len(tensor.dims) > 1 and model.config.max_batch_size > 0:
                fix = f"{fix}; if the first -1 is the batch, remove it: `max_batch_size` adds it"
            yield Problem(at(model, "input", index, "dims"), message, fix)


@error("IS943", MODEL_CONFIGURATION)
def tensors_are_declared(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A model must declare its inputs and outputs where its backend cannot fill them in.

    PyTorch models do not say what they take; an ensemble is nothing but its tensors.
    """
    backend = BACKENDS.get(model.backend)
    needed = model.is_ensemble or (backend is not None and not backend.completes)
    for field in ("input", "output"):
        if needed and model.complete and not getattr(model.config, field):
            fix = f"add `{field}` with name, data_type and dims"
            yield Problem(at(model), f"{model.name} is missing `{field}`", fix)

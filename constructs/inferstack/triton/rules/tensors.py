"""Tensors of a model: its inputs and outputs, and those that Triton computes from a batch."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from inferstack.facts.once import found_once
from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.backends import BACKENDS
from inferstack.triton.model import FieldPath, Repository, TritonModel, enum_name
from inferstack.triton.rules.base import (
    CONFIG_UTILS,
    MODEL_CONFIGURATION,
    Context,
    again,
    at,
    each,
    error,
    lacking,
    served,
    warning,
)

_HTTP = "https://github.com/triton-inference-server/server/blob/main/src/http_server.cc"
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
def tensors(model: TritonModel) -> Iterator[tuple[FieldPath, Any]]:
    """Every input and output, with its path."""
    return chain(each(model, "input"), each(model, "output"))


@error("IS935", CONFIG_UTILS)
def tensors_are_complete(model: TritonModel, context: Context) -> Iterator[Problem]:
    """An input or output must have a name, a data type and dimensions.

    Scalars have `dims: [1]`. Some backends read type and dimensions from the model file, by the name.
    """
    name = model.backend
    completed = name != "python" and name in BACKENDS and BACKENDS[name].completes
    for path, tensor in tensors(model):
        lacks = lacking(tensor, *(("name",) if completed else _COMPLETE))
        if lacks:
            what = f"{path[0]} `{tensor.name}`" if tensor.name else f"an {path[0]}"
            message = f"{what} of {model.name} is missing {listed(lacks, last='and')}"
            examples = listed([_COMPLETE[key] for key in lacks], last="and", quote="")
            yield Problem(at(model, *path), message, f"add, for example, {examples}")


@error("IS936", CONFIG_UTILS)
def dimensions_are_sizes(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A dimension must be 1 or more, or -1 for any size.

    The batch dimension is not among them.
    """
    for path, tensor in tensors(model):
        for field, dims in (("dims",), tensor.dims), (("reshape", "shape"), tensor.reshape.shape):
            for number, size in enumerate(dims):
                if size < 1 and size != VARIABLE:
                    place = at(model, *path, *field, number)
                    message = f"a dimension of `{tensor.name}` of {model.name} is {size}"
                    yield Problem(place, message, "write a size of 1 or more, or -1 for any")


@error("IS937", CONFIG_UTILS)
def reshape_keeps_the_elements(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`reshape` must hold as many elements as `dims`.

    They are counted between dimensions of -1, which both must have equally often.
    """
    for path, tensor in tensors(model):
        if not tensor.HasField("reshape"):
            continue
        place = at(model, *path, "reshape")
        shape, dims = tensor.reshape.shape, tensor.dims
        if not shape and model.config.max_batch_size == 0:
            message = f"`reshape` of `{tensor.name}` is empty, but {model.name} does not batch"
            scalar = "write `shape: [1]`, or set `max_batch_size`"
            other = f"remove it, or write a shape with the elements of `dims` {list(dims)}"
            yield Problem(place, message, scalar if _pieces(dims) == [1] else other)
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


@error("IS938", CONFIG_UTILS)
def images_have_three_dimensions(model: TritonModel, context: Context) -> Iterator[Problem]:
    """An image `format` needs an input with three dimensions.

    These are height, width and channels; the batch is not one of them.
    """
    for path, tensor in each(model, "input"):
        form = enum_name(tensor, "format")
        if form != "FORMAT_NONE" and tensor.dims and len(tensor.dims) != _IMAGE_DIMENSIONS:
            message = f"`{tensor.name}` is {form}, but has {len(tensor.dims)} dimensions"
            yield Problem(at(model, *path, "dims"), message, "write three, or remove `format`")


@error("IS939", CONFIG_UTILS)
def tensorrt_features(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Shape tensors and non-linear formats are only for TensorRT models.

    A non-linear tensor has three dimensions.
    """
    tensorrt = model.config.platform == "tensorrt_plan" or model.backend == "tensorrt"
    for path, tensor in tensors(model):
        for flag in ("is_shape_tensor", "is_non_linear_format_io"):
            if getattr(tensor, flag) and not tensorrt:
                message = f"`{flag}` of `{tensor.name}` cannot be used: {model.name} is not a TensorRT model"
                yield Problem(at(model, *path, flag), message, "remove it")
        if tensorrt and tensor.is_non_linear_format_io and len(tensor.dims) != _IMAGE_DIMENSIONS:
            message = f"`{tensor.name}` is in a non-linear format, but has {len(tensor.dims)} dimensions"
            yield Problem(at(model, *path, "dims"), message, "write three")


@error("IS940", "observed on Triton 2.51")
def names_are_unique(model: TritonModel, context: Context) -> Iterator[Problem]:
    """No two inputs, and no two outputs, can have the same name.

    Triton loads such a model, but one of the two can never be filled.
    """
    for field in ("input", "output"):
        for path, name in again((path, tensor.name) for path, tensor in each(model, field)):
            message = f"{model.name} has two {field}s named `{name}`"
            yield Problem(at(model, *path, "name"), message, "give one of them another name")


@warning("IS941", _HTTP)
def outputs_fit_json(repository: Repository, context: Context) -> Iterator[Problem]:
    """The outputs of the model that answers should have types that can be written as JSON.

    JSON has no half-precision numbers, and Triton refuses a request for them.
    """
    model = served(repository, context)
    if model is None:
        return
    for path, output in each(model, "output"):
        kind = enum_name(output, "data_type")
        if kind in ("TYPE_FP16", "TYPE_BF16"):
            message = f"clients cannot get the output `{output.name}` ({kind}) as JSON"
            fix = "ask for `application/vnd.sagemaker-triton.binary+json`, or make the output TYPE_FP32"
            yield Problem(at(model, *path, "data_type"), message, fix)


@warning("IS942", MODEL_CONFIGURATION)
def variable_inputs_are_batched(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Requests of different shapes are batched together only if the model allows it.

    Triton joins requests of equal shape, so a dimension of any size often leaves batches of one.
    """
    if not model.config.HasField("dynamic_batching"):
        return
    for path, tensor in each(model, "input"):
        if VARIABLE in tensor.dims and not tensor.allow_ragged_batch and not tensor.is_shape_tensor:
            message = f"only requests with the same shape of `{tensor.name}` are batched together"
            fix = "let clients pad to a few sizes, or set `allow_ragged_batch` if the model can take it"
            if tensor.dims[0] == VARIABLE and len(tensor.dims) > 1 and model.config.max_batch_size > 0:
                fix = f"{fix}; if the first -1 is the batch, remove it: `max_batch_size` adds it"
            yield Problem(at(model, *path, "dims"), message, fix)


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


# ---------------------------------------------------------------- Computed from a batch


@error("IS944", CONFIG_UTILS)
def batch_inputs_have_a_source(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A `batch_input` or `batch_output` must have one `source_input`, an input of the model.

    Such inputs are numbers: TYPE_INT32 or TYPE_FP32.
    """
    names = {tensor.name for tensor in model.config.input}
    for path, computed in (*each(model, "batch_input"), *each(model, "batch_output")):
        if len(computed.source_input) != 1 or computed.source_input[0] not in names:
            found = listed(list(computed.source_input), last="and") or "none"
            message = f"`source_input` is {found}, but must be one input of {model.name}"
            yield Problem(at(model, *path, "source_input"), message, f"allowed: {listed(sorted(names))}")
    for path, computed in each(model, "batch_input"):
        kind = enum_name(computed, "data_type")
        if kind not in ("TYPE_INT32", "TYPE_FP32"):
            message = f"`data_type` of a batch input is {kind}"
            yield Problem(at(model, *path, "data_type"), message, "allowed: `TYPE_INT32` or `TYPE_FP32`")


@error("IS945", CONFIG_UTILS)
def batch_outputs_have_targets(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The targets of a `batch_output` must be outputs of the model, each named once.

    Triton writes each of them from the batch.
    """
    names = {tensor.name for tensor in model.config.output}
    for path, computed in each(model, "batch_output"):
        seen = set[str]()
        for number, target in enumerate(computed.target_name):
            if target not in names or target in seen:
                what = "is named twice" if target in seen else f"is not an output of {model.name}"
                place = at(model, *path, "target_name", number)
                yield Problem(place, f"`{target}` {what}", f"allowed, once each: {listed(sorted(names))}")
            seen.add(target)

"""Converts between numpy arrays and the bodies of requests to, and answers from, a Triton endpoint.

    arrays -> request_body -> Body (bytes and their content type) -> invoke-endpoint
    invoke-endpoint -> bytes and their content type -> read_answer -> arrays

Nothing is converted silently: an array that is not what the model declares is refused, with an explanation.
https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from inferstack.problems.words import choose
from inferstack.triton.protocol import (
    BF16,
    BINARY,
    BYTES,
    FORMATS,
    JSON,
    BodyError,
    Carried,
    Parameter,
    answered,
    body_with,
    data_type,
    declared_shape,
    deviations,
    different_batches,
    fits,
    fits_unbatched,
    header_length,
    without_json,
)

try:
    from inferstack.triton.arrays import (
        Array,
        from_bytes,
        from_json,
        is_exact_bf16,
        texts,
        to_bytes,
        to_json,
        type_of,
    )
except ImportError:
    raise ImportError(
        "bodies are made from numpy arrays, but numpy is not installed: pip install 'inferstack[arrays]'"
    ) from None

__all__ = ["Body", "BodyError", "read_answer", "request_body"]


class Body(msgspec.Struct, frozen=True):
    """The body of a request and the content type to send with it."""

    content: bytes
    content_type: str


def request_body(
    config: Any,
    inputs: Mapping[str, Array],
    *,
    binary: bool = True,
    parameters: Mapping[str, Parameter] | None = None,
) -> Body:
    """The body of a request to a model.

    Args:
        config: the model's ``ModelConfig`` message: ``config`` of a model from
            :func:`~inferstack.triton.repositories.repositories_of`, or what
            :func:`~inferstack.triton.config.parse_text` makes of a ``config.pbtxt``.
        inputs: arrays by the names of the declared inputs, of exactly their types and shapes, with the batch
            as first dimension where ``max_batch_size`` is above 0. ``TYPE_STRING`` takes arrays of `str` or
            `bytes`, ``TYPE_BF16`` bfloat16 or float32 that needs no rounding. Optional inputs may be missing.
        binary: whether values follow the JSON in binary form, which is smaller and faster, and has all types;
            the answer then comes in this form, too. JSON alone cannot carry 16-bit floats, NaN and infinity.
        parameters: of the request, such as ``sequence_id``.

    Raises:
        BodyError: with everything that the model would refuse, or that JSON cannot carry.
    """
    problems = list(_mismatches(config, inputs))
    barred = [] if binary else without_json(config)
    if barred:
        problems.append(f"JSON cannot carry the 16-bit floats of {', '.join(barred)}; make a binary body")
    if problems:
        raise BodyError(problems)
    carry = to_bytes if binary else to_json
    kinds = {tensor.name: data_type(tensor) for tensor in config.input}
    tensors = [
        Carried(name, kinds[name], array.shape, _naming(name, carry, array, kinds[name]))
        for name, array in inputs.items()
    ]
    content, length = body_with(tensors, {} if parameters is None else parameters, binary=binary)
    return Body(content, f"{BINARY}{length}" if binary else JSON)


def read_answer(content: bytes, content_type: str, config: Any = None) -> dict[str, Array]:
    """The arrays of an answer by the names of the outputs; texts are objects of `bytes`, BF16 is float32.

    Args:
        content: the body of the answer.
        content_type: its content type, which says where the JSON ends.
        config: the model's ``ModelConfig`` as for :func:`request_body`, to compare the answer with its
            outputs: all of them, with their types and shapes. None compares nothing.

    Raises:
        BodyError: when the body is not an answer of the protocol, with Triton's words if it is a refusal; or
            with everything that differs from what the model declares.
    """
    sent_as = f" with the content type {content_type}"
    try:
        length = header_length(content_type)
    except ValueError as error:
        raise BodyError([f"the body is not an answer in Triton's protocol{sent_as}: {error}"]) from None
    outputs = answered(content, length, sent_as)
    arrays = {it.name: _naming(it.name, _array, it) for it in outputs}
    described = {it.name: (it.data_type, it.shape) for it in outputs}
    problems = [] if config is None else list(deviations(config, described))
    if problems:
        raise BodyError(problems)
    return arrays


def _array(output: Carried) -> Array:
    kind, shape = output.data_type, tuple(output.shape)
    if isinstance(output.values, bytes):
        return from_bytes(output.values, kind, shape)
    array = from_json(output.values, kind, shape)
    if kind == BYTES:
        flat = array.ravel()
        flat[:] = list(texts(flat))
        return flat.reshape(array.shape)
    return array


def _naming(name: str, convert: Any, *arguments: Any) -> Any:
    """What ``convert`` returns; problems that it raises get the tensor's name."""
    try:
        return convert(*arguments)
    except BodyError as error:
        raise BodyError([f"`{name}`: {problem}" for problem in error.problems]) from None


# ---------------------------------------------------------------- Arrays as a model declares its inputs


_BATCH_OF_ONE = "a batch of one is one more pair of brackets in JSON, and array[None] in numpy"
_OF_ONE_VALUE = "a pair of brackets around each value in JSON, and array[..., None] in numpy"


def _mismatches(config: Any, inputs: Mapping[str, Array]) -> Iterator[str]:
    """Everything that would make Triton refuse a request with these inputs, each with what to do."""
    declared = {tensor.name: tensor for tensor in config.input}
    for name in inputs:
        if name not in declared:
            yield f"the model has no input `{name}`; {choose(name, list(declared))}"
    for name, tensor in declared.items():
        if name in inputs:
            yield from _type(tensor, inputs[name])
            yield from _shape(config, tensor, inputs[name].shape)
        elif not tensor.optional:
            yield f"the input `{name}` is missing: {data_type(tensor)} {declared_shape(config, tensor)}"
    sizes = different_batches(config, declared.values(), {name: it.shape for name, it in inputs.items()})
    if sizes is not None:
        yield f"all inputs of a request must have the same batch size, found {sizes}"


def _type(tensor: Any, array: Array) -> Iterator[str]:
    wanted, found = data_type(tensor), type_of(array)
    if found == wanted:
        return
    message = f"`{tensor.name}` is declared {wanted}, but the array is {array.dtype.name}"
    if wanted == BF16:
        if found != "FP32":
            yield f"{message}; pass bfloat16, or float32 with values that bfloat16 can represent"
        elif not is_exact_bf16(array):
            yield f"{message} with values that bfloat16 cannot represent; round them yourself"
    elif wanted == BYTES:
        yield f"{message}; pass an array of texts"
    else:
        numpy_name = {"e": "float16", "f": "float32", "d": "float64", "?": "bool"}.get(
            FORMATS[wanted], wanted.lower()
        )
        yield f"{message}; convert it: array.astype('{numpy_name}')"


def _shape(config: Any, tensor: Any, shape: Sequence[int]) -> Iterator[str]:
    dims = tuple(tensor.dims)
    message = f"`{tensor.name}` is declared {declared_shape(config, tensor)}, but the array is {list(shape)}"
    if tensor.is_shape_tensor or config.max_batch_size == 0:
        if not fits_unbatched(tensor, shape):
            yield message
    elif fits(shape, dims) and not fits(shape[1:], dims):
        yield f"{message}: it lacks the batch, the first dimension; {_BATCH_OF_ONE}"
    elif not fits(shape[1:], dims):
        lacks = dims[-1:] == (1,) and fits(shape[1:], dims[:-1])
        yield f"{message}: it lacks the last dimension; {_OF_ONE_VALUE}" if lacks else message
    elif not 1 <= shape[0] <= config.max_batch_size:
        yield f"`{tensor.name}` has a batch of {shape[0]}; allowed: 1 to {config.max_batch_size}"

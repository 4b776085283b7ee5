"""Makes the bodies of requests, and reads those of answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inferstack.problems.words import choose
from inferstack.triton.invocation.arrays import (
    Array,
    BodyError,
    from_bytes,
    from_json,
    is_exact_bf16,
    texts,
    to_bytes,
    to_json,
    type_of,
)
from inferstack.triton.protocol import (
    BF16,
    BINARY,
    BYTES,
    FORMATS,
    JSON,
    data_type,
    declared_shape,
    deviations,
    different_batches,
    fits,
    fits_unbatched,
    header_length,
    without_json,
)

# ----------------------------------------------------------------
# Compares arrays with the inputs that a model declares: names, types, shapes.


_BATCH_OF_ONE = "a batch of one is one more pair of brackets in JSON, and array[None] in numpy"
_OF_ONE_VALUE = "a pair of brackets around each value in JSON, and array[..., None] in numpy"


def mismatches(config: Any, inputs: Mapping[str, Array]) -> Iterator[str]:
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
        yield f"the inputs of a request have one batch size, found {sizes}"


def _type(tensor: Any, array: Array) -> Iterator[str]:
    wanted, found = data_type(tensor), type_of(array)
    if found == wanted:
        return
    message = f"`{tensor.name}` is declared {wanted} and the array is {array.dtype.name}"
    if wanted == BF16:
        if found != "FP32":
            yield f"{message}; give bfloat16, or float32 with values that bfloat16 has"
        elif not is_exact_bf16(array):
            yield f"{message} with values that bfloat16 has not; round them yourself"
    elif wanted == BYTES:
        yield f"{message}; give an array of texts"
    else:
        numpy_name = {"e": "float16", "f": "float32", "d": "float64", "?": "bool"}.get(
            FORMATS[wanted], wanted.lower()
        )
        yield f"{message}; convert it: array.astype('{numpy_name}')"


def _shape(config: Any, tensor: Any, shape: Sequence[int]) -> Iterator[str]:
    dims = tuple(tensor.dims)
    message = f"`{tensor.name}` is declared {declared_shape(config, tensor)} and the array is {list(shape)}"
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


# ----------------------------------------------------------------
# Makes the bodies of requests, and reads those of answers.


Parameter = str | int | bool


@dataclass(frozen=True, slots=True)
class Body:
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
            :func:`~inferstack.triton.repository.of_spec.repositories_of`, or what
            :func:`~inferstack.triton.repository.config.parse_text` makes of a ``config.pbtxt``.
        inputs: arrays by the names of the declared inputs, of exactly their types and shapes, with the batch
            as first dimension where ``max_batch_size`` is above 0. ``TYPE_STRING`` takes arrays of `str` or
            `bytes`, ``TYPE_BF16`` bfloat16 or float32 that needs no rounding. Optional inputs may be missing.
        binary: whether values follow the JSON in binary form, which is smaller and faster, and has all types;
            the answer then comes in this form, too. JSON alone cannot carry 16-bit floats, NaN and infinity.
        parameters: of the request, such as ``sequence_id``.

    Raises:
        BodyError: with everything that the model would refuse, or that JSON cannot carry.
    """
    problems = [*mismatches(config, inputs), *([] if binary else _barred(config))]
    if problems:
        raise BodyError(problems)
    declared = {tensor.name: data_type(tensor) for tensor in config.input}
    own = {} if parameters is None else dict(parameters)
    if not binary:
        described = [
            {**_described(name, declared[name], array), "data": _naming(name, to_json, array, declared[name])}
            for name, array in inputs.items()
        ]
        return Body(_text({"inputs": described, "parameters": own}), JSON)
    values = {name: _naming(name, to_bytes, array, declared[name]) for name, array in inputs.items()}
    described = [
        {**_described(name, declared[name], array), "parameters": {"binary_data_size": len(values[name])}}
        for name, array in inputs.items()
    ]
    header = _text({"inputs": described, "parameters": {**own, "binary_data_output": True}})
    return Body(b"".join([header, *values.values()]), f"{BINARY}{len(header)}")


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
    outputs = _answered(content, content_type)
    described = {output.name: (output.data_type, output.array.shape) for output in outputs}
    problems = [] if config is None else list(deviations(config, described))
    if problems:
        raise BodyError(problems)
    return {output.name: output.array for output in outputs}


@dataclass(frozen=True, slots=True)
class _Output:
    """One tensor of an answer. The array does not tell BF16 from FP32."""

    name: str
    data_type: str
    array: Array


def _answered(content: bytes, content_type: str) -> list[_Output]:
    try:
        length = header_length(content_type)
        answer = json.loads(content if length is None else content[:length])
        if "outputs" not in answer:
            raise BodyError([f"the model answered: {answer['error']}"])
        return _outputs(answer["outputs"], b"" if length is None else content[length:])
    except BodyError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"the body is no answer of Triton's protocol with the content type {content_type}"
        raise BodyError([f"{what}: {error}"]) from None


def _outputs(outputs: list[dict[str, Any]], values: bytes) -> list[_Output]:
    found: dict[str, _Output] = {}
    for output in outputs:
        name, kind, shape = _head(output)
        if name in found:
            raise BodyError([f"`{name}` comes twice"])
        size = output.get("parameters", {}).get("binary_data_size")
        if size is None:
            array = _naming(name, from_json, output["data"], kind, shape)
            array = array if kind != BYTES else _naming(name, _as_bytes, array)
            found[name] = _Output(name, kind, array)
            continue
        if not 0 <= size <= len(values):
            raise BodyError([f"`{name}` has {size} bytes, and {len(values)} are left: the body is cut off"])
        own, values = values[:size], values[size:]
        found[name] = _Output(name, kind, _naming(name, from_bytes, own, kind, shape))
    if values:
        raise BodyError([f"{len(values)} bytes are left over, which belong to none of the outputs"])
    return list(found.values())


def _head(output: dict[str, Any]) -> tuple[str, str, tuple[int, ...]]:
    """Name, type and shape of a tensor.

    Raises:
        TypeError: when they are not of their types, for which everything after this relies on them.
    """
    name, kind, shape = output["name"], output["datatype"], output["shape"]
    if not (isinstance(name, str) and isinstance(kind, str)):
        raise TypeError("`name` and `datatype` of an output must be texts")
    if not (isinstance(shape, list) and all(type(it) is int and it >= 0 for it in shape)):
        raise TypeError(f"the `shape` of `{name}` must be a list of numbers, 0 or more")
    return name, kind, tuple(shape)


def _as_bytes(array: Array) -> Array:
    flat = array.ravel()
    flat[:] = list(texts(flat))
    return flat.reshape(array.shape)


def _naming(name: str, convert: Any, *arguments: Any) -> Any:
    """What ``convert`` returns; the problems that it raises get the tensor's name."""
    try:
        return convert(*arguments)
    except BodyError as error:
        raise BodyError([f"`{name}`: {problem}" for problem in error.problems]) from None


def _barred(config: Any) -> Iterator[str]:
    barred = without_json(config)
    if barred:
        yield f"JSON cannot carry the 16-bit floats of {', '.join(barred)}; make a binary body"


def _described(name: str, kind: str, array: Array) -> dict[str, Any]:
    return {"name": name, "datatype": kind, "shape": list(array.shape)}


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()

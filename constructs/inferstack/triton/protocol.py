"""How requests and answers name and carry tensors, on SageMaker's port as on Triton's own, and how they
compare with what a model declares.

The protocol: https://github.com/kserve/open-inference-protocol, and how binary tensors follow the JSON:
https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md

`tritonclient` was tried for the bodies: it brings gevent (350 ms to import), sends NaN as JSON and numbers as
texts, and accepts answers with bytes left over, duplicate outputs, and unknown types.
"""

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from inferstack.triton.model import enum_name

JSON = "application/json"
"""Content type of values inside the JSON."""
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
"""Content type of binary values that follow their JSON on SageMaker's port; the JSON's length is appended."""
FORMATS = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT16": "H",
    "UINT32": "I",
    "UINT64": "Q",
    "INT8": "b",
    "INT16": "h",
    "INT32": "i",
    "INT64": "q",
    "FP16": "e",
    "FP32": "f",
    "FP64": "d",
}
"""`struct`'s formats by the protocol's names of types. Texts have no fixed size, and `struct` has no BF16."""
BF16 = "BF16"
BYTES = "BYTES"
"""The protocol's name for texts."""
_NO_JSON = frozenset({"FP16", BF16})
_LENGTH = struct.Struct("<I")


def data_type(tensor: Any) -> str:
    """The protocol's name for the type of a declared input or output."""
    name = enum_name(tensor, "data_type").removeprefix("TYPE_")
    return BYTES if name == "STRING" else name


def without_json(config: Any) -> tuple[str, ...]:
    """Inputs and outputs that JSON cannot carry."""
    return tuple(tensor.name for tensor in (*config.input, *config.output) if data_type(tensor) in _NO_JSON)


def header_length(content_type: str) -> int | None:
    """Bytes of the JSON that binary values follow, from SageMaker's content type; None for another type.

    Raises:
        ValueError: when the length is not a number of bytes.
    """
    if not content_type.startswith(BINARY):
        return None
    length = content_type.removeprefix(BINARY)
    if not (length.isascii() and length.isdigit()):
        raise ValueError(f"`{length}` is not a length")
    return int(length)


# ---------------------------------------------------------------- Bodies of requests and answers


class BodyError(ValueError):
    """A request that the model would refuse, or an answer that cannot be read; ``problems`` says why."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


Shape = Sequence[int]
Parameter = str | int | bool


class Carried(msgspec.Struct, frozen=True):
    """One tensor of a body. Its values are a flat list in the JSON, or bytes behind it."""

    name: str
    data_type: str
    shape: Shape
    values: bytes | list[Any]


def body_with(
    tensors: Iterable[Carried], parameters: Mapping[str, Parameter], *, binary: bool
) -> tuple[bytes, int]:
    """The body of a request, and the length of its JSON, which binary values follow.

    ``binary``: the answer should have binary values, too.

    Raises:
        ValueError: for NaN and infinity in a list.
    """
    inputs: list[dict[str, Any]] = []
    behind: list[bytes] = []
    for tensor in tensors:
        described = {"name": tensor.name, "datatype": tensor.data_type, "shape": list(tensor.shape)}
        if isinstance(tensor.values, bytes):
            behind.append(tensor.values)
            inputs.append({**described, "parameters": {"binary_data_size": len(tensor.values)}})
        else:
            inputs.append({**described, "data": tensor.values})
    own = {"binary_data_output": True} if binary else {}
    request = {"inputs": inputs, "parameters": {**parameters, **own}}
    header = json.dumps(request, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([header, *behind]), len(header)


def answered(content: bytes, length: int | None, sent_as: str = "") -> list[Carried]:
    """The tensors of an answer. ``length`` is that of the JSON, where binary values follow it.

    Raises:
        BodyError: when the body is not an answer in the protocol, or is cut off; ``sent_as`` says more.
    """
    try:
        answer = json.loads(content if length is None else content[:length])
        if "outputs" not in answer:
            raise BodyError([f"the model answered: {answer['error']}"])
        return _outputs(answer["outputs"], b"" if length is None else content[length:])
    except BodyError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BodyError([f"the body is not an answer in Triton's protocol{sent_as}: {error}"]) from None


def _outputs(outputs: list[dict[str, Any]], binary: bytes) -> list[Carried]:
    found: dict[str, Carried] = {}
    for output in outputs:
        name, kind, shape = _head(output)
        if name in found:
            raise BodyError([f"`{name}` is in the answer twice"])
        size = output.get("parameters", {}).get("binary_data_size")
        if size is None:
            found[name] = Carried(name, kind, shape, output["data"])
            continue
        if not 0 <= size <= len(binary):
            raise BodyError([f"`{name}` has {size} bytes, but {len(binary)} are left: the body is cut off"])
        found[name] = Carried(name, kind, shape, binary[:size])
        binary = binary[size:]
    if binary:
        raise BodyError([f"{len(binary)} bytes are left over, which belong to no output"])
    return list(found.values())


def _head(output: dict[str, Any]) -> tuple[str, str, tuple[int, ...]]:
    """Name, type and shape of a tensor.

    Raises:
        TypeError: when they have the wrong type, on which everything after this relies.
    """
    name, kind, shape = output["name"], output["datatype"], output["shape"]
    if not (isinstance(name, str) and isinstance(kind, str)):
        raise TypeError("`name` and `datatype` of an output must be texts")
    if not (isinstance(shape, list) and all(type(it) is int and it >= 0 for it in shape)):
        raise TypeError(f"the `shape` of `{name}` must be a list of numbers, 0 or more")
    return name, kind, tuple(shape)


def length_first(text: bytes) -> bytes:
    """A text as it is among binary values, after its length."""
    return _LENGTH.pack(len(text)) + text


def texts_in(binary: bytes) -> Iterator[bytes]:
    """The texts among binary values.

    Raises:
        BodyError: when they are cut off.
    """
    place = 0
    while place < len(binary):
        if place + _LENGTH.size > len(binary):
            raise BodyError(["the texts end in the middle of a length"])
        (length,) = _LENGTH.unpack_from(binary, place)
        place += _LENGTH.size + length
        if place > len(binary):
            raise BodyError(["a text is longer than the rest of the body"])
        yield binary[place - length : place]


# ---------------------------------------------------------------- Shapes and answers as a model declares them


Tensors = Mapping[str, tuple[str, Shape]]
"""Type, by the protocol's name, and shape of the tensors in an answer, by their names."""


def fits(shape: Shape, dims: Shape) -> bool:
    """Whether a shape is one of those that dimensions allow, where -1 stands for any size."""
    pairs = zip(shape, dims, strict=False)
    return len(shape) == len(dims) and all(size in (have, -1) for have, size in pairs)


def fits_unbatched(tensor: Any, shape: Shape) -> bool:
    """Whether a shape is the declared one of a tensor that has no batch, or need not have one."""
    dims = tuple(tensor.dims)
    # What a shape tensor looks like in a batch depends on the release, so it may have a batch or none.
    return fits(shape, dims) or (tensor.is_shape_tensor and fits(shape[1:], dims))


def declared_shape(config: Any, tensor: Any, batch: int | None = None) -> str:
    """The shape that a model declares for a tensor, as text, for this batch or for any."""
    leading = f"1..{config.max_batch_size}" if batch is None else str(batch)
    return f"[{', '.join([*([leading] if config.max_batch_size > 0 else []), *map(str, tensor.dims)])}]"


def different_batches(config: Any, tensors: Iterable[Any], shapes: Mapping[str, Shape]) -> str | None:
    """The batch sizes of tensors as text, if they differ; ``shapes`` has the tensors that are present."""
    sizes = {
        tensor.name: shapes[tensor.name][0]
        for tensor in tensors
        if not tensor.is_shape_tensor and shapes.get(tensor.name)
    }
    if config.max_batch_size == 0 or len(set(sizes.values())) < 2:
        return None
    return ", ".join(f"`{name}` {size}" for name, size in sizes.items())


def deviations(config: Any, answered: Tensors, batch: int | None = None) -> Iterator[str]:
    """How an answer differs from what the model declares: Triton itself does not check that.

    ``batch`` is the request's; if it is not known, any size that the model takes is accepted.
    """
    declared = {output.name: output for output in config.output}
    for name, output in declared.items():
        if name in answered:
            yield from _deviations(config, output, *answered[name], batch)
        else:
            yield f"`{name}` is declared, but not in the answer"
    yield from (f"`{name}` is in the answer, but not declared" for name in answered if name not in declared)
    sizes = different_batches(config, config.output, {name: shape for name, (_, shape) in answered.items()})
    if batch is None and sizes is not None:
        yield f"all outputs of an answer must have the same batch size, found {sizes}"


def _deviations(config: Any, output: Any, kind: str, shape: Shape, batch: int | None) -> Iterator[str]:
    message = f"`{output.name}` is declared"
    if kind != data_type(output):
        yield f"{message} {data_type(output)}, but the answer has {kind}"
    elif not _is_declared(config, output, shape, batch):
        yield f"{message} {declared_shape(config, output, batch)}, but the answer has {list(shape)}"


def _is_declared(config: Any, output: Any, shape: Shape, batch: int | None) -> bool:
    if config.max_batch_size == 0 or output.is_shape_tensor:
        return fits_unbatched(output, shape)
    allowed = range(1, config.max_batch_size + 1) if batch is None else (batch,)
    return fits(shape, (-1, *output.dims)) and shape[0] in allowed

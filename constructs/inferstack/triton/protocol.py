"""How requests and answers name and carry tensors, and how they compare with what a model declares."""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from inferstack.triton.model import enum_name

# ----------------------------------------------------------------
# How requests and answers name and carry tensors, on SageMaker's port as on Triton's own.
#
# The protocol: https://github.com/kserve/open-inference-protocol, and how binary tensors follow the JSON:
# https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md


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


def data_type(tensor: Any) -> str:
    """The protocol's name for the type of a declared input or output."""
    name = enum_name(tensor, "data_type").removeprefix("TYPE_")
    return BYTES if name == "STRING" else name


def without_json(config: Any) -> tuple[str, ...]:
    """Inputs and outputs that JSON cannot carry."""
    return tuple(tensor.name for tensor in (*config.input, *config.output) if data_type(tensor) in _NO_JSON)


def length_first(text: bytes) -> bytes:
    """A text as it is among binary values, after its length."""
    return struct.pack("<I", len(text)) + text


def header_length(content_type: str) -> int | None:
    """Bytes of the JSON that binary values follow, from SageMaker's content type; None for another type.

    Raises:
        ValueError: when the length is no number of bytes.
    """
    if not content_type.startswith(BINARY):
        return None
    length = content_type.removeprefix(BINARY)
    if not (length.isascii() and length.isdigit()):
        raise ValueError(f"`{length}` is no length")
    return int(length)


# ----------------------------------------------------------------
# Compares shapes with those that a model declares, and whole answers with its outputs.


Shape = Sequence[int]
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
    """The shape that a model declares for a tensor, in words, for this batch or for any."""
    leading = f"1..{config.max_batch_size}" if batch is None else str(batch)
    return f"[{', '.join([*([leading] if config.max_batch_size > 0 else []), *map(str, tensor.dims)])}]"


def different_batches(config: Any, tensors: Iterable[Any], shapes: Mapping[str, Shape]) -> str | None:
    """The batch sizes of tensors in words, if they differ; ``shapes`` has the tensors that are present."""
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

    ``batch`` is the request's; if it is not known, any that the model takes will do.
    """
    declared = {output.name: output for output in config.output}
    for name, output in declared.items():
        if name in answered:
            yield from _deviations(config, output, *answered[name], batch)
        else:
            yield f"`{name}` is declared and not in the answer"
    yield from (f"`{name}` is in the answer and not declared" for name in answered if name not in declared)
    sizes = different_batches(config, config.output, {name: shape for name, (_, shape) in answered.items()})
    if batch is None and sizes is not None:
        yield f"the outputs of an answer have one batch size, found {sizes}"


def _deviations(config: Any, output: Any, kind: str, shape: Shape, batch: int | None) -> Iterator[str]:
    message = f"`{output.name}` is declared"
    if kind != data_type(output):
        yield f"{message} {data_type(output)} and comes as {kind}"
    elif not _is_declared(config, output, shape, batch):
        yield f"{message} {declared_shape(config, output, batch)} and comes as {list(shape)}"


def _is_declared(config: Any, output: Any, shape: Shape, batch: int | None) -> bool:
    if config.max_batch_size == 0 or output.is_shape_tensor:
        return fits_unbatched(output, shape)
    allowed = range(1, config.max_batch_size + 1) if batch is None else (batch,)
    return fits(shape, (-1, *output.dims)) and shape[0] in allowed

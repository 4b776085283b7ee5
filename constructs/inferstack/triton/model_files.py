"""What a model's file says of itself: an ONNX graph its inputs and outputs, a TensorRT engine what built it.

Files may be as large as disks: of an ONNX file only the beginnings of fields are read, so weights are stepped
over; of an engine, its header. What cannot be read, or has another form than expected, says nothing.
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
https://github.com/NVIDIA/TensorRT/blob/main/samples/common/sampleEngines.cpp (``printPlanVersion``)
"""

import stat
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

T = TypeVar("T")


class _UnknownError(Exception):
    """A file does not have the form that was expected."""


def _read_once(read: Callable[[BinaryIO, int], T]) -> Callable[[Path], T | None]:
    """Reads regular files, links not included, and remembers the latest answers until the file changes."""

    @lru_cache(maxsize=64)
    def found(path: Path, size: int, changed: int) -> T | None:
        try:
            with path.open("rb") as file:
                return read(file, size)
        except (OSError, UnicodeDecodeError, _UnknownError):
            return None

    @wraps(read)
    def known(path: Path) -> T | None:
        try:
            state = path.lstat()
        except (OSError, ValueError):
            return None
        return found(path, state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None

    return known


# ---------------------------------------------------------------- TensorRT engines


_TAG = b"ftrt"
_HEADER = struct.Struct("<4sI16s4B")
_LAYOUT = 0


@_read_once
def engine_version(file: BinaryIO, size: int) -> tuple[int, int, int, int]:
    """Major, minor, patch and build of the TensorRT that built an engine; None if the file does not say."""
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise _UnknownError
    tag, layout, _, major, minor, patch, build = _HEADER.unpack(header)
    if (tag, layout) != (_TAG, _LAYOUT):
        raise _UnknownError
    return major, minor, patch, build


# ---------------------------------------------------------------- ONNX graphs


class OnnxTensor(msgspec.Struct, frozen=True):
    """An input or output. ``data_type`` is Triton's name, None for what it does not have; ``kind`` says what
    else than a tensor it is, such as `map`. ``shape`` is None where the file does not say; -1 is any size.
    """

    name: str
    data_type: str | None = None
    shape: tuple[int, ...] | None = None
    kind: str = "tensor"


class OnnxGraph(msgspec.Struct, frozen=True):
    """Inputs and outputs by name. ``optional`` are names of inputs with a value of their own."""

    inputs: dict[str, OnnxTensor]
    outputs: dict[str, OnnxTensor]
    optional: frozenset[str]


_TYPES = (
    *(None, "FP32", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL"),
    *("FP16", "FP64", "UINT32", "UINT64", None, None, "BF16"),
)
"""Triton's types in the order of ``TensorProto.DataType``."""
_KINDS = {1: "tensor", 4: "sequence", 5: "map", 7: "opaque value", 8: "sparse tensor", 9: "optional value"}
"""What an input or output can be, by the number of its field in ``TypeProto``."""
_MOST_FIELDS = 500_000
_LONGEST_NAME = 4096
# A key and a length, or a number.
_LONGEST_HEAD = 20


@_read_once
def onnx_graph(file: BinaryIO, size: int) -> OnnxGraph:
    """The inputs and outputs of an ONNX file; None if it does not say."""
    message = _Message(file, [_MOST_FIELDS], 0, size)
    # Numbers of fields in ``ModelProto``, ``GraphProto``, ``SparseTensorProto`` and ``TensorProto``.
    inputs: dict[str, OnnxTensor] = {}
    outputs: dict[str, OnnxTensor] = {}
    optional: set[str] = set()
    for field in message.inside(7):
        match field.number:
            case 5:
                optional.add(field.inner.text(8))
            case 11 | 12:
                tensor = _onnx_tensor(field.inner)
                (inputs if field.number == 11 else outputs)[tensor.name] = tensor
            case 15:
                optional.update(values.inner.text(8) for values in field.inner.fields() if values.number == 1)
    if not outputs:
        raise _UnknownError
    return OnnxGraph(inputs, outputs, frozenset(optional & inputs.keys()))


def _onnx_tensor(message: "_Message") -> OnnxTensor:
    """The tensor of a ``ValueInfoProto``."""
    name = message.text(1)
    for field in message.inside(2):
        if field.number == 1:
            return _typed(name, field.inner)
        if field.number in _KINDS:
            return OnnxTensor(name, kind=_KINDS[field.number])
    return OnnxTensor(name)


def _typed(name: str, message: "_Message") -> OnnxTensor:
    """The tensor of a ``TypeProto.Tensor``."""
    data_type, shape = None, None
    for field in message.fields():
        if field.number == 1:
            data_type = _TYPES[field.value] if field.value < len(_TYPES) else None
        elif field.number == 2:
            # Each has a size, or a name for any size.
            shape = tuple(dim.inner.number(1) for dim in field.inner.fields() if dim.number == 1)
    return OnnxTensor(name, data_type, shape)


class _MessageField(msgspec.Struct, frozen=True):
    """A field: its number, and the number or the message that is its value."""

    number: int
    value: int
    inner: "_Message"


class _Message(msgspec.Struct, frozen=True):
    """A protocol buffer in a file, from one byte to another, of which only heads of fields are read.

    ``left`` counts down the fields that may still be read, in this message and in all others of the file.
    https://protobuf.dev/programming-guides/encoding/
    """

    file: BinaryIO
    left: list[int]
    at: int
    end: int

    def fields(self) -> Iterator[_MessageField]:
        """The fields, in order."""
        at = self.at
        while at < self.end:
            self.left[0] -= 1
            self.file.seek(at)
            head = self.file.read(min(_LONGEST_HEAD, self.end - at))
            key, used = _number(head, 0)
            value, length = 0, {1: 8, 5: 4}.get(key & 7, 0)
            if key & 7 in (0, 2):
                value, used = _number(head, used)
                length = value if key & 7 == 2 else 0
            elif not length:
                raise _UnknownError
            if not key >> 3:
                # No field has this number: zeros are none, as in a file of which only the size is known.
                raise _UnknownError
            start, at = at + used, at + used + length
            if at > self.end or self.left[0] < 0:
                raise _UnknownError
            yield _MessageField(key >> 3, value, _Message(self.file, self.left, start, at))

    def inside(self, number: int) -> Iterator[_MessageField]:
        """The fields of the fields with this number."""
        for field in self.fields():
            if field.number == number:
                yield from field.inner.fields()

    def number(self, number: int) -> int:
        """The value of a field; -1 if there is none."""
        return next((field.value for field in self.fields() if field.number == number), -1)

    def text(self, number: int) -> str:
        """The text in a field, empty if there is none."""
        found = next((field.inner for field in self.fields() if field.number == number), None)
        if found is None:
            return ""
        if found.end - found.at > _LONGEST_NAME:
            raise _UnknownError
        self.file.seek(found.at)
        return self.file.read(found.end - found.at).decode()


def _number(head: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends. Below zero it counts from the other end of 64 bits."""
    value = 0
    for place, byte in enumerate(head[at : at + 10]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (value - (1 << 64) if value >> 63 else value), at + place + 1
    raise _UnknownError

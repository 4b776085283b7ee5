"""ONNX files with next to nothing in them, written without the package `onnx`.

https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from collections.abc import Mapping, Sequence

FLOAT, INT64, STRING, FLOAT16 = 1, 7, 8, 10

Shape = Sequence[int | str] | None
"""A size, or a name for any size; None if the file does not say."""
Tensors = Mapping[str, tuple[int, Shape]]


def number(value: int) -> bytes:
    """A number of variable length."""
    rest = value & (1 << 64) - 1
    parts = bytearray()
    while rest > 127:
        parts.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*parts, rest])


def field(place: int, value: int | str | bytes) -> bytes:
    """A field of a message: a number, a text, or a message."""
    if isinstance(value, int):
        return number(place << 3) + number(value)
    content = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(content)) + content


def tensor(name: str, kind: int, shape: Shape) -> bytes:
    """A `ValueInfoProto`."""
    sizes = (field(1, field(1, it) if isinstance(it, int) else field(2, it)) for it in shape or ())
    written = b"" if shape is None else field(2, b"".join(sizes))
    return field(1, name) + field(2, field(1, field(1, kind) + written))


def initializer(name: str, values: bytes, dims: Sequence[int], kind: int = FLOAT) -> bytes:
    """A `TensorProto`: weights."""
    return b"".join(field(1, size) for size in dims) + field(2, kind) + field(8, name) + field(9, values)


def node(operator: str, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """A `NodeProto`."""
    return b"".join([*(field(1, it) for it in inputs), *(field(2, it) for it in outputs), field(4, operator)])


def onnx_file(
    inputs: Tensors, outputs: Tensors, nodes: Sequence[bytes], weights: Sequence[bytes] = (), ir: int = 8
) -> bytes:
    """The content of an ONNX file."""
    graph = [field(1, it) for it in nodes]
    graph += [field(2, "graph"), *(field(5, it) for it in weights)]
    graph += [field(11, tensor(name, *it)) for name, it in inputs.items()]
    graph += [field(12, tensor(name, *it)) for name, it in outputs.items()]
    return field(1, ir) + field(7, b"".join(graph)) + field(8, field(1, "") + field(2, 13))


def doubling(name: str = "X", answer: str = "Y", size: int = 2) -> bytes:
    """A file that adds its input, of any batch, to itself."""
    shape = (FLOAT, ("batch", size))
    return onnx_file({name: shape}, {answer: shape}, [node("Add", [name, name], [answer])])

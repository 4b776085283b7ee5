"""Writes the ONNX graph of docs/examples/spam: score = sigmoid(counts @ weights + bias).

The graph is a few hundred bytes of protobuf (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), written
here without the `onnx` package: the numbers of its fields have never changed, and those used here are few.
"""

import struct
from collections.abc import Sequence

from tools.generated_files import ROOT, Contents

GRAPH = ROOT / "docs" / "examples" / "spam" / "scorer.onnx"
# In the order of VOCABULARY in words.py: four words of spam, four of colleagues.
WEIGHTS = (1.5, 1.0, 2.0, 2.0, -1.0, -1.5, -1.5, -1.0)
BIAS = -1.0
_FLOAT = 1
_IR_VERSION, _OPSET = 8, 13

Field = tuple[int, int | str | bytes]


def model() -> bytes:
    """A ModelProto."""
    opset = _message((2, _OPSET))
    return _message((1, _IR_VERSION), (2, "inferstack"), (7, _graph()), (8, opset))


def _graph() -> bytes:
    """Its GraphProto: Gemm and Sigmoid, on batches of any size."""
    gemm = _node("Gemm", ["counts", "weights", "bias"], "logit")
    sigmoid = _node("Sigmoid", ["logit"], "score")
    weights, bias = _constant("weights", (len(WEIGHTS), 1), WEIGHTS), _constant("bias", (1,), (BIAS,))
    counts, score = _tensor("counts", len(WEIGHTS)), _tensor("score", 1)
    return _message((1, gemm), (1, sigmoid), (2, "spam"), (5, weights), (5, bias), (11, counts), (12, score))


def _node(kind: str, inputs: Sequence[str], output: str) -> bytes:
    return _message(*((1, name) for name in inputs), (2, output), (4, kind))


def _constant(name: str, dims: Sequence[int], values: Sequence[float]) -> bytes:
    raw = struct.pack(f"<{len(values)}f", *values)
    return _message(*((1, size) for size in dims), (2, _FLOAT), (8, name), (9, raw))


def _tensor(name: str, size: int) -> bytes:
    """A ValueInfoProto of floats, whose first dimension is the batch."""
    shape = _message((1, _message((2, "batch"))), (1, _message((1, size))))
    return _message((1, name), (2, _message((1, _message((1, _FLOAT), (2, shape))))))


def _message(*fields: Field) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: int | str | bytes) -> bytes:
    """A field on the wire: numbers are varints, all else has its length in front."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def generate() -> Contents:
    return {GRAPH: model()}

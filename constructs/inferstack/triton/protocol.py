"""How requests and answers name and carry tensors, on SageMaker's port as on Triton's own.

The protocol: https://github.com/kserve/open-inference-protocol, and how binary tensors follow the JSON:
https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md
"""

import struct
from typing import Any

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

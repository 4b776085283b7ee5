"""Files with the values of one tensor."""

import math
import struct
from typing import Any

from inferstack.triton.model import TritonModel
from inferstack.triton.protocol import BF16, FORMATS, data_type
from inferstack.triton.repository.lfs import pointer_in

_SIZES = {**{name: struct.calcsize(f"<{form}") for name, form in FORMATS.items()}, BF16: 2}
"""Bytes of a value, by the protocol's name of its type."""


def too_short(model: TritonModel, path: str, tensor: Any) -> str | None:
    """How a file in a model's folder is too short for its tensor, in words; None where it suffices, is not
    here, or holds texts, which have any length.
    """
    local = model.files.get(path)
    size = _SIZES.get(data_type(tensor))
    if local is None or size is None or not local.is_file():
        return None
    pointer = pointer_in(local)
    has = local.stat().st_size if pointer is None else pointer.size
    needed = math.prod(tensor.dims) * size
    return f"has {has} bytes, and {needed} are needed" if has < needed else None

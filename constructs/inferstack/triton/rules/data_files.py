"""Files with the values of one tensor."""

import math
from typing import Any

from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.repository.lfs import pointer_in

_SIZES = {"BOOL": 1, "UINT8": 1, "INT8": 1, "UINT16": 2, "INT16": 2, "FP16": 2, "BF16": 2}
_SIZES |= {"UINT32": 4, "INT32": 4, "FP32": 4, "UINT64": 8, "INT64": 8, "FP64": 8}


def too_short(model: TritonModel, path: str, tensor: Any) -> str | None:
    """How a file in a model's folder is too short for its tensor, in words; None where it suffices, is not
    here, or holds texts, which have any length.
    """
    local = model.files.get(path)
    size = _SIZES.get(enum_name(tensor, "data_type").removeprefix("TYPE_"))
    if local is None or size is None or not local.is_file():
        return None
    pointer = pointer_in(local)
    has = local.stat().st_size if pointer is None else pointer.size
    needed = math.prod(tensor.dims) * size
    return f"has {has} bytes, and {needed} are needed" if has < needed else None

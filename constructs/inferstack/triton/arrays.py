"""The values of one tensor as a numpy array, as the protocol's bytes, and as a list in JSON."""

import json
import struct
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inferstack.triton.protocol import BF16, BYTES, FORMATS, BodyError, length_first, texts_in

Array = NDArray[Any]
_BF16_BITS = 16


def type_of(array: Array) -> str:
    """The protocol's name for an array's type; numpy's where the protocol has none."""
    if array.dtype.kind in "OSU":
        return BYTES
    if array.dtype.name == "bfloat16":
        return BF16
    plain = array.dtype.newbyteorder("=")
    return next((name for name, form in FORMATS.items() if np.dtype(form) == plain), array.dtype.name)


def to_bytes(array: Array, data_type: str) -> bytes:
    """The values as they follow the JSON in a body: little-endian, in row-major order."""
    if data_type == BYTES:
        return b"".join(map(length_first, texts(array)))
    if data_type == BF16:
        return _bf16_bits(array).astype("<u2").tobytes()
    return array.astype(f"<{FORMATS[data_type]}" if data_type != "BOOL" else "?").tobytes()


def from_bytes(data: bytes, data_type: str, shape: tuple[int, ...]) -> Array:
    """The array of binary values. Texts come as `bytes` objects, BF16 as float32, which has all its values.

    Raises:
        BodyError: when the number of bytes does not match type and shape, or there is no such type.
    """
    if data_type == BYTES:
        found = list(texts_in(data))
        array = np.array(found, dtype=object)
    elif data_type == BF16:
        array = (np.frombuffer(data, "<u2").astype("<u4") << _BF16_BITS).view("<f4")
    elif data_type in FORMATS and len(data) % struct.calcsize(FORMATS[data_type]) == 0:
        array = np.frombuffer(data, np.dtype(FORMATS[data_type]).newbyteorder("<"))
    else:
        raise BodyError([f"{len(data)} bytes do not hold values of the type {data_type}"])
    if array.size != prod(shape):
        raise BodyError([f"found {array.size} values for the shape {list(shape)}"])
    return array.reshape(shape)


def to_json(array: Array, data_type: str) -> list[Any]:
    """The values in one flat list, as JSON carries them.

    Raises:
        BodyError: for values that JSON cannot carry: NaN, infinity, texts that are not UTF-8.
    """
    if data_type == BYTES:
        try:
            return [text.decode() for text in texts(array)]
        except UnicodeDecodeError:
            raise BodyError(["JSON cannot carry texts that are not UTF-8; make a binary body"]) from None
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise BodyError(["JSON cannot carry NaN and infinity; make a binary body"])
    values: list[Any] = array.ravel().tolist()
    return values


def from_json(values: Any, data_type: str, shape: tuple[int, ...] | None = None) -> Array:
    """The array of values in JSON, flat or nested; with ``shape`` in that shape.

    Raises:
        BodyError: when the values are not of the type, or do not fill the shape.
    """
    try:
        array = _typed(values, data_type)
    except (ValueError, TypeError, OverflowError) as error:
        raise BodyError([f"{_shortened(values)} is not of the type {data_type}: {error}"]) from None
    if shape is not None and array.size != prod(shape):
        raise BodyError([f"found {array.size} values for the shape {list(shape)}"])
    return array if shape is None else array.reshape(shape)


def _typed(values: Any, data_type: str) -> Array:
    # As objects: by default numpy converts all values to one type, and rounds large integers for it.
    plain = np.array(values, dtype=object)
    allowed = _PYTHON_TYPES.get(data_type, (int,))
    if not all(type(it) in allowed for it in plain.ravel()):
        raise ValueError("some values are of another type, or lists have different lengths")
    if data_type == BYTES:
        return plain
    array = _in_range(plain, np.dtype("f4" if data_type == BF16 else FORMATS[data_type]))
    return _rounded_to_bf16(array) if data_type == BF16 else array


_FLOATS = (int, float)
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    BYTES: (str,),
    "BOOL": (bool,),
    **dict.fromkeys(("FP16", BF16, "FP32", "FP64"), _FLOATS),
}


def _in_range(values: Array, wanted: np.dtype[Any]) -> Array:
    if wanted.kind in "iu" and values.size:
        bounds = np.iinfo(wanted)
        # numpy 1 lets integers overflow.
        if not bounds.min <= min(values.ravel()) <= max(values.ravel()) <= bounds.max:
            raise ValueError(f"allowed: {bounds.min} to {bounds.max}")
    with np.errstate(over="ignore"):
        array = values.astype(wanted)
    if wanted.kind == "f" and np.isinf(array).any() and not np.isinf(values.astype("f8")).any():
        raise ValueError("a value is too large")
    return array


def texts(array: Array) -> Iterator[bytes]:
    """The texts of an array as bytes, in UTF-8 where they are `str`, however numpy holds them.

    Raises:
        BodyError: for an object that is not text, and for a text with half a character (a lone surrogate).
    """
    for value in array.ravel():
        if isinstance(value, bytes):
            yield bytes(value)
        elif isinstance(value, str):
            yield _utf8(value)
        else:
            raise BodyError([f"{_shortened(value)} is not text"])


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise BodyError([f"{_shortened(text)!a} has half a character, {half}"]) from None


def is_exact_bf16(array: Array) -> bool:
    """Whether every value of a float32 array is one that BF16 has, so that nothing is rounded."""
    bits = np.ascontiguousarray(array.astype("<f4")).view("<u4")
    return not bool((bits & 0xFFFF).any())


def _rounded_to_bf16(array: Array) -> Array:
    """Rounds to the nearest value of BF16, ties to even, as a decimal number is rounded in any type."""
    bits = array.view("<u4").astype("<u8")
    nearest: Array = (bits + 0x7FFF + ((bits >> _BF16_BITS) & 1)) & 0xFFFF0000
    return nearest.astype("<u4").view("<f4")


def _bf16_bits(array: Array) -> Array:
    if array.dtype.name == "bfloat16":
        return np.ascontiguousarray(array).view("<u2")
    return np.ascontiguousarray(array.astype("<f4")).view("<u4") >> _BF16_BITS


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=repr)
    return text if len(text) <= 60 else f"{text[:59]}…"

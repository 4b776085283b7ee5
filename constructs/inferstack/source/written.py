"""Plain data as YAML text: short mappings and lists in flow style, everything else in block style."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inferstack.source.scalars import plain_scalar

_LONGEST_FLOW = 80
# Text that means itself without quotes, in flow style and in every version of YAML.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)*")
# To readers of YAML 1.1 these are not text.
_OLD_WORDS = re.compile("(?i:y|n|yes|no|on|off)")


def document_text(data: Mapping[str, Any], comments: Iterable[str] = ()) -> str:
    """A document in block style, after lines of comments."""
    lines = [f"# {it}" for it in comments]
    for key, value in data.items():
        lines += entry_lines(key, value)
    return "\n".join(lines) + "\n"


def in_flow(value: Any) -> str:
    """A value on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{scalar(key)}: {in_flow(it)}" for key, it in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(in_flow, value)) + "]"
    return scalar(value)


def entry_lines(key: str, value: Any) -> list[str]:
    """The lines of an entry of a mapping in block style."""
    if _fits_a_line(value):
        return [f"{scalar(key)}: {in_flow(value)}"]
    return [f"{scalar(key)}:", *(f"  {line}" for line in _lines(value))]


def item_lines(value: Any) -> list[str]:
    """The lines of an item of a list in block style."""
    first, *others = [in_flow(value)] if _fits_a_line(value) else _lines(value)
    return [f"- {first}", *(f"  {line}" for line in others)]


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, it in value.items():
            yield from entry_lines(key, it)
    else:
        for it in value:
            yield from item_lines(it)


def _fits_a_line(value: Any) -> bool:
    if not isinstance(value, dict | list | tuple) or not value:
        return True
    inside = value.values() if isinstance(value, dict) else value
    is_flat = not any(isinstance(it, dict | list | tuple) and it for it in inside)
    return is_flat and len(in_flow(value)) <= _LONGEST_FLOW


def scalar(value: Any, quote: str = "") -> str:
    """A scalar; text in the quotes that it had, as far as they can hold it.

    Raises:
        ValueError: for what is not plain data.
    """
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return _text(value, quote)
    raise ValueError(f"{value!r} cannot be written")


def _text(value: str, quote: str) -> str:
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    is_plain = _PLAIN.fullmatch(value) and plain_scalar(value) == value and not _OLD_WORDS.fullmatch(value)
    if is_plain and quote != '"':
        return value
    return json.dumps(value, ensure_ascii=not value.isprintable())

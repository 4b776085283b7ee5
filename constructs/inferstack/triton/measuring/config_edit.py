"""Edits of a `config.pbtxt` that leave its comments and everything else as they are."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from inferstack.triton.config import ConfigError, parse_text, print_text

# Comments and texts come first, as brackets in them do not count.
_TOKEN = re.compile(
    r"""\#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\[\]{}<>]|[:;,]|[^\s\#"'\[\]{}<>:;,]+"""
)
_OPEN, _CLOSE = ("[", "{", "<"), ("]", "}", ">")
_BEGINS, _BETWEEN = (":", *_OPEN), (";", ",")


def edited_text(text: str, before: Any, wanted: Any) -> str:
    """The text of a configuration with the fields that differ between two messages, and otherwise the same.

    ``before`` is what the text says.

    Raises:
        ConfigError: when the text is laid out so that the result would say something else.
    """
    names = [it.name for it in before.DESCRIPTOR.fields if _only(before, it.name) != _only(wanted, it.name)]
    made = text
    for name in names:
        made = _with_field(made, name, print_text(_only(wanted, name)).rstrip("\n"))
    if parse_text(made) != wanted:
        raise ConfigError("the file is laid out in an unusual way; change it by hand")
    return made


def _only(config: Any, name: str) -> Any:
    """A message with nothing but one field of another."""
    made = type(config)()
    made.CopyFrom(config)
    for field, _ in config.ListFields():
        if field.name != name:
            made.ClearField(field.name)
    return made


def _with_field(text: str, name: str, new: str) -> str:
    """Puts ``new`` where a field of the top is first, or at the end, and removes it elsewhere."""
    spans = [(start, end) for found, start, end in _fields(text) if found == name]
    if not spans:
        return f"{text.rstrip()}\n{new}\n" if new else text
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    pieces = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    first, *others = pieces
    # Of the blanks between two removed fields, one is enough.
    rest = "".join(it if it.strip() else it[:1] for it in others)
    return f"{first}{new}{rest}" if new else f"{first.rstrip(' ')}{rest.lstrip(' ').removeprefix(chr(10))}"


def _fields(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each field of the top."""
    found = [it for it in _TOKEN.finditer(text) if it[0][0] != "#"]
    depth, starts = 0, list[int]()
    for at, one in enumerate(found):
        depth += (one[0] in _OPEN) - (one[0] in _CLOSE)
        following = found[at + 1][0] if at + 1 < len(found) else ""
        if depth == 0 and following in _BEGINS and one[0] not in (*_CLOSE, ":"):
            starts.append(at)
    for start, end in pairwise([*starts, len(found)]):
        last = next(it for it in reversed(found[start:end]) if it[0] not in _BETWEEN)
        yield found[start][0], found[start].start(), last.end()

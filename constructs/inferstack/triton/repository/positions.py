"""Where each field of a ``config.pbtxt`` is.

protobuf parses the text but keeps no positions, and its tokenizer keeps them to itself. This scanner reads
text that protobuf has accepted, so it need not find mistakes, only places.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.triton.model import FieldPath, is_map, is_repeated
from inferstack.triton.repository.config import model_config_class

Position = tuple[int, int]
"""Line and column, from 1."""

_TOKEN = (
    r"""(?P<skip>\s+|\#[^\n]*|[:;,])"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<word>-?\s*[\w.+][\w.+-]*)"""
    r"""|(?P<mark>.)"""
)
_OPEN, _CLOSE = ("{", "<"), ("}", ">")


class _Token(msgspec.Struct, frozen=True):
    kind: str
    text: str
    at: Position


class _Tokens:
    """The tokens of a text, with one to look ahead; past the end comes an empty one."""

    def __init__(self, text: str) -> None:
        self._rest = _tokens(text)
        self._end = _Token("mark", "", (1, 1))
        self.next = next(self._rest, self._end)

    def take(self) -> _Token:
        taken, self.next = self.next, next(self._rest, self._end)
        return taken


def _tokens(text: str) -> Iterator[_Token]:
    line, start = 1, 0
    for found in re.finditer(_TOKEN, text, re.DOTALL):
        kind = str(found.lastgroup)
        if kind != "skip":
            yield _Token(kind, found[0], (line, found.start() - start + 1))
        if "\n" in found[0]:
            line += found[0].count("\n")
            start = found.start() + found[0].rindex("\n") + 1


def field_positions(text: str) -> Mapping[FieldPath, Position]:
    """Line and column of every field by its path, for a text that protobuf can parse.

    Entries of maps are under their key, items of lists under their index; a list is also under its own name,
    at the place of its first item.
    """
    positions: dict[FieldPath, Position] = {}
    for path, at, _ in _message(_Tokens(text), model_config_class().DESCRIPTOR):
        positions.setdefault(path, at)
    return positions


_Found = tuple[FieldPath, Position, str]
"""Path of a field, its place, and its text if it is a scalar."""


def _message(tokens: _Tokens, descriptor: Any) -> Iterator[_Found]:
    """The fields up to the end of a message, with what is in them."""
    counts: dict[str, int] = {}
    while tokens.next.text and tokens.next.text not in _CLOSE:
        name = tokens.take()
        field = descriptor.fields_by_name.get(name.text)
        listed = tokens.next.text == "["
        for value in _values(tokens, field, name.at):
            yield from _placed(field, name, counts, value, listed=listed)
    tokens.take()


def _values(tokens: _Tokens, field: Any, at: Position) -> Iterator[list[_Found]]:
    """The value of a field, or each value of a list in brackets."""
    if tokens.next.text != "[":
        yield _value(tokens, field, at)
        return
    tokens.take()
    while tokens.next.text not in ("]", ""):
        yield _value(tokens, field, tokens.next.at)
    tokens.take()


def _value(tokens: _Tokens, field: Any, at: Position) -> list[_Found]:
    """A value: itself first, with an empty path, then the fields in it."""
    if tokens.next.text in _OPEN:
        tokens.take()
        return [((), at, ""), *_message(tokens, field.message_type)]
    text = tokens.take()
    while text.kind == "text" and tokens.next.kind == "text":
        # Adjacent strings are one string.
        text = _Token("text", text.text[:-1] + tokens.take().text[1:], text.at)
    return [((), at, text.text)]


def _placed(
    field: Any, name: _Token, counts: dict[str, int], value: list[_Found], *, listed: bool
) -> Iterator[_Found]:
    """A value of a field, with paths from the message that the field is in."""
    prefix: FieldPath = (name.text,)
    if field is not None and is_map(field):
        # A key that is not written is the empty text, or zero.
        empty = str(field.message_type.fields_by_name["key"].default_value)
        key = next((text for path, _, text in value if path == ("key",)), empty)
        prefix = (name.text, _unquoted(key))
        value = [(path[1:], at, text) for path, at, text in value if path[:1] in ((), ("value",))]
    elif field is not None and is_repeated(field):
        index = counts.get(name.text, 0)
        counts[name.text] = index + 1
        prefix = (name.text, index)
    if len(prefix) > 1:
        yield (name.text,), name.at, ""
    for path, at, text in value:
        yield (*prefix, *path), name.at if path == () and not listed else at, text


def _unquoted(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text
    if "\\" not in text:
        return text[1:-1]
    from google.protobuf import text_encoding  # noqa: PLC0415 - few texts need it

    return text_encoding.CUnescape(text[1:-1]).decode(errors="replace")

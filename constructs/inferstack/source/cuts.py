"""Where the text of a spec is cut for a single change, and what is put there.

The caller that applies a cut reads the result again: a cut is only where the text most likely has to change.
"""

from typing import Any, NamedTuple

from msgspec import UNSET

from inferstack.problems import SpecPath, dotted
from inferstack.source.pieces import Piece
from inferstack.source.spec_file import LINE_BREAK
from inferstack.source.written import entry_lines, in_flow, item_lines, scalar


class NotEditableError(Exception):
    """Why an edit is refused."""


class Cut(NamedTuple):
    """New text instead of that from ``start`` to ``end``."""

    start: int
    end: int
    new: str


def cut(root: Piece, text: str, path: SpecPath, value: Any) -> Cut:
    """The cut that gives a text another value at a path, or removes it for ``UNSET``.

    Raises:
        NotEditableError: when that cannot be done by a cut.
    """
    piece = root
    for depth, step in enumerate(path):
        at = piece.index(step)
        if at is None:
            return _addition(piece, text, path[depth:], value)
        if value is UNSET and depth == len(path) - 1:
            return _removal(piece, text, at)
        piece = piece.entries[at].value
        if piece.style == "*":
            message = f"`{dotted(path[: depth + 1])}` is `*{piece.anchor}`, which stands for text elsewhere"
            raise NotEditableError(message)
    return _replacement(piece, text, value)


def _replacement(piece: Piece, text: str, value: Any) -> Cut:
    old = text[piece.start : piece.end]
    if piece.anchor is not None:
        raise NotEditableError(f"the value has an anchor, `&{piece.anchor}`")
    if piece.style in ("|", ">") or (piece.is_collection and "#" in old):
        raise NotEditableError("the value has several lines, and perhaps comments")
    flow = piece.is_collection or isinstance(value, dict | list | tuple)
    new = in_flow(value) if flow else scalar(value, piece.style)
    # A value that was left out begins right after the colon.
    return Cut(piece.start, piece.end, new if old else f" {new}")


# ---------------------------------------------------------------- what is not there yet


def _addition(piece: Piece, text: str, path: SpecPath, value: Any) -> Cut:
    """Adds the entry that a path leads to, with all that is missing on the way."""
    step = path[0]
    if value is UNSET:
        raise NotEditableError("the value comes from a `<<`")
    for below in reversed(path[1:]):
        value = {below: value} if isinstance(below, str) else [value]
    if not piece.is_collection:
        if text[piece.start : piece.end] not in ("", "~", "null"):
            raise NotEditableError("the value there is not a mapping or list")
        return _replacement(piece, text, {step: value} if isinstance(step, str) else [value])
    if isinstance(step, str) != (piece.style == "{"):
        raise NotEditableError("the value there is a list, not a mapping, or the other way round")
    if isinstance(step, int) and step != len(piece.entries):
        raise NotEditableError(f"the list has {len(piece.entries)} items")
    if not piece.is_block:
        return _in_flow_style(piece, step, value)
    return _in_block_style(piece, text, step, value)


def _in_flow_style(piece: Piece, step: str | int, value: Any) -> Cut:
    new = in_flow({step: value})[1:-1] if isinstance(step, str) else in_flow(value)
    if not piece.entries:
        return Cut(piece.end - 1, piece.end - 1, new)
    end = piece.entries[-1].value.end
    return Cut(end, end, f", {new}")


def _in_block_style(piece: Piece, text: str, step: str | int, value: Any) -> Cut:
    column = _column(piece, text)
    lines = entry_lines(step, value) if isinstance(step, str) else item_lines(value)
    newline = _newline(text)
    new = [f"{' ' * column}{line}" for line in lines]
    if column == 0 and _is_spaced(piece, text):
        new.insert(0, "")
    end = _line_end(text, piece.end)
    # After a text of several lines, its end is the beginning of the next line.
    if piece.end > 0 and text[piece.end - 1] in "\r\n":
        return Cut(piece.end, piece.end, "".join(f"{line}{newline}" for line in new))
    return Cut(end, end, "".join(f"{newline}{line}" for line in new))


def _column(piece: Piece, text: str) -> int:
    """The column of the keys, or of the dashes."""
    start = piece.entries[0].start
    before = text[_line_start(text, start) : start]
    if piece.style == "{":
        return len(before)
    if not before.rstrip(" ").endswith("-"):
        raise NotEditableError("the list is laid out in an unusual way")
    return before.rindex("-")


def _is_spaced(piece: Piece, text: str) -> bool:
    """Whether an empty line separates the last entry from the one before."""
    *_, before, last = (piece.entries[0], *piece.entries)
    return "" in LINE_BREAK.split(text[before.value.end : last.start])[1:-1]


def _newline(text: str) -> str:
    found = LINE_BREAK.search(text)
    return "\n" if found is None else found[0]


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_end(text: str, at: int) -> int:
    """Where the line ends, before its line break."""
    found = LINE_BREAK.search(text, at)
    return len(text) if found is None else found.start()


# ---------------------------------------------------------------- what is removed


def _removal(piece: Piece, text: str, at: int) -> Cut:
    entries = piece.entries
    start, end = entries[at].start, entries[at].value.end
    if len(entries) == 1:
        return _replacement(piece, text, {} if piece.style == "{" else [])
    if not piece.is_block:
        if at + 1 < len(entries):
            return Cut(start, entries[at + 1].start, "")
        return Cut(entries[at - 1].value.end, end, "")
    line = _line_start(text, start)
    if text[line:start].strip(" ").strip("-").strip(" "):
        raise NotEditableError("the entry shares its line with others")
    if piece.style == "{" and "-" in text[line:start]:
        # The first key of a mapping in a list: the dash stays.
        following = entries[at + 1].start
        if "#" in text[start:following]:
            raise NotEditableError("the entry shares its line with the dash, and has a comment")
        return Cut(start, following, "")
    return Cut(line, _next_line(text, end), "")


def _next_line(text: str, at: int) -> int:
    if at > 0 and text[at - 1] in "\r\n":
        return at
    found = LINE_BREAK.search(text, at)
    return len(text) if found is None else found.end()

"""Where each value of a YAML text begins and ends, so that one can be replaced and the rest stays."""

from collections.abc import Iterator

import msgspec
import yaml

from inferstack.source.events import events

MERGE_KEY = "<<"


class Piece(msgspec.Struct, frozen=True, eq=False):
    """The text of a value: from ``start`` to ``end``, in characters.

    A mapping or list in block style ends where the last value in it does, before any comment.
    """

    start: int
    end: int
    style: str
    """``{`` or ``[``, also in block style; ``*`` for an alias; for a scalar ``|``, ``>`` or its quote."""
    is_block: bool = False
    """Whether a mapping or list is in block style."""
    entries: tuple["PieceEntry", ...] = ()
    anchor: str | None = None

    @property
    def is_collection(self) -> bool:
        """Whether it is a mapping or a list."""
        return self.style in ("{", "[")

    def index(self, step: str | int) -> int | None:
        """Which of the entries is under a key or at an index; None if none is."""
        if isinstance(step, int):
            return step if self.style == "[" and 0 <= step < len(self.entries) else None
        found = (at for at, entry in enumerate(self.entries) if entry.name == step)
        return next(found, None)


class PieceEntry(msgspec.Struct, frozen=True, eq=False):
    """An entry of a mapping, or an item of a list, which has no ``name``. ``start`` is that of the key."""

    start: int
    name: str | None
    value: Piece


def pieces_of(file: str, text: str) -> Piece:
    """The pieces of a text that has been read before, so that it is known to be bounded.

    Raises:
        SpecError: when it is not YAML.
    """
    stream = events(file, text)
    nodes = (event for event in stream if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent))
    return _piece(next(nodes), nodes)


def _piece(event: yaml.Event, following: Iterator[yaml.Event]) -> Piece:
    start, end = _span(event)
    match event:
        case yaml.AliasEvent():
            return Piece(start, end, "*", anchor=event.anchor)
        case yaml.ScalarEvent():
            return Piece(start, end, event.style or "", anchor=event.anchor)
        case yaml.MappingStartEvent():
            return _collection(event, "{", start, following)
        case yaml.SequenceStartEvent():
            return _collection(event, "[", start, following)
    raise TypeError(event)


def _collection(
    event: yaml.CollectionStartEvent, style: str, start: int, following: Iterator[yaml.Event]
) -> Piece:
    read = _entry if style == "{" else _item
    entries: list[PieceEntry] = []
    while not isinstance(last := next(following), yaml.CollectionEndEvent):
        entries.append(read(last, following))
    is_block = not event.flow_style
    # To the parser, a block ends after the comments and empty lines that follow it.
    end = entries[-1].value.end if is_block and entries else _span(last)[1]
    return Piece(start, end, style, is_block, tuple(entries), event.anchor)


def _span(event: yaml.Event) -> tuple[int, int]:
    start, end = event.start_mark, event.end_mark
    if start is None or end is None:
        raise TypeError(event)
    return start.index, end.index


def _entry(event: yaml.Event, following: Iterator[yaml.Event]) -> PieceEntry:
    key = _piece(event, following)
    # The reader refuses a key that is not text.
    name = event.value if isinstance(event, yaml.ScalarEvent) else None
    return PieceEntry(key.start, name, _piece(next(following), following))


def _item(event: yaml.Event, following: Iterator[yaml.Event]) -> PieceEntry:
    item = _piece(event, following)
    return PieceEntry(item.start, None, item)

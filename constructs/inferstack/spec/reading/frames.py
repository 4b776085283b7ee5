"""Mappings and lists that are still being read."""

from typing import NamedTuple

import msgspec

from inferstack.spec.reading.tree import Entry, Node, Position


class Key(NamedTuple):
    """A key whose value comes next. ``name`` is ``None`` if the value is to be dropped."""

    at: Position
    name: str | None
    is_merge: bool = False


class OpenList(msgspec.Struct, eq=False):
    """A list. ``before`` counts the values in front of it, ``below`` the levels of nesting inside it."""

    at: Position
    anchor: str | None
    before: int
    below: int = 0
    entries: list[Entry] = msgspec.field(default_factory=list)

    @property
    def step(self) -> int:
        """The index of the item that comes next."""
        return len(self.entries)


class OpenMapping(msgspec.Struct, eq=False):
    """A mapping. Only when it ends is it known which of the merged keys are replaced by its own keys."""

    at: Position
    anchor: str | None
    before: int
    below: int = 0
    entries: dict[str, Entry] = msgspec.field(default_factory=dict)
    key: Key | None = None
    merge_at: Position | None = None
    merge_index: int = 0
    merged: list[dict[str, Entry]] = msgspec.field(default_factory=list)

    @property
    def step(self) -> str | None:
        """The key whose value is being read."""
        return None if self.key is None else self.key.name

    def put(self, node: Node) -> None:
        """Takes the value of the pending key."""
        if self.key is not None and self.key.name is not None:
            self.entries[self.key.name] = Entry(self.key.at, node)
        self.key = None

    def all_entries(self) -> dict[str, Entry]:
        """Its own entries, and the merged ones in place of ``<<``: own keys win, then earlier mappings."""
        if not self.merged:
            return self.entries
        own = list(self.entries.items())
        new: dict[str, Entry] = {}
        for entries in self.merged:
            for name, entry in entries.items():
                if name not in self.entries:
                    new.setdefault(name, entry)
        return {**dict(own[: self.merge_index]), **new, **dict(own[self.merge_index :])}

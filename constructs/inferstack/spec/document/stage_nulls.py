"""What the `null`s of a stage remove: a key of the spec, or nothing if the spec has no such key."""

from collections.abc import Iterator, Mapping

import msgspec

from inferstack.spec.problem import SpecPath
from inferstack.spec.reading.tree import Entry, Node


class StageNulls(msgspec.Struct, frozen=True, eq=False):
    """The `null`s of a stage, by the path in the spec that each is about."""

    stage: str = ""
    effective: Mapping[SpecPath, Entry] = {}
    """Those that remove something."""
    idle: Mapping[SpecPath, Entry] = {}
    """Those for keys that the spec does not have."""

    def removed_at(self, path: SpecPath) -> SpecPath | None:
        """What the stage removed: this path, or one that it lies in; None where it removed neither."""
        upwards = (path[:length] for length in range(len(path), 0, -1))
        return next((it for it in upwards if it in self.effective), None)


NO_NULLS = StageNulls()


def nulls_of(stage: str, base: Node, override: Node) -> StageNulls:
    """The `null`s in a stage's overrides.

    A `null` in a list is a value like any other, since a list is replaced as a whole.
    """
    found = list(_nulls(base, override, ()))
    effective = {path: entry for path, entry, removes in found if removes}
    return StageNulls(stage, effective, {path: entry for path, entry, removes in found if not removes})


def _nulls(base: Node | None, override: Node, at: SpecPath) -> Iterator[tuple[SpecPath, Entry, bool]]:
    for name, entry in override.by_key.items():
        there = None if base is None else base.entry(name)
        if entry.node.data is None:
            yield (*at, name), entry, there is not None
        elif isinstance(entry.node.data, dict):
            yield from _nulls(None if there is None else there.node, entry.node, (*at, name))

"""From YAML text to a tree, keeping positions.

The tree is built from the parser's events with a stack of our own. PyYAML's composer recurses (in C, if
libyaml is there), so a file of a million brackets would crash the process. Depth and size are limited
while reading, before an alias can multiply anything.
"""

from itertools import islice
from typing import NamedTuple, NoReturn

import msgspec
import yaml

from inferstack.problems import FilePlace, Problem, SpecError, SpecPath, file_codes as codes
from inferstack.problems.words import describe, did_you_mean
from inferstack.source.events import events, position
from inferstack.source.scalars import (
    COLLECTION_TAGS,
    CORE_TAG,
    Scalar,
    UnfitScalarError,
    is_scalar_tag,
    plain_scalar,
    tag_fix,
    tag_name,
    tagged_scalar,
)
from inferstack.source.tree import DEEPEST, MOST_VALUES, START, Entry, Node, Position, list_node, mapping_node

# ----------------------------------------------------------------
# Mappings and lists that are still being read.


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


# ----------------------------------------------------------------
# From YAML text to a tree, keeping positions.


# Limited so that a hostile file with very many anchors costs no time.
_SEARCHED_ANCHORS = 200
_LONGEST_SHOWN = 60
_MERGE_FIX = "write `<<: *anchor` or `<<: [*first, *second]`, with anchors of mappings"
_MANY = f"the file holds more than {MOST_VALUES:,} keys and values, counting what aliases repeat"
_MANY_FIX = "is this a spec? If so, use fewer aliases or split it"
_VERSION = (1, 2)
_SECOND = "a second YAML document begins here"
_SECOND_FIX = "write each spec into a file of its own"


class _Anchored(NamedTuple):
    node: Node
    size: int
    levels: int


def compose(file: str, text: str) -> Node:
    """The tree of the single mapping that a spec file holds.

    Raises:
        SpecError: with every problem found, up to the place where reading has to stop.
    """
    composer = _Composer(file)
    try:
        for event in events(file, text):
            composer.take(event)
        root = composer.finish()
    except SpecError as end:
        raise SpecError([*composer.problems, *end.problems]) from None
    if composer.problems:
        raise SpecError(composer.problems)
    return root


class _Composer:
    def __init__(self, file: str) -> None:
        self._file = file
        self.problems: list[Problem] = []
        self._stack: list[OpenMapping | OpenList] = []
        self._anchors: dict[str, _Anchored | OpenMapping | OpenList] = {}
        self._count = 0
        self._root: Node | None = None

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event, position(event))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event, position(event))
            case yaml.CollectionEndEvent():
                self._close()
            case yaml.AliasEvent():
                self._alias(event.anchor or "", position(event))
            case yaml.DocumentStartEvent() if self._root is not None:
                self._stop(position(event), codes.SEVERAL_DOCUMENTS, _SECOND, _SECOND_FIX)
            case yaml.DocumentStartEvent(version=(_, _) as version) if tuple(version) != _VERSION:
                asked = ".".join(map(str, version))
                message = f"the file asks for YAML {asked}, but a spec is read as YAML 1.2"
                self._report(position(event), codes.SYNTAX, message, f"remove the line `%YAML {asked}`")

    def finish(self) -> Node:
        root = self._root
        if root is None or root.data is None:
            self._stop(START, codes.EMPTY, "the file holds no spec", "start with `kind:`")
        if not isinstance(root.data, dict):
            message = f"a spec must be a mapping, but this file holds {describe(root.data)}"
            self._report(root.at, codes.NOT_A_MAPPING, message, "start with `kind:`")
        return root

    # ---------------------------------------------------------------- values

    def _scalar(self, event: yaml.ScalarEvent, at: Position) -> None:
        self._grow(1, at)
        node = Node(at, self._value(event, at))
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(node, 1, 0)
        is_merge = event.value == "<<" and event.tag is None and event.implicit[0]
        self._add(node, at, levels=0, is_merge=is_merge)

    def _value(self, event: yaml.ScalarEvent, at: Position) -> Scalar:
        tag = event.tag
        try:
            if tag is None:
                return plain_scalar(event.value) if event.implicit[0] else event.value
            if tag == "!":
                return event.value
            if tag.startswith(CORE_TAG) and is_scalar_tag(tag.removeprefix(CORE_TAG)):
                return tagged_scalar(tag.removeprefix(CORE_TAG), event.value)
        except UnfitScalarError as error:
            self._report(at, codes.UNFIT_SCALAR, *error.args)
            return None
        self._bad_tag(tag, at)
        return None

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, at: Position) -> None:
        self._require_depth(1, at)
        before = self._count
        self._grow(1, at)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, "!", CORE_TAG + ("map" if is_mapping else "seq")):
            self._bad_tag(event.tag or "", at)
        frame = (OpenMapping if is_mapping else OpenList)(at, event.anchor, before)
        if event.anchor is not None:
            self._anchors[event.anchor] = frame
        self._stack.append(frame)

    def _close(self) -> None:
        frame = self._stack.pop()
        if isinstance(frame, OpenMapping):
            node = mapping_node(frame.at, frame.all_entries())
        else:
            node = list_node(frame.at, frame.entries)
        if frame.anchor is not None and self._anchors[frame.anchor] is frame:
            self._anchors[frame.anchor] = _Anchored(node, self._count - frame.before, frame.below + 1)
        self._add(node, frame.at, frame.below + 1)

    def _alias(self, anchor: str, at: Position) -> None:
        target = self._anchors.get(anchor)
        if target is None:
            anchor = anchor[:_LONGEST_SHOWN]
            message = f"there is no anchor `&{anchor}` above `*{anchor}`"
            self._stop(at, codes.UNKNOWN_ALIAS, message, self._similar(anchor))
        if not isinstance(target, _Anchored):
            message = f"`*{anchor}` is used inside the value that it refers to"
            self._stop(at, codes.RECURSIVE_ALIAS, message, "write the value out instead")
        self._require_depth(target.levels, at)
        self._grow(target.size, at)
        self._add(target.node, at, target.levels)

    # ---------------------------------------------------------------- where values go

    def _add(self, node: Node, at: Position, levels: int, *, is_merge: bool = False) -> None:
        if not self._stack:
            self._root = node
            return
        frame = self._stack[-1]
        frame.below = max(frame.below, levels)
        if isinstance(frame, OpenList):
            frame.entries.append(Entry(at, node))
        elif frame.key is None:
            frame.key = self._merge_key(frame, at) if is_merge else self._key(frame, node, at)
        elif frame.key.is_merge:
            self._merge(frame, node, at)
        else:
            frame.put(node)

    def _key(self, frame: OpenMapping, node: Node, at: Position) -> Key:
        name = node.data
        if not isinstance(name, str):
            fix = "quote it" if node.entries is None else "quote a text that starts with a bracket or a brace"
            self._report(at, codes.KEY_NOT_TEXT, f"a key must be text, found {describe(name)}", fix)
            return Key(at, None)
        first = frame.entries.get(name)
        if first is None:
            return Key(at, name)
        message = f"the key {describe(name)} is used twice in this mapping, first on line {first.at.line}"
        self._report(at, codes.DUPLICATE_KEY, message, "keep one of them", name)
        return Key(at, None)

    def _merge_key(self, frame: OpenMapping, at: Position) -> Key:
        if frame.merge_at is not None:
            message = f"`<<` is used twice in this mapping, first on line {frame.merge_at.line}"
            self._report(at, codes.DUPLICATE_KEY, message, "merge both at once: `<<: [*first, *second]`")
            return Key(at, None)
        frame.merge_at = at
        frame.merge_index = len(frame.entries)
        return Key(at, None, is_merge=True)

    def _merge(self, frame: OpenMapping, node: Node, at: Position) -> None:
        frame.key = None
        items = node.entries if isinstance(node.entries, list) else [Entry(at, node)]
        for item in items:
            if isinstance(item.node.entries, dict):
                frame.merged.append(item.node.entries)
            else:
                message = f"`<<` takes a mapping or a list of mappings, not {describe(item.node.data)}"
                self._report(item.at, codes.MERGE, message, _MERGE_FIX)

    # ---------------------------------------------------------------- bounds and problems

    def _grow(self, size: int, at: Position) -> None:
        self._count += size
        if self._count > MOST_VALUES:
            self._stop(at, codes.TOO_MANY_VALUES, _MANY, _MANY_FIX)

    def _require_depth(self, levels: int, at: Position) -> None:
        if len(self._stack) + levels > DEEPEST:
            message = f"mappings and lists are nested more than {DEEPEST} levels deep"
            self._stop(at, codes.TOO_DEEP, message, "close brackets earlier: a spec needs about ten levels")

    def _bad_tag(self, tag: str, at: Position) -> None:
        if tag in COLLECTION_TAGS:
            message, fix = f"the value is not {COLLECTION_TAGS[tag]}, as its tag says", "remove the tag"
        else:
            message, fix = f"the tag `{tag_name(tag)}` is not allowed", tag_fix(tag)
        self._report(at, codes.TAG, message, fix)

    def _similar(self, anchor: str) -> str:
        known = [f"*{name}" for name in islice(self._anchors, _SEARCHED_ANCHORS)]
        return did_you_mean(f"*{anchor}", known, f"write `&{anchor}` before the value")

    def _report(self, at: Position, code: str, message: str, fix: str, *below: str) -> None:
        self.problems.append(
            Problem((*self._path(), *below), message, fix, code, at=FilePlace(self._file, *at))
        )

    def _stop(self, at: Position, code: str, message: str, fix: str) -> NoReturn:
        raise SpecError([Problem(self._path(), message, fix, code, at=FilePlace(self._file, *at))])

    def _path(self) -> SpecPath:
        return tuple(frame.step for frame in self._stack if frame.step is not None)

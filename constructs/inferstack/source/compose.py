"""From the parser's events to a tree with positions: bounded in depth and size, with every problem at once.

The parser is PyYAML's (see :mod:`inferstack.source.events`). The composer is our own because no library's
does what a spec file needs:

- PyYAML's ``compose`` (and yamlcore, which adds the scalars of YAML 1.2 to it) recurses without a limit: a
  file of a million brackets ends the process with libyaml, and is a RecursionError without. Nothing limits
  what aliases multiply, and merge keys lose their positions.
- ruamel.yaml keeps positions and reads YAML 1.2, but takes 7.5 ms for a small spec instead of half a
  millisecond, also recurses, and stops at the first duplicate key.
- strictyaml refuses `{…}`, `[…]`, anchors and tags, all of which specs use.

Here each level of nesting is checked before it is entered, and each alias before it is used.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, NoReturn

import yaml

from inferstack.catalog.cloudformation import is_template
from inferstack.problems import FilePlace, Problem, SpecError, file_codes as codes
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
from inferstack.source.tree import DEEPEST, START, Entry, Node, Position, list_node, mapping_node

MOST_VALUES = 100_000
"""How many keys and values a file may hold; those behind an alias count each time it is used."""

# Limited so that a hostile file with very many anchors costs no time.
_SEARCHED_ANCHORS = 200
_LONGEST_SHOWN = 60
_MERGE_FIX = "write `<<: *anchor` or `<<: [*first, *second]`, with anchors of mappings"
_MANY = f"the file holds more than {MOST_VALUES:,} keys and values, counting what aliases repeat"
_MANY_FIX = "is this a spec? If so, use fewer aliases or split it"
_VERSION = (1, 2)
_SECOND = "a second YAML document begins here"
_SECOND_FIX = "write each spec into a file of its own"

Entries = dict[str, Entry]


class Content(NamedTuple):
    """What a file is meant to hold, in words, and how that begins."""

    what: str
    begin: str


SPEC = Content("spec", "start with `kind:`")


def compose(file: str, text: str, content: Content = SPEC) -> Node:
    """The tree of the single mapping that a file holds. ``file`` is its name in messages.

    Raises:
        SpecError: with every problem found, up to the place where reading has to stop.
    """
    composer = _Composer(file, events(file, text), content)
    try:
        root = composer.root()
    except SpecError as end:
        raise SpecError([*composer.problems, *end.problems]) from None
    problems = [it for it in composer.problems if it.code != codes.TAG or not is_template(root.data)]
    if problems:
        raise SpecError(problems)
    return root


class _Merge(NamedTuple):
    """A `<<` in a mapping: where it stands, after how many other keys, and what it merges."""

    at: Position
    after: int
    mappings: list[Entries]

    def into(self, own: Entries) -> Entries:
        """All entries, the merged ones in place of ``<<``: own keys win, then earlier mappings."""
        merged: Entries = {}
        for entries in self.mappings:
            for name, entry in entries.items():
                if name not in own:
                    merged.setdefault(name, entry)
        items = list(own.items())
        return {**dict(items[: self.after]), **merged, **dict(items[self.after :])}


class _Composer:
    def __init__(self, file: str, stream: Iterator[yaml.Event], content: Content) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._content = content
        self._events = stream
        # One step for each mapping or list that is open; None while a key is read, or a value without one.
        self._path: list[str | int | None] = []
        # What each anchor names; None while that is still being read.
        self._anchors: dict[str, Node | None] = {}
        self._count = 0

    def root(self) -> Node:
        """Reads the whole file."""
        root: Node | None = None
        for event in self._events:
            match event:
                case yaml.DocumentStartEvent() if root is not None:
                    self._stop(position(event), codes.SEVERAL_DOCUMENTS, _SECOND, _SECOND_FIX)
                case yaml.DocumentStartEvent(version=(_, _) as version) if tuple(version) != _VERSION:
                    asked = ".".join(map(str, version))
                    message = f"the file asks for YAML {asked}, but a spec is read as YAML 1.2"
                    self._report(position(event), codes.SYNTAX, message, f"remove the line `%YAML {asked}`")
                case yaml.NodeEvent():
                    root = self._node(event, position(event))
        if root is None or root.data is None:
            self._stop(START, codes.EMPTY, f"the file holds no {self._content.what}", self._content.begin)
        if not isinstance(root.data, dict):
            message = f"a {self._content.what} must be a mapping, but this file holds {describe(root.data)}"
            self._report(root.at, codes.NOT_A_MAPPING, message, self._content.begin)
        return root

    # ---------------------------------------------------------------- values

    def _node(self, event: yaml.Event, at: Position) -> Node:
        """The value that begins with an event."""
        match event:
            case yaml.ScalarEvent():
                self._grow(1, at)
                node = Node(at, self._scalar(event, at))
                if event.anchor is not None:
                    self._anchors[event.anchor] = node
                return node
            case yaml.AliasEvent():
                return self._aliased(event.anchor or "", at)
            case yaml.CollectionStartEvent():
                return self._collection(event, at)
        raise TypeError(event)

    def _below(self, step: str | int | None, event: yaml.Event, at: Position) -> Node:
        """A value in the mapping or list that is being read."""
        self._path.append(step)
        node = self._node(event, at)
        self._path.pop()
        return node

    def _scalar(self, event: yaml.ScalarEvent, at: Position) -> Scalar:
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

    def _collection(self, event: yaml.CollectionStartEvent, at: Position) -> Node:
        self._require_depth(1, at)
        self._grow(1, at)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, "!", CORE_TAG + ("map" if is_mapping else "seq")):
            self._bad_tag(event.tag or "", at)
        anchor = event.anchor
        if anchor is not None:
            self._anchors[anchor] = None
        node = mapping_node(at, self._entries()) if is_mapping else list_node(at, self._items())
        # An anchor of the same name inside comes later, so it is the one that is meant from here on.
        if anchor is not None and self._anchors[anchor] is None:
            self._anchors[anchor] = node
        return node

    def _items(self) -> list[Entry]:
        items: list[Entry] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            at = position(event)
            items.append(Entry(at, self._below(len(items), event, at)))
        return items

    def _aliased(self, anchor: str, at: Position) -> Node:
        if anchor not in self._anchors:
            anchor = anchor[:_LONGEST_SHOWN]
            message = f"there is no anchor `&{anchor}` above `*{anchor}`"
            self._stop(at, codes.UNKNOWN_ALIAS, message, self._similar(anchor))
        node = self._anchors[anchor]
        if node is None:
            message = f"`*{anchor}` is used inside the value that it refers to"
            self._stop(at, codes.RECURSIVE_ALIAS, message, "write the value out instead")
        # Measuring costs no more than the limit allows: every value of the node was counted when it was read.
        size, levels = _extent(node)
        self._require_depth(levels, at)
        self._grow(size, at)
        return node

    # ---------------------------------------------------------------- mappings

    def _entries(self) -> Entries:
        """The entries of a mapping. Only at its end is it known which merged keys its own replace."""
        own: Entries = {}
        merge: _Merge | None = None
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            at = position(event)
            key = self._below(None, event, at)
            if not _is_merge_key(event):
                self._put(own, key, at)
            elif merge is None:
                merge = _Merge(at, len(own), list(self._to_merge()))
            else:
                message = f"`<<` is used twice in this mapping, first on line {merge.at.line}"
                self._report(at, codes.DUPLICATE_KEY, message, "merge both at once: `<<: [*first, *second]`")
                self._value(None)
        return own if merge is None else merge.into(own)

    def _put(self, own: Entries, key: Node, at: Position) -> None:
        """Reads the value of a key, and keeps it if the key is right."""
        name, first = key.data, None
        if not isinstance(name, str):
            fix = "quote it" if key.is_scalar else "quote a text that starts with a bracket or a brace"
            self._report(at, codes.KEY_NOT_TEXT, f"a key must be text, found {describe(name)}", fix)
        elif (first := own.get(name)) is not None:
            message = f"the key {describe(name)} is used twice in this mapping, first on line {first.at.line}"
            self._report(at, codes.DUPLICATE_KEY, message, "keep one of them", name)
        else:
            own[name] = Entry(at, self._value(name))
            return
        self._value(None)

    def _value(self, step: str | None) -> Node:
        event = next(self._events)
        return self._below(step, event, position(event))

    def _to_merge(self) -> Iterator[Entries]:
        event = next(self._events)
        at = position(event)
        node = self._below(None, event, at)
        for item in node.entries if isinstance(node.entries, list) else [Entry(at, node)]:
            if isinstance(item.node.entries, dict):
                yield item.node.entries
            else:
                message = f"`<<` takes a mapping or a list of mappings, not {describe(item.node.data)}"
                self._report(item.at, codes.MERGE, message, _MERGE_FIX)

    # ---------------------------------------------------------------- bounds and problems

    def _grow(self, size: int, at: Position) -> None:
        self._count += size
        if self._count > MOST_VALUES:
            self._stop(at, codes.TOO_MANY_VALUES, _MANY, _MANY_FIX)

    def _require_depth(self, levels: int, at: Position) -> None:
        if len(self._path) + levels > DEEPEST:
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
        self.problems.append(self._problem(at, code, message, fix, *below))

    def _stop(self, at: Position, code: str, message: str, fix: str) -> NoReturn:
        raise SpecError([self._problem(at, code, message, fix)])

    def _problem(self, at: Position, code: str, message: str, fix: str, *below: str) -> Problem:
        path = (*(step for step in self._path if step is not None), *below)
        return Problem(path, message, fix, code, at=FilePlace(self._file, *at))


def _is_merge_key(event: yaml.Event) -> bool:
    if not isinstance(event, yaml.ScalarEvent) or event.value != "<<":
        return False
    return event.tag is None and bool(event.implicit[0])


def _extent(node: Node) -> tuple[int, int]:
    """How many keys and values a value holds, itself included, and how many levels of nesting."""
    match node.entries:
        case None:
            return 1, 0
        case dict() as entries:
            own, below = 1 + len(entries), [_extent(entry.node) for entry in entries.values()]
        case items:
            own, below = 1, [_extent(entry.node) for entry in items]
    return own + sum(size for size, _ in below), 1 + max((levels for _, levels in below), default=0)

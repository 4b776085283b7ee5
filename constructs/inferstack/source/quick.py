"""Reads files that contain nothing unusual, in half the time.

libyaml composes the whole file before Python sees any of it. Positions are taken from what libyaml composed
when they are first needed. Anything rare or wrong is left to :mod:`inferstack.source.compose`, which
can report on it: anchors, tags, merge keys, keys that are not strings or occur twice, deep or long files,
numbers that do not fit, and invalid YAML.
"""

from functools import lru_cache
from typing import Any

import yaml

from inferstack.source.scalars import plain_scalar
from inferstack.source.tree import DEEPEST, MOST_VALUES, Entries, Entry, Node, Position

try:
    # The parser of libyaml, a C library. PyYAML may have been built without it.
    from yaml._yaml import CParser as CParser  # noqa: PLC0414 - the reader for all other files has it from here
except ImportError:
    CParser = None  # type: ignore[assignment, misc]

_MOST_LEVELS = 500
# Specs have most of their keys and many of their values in common.
_plain_scalar = lru_cache(1024)(plain_scalar)
_MERGE = "<<"

# Used in place of a tag: whether the value's type follows from its text (plain), or is always a string.
_PLAIN, _TEXT = object(), object()


def read_quickly(text: str) -> Node | None:
    """The content of a file, or None if the careful reader is needed for it."""
    # An anchor needs a `&`, a tag a `!`, and a text has no more values than characters.
    rare = "&" in text or "!" in text or "%YAML" in text
    if CParser is None or rare or len(text) > MOST_VALUES // 2 or _may_be_deep(text):
        return None
    try:
        root = _Composer(text).get_single_node()
        data = None if root is None else _value(root, 1)
    except (yaml.YAMLError, ValueError, OverflowError, _CareError):
        return None
    return _node(root, data) if root is not None and isinstance(data, dict) else None


class _CareError(Exception):
    """The file needs the careful reader."""


def _may_be_deep(text: str) -> bool:
    """Whether there may be more levels of nesting than is safe for the composer, which recurses in C.

    Each level needs a bracket, or at least one column of a line.
    """
    return text.count("[") + text.count("{") + max(map(len, text.split("\n"))) > _MOST_LEVELS


if CParser is not None:

    class _Composer(CParser):
        """Composes nodes; the methods are those of PyYAML's resolver that libyaml's binding calls."""

        def resolve(self, _: type, value: str | None, implicit: Any) -> object:
            return _PLAIN if value is not None and implicit[0] else _TEXT

        def descend_resolver(self, _: object, __: object) -> None:
            pass

        def ascend_resolver(self) -> None:
            pass


def _value(node: Any, level: int) -> Any:
    """The data of a composed node. Frequent cases come first; `match` would take half as long again."""
    if type(node) is yaml.ScalarNode:
        return _plain_scalar(node.value) if node.tag is _PLAIN else node.value
    if level > DEEPEST:
        raise _CareError
    if type(node) is yaml.MappingNode:
        return _mapping(node, level)
    return [_value(below, level + 1) for below in node.value]


def _mapping(node: yaml.MappingNode, level: int) -> dict[str, Any]:
    data = {}
    for key, below in node.value:
        # Most keys and values are plain scalars, and a call of `_value` for each would double the time.
        name = _plain_scalar(key.value) if key.tag is _PLAIN else _value(key, level + 1)
        if type(name) is not str or name in data or name == _MERGE:
            raise _CareError
        data[name] = _plain_scalar(below.value) if below.tag is _PLAIN else _value(below, level + 1)
    return data


# ---------------------------------------------------------------- where it stands


def _node(composed: yaml.Node, data: Any) -> Node:
    at = _position(composed)
    if isinstance(composed, yaml.ScalarNode):
        return Node(at, data)
    return Node(at, data, lambda: _entries(composed, data))


def _entries(composed: yaml.Node, data: Any) -> Entries:
    if isinstance(composed, yaml.MappingNode):
        pairs = zip(composed.value, data.items(), strict=True)
        return {name: Entry(_position(key), _node(below, value)) for (key, below), (name, value) in pairs}
    items = zip(composed.value, data, strict=True)
    return [Entry(_position(below), _node(below, value)) for below, value in items]


def _position(composed: yaml.Node) -> Position:
    mark = composed.start_mark
    return Position(mark.line + 1, mark.column + 1)

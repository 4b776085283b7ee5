"""A spec's data with the position of each part; and how data made in Python becomes such a tree."""

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from inferstack.problems import FilePlace, Problem, SpecError, SpecPath, dotted
from inferstack.problems.file_codes import KEY_NOT_TEXT, NOT_A_MAPPING, NOT_PLAIN, TOO_DEEP
from inferstack.problems.words import describe
from inferstack.texts.placeholders import is_opaque

DEEPEST = 64
"""How deeply mappings and lists may be nested; there is a limit because later steps walk data recursively."""


class Position(NamedTuple):
    """A position in a file. Lines and columns count from 1, columns in characters; see also ``NOWHERE``."""

    line: int
    column: int


class InProject(Position):
    """A position in the project's file, of a value that a spec has from there."""

    __slots__ = ()


START = Position(1, 1)
NOWHERE = Position(0, 0)
"""The position of data made in Python, which only has a path."""


class Entry(NamedTuple):
    """One entry of a mapping or list. ``at`` is where the key or the item begins."""

    at: Position
    node: "Node"


class Node(msgspec.Struct, frozen=True, eq=False):
    """A value. ``entries`` mirrors ``data`` for mappings and lists, and is ``None`` for scalars.

    Aliases make nodes shared, so neither data nor entries are ever changed.
    """

    at: Position
    data: Any
    entries: dict[str, Entry] | list[Entry] | None = None

    @property
    def is_scalar(self) -> bool:
        """Whether the value is a scalar. An empty mapping or list is not."""
        return self.entries is None

    @property
    def by_key(self) -> dict[str, Entry]:
        """The entries of a mapping; none for anything else."""
        return self.entries if isinstance(self.entries, dict) else {}

    def entry(self, step: str | int) -> Entry | None:
        """The entry under a key or at an index, if there is one."""
        entries = self.entries
        if isinstance(entries, dict):
            return entries.get(step) if isinstance(step, str) else None
        if isinstance(entries, list) and isinstance(step, int) and 0 <= step < len(entries):
            return entries[step]
        return None


def mapping_node(at: Position, entries: dict[str, Entry]) -> Node:
    """A mapping of these entries."""
    return Node(at, {key: entry.node.data for key, entry in entries.items()}, entries)


def list_node(at: Position, entries: list[Entry]) -> Node:
    """A list of these entries."""
    return Node(at, [entry.node.data for entry in entries], entries)


def in_project(node: Node) -> Node:
    """A copy of what the project's file has, with positions that say so."""
    at, entries = InProject(*node.at), node.entries
    match entries:
        case dict():
            below = {key: Entry(InProject(*it.at), in_project(it.node)) for key, it in entries.items()}
            return Node(at, node.data, below)
        case list():
            return Node(at, node.data, [Entry(InProject(*it.at), in_project(it.node)) for it in entries])
        case _:
            return Node(at, node.data)


# ---------------------------------------------------------------- data made in Python


# What to pass instead of an object: by an attribute that its class has, the one that a spec wants.
_INSTEAD = {
    # Before the others: an L1's property of another of these names is what the app has given it, if anything.
    "cfn_options": "`ref`, or one of its `attr_…`",
    **{name: f"`{name}`" for name in ("role_arn", "topic_arn", "key_arn", "subnet_id", "security_group_id")},
    **{name: f"`{name}`" for name in ("alarm_arn", "function_arn", "managed_policy_arn", "secret_arn")},
    **{name: f"`{name}`" for name in ("string_value", "endpoint_name", "image_uri", "s3_object_url")},
    "s3_url_for_object": "`s3_url_for_object(…)` for a URL, else `bucket_name` or `bucket_arn`",
    "select_subnets": "`select_subnets(…).subnet_ids`, or all of `vpc_config` from `vpc_config(vpc, …)`",
    "subnet_ids": "`subnet_ids`",
    # A plain `repository_uri` has no tag, which would mean `latest`.
    "repository_uri": "`repository_uri_for_tag(…)`",
    "value_as_string": "`value_as_string`, `value_as_number` or `value_as_list`",
    "unsafe_unwrap": "`unsafe_unwrap()`: the template then refers to the secret",
    # Only what CDK resolves later has this.
    "type_hint": "text `cdk.Token.as_string(…)`, number `Token.as_number(…)` or list `Token.as_list(…)`",
    "to_seconds": "`to_seconds()`",
    "to_mebibytes": "`to_mebibytes()`",
    "as_posix": "`as_posix()`",
}
_EXECUTION_ROLE = ("execution_role",)


def tree_of(data: Mapping[str, Any] | msgspec.Struct, file: str) -> Node:
    """A copy of data made in Python, all of it at ``NOWHERE``. Blocks of the format count as mappings.

    Raises:
        SpecError: with every key that is not a string and every value that YAML could not hold.
    """
    if not isinstance(data, (Mapping, msgspec.Struct)):
        message = f"a spec must be a mapping, found {describe(data)}"
        fix = "read a file with `load_spec(path)`" if isinstance(data, (str, PurePath)) else "pass a dict"
        raise SpecError([_problem(file, NOT_A_MAPPING, message, fix, ())])
    problems: list[Problem] = []
    root = _grown(data, (), file, problems)
    if problems:
        raise SpecError(problems)
    return root


def _grown(value: object, path: SpecPath, file: str, problems: list[Problem]) -> Node:
    match value:
        case float() if is_opaque(value):
            # A CDK token for a number is a float; as an int it can also be used where an integer is wanted.
            return Node(NOWHERE, int(value))
        case None | str() | int() | float():
            return Node(NOWHERE, value)
        case Mapping() | list() | tuple() | msgspec.Struct() if len(path) >= DEEPEST:
            message = f"data is nested more than {DEEPEST} levels deep, or contains itself"
            problems.append(_problem(file, TOO_DEEP, message, "flatten it", path))
        case Mapping():
            problems += [_key_problem(file, key, path) for key in value if not isinstance(key, str)]
            keys = [key for key in value if isinstance(key, str)]
            values = {key: _grown(value[key], (*path, key), file, problems) for key in keys}
            return mapping_node(NOWHERE, {key: Entry(NOWHERE, node) for key, node in values.items()})
        case list() | tuple():
            items = [_grown(item, (*path, index), file, problems) for index, item in enumerate(value)]
            return list_node(NOWHERE, [Entry(NOWHERE, item) for item in items])
        case msgspec.Struct():
            return _grown(_written(value), path, file, problems)
        case _:
            message = f"`{_dotted(path)}` is a `{_class_name(value)}`, which is not plain data"
            problems.append(_problem(file, NOT_PLAIN, message, _plainly(value, path), path))
    return Node(NOWHERE, None)


def _written(block: msgspec.Struct) -> dict[str, Any]:
    """A block of the format as a spec has it: what is left out has no key. Its values may be anything."""
    config, fields = block.__struct_config__, block.__struct_fields__
    kind = {} if config.tag_field is None else {config.tag_field: config.tag}
    # The defaults are those of the last fields.
    defaults = dict(zip(reversed(fields), reversed(block.__struct_defaults__), strict=False))
    values = {name: getattr(block, name) for name in fields}
    return {
        **kind,
        **{name: it for name, it in values.items() if it is not defaults.get(name, msgspec.UNSET)},
    }


def _plainly(value: object, path: SpecPath) -> str:
    # With the ARN alone, models would not wait for the rights of a role that the app makes.
    if path == _EXECUTION_ROLE and any(hasattr(it, "role_arn") for it in _classes(value)):
        return "leave it out, and pass the role itself to the construct: `role=…`"
    # Looked up on the class: reading a property of a construct itself would call Node.js.
    classes = _classes(value)
    for name, wanted in _INSTEAD.items():
        if any(hasattr(it, name) for it in classes):
            return f"pass its {wanted}"
    return "use dict, list, str, int, float, bool or None"


def _class_name(value: object) -> str:
    # The interface comes last: the class for `IAlias` is `_IAliasProxy`.
    return re.sub("^_(I[A-Z].*)Proxy$", r"\1", _classes(value)[-1].__name__)


def _classes(value: object) -> list[type]:
    """The class of a value; for jsii's proxy of an interface, which imported constructs are, those of the
    interface.
    """
    interfaces = getattr(value, "_delegates", None)
    return [type(it) for it in interfaces] if interfaces and isinstance(interfaces, list) else [type(value)]


def _key_problem(file: str, key: object, path: SpecPath) -> Problem:
    message = f"a key of `{_dotted(path)}` is not text but {describe(key)}"
    return _problem(file, KEY_NOT_TEXT, message, "make it a str", path)


def _dotted(path: SpecPath) -> str:
    return dotted(path) or "spec"


def _problem(file: str, code: str, message: str, fix: str, path: SpecPath) -> Problem:
    return Problem(path, message, fix, code, at=FilePlace(file, *NOWHERE))

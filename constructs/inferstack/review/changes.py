"""What CloudFormation does with each resource between two templates.

A resource is updated in place unless a property changes that can only be set on creation. What refers to a
replaced resource gets a new value, which may replace it in turn: a new archive replaces the model and then
the endpoint's configuration, and updates the endpoint.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from inferstack.catalog import cloudformation

Resources = Mapping[str, Mapping[str, Any]]
"""The `Resources` of a template."""
PropertyPath = tuple[str | int, ...]
"""Names and list indices inside a resource's properties."""

_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9]+)(\.[A-Za-z0-9.]+)?\}")


class Fate(StrEnum):
    """What becomes of a resource."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one resource, and why."""

    logical_id: str
    type: str
    fate: Fate
    paths: tuple[PropertyPath, ...] = ()
    """Where its own properties differ."""
    follows: tuple[str, ...] = ()
    """Replaced resources that its properties refer to."""


def compare(before: Resources, after: Resources) -> dict[str, Change]:
    """What becomes of every resource, by logical id: those of ``after`` in its order, then the removed ones.

    ``after`` has resources of our types only. Only types and properties count. Metadata and dependencies
    change nothing that runs.
    """
    both = [logical_id for logical_id in after if logical_id in before]
    own = {logical_id: _own_paths(before[logical_id], after[logical_id]) for logical_id in both}
    replaced: set[str] = set()
    while True:
        found = {it for it in both if _is_replaced(after[it], own[it], replaced)}
        if found == replaced:
            break
        replaced = found
    changes = {it: _change(it, after[it], own.get(it), replaced) for it in after}
    gone = {it: Change(it, type_of(before[it]), Fate.REMOVED) for it in before if it not in after}
    return changes | gone


def differences(before: Any, after: Any) -> Iterator[PropertyPath]:
    """Paths at which two values differ, going down as long as both have the same form."""
    match before, after:
        case dict() as one, dict() as other if not (_is_function(one) or _is_function(other)):
            yield from _by_key(one, other)
        case list() as first, list() as second if len(first) == len(second):
            for index, (left, right) in enumerate(zip(first, second, strict=True)):
                yield from ((index, *below) for below in differences(left, right))
        case _ if _plain(before) != _plain(after):
            yield ()


def _by_key(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[PropertyPath]:
    for key in dict.fromkeys((*before, *after)):
        if key in before and key in after:
            yield from ((key, *below) for below in differences(before[key], after[key]))
        else:
            yield (key,)


def properties_of(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """A resource's properties, empty where it has none."""
    found = resource.get("Properties")
    return found if isinstance(found, dict) else {}


def type_of(resource: Mapping[str, Any]) -> str:
    """A resource's type."""
    return str(resource.get("Type"))


def _own_paths(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[PropertyPath, ...]:
    return tuple(_by_key(properties_of(before), properties_of(after)))


def _is_replaced(resource: Mapping[str, Any], own: tuple[PropertyPath, ...], replaced: set[str]) -> bool:
    fixed = cloudformation.create_only(type_of(resource))
    if any(path[0] in fixed for path in own):
        return True
    given = {name: value for name, value in properties_of(resource).items() if name in fixed}
    return not replaced.isdisjoint(_references(given))


def _change(
    logical_id: str,
    resource: Mapping[str, Any],
    own: tuple[PropertyPath, ...] | None,
    replaced: set[str],
) -> Change:
    if own is None:
        return Change(logical_id, type_of(resource), Fate.ADDED)
    referred = _references(properties_of(resource))
    follows = tuple(it for it in referred if it in replaced)
    in_place = Fate.UPDATED if own or follows else Fate.UNCHANGED
    fate = Fate.REPLACED if logical_id in replaced else in_place
    return Change(logical_id, type_of(resource), fate, own, follows)


def _is_function(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref"))


def _plain(value: Any) -> Any:
    """A value as CloudFormation reads it: scalars are text, and `Fn::GetAtt` is always written one way."""
    match value:
        case {"Fn::GetAtt": str() as attribute}:
            return {"Fn::GetAtt": attribute.split(".", 1)}
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def _references(value: Any) -> dict[str, None]:
    """Logical ids that a value refers to, in order of appearance."""
    return dict.fromkeys(_referred(value))


def _referred(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": str() as logical_id}:
            yield logical_id
        case {"Fn::GetAtt": [str() as logical_id, *_]}:
            yield logical_id
        case {"Fn::GetAtt": str() as attribute}:
            yield attribute.split(".", 1)[0]
        case {"Fn::Sub": str() as text}:
            yield from (found[1] for found in _PLACEHOLDER.finditer(text))
        case {"Fn::Sub": [str() as text, dict() as variables]}:
            yield from (found[1] for found in _PLACEHOLDER.finditer(text) if found[1] not in variables)
            yield from _referred(variables)
        case dict():
            for item in value.values():
                yield from _referred(item)
        case list():
            for item in value:
                yield from _referred(item)

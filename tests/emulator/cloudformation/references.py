"""What a template's values refer to, and the order that this requires."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from emulator.cloudformation.refusals import invalid_template

SUBSTITUTED = re.compile(r"\$\{([^!}][^}]*)\}")
"""A placeholder of `Fn::Sub`; `${!x}` is not one and stays."""


def references(value: Any) -> Iterator[str]:
    """Logical ids and parameters that a value refers to."""
    match value:
        case {"Ref": str() as name}:
            yield name
        case {"Fn::GetAtt": [name, *_]}:
            yield name
        case {"Fn::GetAtt": str() as attribute}:
            yield attribute.split(".")[0]
        case {"Fn::Sub": str() as text}:
            yield from (found[1].split(".")[0] for found in SUBSTITUTED.finditer(text))
        case {"Fn::Sub": [str() as text, dict() as own]}:
            yield from (found for found in references({"Fn::Sub": text}) if found not in own)
            yield from references(own)
        case dict():
            for item in value.values():
                yield from references(item)
        case list():
            for item in value:
                yield from references(item)


def creation_order(resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Logical ids, with those that others need before the others.

    AWS creates in parallel whatever nothing holds back, in an order that nobody may rely on. Here resources are
    created one by one, the last in the alphabet first, so that a forgotten `DependsOn` shows: targets come before
    what they scale.
    """
    waiting = {name: _needs(resource, resources.keys()) - {name} for name, resource in resources.items()}
    order: list[str] = []
    while waiting:
        ready = [name for name, needs in waiting.items() if not needs]
        if not ready:
            names = ", ".join(sorted(waiting))
            raise invalid_template(f"Circular dependency between resources: [{names}]")
        order.append(max(ready))
        del waiting[order[-1]]
        for needs in waiting.values():
            needs.discard(order[-1])
    return order


def _needs(resource: Mapping[str, Any], known: Collection[str]) -> set[str]:
    written = resource.get("DependsOn", [])
    named = {written} if isinstance(written, str) else {*written}
    return (named | {*references(resource.get("Properties"))}) & {*known}

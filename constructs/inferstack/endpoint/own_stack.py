"""The endpoints of a stack in which other resources stand, too: each as if it had the stack to itself.

    template -> endpoints, each with the resources of its construct, under the logical ids of `render`

CDK makes a logical id of the ids on the way to a resource, and a hash: `TeamChurnEndpointConfig0BF2F77D` is
the `EndpointConfig` of a construct `Churn` in a scope `Team`. So whatever compares two templates works for
such an endpoint, too. All that it refers to beyond its construct stays as it is.
https://docs.aws.amazon.com/cdk/v2/guide/identifiers.html
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from inferstack.catalog.resource_types import (
    CONFIG_TYPE,
    DASHBOARD_TYPE,
    ENDPOINT_TYPE,
    MODEL_TYPE,
    ROLE_TYPE,
)
from inferstack.endpoint.deployed import Resources, entries, mapping, properties_of, references, text, type_of
from inferstack.format.logical_ids import ENDPOINT, ENDPOINT_CONFIG, EXECUTION_ROLE, SOURCE_METADATA

_ID = re.compile(r"(.*?)[0-9A-F]{8}")
_ALONE = {
    ENDPOINT_TYPE: ENDPOINT,
    CONFIG_TYPE: ENDPOINT_CONFIG,
    ROLE_TYPE: EXECUTION_ROLE,
    MODEL_TYPE: "Model",
    DASHBOARD_TYPE: "Dashboard",
}
"""What CDK leaves out of an id that ends with it already: `ChurnEndpoint` has no `ChurnEndpointEndpoint`."""
_IN_TEXT = re.compile(r"\$\{([A-Za-z0-9]+)")


class OwnStackEndpoint(msgspec.Struct, frozen=True):
    """An endpoint of a stack in which other resources stand, too."""

    construct: str
    """What the logical ids of its resources begin with."""
    sections: Mapping[str, Any]
    """All of the template that is about it, under the logical ids of `render`."""
    ids: Mapping[str, str]
    """The logical ids of its resources in the stack, by those of `render`."""


def source_of(resource: object) -> str | None:
    """Where a resource came from, as `file: path`; None for what no spec has made."""
    return text(mapping(mapping(resource).get("Metadata")).get(SOURCE_METADATA))


def endpoints_of(sections: Mapping[str, Any]) -> list[OwnStackEndpoint]:
    """The endpoints of a stack that constructs have made; none where one has the stack to itself, or where
    inferstack has made none.
    """
    resources: Resources = sections["Resources"]
    made = {it: source for it, one in resources.items() if (source := source_of(one)) is not None}
    found = {it: _constructs(it, resources[it]) for it in made if type_of(resources[it]) == ENDPOINT_TYPE}
    if [*found] == [ENDPOINT]:
        return []
    ids: dict[str, dict[str, str]] = {endpoint: {} for endpoint in found}
    for logical_id, endpoint in _owners(resources, made, found).items():
        fitting = [it for it in found[endpoint] if _human(logical_id).startswith(it)]
        if fitting:
            plain = _plain(logical_id, max(fitting, key=len), type_of(resources[logical_id]))
            ids[endpoint][plain] = logical_id
    return [_endpoint(those[0], ids[endpoint], sections) for endpoint, those in found.items()]


def _owners(resources: Resources, made: Mapping[str, str], found: Mapping[str, list[str]]) -> dict[str, str]:
    """The endpoint that each resource belongs to: what an endpoint runs on, it refers to; for all else, an
    id begins with that of its construct. What comes from another spec is a construct beside it.
    """
    runs_on = {it: endpoint for endpoint in found for it in _runs_on(endpoint, resources, made)}
    constructs = {construct: endpoint for endpoint, those in found.items() for construct in those}
    owners: dict[str, str] = {}
    for logical_id in made:
        fitting = [it for it in constructs if _human(logical_id).startswith(it)]
        nearest = constructs[max(fitting, key=len)] if fitting else None
        owner = runs_on.get(logical_id, nearest)
        if owner is not None and _file(made[logical_id]) == _file(made[owner]):
            owners[logical_id] = owner
    return owners


def _runs_on(endpoint: str, resources: Resources, made: Mapping[str, str]) -> set[str]:
    """An endpoint, its configuration, models, role and policies, as far as specs made them."""
    reached, level = {endpoint}, [endpoint]
    while level:
        waits = [entries(resources[it].get("DependsOn")) for it in level]
        named = [it for those in waits for it in those if isinstance(it, str)]
        referred = [*references([properties_of(resources[it]) for it in level]), *named]
        level = [it for it in dict.fromkeys(referred) if it in made and it not in reached]
        reached |= {*level}
    return reached


def _file(source: str) -> str:
    return source.rpartition(":")[0]


def _human(logical_id: str) -> str:
    """A logical id without CDK's hash."""
    found = _ID.fullmatch(logical_id)
    return logical_id if found is None else found[1]


def _constructs(logical_id: str, endpoint: Mapping[str, Any]) -> list[str]:
    """What the logical ids of an endpoint's resources begin with, as its own and that of its configuration
    say; two where the app has given one of them another id.
    """
    configs = references(properties_of(endpoint).get("EndpointConfigName"))
    ids = ((next(iter(configs), ""), ENDPOINT_CONFIG), (logical_id, ENDPOINT))
    found = [_human(it).removesuffix(word) for it, word in ids if _human(it).endswith(word)]
    # An id that ends like the construct's is not made longer by it.
    whole = [it for it, (other, _) in zip(found, reversed(ids), strict=False) if it == _human(other)]
    return whole or [*dict.fromkeys(found or [_human(logical_id)])]


def _plain(logical_id: str, construct: str, type_name: str) -> str:
    if not construct:
        return logical_id
    return _human(logical_id)[len(construct) :] or _ALONE.get(type_name, logical_id)


# ---------------------------------------------------------------- under the ids of `render`


def _endpoint(construct: str, ids: Mapping[str, str], sections: Mapping[str, Any]) -> OwnStackEndpoint:
    others = {
        logical_id: _plain(logical_id, construct, name)
        for name in ("Parameters", "Mappings")
        for logical_id in mapping(sections.get(name))
        if _human(logical_id).startswith(construct)
    }
    names = {logical_id: plain for plain, logical_id in ids.items()} | others
    resources = {plain: _renamed(sections["Resources"][it], names) for plain, it in ids.items()}
    own = {
        name: {
            names.get(key, key): value
            for key, value in mapping(sections.get(name)).items()
            if key in others or key in referred
        }
        for referred in [_referred(sections["Resources"], ids)]
        for name in ("Parameters", "Mappings")
    }
    outputs = {
        key: _renamed(it, names)
        for key, it in mapping(sections.get("Outputs")).items()
        if not names.keys().isdisjoint(references(it))
    }
    return OwnStackEndpoint(construct, {**own, "Outputs": outputs, "Resources": resources}, ids)


def _referred(resources: Resources, ids: Mapping[str, str]) -> dict[str, None]:
    return references([properties_of(resources[it]) for it in ids.values()])


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with references to other logical ids."""
    match value:
        case {"Ref": str() as logical_id} if len(value) == 1:
            return {"Ref": names.get(logical_id, logical_id)}
        case {"Fn::GetAtt": [str() as logical_id, *rest]}:
            return {"Fn::GetAtt": [names.get(logical_id, logical_id), *rest]}
        case {"Fn::GetAtt": str() as attribute}:
            logical_id, dot, name = attribute.partition(".")
            return {"Fn::GetAtt": f"{names.get(logical_id, logical_id)}{dot}{name}"}
        case {"Fn::FindInMap": [str() as name, *rest]}:
            return {"Fn::FindInMap": [names.get(name, name), *_renamed(rest, names)]}
        case {"Fn::Sub": str() as template}:
            return {"Fn::Sub": _in_text(template, names)}
        case {"Fn::Sub": [str() as template, dict() as variables]}:
            own = {it: new for it, new in names.items() if it not in variables}
            return {"Fn::Sub": [_in_text(template, own), _renamed(variables, names)]}
        case {"DependsOn": before, **others}:
            waits = [names.get(it, it) if isinstance(it, str) else it for it in entries(before)]
            return {**_renamed(others, names), "DependsOn": waits}
        case dict():
            return {key: _renamed(item, names) for key, item in value.items()}
        case list():
            return [_renamed(item, names) for item in value]
        case _:
            return value


def _in_text(template: str, names: Mapping[str, str]) -> str:
    return _IN_TEXT.sub(lambda found: f"${{{names.get(found[1], found[1])}", template)

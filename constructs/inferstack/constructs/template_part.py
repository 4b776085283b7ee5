"""Some resources of an endpoint's template, for an endpoint that is made elsewhere."""

import json
from collections.abc import Iterator, Set as AbstractSet
from typing import Any

from inferstack.resolve.alarms import ALARM_ARN
from inferstack.resolve.endpoint import ENDPOINT, endpoint_name
from inferstack.resolve.template import Template
from inferstack.spec.blocks.watched import ALARM_TYPE

_ENDPOINT_NAME = json.dumps(endpoint_name())
_ANY_ALARM = f"{ALARM_ARN}*"


def part_of(template: Template, logical_ids: AbstractSet[str], name: str) -> Template:
    """The template with these resources only. Their references to the endpoint become its plain ``name``."""
    whole = template["Resources"]
    alarms = {it for it, resource in whole.items() if resource["Type"] == ALARM_TYPE} - logical_ids
    resources = {
        logical_id: _detached(resource, logical_ids, name, alarms)
        for logical_id, resource in whole.items()
        if logical_id in logical_ids
    }
    used = json.dumps(resources)
    # Mappings look up the account of an image; only those that are still used stay.
    mappings = {key: table for key, table in template.get("Mappings", {}).items() if f'"{key}"' in used}
    return {**({"Mappings": mappings} if mappings else {}), "Resources": resources}


def waits_for(template: Template, logical_ids: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """Pairs of logical ids: a resource, and one made elsewhere that it waits for."""
    for logical_id, resource in template["Resources"].items():
        if logical_id in logical_ids:
            named = (ENDPOINT,) if _ENDPOINT_NAME in json.dumps(resource) else ()
            before = dict.fromkeys((*resource.get("DependsOn", ()), *named))
            yield from ((logical_id, it) for it in before if it not in logical_ids)


def _detached(
    resource: Template, logical_ids: AbstractSet[str], name: str, alarms: AbstractSet[str]
) -> Template:
    """The resource without references to what is made elsewhere."""
    kept = [before for before in resource.get("DependsOn", ()) if before in logical_ids]
    detached: Template = _without_references(resource, name, alarms)
    detached.pop("DependsOn", None)
    return detached | ({"DependsOn": kept} if kept else {})


def _without_references(value: Any, name: str, alarms: AbstractSet[str]) -> Any:
    """The endpoint's name becomes plain text. ARNs of these alarms, whose names are unknown here, become one
    that fits any alarm.
    """
    match value:
        case dict() if value == endpoint_name():
            return name
        case {"Fn::GetAtt": [str() as logical_id, "Arn"]} if logical_id in alarms:
            return {"Fn::Sub": _ANY_ALARM}
        case dict():
            return {key: _without_references(item, name, alarms) for key, item in value.items()}
        case list():
            return [_without_references(item, name, alarms) for item in value]
        case _:
            return value

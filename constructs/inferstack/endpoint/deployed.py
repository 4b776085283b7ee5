"""What a template says about an endpoint, by resource type and name.

Previous templates come from anywhere, so any form is tolerated: what is not plain text, or not the mapping
or list that it should be, counts as absent. Rules take values from here, never from a template itself.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.catalog.resource_types import COMPONENT_TYPE, CONFIG_TYPE, ENDPOINT_TYPE, TARGET_TYPE

_VARIANT = re.compile(r".*/variant/([a-zA-Z0-9-]+)")
_COMPONENT = re.compile(r"inference-component/([a-zA-Z0-9-]+)")

Resources = Mapping[str, Mapping[str, Any]]
"""The `Resources` of a template."""
Properties = Mapping[str, Any]
PropertyPath = tuple[str | int, ...]
"""Names and list indices inside a resource's properties."""
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9]+)(\.[A-Za-z0-9.]+)?\}")


class TemplateComponent(msgspec.Struct, frozen=True):
    """An inference component of a template."""

    logical_id: str
    properties: Properties
    variant: str | None
    """Name of the variant that it is on, which for an adapter is its base's; None where the template does not
    say it in plain text.
    """

    @property
    def specification(self) -> Properties:
        """What the component runs on any instance; empty where it differs by instance type."""
        return mapping(self.properties.get("Specification"))

    @property
    def base(self) -> str | None:
        """Name of the component that it is an adapter of, in plain text or as the function that makes it."""
        found = self.specification.get("BaseInferenceComponentName")
        return None if found is None else shown(found)


def properties_of(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """A resource's properties, empty where it has none."""
    return mapping(resource.get("Properties"))


def type_of(resource: Mapping[str, Any]) -> str:
    """A resource's type."""
    return str(resource.get("Type"))


def mapping(value: object) -> Properties:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str | None:
    """The value where it is plain text, else None."""
    return value if isinstance(value, str) else None


def entries(value: object) -> list[Any]:
    """The entries of a list, or a single value as a list of one; none where there is nothing."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def shown(value: object) -> str:
    """A text, or the function that makes one, for people to read."""
    match value:
        case str():
            return value
        case {"Fn::Sub": str() as template}:
            return template
        case _:
            return json.dumps(_in_json(value), sort_keys=True)


def _in_json(value: object) -> object:
    """The value without what JSON does not have: YAML has dates, and keys that are no texts."""
    match value:
        case dict():
            return {str(key): _in_json(item) for key, item in value.items()}
        case list():
            return [_in_json(item) for item in value]
        case None | bool() | int() | float():
            return value
        case _:
            return str(value)


def of_type(resources: Resources, type_name: str) -> dict[str, Properties]:
    """Properties of all resources of one type, by logical id."""
    return {
        logical_id: properties_of(resource)
        for logical_id, resource in resources.items()
        if type_of(resource) == type_name
    }


def endpoint(resources: Resources) -> Properties:
    """Properties of the endpoint; empty where there is none."""
    return next(iter(of_type(resources, ENDPOINT_TYPE).values()), {})


def endpoint_name(resources: Resources) -> str | None:
    """The endpoint's name, where the template says it in plain text."""
    return text(endpoint(resources).get("EndpointName"))


def config(resources: Resources) -> Properties:
    """Properties of the endpoint's configuration; empty where there is none."""
    return next(iter(of_type(resources, CONFIG_TYPE).values()), {})


def variants(resources: Resources) -> dict[str, Properties]:
    """Production variants by name, in the template's order."""
    found = map(mapping, entries(config(resources).get("ProductionVariants")))
    return {shown(it.get("VariantName")): it for it in found if it}


def instance_types(variant: Properties) -> list[str]:
    """The instance types that a variant may use, the preferred one first; none where the template does not
    say it in plain text.
    """
    pools = sorted(map(mapping, entries(variant.get("InstancePools"))), key=_priority)
    types = (variant.get("InstanceType"), *(it.get("InstanceType") for it in pools))
    return [it for it in types if isinstance(it, str)]


def _priority(pool: Properties) -> float:
    try:
        return float(pool.get("Priority", 0))
    except (TypeError, ValueError):
        return 0.0


def components(resources: Resources) -> dict[str, TemplateComponent]:
    """Inference components by name, in the template's order."""
    found = {
        shown(properties.get("InferenceComponentName")): TemplateComponent(
            logical_id, properties, text(properties.get("VariantName"))
        )
        for logical_id, properties in of_type(resources, COMPONENT_TYPE).items()
    }
    return {name: _beside_its_base(it, found) for name, it in found.items()}


def _beside_its_base(
    component: TemplateComponent, others: Mapping[str, TemplateComponent]
) -> TemplateComponent:
    base = None if component.base is None else others.get(component.base)
    return component if base is None else replace(component, variant=base.variant)


def scaled_variants(resources: Resources) -> dict[str, Properties]:
    """Scaling targets of variants, by the variant's name."""
    return dict(_targets(resources, _VARIANT))


def scaled_components(resources: Resources) -> dict[str, Properties]:
    """Scaling targets of inference components, by the component's name."""
    return dict(_targets(resources, _COMPONENT))


def _targets(resources: Resources, form: re.Pattern[str]) -> Iterator[tuple[str, Properties]]:
    for properties in of_type(resources, TARGET_TYPE).values():
        resource_id = properties.get("ResourceId")
        # A hand-written template may name the endpoint by reference.
        said = text(mapping(resource_id).get("Fn::Sub", resource_id))
        found = None if said is None else form.fullmatch(said)
        if found is not None:
            yield found[1], properties


def value_at(properties: Properties, path: PropertyPath) -> Any:
    """The value at a path of properties; None where there is none."""
    value: Any = properties
    for step in path:
        match value, step:
            case dict(), str():
                value = value.get(step)
            case list(), int() if 0 <= step < len(value):
                value = value[step]
            case _:
                return None
    return value


def scheduled_limits(target: Properties) -> list[Properties]:
    """The limits that scheduled actions of a target set; none while it suspends them."""
    if mapping(target.get("SuspendedState")).get("ScheduledScalingSuspended") is True:
        return []
    actions = map(mapping, entries(target.get("ScheduledActions")))
    return [mapping(it.get("ScalableTargetAction")) for it in actions]


def references(value: Any) -> dict[str, None]:
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

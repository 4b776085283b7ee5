"""What a template says about an endpoint, by resource type and name.

Previous templates come from anywhere, so any form is tolerated: what is not plain text, or not the mapping
that it should be, counts as absent.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ENDPOINT_TYPE = "AWS::SageMaker::Endpoint"
CONFIG_TYPE = "AWS::SageMaker::EndpointConfig"
MODEL_TYPE = "AWS::SageMaker::Model"
COMPONENT_TYPE = "AWS::SageMaker::InferenceComponent"
TARGET_TYPE = "AWS::ApplicationAutoScaling::ScalableTarget"

_VARIANT = re.compile(r".*/variant/([a-zA-Z0-9-]+)")
_COMPONENT = re.compile(r"inference-component/([a-zA-Z0-9-]+)")

Resources = Mapping[str, Mapping[str, Any]]
"""The `Resources` of a template."""
Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Component:
    """An inference component of a template."""

    logical_id: str
    properties: Properties

    @property
    def specification(self) -> Properties:
        """What it runs on any instance; empty where it differs by instance type."""
        return mapping(self.properties.get("Specification"))

    @property
    def variant(self) -> object:
        """Name of the variant that it is on."""
        return self.properties.get("VariantName")


def properties_of(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """A resource's properties, empty where it has none."""
    found = resource.get("Properties")
    return found if isinstance(found, dict) else {}


def type_of(resource: Mapping[str, Any]) -> str:
    """A resource's type."""
    return str(resource.get("Type"))


def mapping(value: object) -> Properties:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


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
    found = endpoint(resources).get("EndpointName")
    return found if isinstance(found, str) else None


def config(resources: Resources) -> Properties:
    """Properties of the endpoint's configuration; empty where there is none."""
    return next(iter(of_type(resources, CONFIG_TYPE).values()), {})


def variants(resources: Resources) -> dict[str, Properties]:
    """Production variants by name, in the template's order."""
    found = config(resources).get("ProductionVariants")
    listed = found if isinstance(found, list) else []
    return {str(it.get("VariantName")): it for it in listed if isinstance(it, dict)}


def instance_types(variant: Properties) -> list[str]:
    """The instance types that a variant may use; none where the template does not say it in plain text."""
    pools = variant.get("InstancePools")
    found = [mapping(it).get("InstanceType") for it in pools] if isinstance(pools, list) else []
    return [it for it in (variant.get("InstanceType"), *found) if isinstance(it, str)]


def components(resources: Resources) -> dict[str, Component]:
    """Inference components by name, in the template's order."""
    return {
        str(properties.get("InferenceComponentName")): Component(logical_id, properties)
        for logical_id, properties in of_type(resources, COMPONENT_TYPE).items()
    }


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
        text = mapping(resource_id).get("Fn::Sub", resource_id)
        found = form.fullmatch(text) if isinstance(text, str) else None
        if found is not None:
            yield found[1], properties

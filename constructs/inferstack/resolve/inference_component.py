"""AWS::SageMaker::InferenceComponent.

An update of a component cannot change its name, endpoint or variant. All three are in the logical id, so
that changing one makes a new component instead of an update that cannot work.
"""

from inferstack.catalog.resource_types import COMPONENT_TYPE
from inferstack.facts.walk import (
    PlacedContainer,
    Specification,
    component_variants,
    components,
    containers,
    specifications,
)
from inferstack.format.defaults import RUNTIME_CONFIG
from inferstack.format.inference_component import InferenceComponent
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath
from inferstack.resolve.alarms import deployment_config
from inferstack.resolve.convert import properties
from inferstack.resolve.endpoint import endpoint_name
from inferstack.resolve.images import image_uri
from inferstack.resolve.model import container_environment, model_name
from inferstack.resolve.resource import Resource, Resources, Value, pascal, present, short_hash

_FILLED_IN_HERE = frozenset(
    {"specification", "specifications", "variant_name", "runtime_config", "deployment_config"}
)


def component_id(spec: ModelSpec, name: str, component: InferenceComponent) -> str:
    """Logical id of a component."""
    return f"InferenceComponent{identity(spec, name, component)}"


def identity(spec: ModelSpec, name: str, component: InferenceComponent) -> str:
    """The part of logical ids that distinguishes this component from every other."""
    return pascal(name) + short_hash(spec.endpoint_name, _variant_name(spec, component), name)


def name_once_there(name: str, arn: Value) -> Value:
    """The name to invoke a component by, written so that a resource that uses it is deployed after it.

    CloudFormation has no attribute for the name. It waits for the ARN, which has the name in lower case.
    """
    return {"Fn::Select": [0, [name, arn]]}


def resolve_inference_components(spec: ModelSpec, region: str | None) -> Resources:
    """Every component, each after the component that it is an adapter of."""
    placed = {container.path: container for container in containers(spec)}
    return {
        component_id(spec, name, component): Resource(
            COMPONENT_TYPE,
            _component(spec, path, name, component, placed, region),
            path,
            _base(spec, component),
            component.tags,
        )
        for path, name, component in components(spec)
    }


def _component(
    spec: ModelSpec,
    path: SpecPath,
    name: str,
    component: InferenceComponent,
    placed: dict[SpecPath, PlacedContainer],
    region: str | None,
) -> dict[str, Value]:
    made = [
        _specification(spec, below, specification, placed, region)
        for below, specification in specifications(path, component)
    ]
    is_single = component.specification is not None
    return present(
        InferenceComponentName=name,
        EndpointName=endpoint_name(),
        # An adapter is wherever its base is, and no definition that AWS publishes names a variant for one.
        VariantName=None if component.base_name is not None else _variant_name(spec, component),
        Specification=made[0] if is_single else None,
        Specifications=None if is_single else made,
        RuntimeConfig=_runtime_config(component),
        DeploymentConfig=deployment_config(spec, component.deployment_config, name),
        **properties(component, leave_out=_FILLED_IN_HERE),
    )


def _specification(
    spec: ModelSpec,
    path: SpecPath,
    specification: Specification,
    placed: dict[SpecPath, PlacedContainer],
    region: str | None,
) -> Value:
    found = placed.get((*path, "container"))
    named = specification.model_name
    rest = properties(specification, leave_out=frozenset({"container", "model_name"}))
    return present(
        Container=None if found is None else _container(spec, found, region),
        ModelName=None if named is None else model_name(spec, named),
        **rest,
    )


def _container(spec: ModelSpec, placed: PlacedContainer, region: str | None) -> Value:
    rest = properties(placed.container, leave_out=frozenset({"image", "environment"}))
    return present(Image=image_uri(placed, region), Environment=container_environment(spec, placed), **rest)


def _runtime_config(component: InferenceComponent) -> Value | None:
    if component.runtime_config is not None:
        return properties(component.runtime_config)
    return None if component.base_name is not None else properties(RUNTIME_CONFIG.value)


def _variant_name(spec: ModelSpec, component: InferenceComponent) -> str:
    return component_variants(spec, component)[0].variant_name


def _base(spec: ModelSpec, component: InferenceComponent) -> tuple[str, ...]:
    base = component.base_name
    return tuple(component_id(spec, name, other) for _, name, other in components(spec) if name == base)

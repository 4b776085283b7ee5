"""Every property that CloudFormation allows in a template can be written in a spec.

The list comes from the registry's schemas: a property that is new in an update of the catalog is missing here until a
block has it.
"""

from collections.abc import Iterator

import pytest

from inferstack.catalog import cloudformation
from inferstack.format.base import Block, with_subclasses
from inferstack.format.kinds import ModelSpec

assert ModelSpec
SAGEMAKER = ("Model", "EndpointConfig", "Endpoint", "InferenceComponent")
TYPES = [
    *(f"AWS::SageMaker::{name}" for name in SAGEMAKER),
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
]

# What the library writes itself, and what from.
WRITTEN_BY_RESOLVE = {
    "AWS::SageMaker::Model": {"execution_role_arn", "primary_container", "tags"},
    "AWS::SageMaker::Model.ContainerDefinition": set(),
    "AWS::SageMaker::EndpointConfig": {
        "execution_role_arn",
        "production_variants",
        "shadow_production_variants",
        "tags",
    },
    "AWS::SageMaker::Endpoint": {"endpoint_name", "endpoint_config_name", "tags"},
    "AWS::SageMaker::InferenceComponent": {"endpoint_name", "inference_component_name", "tags"},
    "AWS::ApplicationAutoScaling::ScalableTarget": {
        "resource_id",
        "scalable_dimension",
        "service_namespace",
        "tags",
    },
    "AWS::ApplicationAutoScaling::ScalingPolicy": {
        *("policy_type", "resource_id", "scalable_dimension", "scaling_target_id", "service_namespace"),
        *("step_scaling_policy_configuration", "target_tracking_scaling_policy_configuration"),
    },
    "AWS::ApplicationAutoScaling::ScalingPolicy.TargetTrackingScalingPolicyConfiguration": {
        "predefined_metric_specification",
    },
}
# Never written: a name would prevent replacing the resource; the endpoint is known by its name; the service-linked
# role is always used; SageMaker has no predictive scaling.
LEFT_OUT = {
    "AWS::SageMaker::Model": {"model_name"},
    "AWS::SageMaker::EndpointConfig": {"endpoint_config_name"},
    "AWS::SageMaker::InferenceComponent": {"endpoint_arn"},
    "AWS::ApplicationAutoScaling::ScalableTarget": {"role_arn"},
    "AWS::ApplicationAutoScaling::ScalingPolicy": {"predictive_scaling_policy_configuration"},
}
# Structures inside what `resolve` writes or what is left out.
UNREACHED = (
    "Tag",
    "Predictive",
    "PredefinedMetric",
)


def blocks_of(shape: str) -> list[type[Block]]:
    return [block for block in with_subclasses(Block) if shape in block.shapes]


def where_to_add(shape: str) -> str:
    """The block of this form and its file, or what to do if there is none yet."""
    found = blocks_of(shape)
    names = " or ".join(f"`{block.__name__}` in {block.__module__.replace('.', '/')}.py" for block in found)
    return names or f'a new block of inferstack/format with `shapes: ClassVar = ("{shape}",)`'


def shapes() -> Iterator[tuple[str, str]]:
    for type_name in TYPES:
        yield type_name, ""
        for definition in cloudformation.definitions(type_name):
            if not definition.startswith(UNREACHED):
                yield type_name, definition


def writable(type_name: str, definition: str) -> set[str]:
    read_only = {path.rpartition("/")[2] for path in cloudformation.read_only(type_name)}
    return {
        key for key, it in cloudformation.shape(type_name, definition).items() if it.name not in read_only
    }


# Structures that only read-only properties have, and one that another block of the same form describes.
READ_ONLY_STRUCTURES = {"DeployedImage", "InferenceComponentPlacementStatus"}
SHARED = {
    "AWS::SageMaker::InferenceComponent.Alarm": "AWS::SageMaker::Endpoint.Alarm",
    "AWS::SageMaker::InferenceComponent.AutoRollbackConfiguration": "AWS::SageMaker::Endpoint.AutoRollbackConfig",
}


@pytest.mark.parametrize(("type_name", "definition"), list(shapes()))
def test_every_writable_property_is_reachable(type_name: str, definition: str) -> None:
    if definition in READ_ONLY_STRUCTURES:
        return
    shape = f"{type_name}.{definition}" if definition else type_name
    written = WRITTEN_BY_RESOLVE.get(shape, set()) | LEFT_OUT.get(shape, set())
    described = SHARED.get(shape, shape)
    fields = {field for block in blocks_of(described) for field in block.__struct_fields__}
    missing = sorted(writable(type_name, definition) - fields - written)
    assert not missing, (
        f"add {missing} to {where_to_add(described)}, then run python -m tools.generate schema"
    )


def test_where_to_add_a_property_is_said_by_name() -> None:
    config = "AWS::SageMaker::EndpointConfig"
    assert where_to_add(f"{config}.ProductionVariant") == "`Variant` in inferstack/format/variant.py"
    assert where_to_add(f"{config}.New").startswith("a new block of inferstack/format with")

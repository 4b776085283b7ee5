"""AWS::SageMaker::Endpoint. Unlike models and its configuration, it gets the name that the spec gives."""

from inferstack.catalog.resource_types import ENDPOINT_TYPE
from inferstack.facts.scaling import counts_change
from inferstack.facts.walk import has_weights
from inferstack.format.defaults import RETAIN_WHEN_SCALED, WEIGHTS_WHEN_SCALED
from inferstack.format.endpoint import Endpoint
from inferstack.format.kinds import ModelSpec
from inferstack.format.logical_ids import ENDPOINT, ENDPOINT_CONFIG
from inferstack.resolve.alarms import deployment_config
from inferstack.resolve.convert import properties
from inferstack.resolve.resource import Resource, Resources, Value, get_att, present


def endpoint_name() -> Value:
    """A reference to the endpoint's name: a resource with it waits for the endpoint."""
    return get_att(ENDPOINT, "EndpointName")


def resolve_endpoint(spec: ModelSpec) -> Resources:
    """The endpoint."""
    block = Endpoint() if spec.endpoint is None else spec.endpoint
    made = {
        "EndpointName": spec.endpoint_name,
        "EndpointConfigName": get_att(ENDPOINT_CONFIG, "EndpointConfigName"),
        **_retained(spec, block),
        **properties(block, leave_out=frozenset({"deployment_config"})),
        **present(DeploymentConfig=deployment_config(spec, block.deployment_config)),
    }
    return {ENDPOINT: Resource(ENDPOINT_TYPE, made, ("endpoint_name",), tags=block.tags)}


def _retained(spec: ModelSpec, block: Endpoint) -> dict[str, Value]:
    """Keeps counts that are changed outside the spec when the endpoint is updated, but not weights."""
    if not counts_change(spec):
        return {}
    retained: dict[str, Value] = {"RetainAllVariantProperties": RETAIN_WHEN_SCALED.value}
    if block.retain_all_variant_properties is None and has_weights(spec):
        retained["ExcludeRetainedVariantProperties"] = [properties(WEIGHTS_WHEN_SCALED.value)]
    return retained

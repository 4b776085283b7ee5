"""The log groups that containers write into, made before SageMaker makes them: its own never expire.

https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
"""

from collections.abc import Iterator

from msgspec.structs import replace

from inferstack.catalog.resource_types import LOG_GROUP_TYPE
from inferstack.facts.walk import components
from inferstack.format.kinds import ModelSpec
from inferstack.format.logical_ids import ENDPOINT
from inferstack.resolve.convert import properties
from inferstack.resolve.execution_role import LOGS_OF_COMPONENTS, LOGS_OF_ENDPOINTS
from inferstack.resolve.inference_component import component_id
from inferstack.resolve.resource import Resource, Resources, pascal, short_hash

_LOG_GROUP = "LogGroup"


def resolve_log_groups(spec: ModelSpec) -> Resources:
    """The groups of the endpoint and of every component with a container, if the spec wants them."""
    if spec.log_groups is None:
        return {}
    groups = {_LOG_GROUP: f"{LOGS_OF_ENDPOINTS}{spec.endpoint_name}"}
    groups |= {logical_id: f"{LOGS_OF_COMPONENTS}{name}" for name, logical_id, _ in _of_components(spec)}
    made = properties(spec.log_groups)
    # What an incident has left in the logs must not go with the stack; and only what stays can be imported.
    return {
        logical_id: Resource(LOG_GROUP_TYPE, {"LogGroupName": name, **made}, ("log_groups",), stays=True)
        for logical_id, name in groups.items()
    }


def component_log_groups(spec: ModelSpec) -> frozenset[str]:
    """Logical ids of the groups of components, if the spec wants any."""
    return frozenset() if spec.log_groups is None else frozenset(it for _, it, _ in _of_components(spec))


def after_log_groups(spec: ModelSpec, resources: Resources) -> Resources:
    """The resources, in which whatever starts a container waits for its log group."""
    if spec.log_groups is None:
        return resources
    groups = {ENDPOINT: _LOG_GROUP} | {writer: group for _, group, writer in _of_components(spec)}
    return resources | {
        it: replace(resources[it], depends_on=(group, *resources[it].depends_on))
        for it, group in groups.items()
    }


def _of_components(spec: ModelSpec) -> Iterator[tuple[str, str, str]]:
    """The name of each component with a container, the logical id of its group, and its own.

    An adapter runs in the container of its base. A group has the same id on whichever variant the component
    runs: CloudFormation cannot make a second one with its name.
    """
    for _, name, component in components(spec):
        if component.base_name is None:
            group = f"{_LOG_GROUP}{pascal(name)}{short_hash(name)}"
            yield name, group, component_id(spec, name, component)

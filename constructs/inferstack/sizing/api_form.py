"""Blocks of a spec as parts of requests: the API's names, and the levels that the spec leaves out.

A field is named after a member of one of its block's shapes. Where a shape is not the structure itself but
one inside of it, :data:`LEVELS` says where.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from inferstack.catalog import cloudformation
from inferstack.format.base import Block

LEVELS: Mapping[str, tuple[str, ...]] = {
    "sagemaker:RecommendationJobInputConfig": ("InputConfig",),
    "sagemaker:RecommendationJobContainerConfig": ("InputConfig", "ContainerConfig"),
    "sagemaker:RecommendationJobPayloadConfig": ("InputConfig", "ContainerConfig", "PayloadConfig"),
    "sagemaker:RecommendationJobCompiledOutputConfig": ("CompiledOutputConfig",),
    "sagemaker:AIWorkloadS3DataSource": ("DataSource", "S3DataSource"),
    "sagemaker:AIDatasetConfig": ("DatasetConfig",),
    "sagemaker:AIBenchmarkOutputConfig": ("OutputConfig",),
    "sagemaker:AIBenchmarkNetworkConfig": ("NetworkConfig",),
    "sagemaker:AIBenchmarkEndpoint": ("BenchmarkTarget", "Endpoint"),
    "sagemaker:AIRecommendationOutputConfig": ("OutputConfig",),
    "sagemaker:AIRecommendationPerformanceTarget": ("PerformanceTarget",),
    "sagemaker:AIRecommendationInferenceSpecification": ("InferenceSpecification",),
    "sagemaker:AIRecommendationComputeSpec": ("ComputeSpec",),
    "sagemaker:AIModelSourceS3": ("ModelSource", "S3"),
}
"""Structures whose members a block has among its own, and the levels down to them."""


def in_api_form(value: object) -> Any:
    """A value of a block as the API has it; fields that the API does not know are left out."""
    match value:
        case Block():
            return _structure(value)
        case tuple() | list():
            return [in_api_form(it) for it in value]
        case _:
            return value


def _structure(block: Block) -> dict[str, Any]:
    made: dict[str, Any] = {}
    places = _places(type(block))
    for field in block.__struct_fields__:
        value = getattr(block, field)
        if field in places and value is not None:
            *levels, name = places[field]
            put(made, levels, {name: in_api_form(value)})
    return made


def put(request: dict[str, Any], levels: list[str], members: Mapping[str, Any]) -> None:
    """Adds members to a structure inside a request, which is made if it is not there yet."""
    for level in levels:
        request = request.setdefault(level, {})
    request.update(members)


@cache
def _places(block: type[Block]) -> Mapping[str, tuple[str, ...]]:
    """For each field that the API knows: the levels down to its member, and the member's name."""
    found: dict[str, tuple[str, ...]] = {}
    for shape in block.shapes:
        for key, member in cloudformation.shape(*shape.split(".")).items():
            found.setdefault(key, (*LEVELS.get(shape, ()), member.name))
    return found

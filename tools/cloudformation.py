"""Generates ``cloudformation.json`` and ``api_only.json``.

The registry's schemas say what CloudFormation accepts, and botocore's models what the service accepts.
A property's description comes from the registry; the API adds what the registry leaves open and tightens
its numeric bounds, because a value outside either is refused at some point of a deployment.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.api_shapes import (
    Api,
    bounds_in_words,
    constraints_of_shape,
    describes,
    members_of,
    schema_of_shape,
)
from tools.registry_words import constraints_of_property, telling
from tools.sources import Json, registry_schema

# The API calls behind each resource type, as (service, operations): together they have its members.
SOURCES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": ("application-autoscaling", ("RegisterScalableTarget",)),
    "AWS::ApplicationAutoScaling::ScalingPolicy": ("application-autoscaling", ("PutScalingPolicy",)),
    "AWS::CloudWatch::Alarm": ("cloudwatch", ("PutMetricAlarm",)),
    "AWS::CloudWatch::CompositeAlarm": ("cloudwatch", ("PutCompositeAlarm",)),
    "AWS::CloudWatch::Dashboard": ("cloudwatch", ("PutDashboard",)),
    "AWS::IAM::Role": ("iam", ("CreateRole",)),
    "AWS::Logs::LogGroup": ("logs", ("CreateLogGroup", "PutRetentionPolicy")),
    "AWS::S3::Bucket": ("s3", ("CreateBucket",)),
    "AWS::SNS::Topic": ("sns", ("CreateTopic",)),
    "AWS::SageMaker::Endpoint": ("sagemaker", ("CreateEndpoint", "UpdateEndpoint")),
    "AWS::SageMaker::EndpointConfig": ("sagemaker", ("CreateEndpointConfig",)),
    "AWS::SageMaker::InferenceComponent": (
        "sagemaker",
        ("CreateInferenceComponent", "UpdateInferenceComponent"),
    ),
    "AWS::SageMaker::Model": ("sagemaker", ("CreateModel",)),
}
# Types that specs do not describe directly: all we need is whether they take tags and what replaces them.
WITHOUT_SHAPES = ("AWS::IAM::ManagedPolicy", "AWS::S3::BucketPolicy", "AWS::SNS::TopicPolicy")
# Of types with many more, the structures that specs describe.
ONLY_STRUCTURES = {"AWS::S3::Bucket": ("LoggingConfiguration", "Rule")}
# Structures of an API that no resource type stands for (load tests and jobs consist of such), or that the
# registry does not limit enough.
API_ONLY_STRUCTURES = (
    ("application-autoscaling", "PutScheduledActionRequest"),
    ("application-autoscaling", "ScalableTargetAction"),
    ("iam", "CreatePolicyRequest"),
    ("sagemaker", "AIAdapterModelPackageEntry"),
    ("sagemaker", "AIAdapterS3Entry"),
    ("sagemaker", "AIAdapterSource"),
    ("sagemaker", "AIBenchmarkEndpoint"),
    ("sagemaker", "AIBenchmarkInferenceComponent"),
    ("sagemaker", "AIBenchmarkNetworkConfig"),
    ("sagemaker", "AIBenchmarkOutputConfig"),
    ("sagemaker", "AICapacityReservationConfig"),
    ("sagemaker", "AIDatasetConfig"),
    ("sagemaker", "AIMlflowConfig"),
    ("sagemaker", "AIModelSourceS3"),
    ("sagemaker", "AIRecommendationComputeSpec"),
    ("sagemaker", "AIRecommendationConstraint"),
    ("sagemaker", "AIRecommendationInferenceSpecification"),
    ("sagemaker", "AIRecommendationOutputConfig"),
    ("sagemaker", "AIRecommendationPerformanceTarget"),
    ("sagemaker", "AIWorkloadInputDataConfig"),
    ("sagemaker", "AIWorkloadS3DataSource"),
    ("sagemaker", "CategoricalParameter"),
    ("sagemaker", "CreateAIBenchmarkJobRequest"),
    ("sagemaker", "CreateAIRecommendationJobRequest"),
    ("sagemaker", "CreateInferenceRecommendationsJobRequest"),
    ("sagemaker", "DescribeModelPackageGroupInput"),
    ("sagemaker", "EndpointInfo"),
    ("sagemaker", "EndpointInputConfiguration"),
    ("sagemaker", "EnvironmentParameterRanges"),
    ("sagemaker", "ModelLatencyThreshold"),
    ("sagemaker", "Phase"),
    ("sagemaker", "RecommendationJobCompiledOutputConfig"),
    ("sagemaker", "RecommendationJobContainerConfig"),
    ("sagemaker", "RecommendationJobInputConfig"),
    ("sagemaker", "RecommendationJobOutputConfig"),
    ("sagemaker", "RecommendationJobPayloadConfig"),
    ("sagemaker", "RecommendationJobResourceLimit"),
    ("sagemaker", "RecommendationJobStoppingConditions"),
    ("sagemaker", "Stairs"),
    ("sagemaker", "TrafficPattern"),
    ("sagemaker", "TrainingRepositoryAuthConfig"),
)

# New instance types reach the API weeks before the registry's enum, and CloudFormation accepts them.
UNITED_ENUMS = frozenset({"ProductionVariantInstanceType"})
# A longer text is looser for an upper bound and tighter for a lower one.
TIGHTER = {
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties"), min),
    **dict.fromkeys(("minimum", "minLength", "minItems"), max),
}


def generate() -> dict[str, Json]:
    """The two data files, by file name."""
    shapes: dict[str, Any] = {name: _behaviour(registry_schema(name)) for name in WITHOUT_SHAPES}
    api_only: dict[str, Any] = {}
    for name, (service, operations) in SOURCES.items():
        shapes[name], api_only[name] = _resource(registry_schema(name), Api.load(service), operations)
    for service, structure in API_ONLY_STRUCTURES:
        name = f"{service}:{structure}"
        shapes[name], api_only[name] = _structure(Api.load(service), structure), {"enums": {}, "members": {}}
    return {"cloudformation.json": shapes, "api_only.json": api_only}


def _behaviour(schema: Json) -> dict[str, Any]:
    return {
        "taggable": schema["tagging"]["taggable"],
        "create_only": _pointers(schema, "createOnlyProperties"),
    }


def _resource(schema: Json, api: Api, operations: tuple[str, ...]) -> tuple[Json, Json]:
    definitions = {"": _definition(schema, schema)}
    wanted = ONLY_STRUCTURES.get(schema["typeName"], schema.get("definitions", {}).keys())
    for name, definition in schema.get("definitions", {}).items():
        if "properties" in definition and name in wanted:
            definitions[name] = _definition(definition, schema)
    if schema["typeName"] in ONLY_STRUCTURES:
        for definition in definitions.values():
            definition["properties"] = {
                name: it
                for name, it in definition["properties"].items()
                if reference(it) in (None, *definitions)
            }
    inputs = [api.input_of(operation) for operation in operations]
    api_only = _merge(definitions, api, inputs)
    resource = {
        **_behaviour(schema),
        "read_only": _pointers(schema, "readOnlyProperties"),
        "definitions": definitions,
    }
    return resource, api_only


def _structure(api: Api, name: str) -> Json:
    """An API's structure in the form of a resource type, so that look-ups need not treat it differently."""
    properties = {member: schema_of_shape(api, shape) for member, shape in members_of(api, name)}
    definition = {"required": sorted(api.shape(name).get("required", ())), "properties": properties}
    return {"taggable": False, "create_only": [], "read_only": [], "definitions": {"": definition}}


def _definition(definition: Json, schema: Json) -> dict[str, Any]:
    properties = {name: constraints_of_property(it, schema) for name, it in definition["properties"].items()}
    return {"required": sorted(definition.get("required", ())), "properties": properties}


def _pointers(schema: Json, word: str) -> list[str]:
    return sorted(_pointer(pointer) for pointer in schema.get(word, ()))


def _pointer(pointer: str) -> str:
    return pointer.removeprefix("/properties/")


def _merge(definitions: dict[str, Any], api: Api, inputs: list[str]) -> dict[str, Any]:
    """Completes ``definitions`` in place from the API, and returns what only the API has."""
    members: dict[str, set[str]] = {}
    enums: dict[str, list[str]] = {}
    pairs = sorted(_pairs(definitions, api, inputs))
    for definition, shape_name in pairs:
        properties = definitions[definition]["properties"]
        # One API structure may correspond to two definitions, each with some of its members.
        known = {
            member for other, it in pairs if it == shape_name for member in definitions[other]["properties"]
        }
        for member, shape in members_of(api, shape_name):
            if member in properties:
                enums[f"{definition}.{member}".lstrip(".")] = _complete(properties[member], shape, api)
                for word, bound in bounds_in_words(api.shape(shape_name)["members"][member]).items():
                    properties[member].setdefault(word, bound)
            elif member not in known:
                members.setdefault(definition, set()).add(member)
    return {
        "enums": {name: only for name, only in sorted(enums.items()) if only},
        "members": {name: sorted(found) for name, found in sorted(members.items())},
    }


def _pairs(definitions: Json, api: Api, inputs: list[str]) -> set[tuple[str, str]]:
    """Each definition with the API structures that describe the same thing, found by walking both trees."""
    found: set[tuple[str, str]] = set()
    todo = [("", name) for name in inputs]
    while todo:
        pair = definition, shape_name = todo.pop()
        if pair in found:
            continue
        found.add(pair)
        properties = definitions[definition]["properties"]
        for member, shape in members_of(api, shape_name):
            target = reference(properties.get(member, {}))
            structure = api.structure_behind(shape)
            if target is not None and structure is not None:
                todo.append((target, structure))
    return found


def reference(constraints: Json) -> str | None:
    """The definition that a property, or each of its items, refers to."""
    target = constraints.get("$ref", constraints.get("items", {}).get("$ref"))
    return None if target is None else str(target)


def _complete(constraints: dict[str, Any], shape: str, api: Api) -> list[str]:
    """Adds what the API knows about a property, and returns the enum values that only the API has."""
    only: list[str] = []
    for target, name in _with_items(constraints, shape, api):
        words = constraints_of_shape(api, name)
        only += sorted(set(words.get("enum", ())) - set(target.get("enum", words.get("enum", ()))))
        if "pattern" in words and _is_open(target.get("pattern", "")):
            # The registry matches anywhere in a text; the service, which comes later, matches all of it.
            target["pattern"] = words["pattern"]
        if name in UNITED_ENUMS:
            target["enum"] = sorted({*target.get("enum", ()), *words["enum"]})
        for word, value in words.items():
            known = target.setdefault(word, value)
            if word in TIGHTER:
                target[word] = TIGHTER[word](known, value)
        completed = telling(target)
        target.clear()
        target.update(completed)
    return only


def _is_open(pattern: str) -> bool:
    return pattern != "" and not (pattern.startswith("^") and pattern.endswith("$"))


def _with_items(constraints: dict[str, Any], shape: str, api: Api) -> Iterator[tuple[dict[str, Any], str]]:
    """A property and, for a list of plain values, its items, each with the API shape that describes it."""
    if "$ref" in constraints or not describes(api, shape, constraints["type"]):
        return
    yield constraints, shape
    items, member = constraints.get("items", {"$ref": ""}), api.item_of(shape)
    if member is not None and "$ref" not in items:
        yield items, member

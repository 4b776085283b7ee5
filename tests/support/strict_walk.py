"""Would the AWS API accept the properties of a template's resources?

botocore checks only some of what its models contain before it sends a request. This walk checks everything: required
members, unknown members, types, enums, patterns, and every length and bound.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from botocore.session import get_session

from inferstack.texts.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS
from tools.portable_pattern import portable

Problems = Iterator[str]


@dataclass(frozen=True)
class Call:
    """The API behind a resource type."""

    service: str
    create: str
    update: str | None = None
    """The operation that takes those properties that the creation does not."""
    filled_in: Mapping[str, Any] = field(default_factory=dict)
    """What CloudFormation adds to the properties."""
    kept: frozenset[str] = frozenset()
    """Properties that CloudFormation does not pass on."""
    each: tuple[str, str] | None = None
    """A list whose items CloudFormation sends one by one, in calls of their own."""


_SCALED = {
    "ServiceNamespace": "sagemaker",
    "ResourceId": "endpoint/x/variant/y",
    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
}
CALLS = {
    "AWS::SageMaker::Model": Call("sagemaker", "CreateModel", filled_in={"ModelName": "model"}),
    "AWS::SageMaker::EndpointConfig": Call(
        "sagemaker", "CreateEndpointConfig", filled_in={"EndpointConfigName": "config"}
    ),
    "AWS::SageMaker::Endpoint": Call("sagemaker", "CreateEndpoint", "UpdateEndpoint"),
    "AWS::SageMaker::InferenceComponent": Call(
        "sagemaker", "CreateInferenceComponent", "UpdateInferenceComponent"
    ),
    "AWS::ApplicationAutoScaling::ScalableTarget": Call(
        "application-autoscaling",
        "RegisterScalableTarget",
        each=("ScheduledActions", "PutScheduledAction"),
    ),
    "AWS::ApplicationAutoScaling::ScalingPolicy": Call(
        "application-autoscaling", "PutScalingPolicy", filled_in=_SCALED, kept=frozenset({"ScalingTargetId"})
    ),
    "AWS::CloudWatch::Alarm": Call("cloudwatch", "PutMetricAlarm", filled_in={"AlarmName": "alarm"}),
    "AWS::CloudWatch::CompositeAlarm": Call(
        "cloudwatch", "PutCompositeAlarm", filled_in={"AlarmName": "any"}
    ),
}

_REFERENCES = {
    "Arn": "arn:aws:iam::111122223333:role/role",
    "ModelName": "model-1",
    "EndpointConfigName": "config-1",
    "EndpointName": "endpoint-1",
}


# What exports, and parameters without a default, turn out to be.
_ELSEWHERE = "elsewhere-1"


def api_problems(template: Mapping[str, Any]) -> list[str]:
    """Everything in the template's resources that the API would refuse, as `logical id.path: what`."""
    given = {name: _sample(it) for name, it in template.get("Parameters", {}).items()}
    return [
        f"{logical_id}{problem}"
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] in CALLS
        for problem in _resource_problems(
            {**resource, "Properties": with_parameters(resource["Properties"], given)}
        )
    ]


def _sample(parameter: Mapping[str, Any]) -> str | list[str]:
    """A plausible value: of what is stored elsewhere, the default is only the name."""
    stored = parameter["Type"].startswith("AWS::SSM")
    text = _ELSEWHERE if stored or "Default" not in parameter else str(parameter["Default"])
    return text.split(",") if "List" in parameter["Type"] else text


def with_parameters(value: Any, given: Mapping[str, str | list[str]]) -> Any:
    """The value with samples for parameters."""
    match value:
        case {"Ref": str() as name} if name in given:
            return given[name]
        case {"Fn::Sub": [str() as text, dict() as variables]}:
            return {
                "Fn::Sub": [
                    text,
                    {**given, **{key: with_parameters(it, given) for key, it in variables.items()}},
                ]
            }
        case {"Fn::Sub": str() as text} if given:
            return {"Fn::Sub": [text, dict(given)]}
        case dict():
            return {key: with_parameters(item, given) for key, item in value.items()}
        case list():
            return [with_parameters(item, given) for item in value]
        case _:
            return value


def _resource_problems(resource: Mapping[str, Any]) -> Problems:
    call = CALLS[resource["Type"]]
    create = _input(call.service, call.create)
    sent = {**call.filled_in, **deployed(resource["Properties"])}
    created = {key: value for key, value in sent.items() if key not in call.kept}
    if call.update is not None:
        update = _input(call.service, call.update)
        for key in [it for it in created if it in update.members and it not in create.members]:
            yield from walk(update.members[key], created.pop(key), f".{key}")
    if call.each is not None:
        key, operation = call.each
        for index, item in enumerate(created.pop(key, ())):
            yield from walk(_input(call.service, operation), {**_SCALED, **item}, f".{key}[{index}]")
    if isinstance(create.members.get("Tags"), MapShape) and "Tags" in created:
        # CloudFormation writes tags as a list everywhere.
        created["Tags"] = {tag["Key"]: tag["Value"] for tag in created["Tags"]}
    yield from walk(create, created, "")


@cache
def _input(service: str, operation: str) -> StructureShape:
    shape = get_session().get_service_model(service).operation_model(operation).input_shape
    assert isinstance(shape, StructureShape)
    return shape


# ---------------------------------------------------------------- what the deployment would put in


def deployed(value: Any) -> Any:
    """The value with plausible samples for intrinsic functions."""
    match value:
        case {"Ref": str() as logical_id} if logical_id.endswith("Topic"):
            return "arn:aws:sns:us-east-1:111122223333:topic"
        case {"Ref": _}:
            return "arn:aws:autoscaling:us-east-1:111122223333:scalingPolicy:1"
        case {"Fn::GetAtt": [_, attribute]}:
            return _REFERENCES[attribute]
        case {"Fn::Sub": [str() as text, dict() as variables]}:
            return _filled(text, {**PSEUDO_PARAMETERS, **deployed(variables)})
        case {"Fn::Sub": str() as text}:
            return _filled(text, PSEUDO_PARAMETERS)
        case {"Fn::FindInMap": _}:
            return "111122223333"
        case {"Fn::ImportValue": _}:
            return _ELSEWHERE
        case {"Fn::Split": [str() as separator, whole]}:
            return deployed(whole).split(separator)
        case dict():
            return {key: deployed(item) for key, item in value.items()}
        case list():
            return [deployed(item) for item in value]
        case _:
            return value


def _filled(text: str, values: Mapping[str, str]) -> str:
    # What is no pseudo parameter is a resource, which is named here.
    return PLACEHOLDER.sub(lambda found: values.get(found[1], "resource-1"), text)


# ---------------------------------------------------------------- the walk


def walk(shape: Shape, value: Any, path: str) -> Problems:
    """Problems of a value and of everything in it."""
    match shape:
        case StructureShape():
            yield from _structure(shape, value, path)
        case ListShape():
            yield from _list(shape, value, path)
        case MapShape():
            yield from _map(shape, value, path)
        case StringShape():
            yield from _string(shape, value, path)
        case _:
            yield from _scalar(shape, value, path)


def _structure(shape: StructureShape, value: Any, path: str) -> Problems:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is no mapping"
        return
    yield from (f"{path}: lacks {name}" for name in shape.required_members if name not in value)
    for name, item in value.items():
        if name in shape.members:
            yield from walk(shape.members[name], item, f"{path}.{name}")
        else:
            yield f"{path}: has no member {name}"


def _list(shape: ListShape, value: Any, path: str) -> Problems:
    if not isinstance(value, list):
        yield f"{path}: {value!r} is no list"
        return
    yield from _bounded(shape, len(value), path, "items")
    for index, item in enumerate(value):
        yield from walk(shape.member, item, f"{path}[{index}]")


def _map(shape: MapShape, value: Any, path: str) -> Problems:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is no mapping"
        return
    yield from _bounded(shape, len(value), path, "entries")
    for key, item in value.items():
        yield from walk(shape.key, key, f"{path} key {key!r}")
        yield from walk(shape.value, item, f"{path}[{key!r}]")


def _string(shape: StringShape, value: Any, path: str) -> Problems:
    if not isinstance(value, str):
        yield f"{path}: {value!r} is no string"
        return
    yield from _bounded(shape, len(value), path, "characters")
    if shape.enum and value not in shape.enum:
        yield f"{path}: {value!r} is none of {', '.join(shape.enum)}"
    pattern = portable(shape.metadata.get("pattern", ".*"))
    if pattern is not None and re.fullmatch(pattern, value) is None:
        yield f"{path}: {value!r} does not match {pattern}"


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "boolean": lambda it: isinstance(it, bool),
    "timestamp": lambda it: isinstance(it, str | datetime),
    "integer": lambda it: isinstance(it, int) and not isinstance(it, bool) and -(2**31) <= it < 2**31,
    "long": lambda it: isinstance(it, int) and not isinstance(it, bool),
    "float": lambda it: isinstance(it, int | float) and not isinstance(it, bool) and abs(it) < 2**128,
    "double": lambda it: isinstance(it, int | float) and not isinstance(it, bool),
}


def _scalar(shape: Shape, value: Any, path: str) -> Problems:
    if not _TYPES[shape.type_name](value):
        yield f"{path}: {value!r} is no {shape.type_name}"
        return
    yield from _bounded(shape, value, path, "")


def _bounded(shape: Shape, size: float, path: str, unit: str) -> Problems:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if (low is not None and size < low) or (high is not None and size > high):
        yield f"{path}: {size} {unit} is outside {low} to {high}"

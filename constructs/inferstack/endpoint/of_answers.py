"""An endpoint that exists: AWS's answers, as resources with CloudFormation's properties.

Most members of an answer have the name of the property that they were made from. Where they do not, this
module knows it: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeInferenceComponent.html
shows the image of a component as the one that is deployed.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from inferstack.catalog import cloudformation
from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    COMPONENT_TYPE,
    CONFIG_TYPE,
    ENDPOINT_TYPE,
    MODEL_TYPE,
    SCALING_POLICY_TYPE,
    TARGET_TYPE,
)
from inferstack.endpoint.deployed import Properties, entries, mapping, text

Answer = Mapping[str, Any]


class EndpointAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """What AWS says about one endpoint, and about all that belongs to it."""

    endpoint: Answer
    config: Answer
    models: Sequence[Answer]
    components: Sequence[Answer]
    targets: Sequence[Answer] = ()
    policies: Sequence[Answer] = ()
    schedules: Sequence[Answer] = ()
    alarms: Sequence[Answer] = ()
    composites: tuple[str, ...] = ()
    """Names of composite alarms on these alarms."""
    tags: Mapping[str, Mapping[str, str]] = {}
    """By ARN, without those that AWS sets itself."""

    @property
    def fleets(self) -> dict[str, Answer]:
        """What runs now, by the names of variants."""
        every = (*entries(self.endpoint.get("ProductionVariants")), *self._shadows)
        return {it["VariantName"]: it for it in every}

    @property
    def _shadows(self) -> list[Answer]:
        return entries(self.endpoint.get("ShadowProductionVariants"))


class Existing(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that exists."""

    type: str
    key: str
    """What CloudFormation's ``Ref`` returns for it: for most types the ARN."""
    name: str
    """What people call it."""
    identifier: Mapping[str, str]
    """By which CloudFormation imports it."""
    properties: Properties
    unsaid: tuple[str, ...] = ()
    """Members for which CloudFormation has no property."""


def resources_of(answers: EndpointAnswers) -> Iterator[Existing]:
    """Every resource of the endpoint, in the order in which they can be made."""
    for model in answers.models:
        yield _hosted(answers, MODEL_TYPE, "Model", model)
    yield _hosted(answers, CONFIG_TYPE, "EndpointConfig", answers.config)
    yield _hosted(answers, ENDPOINT_TYPE, "Endpoint", _with_deployment(answers.endpoint))
    for component in answers.components:
        yield _hosted(answers, COMPONENT_TYPE, "InferenceComponent", _component(component))
    for target in answers.targets:
        yield _target(answers, target)
    for policy in answers.policies:
        yield _policy(policy)
    for alarm in answers.alarms:
        yield _alarm(answers, alarm)


def _hosted(answers: EndpointAnswers, type_name: str, kind: str, answer: Answer) -> Existing:
    arn, name = str(answer[f"{kind}Arn"]), str(answer[f"{kind}Name"])
    found = _made(answers, type_name, arn, name, {f"{kind}Arn": arn}, answer)
    # A stack leaves the names of models and configurations to CloudFormation.
    own = {} if kind in ("Model", "EndpointConfig") else {f"{kind}Name": name}
    return msgspec.structs.replace(found, properties={**own, **found.properties})


def _made(
    answers: EndpointAnswers,
    type_name: str,
    key: str,
    name: str,
    identifier: Mapping[str, str],
    answer: Answer,
) -> Existing:
    unsaid: list[str] = []
    kept = _properties(type_name, "", answer, unsaid)
    names = {f"{type_name.rpartition('::')[2]}{ending}" for ending in ("Name", "Arn")}
    # An endpoint is named by its name, and the ARN follows from that.
    names |= {"EndpointArn"} | cloudformation.read_only(type_name)
    properties = {name: value for name, value in kept.items() if name not in names}
    tags = answers.tags.get(str(answer.get("ScalableTargetARN", answer.get("AlarmArn", key))))
    if tags:
        properties["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
    return Existing(
        type=type_name,
        key=key,
        name=name,
        identifier=identifier,
        properties=properties,
        unsaid=tuple(unsaid),
    )


def _with_deployment(answer: Answer) -> Answer:
    """The description of an endpoint or component with how its last update was rolled out, if it is known."""
    return {**answer, "DeploymentConfig": answer.get("LastDeploymentConfig")}


def _component(answer: Answer) -> Answer:
    copies = mapping(answer.get("RuntimeConfig")).get("DesiredCopyCount")
    return {
        **_with_deployment(answer),
        "RuntimeConfig": None if copies is None else {"CopyCount": copies},
        "Specification": _specification(answer.get("Specification")),
        "Specifications": [_specification(it) for it in entries(answer.get("Specifications"))] or None,
    }


def _specification(answer: Answer | None) -> Answer | None:
    if answer is None or "Container" not in answer:
        return answer
    container = {key: value for key, value in answer["Container"].items() if key != "DeployedImage"}
    image = mapping(answer["Container"].get("DeployedImage")).get("SpecifiedImage")
    return {**answer, "Container": {**container, "Image": image}}


def target_key(answer: Answer) -> str:
    """What ``Ref`` returns for the scalable target of a description."""
    return f"{answer['ResourceId']}|{answer['ScalableDimension']}|{answer['ServiceNamespace']}"


def _target(answers: EndpointAnswers, answer: Answer) -> Existing:
    identifier = {key: answer[key] for key in ("ResourceId", "ScalableDimension", "ServiceNamespace")}
    schedules = [it for it in answers.schedules if target_key(it) == target_key(answer)]
    whole = {**answer, "ScheduledActions": schedules or None}
    return _made(answers, TARGET_TYPE, target_key(answer), answer["ResourceId"], identifier, whole)


def _policy(answer: Answer) -> Existing:
    arn, dimension = answer["PolicyARN"], answer["ScalableDimension"]
    unsaid: list[str] = []
    kept = _properties(SCALING_POLICY_TYPE, "", answer, unsaid)
    own = {
        key: value for key, value in kept.items() if key.startswith("Policy") or key.endswith("Configuration")
    }
    return Existing(
        type=SCALING_POLICY_TYPE,
        key=arn,
        name=f"{answer['PolicyName']} of {answer['ResourceId']}",
        identifier={"Arn": arn, "ScalableDimension": dimension},
        properties={**own, "ScalingTargetId": target_key(answer)},
        unsaid=tuple(unsaid),
    )


def _alarm(answers: EndpointAnswers, answer: Answer) -> Existing:
    name = answer["AlarmName"]
    # CloudWatch's default, which it does not show.
    whole = {"TreatMissingData": "missing", **answer}
    found = _made(answers, ALARM_TYPE, name, name, {"AlarmName": name}, whole)
    return msgspec.structs.replace(found, properties={"AlarmName": name, **found.properties})


# ---------------------------------------------------------------- members as properties


def _properties(type_name: str, definition: str, answer: Answer, unsaid: list[str]) -> dict[str, Any]:
    """The members that are properties, at any depth. Names that only the API has are added to ``unsaid``."""
    by_key = cloudformation.shape(type_name, definition)
    of_api = cloudformation.api_only_properties(type_name, definition)
    made: dict[str, Any] = {}
    for name, value in answer.items():
        key = cloudformation.snake(name)
        if value is None:
            continue
        if key in of_api:
            unsaid.append(f"{definition}.{name}".lstrip("."))
        elif key in by_key:
            made[by_key[key].name] = _value(type_name, by_key[key].definition, value, unsaid)
    return made


def _value(type_name: str, definition: str | None, value: Any, unsaid: list[str]) -> Any:
    match value:
        case dict() if definition is not None:
            return _properties(type_name, definition, value, unsaid)
        case dict():
            return {key: _value(type_name, None, it, unsaid) for key, it in value.items()}
        case list():
            return [_value(type_name, definition, it, unsaid) for it in value]
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def is_tracking_alarm(answer: Answer) -> bool:
    """Whether Application Auto Scaling has made the alarm for a target-tracking policy."""
    return (text(answer.get("AlarmName")) or "").startswith("TargetTracking-")

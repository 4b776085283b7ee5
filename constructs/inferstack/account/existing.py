"""What AWS says about an endpoint that exists, and about all that belongs to it. Nothing is changed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from inferstack.account.connection import AccountError, Connection, error_code, explained
from inferstack.endpoint.of_answers import Answer, EndpointAnswers, is_tracking_alarm

_RIGHTS = (
    "reading an endpoint needs sagemaker:DescribeEndpoint, sagemaker:DescribeEndpointConfig, "
    "sagemaker:DescribeModel, sagemaker:ListInferenceComponents, sagemaker:DescribeInferenceComponent, "
    "sagemaker:ListTags, application-autoscaling:DescribeScalableTargets, "
    "application-autoscaling:DescribeScalingPolicies, application-autoscaling:DescribeScheduledActions, "
    "application-autoscaling:ListTagsForResource, cloudwatch:DescribeAlarms, cloudwatch:ListTagsForResource, "
    "cloudformation:DescribeStacks and cloudformation:ListStackResources"
)
_MOST_IDS = 50
"""Of resources in one request to Application Auto Scaling."""
_OF_AWS = "aws:"
"""How the keys of tags begin that AWS sets itself."""
_ABSENT = {"ValidationException": "Could not find", "ValidationError": "does not exist"}
"""How SageMaker and CloudFormation say that there is no such thing: by code and words."""


class NoEndpointError(AccountError):
    """There is no such endpoint, or not for long."""


def existing_endpoint(connection: Connection, region: str, name: str) -> EndpointAnswers:
    """All that AWS says about an endpoint.

    Raises:
        AccountError: when there is no such endpoint, it is being deleted, or AWS cannot be asked.
    """
    with explained(f"the endpoint {name} cannot be read", rights=_RIGHTS):
        client = connection.sagemaker(region)
        endpoint, config = endpoint_with_config(connection, region, name)
        components = [
            client.describe_inference_component(InferenceComponentName=it["InferenceComponentName"])
            for it in pages(
                client, "list_inference_components", "InferenceComponents", EndpointNameEquals=name
            )
        ]
        models = [*_models(client, dict.fromkeys(_model_names(config, components)))]
        scaling = connection.client("application-autoscaling", region)
        targets = [*_targets(scaling, _scalable(name, config, components))]
        policies, schedules = (
            [answer for it in targets for answer in _of_target(scaling, operation, key, it)]
            for operation, key in (
                ("describe_scaling_policies", "ScalingPolicies"),
                ("describe_scheduled_actions", "ScheduledActions"),
            )
        )
        cloudwatch = connection.client("cloudwatch", region)
        alarms, composites = _alarms(cloudwatch, name, components, {it["PolicyARN"] for it in policies})
        hosted = [endpoint["EndpointArn"], config["EndpointConfigArn"]]
        hosted += [it["ModelArn"] for it in models] + [it["InferenceComponentArn"] for it in components]
        tags: dict[str, Any] = {it: pages(client, "list_tags", "Tags", ResourceArn=it) for it in hosted}
        # The oldest targets have no ARN.
        arns_of_targets = filter(None, (it.get("ScalableTargetARN") for it in targets))
        for one, arns in ((scaling, arns_of_targets), (cloudwatch, [it["AlarmArn"] for it in alarms])):
            tags |= {it: one.list_tags_for_resource(ResourceARN=it)["Tags"] for it in arns}
        return EndpointAnswers(
            endpoint=endpoint,
            config=config,
            models=models,
            components=components,
            targets=targets,
            policies=policies,
            schedules=schedules,
            alarms=alarms,
            composites=tuple(composites),
            tags={arn: _own_tags(found) for arn, found in tags.items()},
        )


def endpoint_with_config(connection: Connection, region: str, name: str) -> tuple[Answer, Answer]:
    """What SageMaker says of an endpoint, and of its configuration.

    Raises:
        NoEndpointError: when there is no such endpoint, or it is being deleted.
        AccountError: when its configuration is deleted.
    """
    client = connection.sagemaker(region)
    endpoint = described(client.describe_endpoint, EndpointName=name)
    if endpoint is None:
        where = f"{region} of the account {connection.account}"
        raise NoEndpointError(f"there is no endpoint {name} in {where}; check name, region and credentials")
    if endpoint.get("EndpointStatus") == "Deleting":
        raise NoEndpointError(f"the endpoint {name} is being deleted, so there is nothing to read any more")
    config = described(client.describe_endpoint_config, EndpointConfigName=endpoint["EndpointConfigName"])
    if config is None:
        # CloudFormation deletes it after an update that SageMaker has then rolled back.
        said = (
            f"the endpoint {name} serves the configuration {endpoint['EndpointConfigName']}, which is deleted"
        )
        raise AccountError(said, fix="`inferstack status` says whether an update was rolled back")
    return endpoint, config


class ExistingStack(msgspec.Struct, frozen=True):
    """A stack that exists."""

    ids: Mapping[str, str]
    """The physical ids of its resources, by logical id."""
    parameters: Mapping[str, str]
    """The values of its parameters, as the deployment has found them."""


def described_stack(client: Any, name: str) -> Answer | None:
    """CloudFormation's answer about a stack; None where there is none of this name."""
    answer = described(client.describe_stacks, StackName=name)
    if answer is None:
        return None
    [found] = answer["Stacks"]
    stack: Answer = found
    return stack


def stack_with(client: Any, arn: str) -> str | None:
    """The name of the stack that a resource belongs to; None where it belongs to none."""
    answer = described(client.describe_stack_resources, PhysicalResourceId=arn)
    return None if answer is None else next((it["StackName"] for it in answer["StackResources"]), None)


def existing_stack(connection: Connection, region: str, name: str) -> ExistingStack | None:
    """A stack; None where there is none of this name.

    Raises:
        AccountError: when AWS cannot be asked.
    """
    with explained(f"the stack {name} cannot be read", rights=_RIGHTS):
        client = connection.client("cloudformation", region)
        stack = described_stack(client, name)
        if stack is None:
            return None
        found = pages(client, "list_stack_resources", "StackResourceSummaries", StackName=name)
        ids = {
            it["LogicalResourceId"]: it["PhysicalResourceId"] for it in found if "PhysicalResourceId" in it
        }
    parameters = {
        it["ParameterKey"]: it.get("ResolvedValue", it.get("ParameterValue", ""))
        for it in stack.get("Parameters", ())
    }
    return ExistingStack(ids, parameters)


def pages(client: Any, operation: str, key: str, **request: Any) -> Iterator[Any]:
    """The entries of all pages of an answer."""
    for page in client.get_paginator(operation).paginate(**request):
        yield from page.get(key, ())


def _own_tags(found: Mapping[str, str] | Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Tags that AWS has not set itself, as a mapping, from either form in which services have them."""
    pairs = found.items() if isinstance(found, Mapping) else ((it["Key"], it["Value"]) for it in found)
    return {key: value for key, value in pairs if not key.startswith(_OF_AWS)}


# ---------------------------------------------------------------- models


def _variants(config: Answer) -> Iterator[Answer]:
    yield from config["ProductionVariants"]
    yield from config.get("ShadowProductionVariants", ())


def _model_names(config: Answer, components: Sequence[Answer]) -> Iterator[str]:
    specifications = [it.get("Specification", {}) for it in components]
    specifications += [one for it in components for one in it.get("Specifications", ())]
    for it in (*_variants(config), *specifications):
        if "ModelName" in it:
            yield it["ModelName"]
        for pool in it.get("InstancePools", ()):
            if "ModelNameOverride" in pool:
                yield pool["ModelNameOverride"]


def _models(client: Any, names: Iterable[str]) -> Iterator[Answer]:
    """The models that still exist: an endpoint goes on without those that it was made from."""
    found = (described(client.describe_model, ModelName=name) for name in names)
    return (it for it in found if it is not None)


def described(operation: Callable[..., Answer], **request: str) -> Answer | None:
    """What AWS says of something; None where there is no such thing."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    try:
        return operation(**request)
    except ClientError as error:
        said = _ABSENT.get(error_code(error) or "")
        if said is None or said not in str(error):
            raise
        return None


# ---------------------------------------------------------------- scaling and alarms


def _scalable(endpoint: str, config: Answer, components: Sequence[Answer]) -> list[str]:
    variants = [f"endpoint/{endpoint}/variant/{it['VariantName']}" for it in _variants(config)]
    return variants + [f"inference-component/{it['InferenceComponentName']}" for it in components]


def _targets(client: Any, ids: Sequence[str]) -> Iterator[Answer]:
    for start in range(0, len(ids), _MOST_IDS):
        some = [*ids[start : start + _MOST_IDS]]
        yield from pages(
            client,
            "describe_scalable_targets",
            "ScalableTargets",
            ServiceNamespace="sagemaker",
            ResourceIds=some,
        )


def _of_target(client: Any, operation: str, key: str, target: Answer) -> Iterator[Answer]:
    one = {name: target[name] for name in ("ServiceNamespace", "ResourceId", "ScalableDimension")}
    yield from pages(client, operation, key, **one)


def _alarms(
    client: Any, endpoint: str, components: Sequence[Answer], policies: set[str]
) -> tuple[list[Answer], list[str]]:
    """The alarms on the endpoint's metrics or for its policies, and the names of composite alarms on them."""
    names = {("EndpointName", endpoint)}
    names |= {("InferenceComponentName", it["InferenceComponentName"]) for it in components}
    every: list[Answer] = []
    composites: list[Answer] = []
    for page in client.get_paginator("describe_alarms").paginate(
        AlarmTypes=["MetricAlarm", "CompositeAlarm"]
    ):
        every += page.get("MetricAlarms", ())
        composites += page.get("CompositeAlarms", ())
    found = [
        it
        for it in every
        if not is_tracking_alarm(it)
        and (not names.isdisjoint(_dimensions(it)) or not policies.isdisjoint(it.get("AlarmActions", ())))
    ]
    quoted = [
        mark for it in found for mark in (f'("{it["AlarmName"]}")', f"({it['AlarmName']})", it["AlarmArn"])
    ]
    on_them = [
        it["AlarmName"] for it in composites if any(mark in it.get("AlarmRule", "") for mark in quoted)
    ]
    return found, on_them


def _dimensions(alarm: Answer) -> Iterator[tuple[str, str]]:
    stats = (it["MetricStat"]["Metric"] for it in alarm.get("Metrics", ()) if "MetricStat" in it)
    for it in (alarm, *stats):
        yield from ((one["Name"], one["Value"]) for one in it.get("Dimensions", ()))

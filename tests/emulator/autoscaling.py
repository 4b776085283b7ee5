"""Application Auto Scaling for SageMaker.

https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html
"""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from emulator.account import Account, Description
from emulator.answering import Answering, Operation, Refused, Request, invalid
from emulator.beliefs import believed
from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse

_KINDS = {
    "sagemaker:variant:DesiredInstanceCount": ("endpoint", "SageMakerVariant"),
    "sagemaker:variant:DesiredProvisionedConcurrency": ("endpoint", "SageMakerVariant"),
    "sagemaker:inference-component:DesiredCopyCount": ("inference-component", "SageMakerInferenceComponent"),
}
"""What each dimension scales: the beginning of the resource id, and the names of the predefined metrics."""

TargetKey = tuple[str, str]


def _key(request: Request) -> TargetKey:
    if request["ServiceNamespace"] != "sagemaker":
        raise Refused("NotImplemented", f"{request['ServiceNamespace']} is not emulated")
    return request["ResourceId"], request["ScalableDimension"]


# ---------------------------------------------------------------- targets


def register_target(account: Account, request: Request) -> dict[str, Any]:
    key = _key(request)
    before = account.targets.get(key, {})
    if not before:
        _refuse_unknown(account, *key)
    target = {**before, **{name: value for name, value in request.items() if name != "Tags"}}
    _check_bounds(account, target)
    arn = before.get(
        "ScalableTargetARN", account.arn("application-autoscaling", f"scalable-target/{uuid4().hex}")
    )
    account.targets[key] = {"CreationTime": datetime.now(UTC), **target, "ScalableTargetARN": arn}
    account.tags.setdefault(arn, {}).update(request.get("Tags", {}))
    return {"ScalableTargetARN": arn}


def _refuse_unknown(account: Account, resource_id: str, dimension: str) -> None:
    if resource_id.split("/", maxsplit=1)[0] != _KINDS[dimension][0]:
        told = f"{resource_id} has no dimension {dimension}."
        raise invalid(believed("dimension-fits-resource", told))
    if not _exists(account, resource_id):
        raise invalid(believed("scaled-resource-exists", f"No such resource: {resource_id}."))


def _exists(account: Account, resource_id: str) -> bool:
    match resource_id.split("/"):
        case ["endpoint", endpoint, "variant", variant] if endpoint in account.endpoints:
            return variant in {it["VariantName"] for it in account.endpoints[endpoint]["ProductionVariants"]}
        case ["inference-component", component]:
            return component in account.components
        case _:
            return False


def _check_bounds(account: Account, target: Description) -> None:
    """The operation's page requires both, and a maximum that is not below the minimum."""
    if "MinCapacity" not in target or "MaxCapacity" not in target:
        raise invalid("MinCapacity and MaxCapacity are required to register a scalable target.")
    if target["MinCapacity"] > target["MaxCapacity"]:
        raise invalid("Maximum capacity cannot be less than minimum capacity.")
    match target["ResourceId"].split("/"):
        case ["endpoint", endpoint, "variant", variant] if target["MinCapacity"] == 0:
            if "AsyncInferenceConfig" not in account.endpoints[endpoint]:
                told = f"Variant {variant} cannot scale to zero instances."
                raise invalid(believed("least-of-a-variant", told))


def _target(account: Account, request: Request) -> Description:
    key = _key(request)
    if key not in account.targets:
        told = f"No scalable target registered for resource ID: {key[0]}, scalable dimension: {key[1]}"
        raise Refused("ObjectNotFoundException", told)
    return account.targets[key]


def deregister_target(account: Account, request: Request) -> None:
    """Policies and schedules are deleted with their target, according to the operation's page."""
    account.tags.pop(_target(account, request)["ScalableTargetARN"])
    key = _key(request)
    del account.targets[key]
    for found in (account.policies, account.schedules):
        for gone in [it for it in found if it[:2] == key]:
            del found[gone]


def describe_targets(account: Account, request: Request) -> dict[str, Any]:
    ids = request.get("ResourceIds")
    return {"ScalableTargets": [it for key, it in account.targets.items() if ids is None or key[0] in ids]}


# ---------------------------------------------------------------- policies and schedules


def put_policy(account: Account, request: Request) -> dict[str, Any]:
    _target(account, request)
    _check_tracking(request)
    key = (*_key(request), request["PolicyName"])
    _check_alone(account, key, request)
    arn = account.arn(
        "autoscaling", f"scalingPolicy:{uuid4()}:resource/sagemaker/{key[0]}:policyName/{key[2]}"
    )
    before = account.policies.get(key, {"PolicyARN": arn, "CreationTime": datetime.now(UTC)})
    account.policies[key] = {**before, **request}
    return {"PolicyARN": before["PolicyARN"], "Alarms": []}


def _check_tracking(request: Request) -> None:
    if request.get("PolicyType") != "TargetTrackingScaling":
        return
    config = request.get("TargetTrackingScalingPolicyConfiguration", {})
    predefined = config.get("PredefinedMetricSpecification")
    if (predefined is None) == ("CustomizedMetricSpecification" not in config):
        told = "A target tracking policy has either a predefined or a customized metric."
        raise invalid(believed("one-metric-specification", told))
    metrics = _KINDS[request["ScalableDimension"]][1]
    if predefined is not None and not predefined["PredefinedMetricType"].startswith(metrics):
        told = f"{predefined['PredefinedMetricType']} is no metric of {request['ScalableDimension']}."
        raise invalid(believed("metric-fits-dimension", told))


def _check_alone(account: Account, key: tuple[str, str, str], request: Request) -> None:
    """In the words of https://github.com/aws/aws-cdk/issues/17956"""
    others = [it for other, it in account.policies.items() if other[:2] == key[:2] and other != key]
    tracked = _metric(request)
    if tracked and any(_metric(it) == tracked for it in others):
        told = "Only one TargetTrackingScaling policy for a given metric specification is allowed."
        raise invalid(told)


def _metric(policy: Description) -> list[Any]:
    config = policy.get("TargetTrackingScalingPolicyConfiguration", {})
    return [config[key] for key in config if key.endswith("MetricSpecification")]


def put_schedule(account: Account, request: Request) -> None:
    target = _target(account, request)
    key = (*_key(request), request["ScheduledActionName"])
    arn = f"{target['ScalableTargetARN']}:scheduledActionName/{key[2]}"
    before = {"ScheduledActionARN": arn, "CreationTime": datetime.now(UTC)}
    account.schedules[key] = {**before, **account.schedules.get(key, {}), **request}


def _delete(found: dict[Any, Description], key: tuple[str, str, str]) -> None:
    if key not in found:
        raise Refused("ObjectNotFoundException", f"No {key[2]} for {key[0]}, {key[1]}")
    del found[key]


def _of_resource(found: dict[tuple[str, str, str], Description], request: Request) -> list[Description]:
    wanted = request.get("ResourceId")
    return [it for key, it in found.items() if wanted in (None, key[0])]


# ---------------------------------------------------------------- tags


def _tags(account: Account, request: Request) -> dict[str, str]:
    if request["ResourceARN"] not in account.tags:
        raise Refused("ResourceNotFoundException", f"No resource {request['ResourceARN']}")
    return account.tags[request["ResourceARN"]]


def untag(account: Account, request: Request) -> None:
    tags = _tags(account, request)
    for key in request["TagKeys"]:
        tags.pop(key, None)


OPERATIONS: dict[str, Operation] = {
    "RegisterScalableTarget": register_target,
    "DeregisterScalableTarget": deregister_target,
    "DescribeScalableTargets": describe_targets,
    "PutScalingPolicy": put_policy,
    "DeleteScalingPolicy": lambda account, request: _delete(
        account.policies, (*_key(request), request["PolicyName"])
    ),
    "DescribeScalingPolicies": lambda account, request: {
        "ScalingPolicies": _of_resource(account.policies, request)
    },
    "PutScheduledAction": put_schedule,
    "DeleteScheduledAction": lambda account, request: _delete(
        account.schedules, (*_key(request), request["ScheduledActionName"])
    ),
    "DescribeScheduledActions": lambda account, request: {
        "ScheduledActions": _of_resource(account.schedules, request)
    },
    "DescribeScalingActivities": lambda _account, _request: {"ScalingActivities": []},
    "ListTagsForResource": lambda account, request: {"Tags": _tags(account, request)},
    "TagResource": lambda account, request: _tags(account, request).update(request["Tags"]),
    "UntagResource": untag,
}


class AutoScaling(Answering, ApplicationAutoScalingResponse):
    """moto accepts targets for resources that do not exist, and has only one of SageMaker's three dimensions."""

    operations = OPERATIONS

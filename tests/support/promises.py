"""What a spec promises, looked up in what is deployed.

Nothing here knows templates: the promises come from the spec, and the services' own answers show whether they are
kept. A key of the spec and a member of an answer count as the same word if they are equal without case and
underscores.
"""

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from emulator.clients import ACCOUNT, EmulatedAws

from inferstack.catalog import metrics
from inferstack.facts.walk import component_scalings, components, models, variant_scalings, variants
from inferstack.format.alarms import AlarmRule, Alarms
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.base import Block
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import FrameworkImage, Model

Broken = Iterator[str]
_ELSEWHERE = frozenset({"autoscaling", "model_name", "files", "triton", "variant_name", "deployment_config"})
"""Keys of the spec that are not members of the resource that they are written in; each is looked up separately.

The exception is how to deploy: a component shows that only for an update that was made that way.
"""
_UNITS = {"us": 1, "ms": 1000, "s": 1_000_000}
_LATENCY = re.compile(r"([\d.]+) (us|ms|s)")


def broken_promises(aws: EmulatedAws, spec: ModelSpec) -> list[str]:
    """Everything that the spec says and that is not true."""
    return [
        broken
        for promise in (_hosting, _components, _scaling, _alarms, _role, _tags, _dashboard)
        for broken in promise(aws, spec)
    ]


def _unlike(said: Any, found: Any, path: str, aws: EmulatedAws) -> Broken:
    match said:
        case FrameworkImage():
            if said.version is not None and said.version not in str(found):
                yield f"{path}: {found} is no {said.framework} {said.version}"
        case Block():
            for key, value in msgspec.structs.asdict(said).items():
                if value is not None and key not in _ELSEWHERE:
                    yield from _unlike(value, _member(found, key), f"{path}.{key}", aws)
        case dict():
            for key, value in said.items():
                yield from _unlike(value, dict(found or {}).get(key), f"{path}.{key}", aws)
        case tuple() if len(said) == len(found or ()):
            for index, (one, other) in enumerate(zip(said, found, strict=True)):
                yield from _unlike(one, other, f"{path}[{index}]", aws)
        case str():
            if _deployed(said, aws) != found:
                yield f"{path}: {said!r} is {found!r}"
        case _ if said != found:
            yield f"{path}: {said!r} is {found!r}"


def _member(found: Any, key: str) -> Any:
    plain = key.replace("_", "")
    members = {name.lower(): value for name, value in dict(found or {}).items()}
    if plain == "image" and "deployedimage" in members:
        return members["deployedimage"]["SpecifiedImage"]
    # The desired number of a component's copies is returned under another word.
    return members.get(plain, members.get(f"desired{plain}"))


def _deployed(said: str, aws: EmulatedAws) -> str:
    known = {"AWS::Region": aws.region, "AWS::AccountId": ACCOUNT, "AWS::Partition": "aws"}
    return re.sub(r"\$\{([^}]+)\}", lambda it: known[it[1]], said)


def _hosting(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    sagemaker = aws.client("sagemaker")
    endpoint = sagemaker.describe_endpoint(EndpointName=spec.endpoint_name)
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    if spec.endpoint_config is not None:
        yield from _unlike(spec.endpoint_config, config, "endpoint_config", aws)
    named = {name: model for _, name, model in models(spec)}
    found = {it["VariantName"]: it for it in config["ProductionVariants"]}
    if found.keys() != {it.variant_name for _, it in variants(spec)}:
        yield f"variants: {sorted(found)}"
    for _, variant in variants(spec):
        there = found.get(variant.variant_name, {})
        yield from _unlike(variant, there, variant.variant_name, aws)
        if variant.model_name in named and variant.instance_pools is None:
            yield from _model(aws, named[variant.model_name], there["ModelName"])


def _model(aws: EmulatedAws, wanted: Model, name: str) -> Broken:
    found = aws.client("sagemaker").describe_model(ModelName=name)
    yield from _unlike(wanted, {**found, **found.get("PrimaryContainer", {})}, "model", aws)


def _components(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    sagemaker = aws.client("sagemaker")
    named = {name: model for _, name, model in models(spec)}
    for _, name, component in components(spec):
        found = sagemaker.describe_inference_component(InferenceComponentName=name)
        if found["EndpointName"] != spec.endpoint_name:
            yield f"{name}: is on {found['EndpointName']}"
        if component.variant_name not in (None, found["VariantName"]):
            yield f"{name}: is on the variant {found['VariantName']}"
        yield from _unlike(component, found, name, aws)
        its_model = None if component.specification is None else component.specification.model_name
        if its_model in named:
            yield from _model(aws, named[its_model], found["Specification"]["ModelName"])


# ---------------------------------------------------------------- scaling


def _scaling(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    endpoint = spec.endpoint_name
    for _, variant, scaling in variant_scalings(spec):
        yield from _scaled(aws, f"endpoint/{endpoint}/variant/{variant.variant_name}", scaling)
    for _, name, _, scaling in component_scalings(spec):
        yield from _scaled(aws, f"inference-component/{name}", scaling)
        if scaling.min_capacity == 0:
            yield from _wakes_up(aws, name)


def _scaled(aws: EmulatedAws, resource: str, scaling: Autoscaling) -> Broken:
    autoscaling, of = aws.client("application-autoscaling"), {"ServiceNamespace": "sagemaker"}
    targets = autoscaling.describe_scalable_targets(**of, ResourceIds=[resource])["ScalableTargets"]
    bounds = [(it["MinCapacity"], it["MaxCapacity"]) for it in targets]
    if bounds != [(scaling.min_capacity, scaling.max_capacity)]:
        yield f"{resource}: scales within {bounds}"
    found = autoscaling.describe_scaling_policies(**of, ResourceId=resource)["ScalingPolicies"]
    tracked = {_tracked(it) for it in found if it["PolicyType"] == "TargetTrackingScaling"}
    for policy in scaling.policies:
        if (policy.metric, policy.target_value) not in tracked:
            yield f"{resource}: {policy.metric} is not held at {policy.target_value}, only {tracked}"
    planned = autoscaling.describe_scheduled_actions(**of, ResourceId=resource)["ScheduledActions"]
    for action in scaling.scheduled_actions or ():
        if (action.scheduled_action_name, action.schedule) not in {
            (it["ScheduledActionName"], it["Schedule"]) for it in planned
        }:
            yield f"{resource}: {action.scheduled_action_name} is not scheduled"
    for step in scaling.step_policies:
        if not _sets_off(aws, step.metric, {it["PolicyARN"] for it in found}):
            yield f"{resource}: no alarm on {step.metric} sets off a policy"


def _tracked(policy: Mapping[str, Any]) -> tuple[str, float]:
    config = policy["TargetTrackingScalingPolicyConfiguration"]
    predefined = config.get("PredefinedMetricSpecification", {}).get("PredefinedMetricType")
    metric = config["CustomizedMetricSpecification"]["MetricName"] if predefined is None else predefined
    return metric, config["TargetValue"]


def _wakes_up(aws: EmulatedAws, component: str) -> Broken:
    policies = aws.client("application-autoscaling").describe_scaling_policies(
        ServiceNamespace="sagemaker", ResourceId=f"inference-component/{component}"
    )["ScalingPolicies"]
    steps = {it["PolicyARN"] for it in policies if it["PolicyType"] == "StepScaling"}
    if not _sets_off(aws, "NoCapacityInvocationFailures", steps):
        yield f"{component}: nothing wakes it up from no copies"


def _sets_off(aws: EmulatedAws, metric: str, policies: set[str]) -> bool:
    return any(
        it["MetricName"] == metric and policies.intersection(it["AlarmActions"]) for it in _watching(aws)
    )


# ---------------------------------------------------------------- alarms


def _watching(aws: EmulatedAws) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
    return found


def _alarms(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    there = {
        "EndpointName": {spec.endpoint_name},
        "VariantName": {it.variant_name for _, it in variants(spec)},
        "InferenceComponentName": {name for _, name, _ in components(spec)},
    }
    for alarm in _watching(aws):
        dimensions = {it["Name"]: it["Value"] for it in alarm["Dimensions"]}
        strangers = [it for name, it in dimensions.items() if it not in there[name]]
        if strangers or not _is_published(alarm, dimensions):
            yield f"{alarm['AlarmName']}: watches {alarm['Namespace']} {alarm['MetricName']} of {dimensions}"
    if isinstance(spec.alarms, Alarms):
        for rule in spec.alarms.rules:
            yield from _rule(aws, rule, spec.alarms)
    elif spec.alarms is False and _watching(aws) and not _steps(spec):
        yield "there are alarms"


def _steps(spec: ModelSpec) -> bool:
    scalings = [it for *_, it in (*variant_scalings(spec), *component_scalings(spec))]
    return any(it.step_policies or it.min_capacity == 0 for it in scalings)


def _is_published(alarm: Mapping[str, Any], dimensions: Mapping[str, str]) -> bool:
    return any(
        it.namespace == alarm["Namespace"] and {*metrics.DIMENSION_NAMES[it.dimensions]} == dimensions.keys()
        for it in metrics.find(alarm["MetricName"])
    )


def _rule(aws: EmulatedAws, rule: AlarmRule, alarms: Alarms) -> Broken:
    on_metric = [it for it in _watching(aws) if it["MetricName"] == rule.metric]
    limits = {it["Threshold"] for it in on_metric if {*alarms.actions} <= {*it["AlarmActions"]}}
    wanted = _limit(rule.threshold)
    if wanted is not None and wanted not in limits:
        yield f"alarms: nobody is told when {rule.metric} reaches {rule.threshold}, only {limits}"
    if not on_metric:
        yield f"alarms: nothing watches {rule.metric}"


def _limit(threshold: float | str) -> float | None:
    """A threshold in CloudWatch's unit; None for a share, which depends on the instance: unit tests check it."""
    if not isinstance(threshold, str):
        return threshold
    latency = _LATENCY.fullmatch(threshold)
    return None if latency is None else float(latency[1]) * _UNITS[latency[2]]


# ---------------------------------------------------------------- role, tags, dashboard


def _role(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    if isinstance(spec.execution_role, str):
        return
    iam = aws.client("iam")
    # Beside it, there may be a role for those who invoke the endpoint.
    [role] = [it for it in iam.list_roles()["Roles"] if it["Description"].startswith("Execution role")]
    trusted = [it["Principal"]["Service"] for it in role["AssumeRolePolicyDocument"]["Statement"]]
    if trusted != ["sagemaker.amazonaws.com"]:
        yield f"execution_role: trusts {trusted}"
    readable = [it for statement in _statements(iam, role["RoleName"]) for it in _objects(statement)]
    for url in _artifacts(aws, spec):
        if not any(fnmatchcase(url.replace("s3://", "arn:aws:s3:::"), it) for it in readable):
            yield f"execution_role: may not read {url}"


def _statements(iam: Any, role: str) -> Iterator[dict[str, Any]]:
    for attached in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        arn = attached["PolicyArn"]
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        yield from iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"][
            "Statement"
        ]


def _objects(statement: Mapping[str, Any]) -> list[str]:
    actions, resources = statement["Action"], statement["Resource"]
    if "s3:GetObject" not in actions:
        return []
    return [resources] if isinstance(resources, str) else resources


def _artifacts(aws: EmulatedAws, spec: ModelSpec) -> Iterator[str]:
    for _, _, model in models(spec):
        for container in (model, *(model.containers or ())):
            if container.model_data_url is not None:
                yield _deployed(container.model_data_url, aws)
    for _, _, component in components(spec):
        if component.specification is not None and component.specification.container is not None:
            url = component.specification.container.artifact_url
            if url is not None:
                yield _deployed(url, aws)


def _tags(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    sagemaker = aws.client("sagemaker")
    arns = [sagemaker.describe_endpoint(EndpointName=spec.endpoint_name)["EndpointArn"]]
    arns += [it["EndpointConfigArn"] for it in sagemaker.list_endpoint_configs()["EndpointConfigs"]]
    arns += [it["ModelArn"] for it in sagemaker.list_models()["Models"]]
    arns += [
        it["InferenceComponentArn"] for it in sagemaker.list_inference_components()["InferenceComponents"]
    ]
    for arn in arns:
        found = {it["Key"]: it["Value"] for it in sagemaker.list_tags(ResourceArn=arn)["Tags"]}
        wanted = {key: _deployed(value, aws) for key, value in (spec.tags or {}).items()}
        if found != wanted:
            yield f"tags: {arn} has {found}"


def _dashboard(aws: EmulatedAws, spec: ModelSpec) -> Broken:
    cloudwatch = aws.client("cloudwatch")
    found = [it["DashboardName"] for it in cloudwatch.list_dashboards()["DashboardEntries"]]
    if len(found) != (0 if spec.dashboard is False else 1):
        yield f"dashboard: there are {found}"
    for name in found:
        body = cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"]
        if not json.loads(body)["widgets"] or f'"{spec.endpoint_name}"' not in body:
            yield f"dashboard: {name} does not show the endpoint"

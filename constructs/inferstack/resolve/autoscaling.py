"""Application Auto Scaling of variants' instances and of components' copies.

https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
"""

from collections.abc import Iterable

from inferstack.catalog import metrics
from inferstack.catalog.resource_types import ALARM_TYPE, SCALING_POLICY_TYPE, TARGET_TYPE
from inferstack.facts.alarms import evaluation
from inferstack.facts.publications import Publisher, publishing_component
from inferstack.facts.scaling import (
    Scaled,
    interval,
    metrics_of,
    policies_of,
    scaled_parts,
    steps_of,
    woken_for,
)
from inferstack.facts.walk import policy_name
from inferstack.format.autoscaling import ScalingPolicy, StepAdjustment, StepPolicy
from inferstack.format.kinds import ModelSpec
from inferstack.format.logical_ids import ENDPOINT
from inferstack.format.variant import DEFAULT_VARIANT
from inferstack.problems import SpecPath
from inferstack.resolve.alarms import actions_of, alarm_properties, dimensions, named_unit
from inferstack.resolve.convert import properties
from inferstack.resolve.inference_component import component_id, identity
from inferstack.resolve.resource import (
    Resource,
    Resources,
    Value,
    logical_id,
    pascal,
    present,
    ref,
    short_hash,
)

_NAMESPACE = "sagemaker"


def resolve_autoscaling(spec: ModelSpec) -> Resources:
    """Targets, policies, and the alarms of step policies, such as the one that scales up from zero."""
    return _resolved(spec, scaled_parts(spec))


def resolve_component_scaling(spec: ModelSpec) -> Resources:
    """Targets, policies and alarms for the copies of inference components alone."""
    return _resolved(spec, (it for it in scaled_parts(spec) if it.component is not None))


def _resolved(spec: ModelSpec, parts: Iterable[Scaled]) -> Resources:
    made: Resources = {}
    for scaled in parts:
        made[target_id(spec, scaled)] = _target(spec, scaled)
        for path, policy in policies_of(scaled):
            policy_id = logical_id(f"ScalingPolicy{_id_suffix(spec, scaled)}{pascal(policy_name(policy))}")
            made[policy_id] = _policy(spec, scaled, policy, path)
        for path, step in steps_of(scaled):
            made |= _step(spec, scaled, step, path)
    return made


def _id_suffix(spec: ModelSpec, scaled: Scaled) -> str:
    """The end of logical ids, which differs for everything that scales."""
    name = scaled.name
    if scaled.component is not None:
        return identity(spec, name, scaled.component)
    # Any but the usual name gets a hash, so that variant `A` with policy `BC` is not `AB` with `C`.
    return name if name == DEFAULT_VARIANT else f"{pascal(name)}{short_hash(name)}"


def target_id(spec: ModelSpec, scaled: Scaled) -> str:
    """Logical id of the scalable target."""
    return f"ScalableTarget{_id_suffix(spec, scaled)}"


def resource_id(spec: ModelSpec, scaled: Scaled) -> str:
    """The resource id of the target in Application Auto Scaling."""
    if scaled.component is None:
        return f"endpoint/{spec.endpoint_name}/variant/{scaled.name}"
    return f"inference-component/{scaled.name}"


def _target(spec: ModelSpec, scaled: Scaled) -> Resource:
    component = scaled.component
    after = ENDPOINT if component is None else component_id(spec, scaled.name, component)
    made = present(
        ServiceNamespace=_NAMESPACE,
        ScalableDimension=scaled.dimension,
        ResourceId=resource_id(spec, scaled),
        **properties(scaled.scaling),
    )
    # The resource id is plain text, so CloudFormation cannot see what it refers to.
    return Resource(TARGET_TYPE, made, scaled.path, (after,))


def _policy(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy, path: SpecPath) -> Resource:
    tracking = properties(policy, leave_out=frozenset({"policy_name"}))
    made = {
        "PolicyName": policy_name(policy),
        "PolicyType": "TargetTrackingScaling",
        "ScalingTargetId": ref(target_id(spec, scaled)),
        "TargetTrackingScalingPolicyConfiguration": {**_tracked(spec, scaled, policy), **tracking},
    }
    return Resource(SCALING_POLICY_TYPE, made, path)


def _tracked(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy) -> Value:
    if policy.metric is None:
        # The spec has all of it, under CloudFormation's own names.
        return {}
    if metrics.find_predefined(policy.metric) is not None:
        return {"PredefinedMetricSpecification": {"PredefinedMetricType": policy.metric}}
    metric = _metric(spec, scaled, policy.metric)
    customized = present(
        Namespace=metric.namespace,
        MetricName=metric.name,
        Dimensions=dimensions(scaled.part.values, metric),
        Statistic=metrics.scaling_statistic(metric),
        Unit=named_unit(metric),
    )
    return {"CustomizedMetricSpecification": customized}


def _metric(spec: ModelSpec, scaled: Scaled, name: str) -> metrics.Metric:
    """The metric that the name means here; the rules have made sure that there is one."""
    return metrics_of(spec, scaled, name)[0]


def _step(spec: ModelSpec, scaled: Scaled, step: StepPolicy, path: SpecPath) -> Resources:
    """A policy, and the alarm that sets it off."""
    suffix = f"{_id_suffix(spec, scaled)}{pascal(policy_name(step))}"
    policy = {
        "PolicyName": policy_name(step),
        "PolicyType": "StepScaling",
        "ScalingTargetId": ref(target_id(spec, scaled)),
        "StepScalingPolicyConfiguration": present(
            AdjustmentType=step.adjustment_type,
            Cooldown=step.cooldown,
            MetricAggregationType=step.metric_aggregation_type,
            MinAdjustmentMagnitude=step.min_adjustment_magnitude,
            StepAdjustments=[_adjustment(spec, scaled, step, it) for it in step.step_adjustments],
        ),
    }
    policy_id, alarm_id = logical_id(f"StepPolicy{suffix}"), logical_id(f"StepAlarm{suffix}")
    alarm = {**_step_alarm(spec, scaled.part, scaled, step), **actions_of(step, ref(policy_id))}
    made = {
        policy_id: Resource(SCALING_POLICY_TYPE, policy, path),
        alarm_id: Resource(ALARM_TYPE, alarm, path),
    }
    for name, adapter in woken_for(spec, scaled, step):
        own = {
            **_step_alarm(spec, publishing_component(spec, name, adapter), scaled, step),
            **actions_of(step, ref(policy_id)),
        }
        made[logical_id(f"StepAlarm{identity(spec, name, adapter)}{pascal(policy_name(step))}")] = Resource(
            ALARM_TYPE, own, path
        )
    return made


def _adjustment(spec: ModelSpec, scaled: Scaled, step: StepPolicy, it: StepAdjustment) -> dict[str, Value]:
    low, high = interval(spec, scaled, step, it)
    return present(
        ScalingAdjustment=it.scaling_adjustment, MetricIntervalLowerBound=low, MetricIntervalUpperBound=high
    )


def _step_alarm(spec: ModelSpec, part: Publisher, scaled: Scaled, step: StepPolicy) -> dict[str, Value]:
    metric = None if step.metric is None else _metric(spec, scaled, step.metric)
    return alarm_properties(spec, step, evaluation(step), part, metric, "Capacity changes by a step.")

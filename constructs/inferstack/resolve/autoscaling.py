"""Application Auto Scaling of variants' instances and of components' copies.

https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
"""

from collections.abc import Iterator
from dataclasses import dataclass

from inferstack.catalog import metrics
from inferstack.defaults import WAKE_UP_COOLDOWN, WAKE_UP_PERIOD, WAKE_UP_THRESHOLD
from inferstack.resolve.convert import properties
from inferstack.resolve.endpoint import ENDPOINT
from inferstack.resolve.inference_component import component_id, identity
from inferstack.resolve.metric import (
    COMPONENT,
    ENDPOINT as ENDPOINT_DIMENSION,
    VARIANT,
    dimensions,
    named_unit,
    scaling_statistic,
)
from inferstack.resolve.resource import Resource, Resources, Value, pascal, present, ref
from inferstack.spec.blocks.autoscaling import Autoscaling, ScalingPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath
from inferstack.spec.walk import component_scalings, kind_of, variant_scalings

_NAMESPACE = "sagemaker"
_WAKE_UP_METRIC = "NoCapacityInvocationFailures"


@dataclass(frozen=True, slots=True)
class Scaled:
    """Something whose capacity is scaled."""

    id_suffix: str
    resource_id: str
    dimension: str
    depends_on: str
    dimensions: dict[str, str]
    """What its metrics are found by."""
    scaling: Autoscaling
    source: SpecPath


def resolve_autoscaling(spec: ModelSpec) -> Resources:
    """Targets, policies, and for what may have no copies the alarm that wakes it."""
    made: Resources = {}
    for scaled in (*_scaled_variants(spec), *_scaled_components(spec)):
        made[_target_id(scaled)] = _target(scaled)
        for index, policy in enumerate(scaled.scaling.policies):
            policy_id = f"ScalingPolicy{scaled.id_suffix}{pascal(_policy_name(policy))}"
            made[policy_id] = _policy(spec, scaled, policy, index)
        if scaled.scaling.min_capacity == 0 and COMPONENT in scaled.dimensions:
            made |= _wake_up(scaled)
    return made


def _scaled_variants(spec: ModelSpec) -> Iterator[Scaled]:
    for path, variant, scaling in variant_scalings(spec):
        counted = "InstanceCount" if variant.serverless_config is None else "ProvisionedConcurrency"
        yield Scaled(
            id_suffix=pascal(variant.variant_name),
            resource_id=f"endpoint/{spec.endpoint_name}/variant/{variant.variant_name}",
            dimension=f"sagemaker:variant:Desired{counted}",
            depends_on=ENDPOINT,
            dimensions={ENDPOINT_DIMENSION: spec.endpoint_name, VARIANT: variant.variant_name},
            scaling=scaling,
            source=path,
        )


def _scaled_components(spec: ModelSpec) -> Iterator[Scaled]:
    for path, name, component, scaling in component_scalings(spec):
        yield Scaled(
            id_suffix=identity(spec, name, component),
            resource_id=f"inference-component/{name}",
            dimension="sagemaker:inference-component:DesiredCopyCount",
            depends_on=component_id(spec, name, component),
            dimensions={COMPONENT: name},
            scaling=scaling,
            source=path,
        )


def _target_id(scaled: Scaled) -> str:
    return f"ScalableTarget{scaled.id_suffix}"


def _target(scaled: Scaled) -> Resource:
    made = present(
        ServiceNamespace=_NAMESPACE,
        ScalableDimension=scaled.dimension,
        ResourceId=scaled.resource_id,
        **properties(scaled.scaling),
    )
    # The resource id is plain text, so CloudFormation cannot see what it speaks of.
    return Resource("AWS::ApplicationAutoScaling::ScalableTarget", made, scaled.source, (scaled.depends_on,))


def _policy_name(policy: ScalingPolicy) -> str:
    return policy.metric if policy.policy_name is None else policy.policy_name


def _policy(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy, index: int) -> Resource:
    tracking = properties(policy, leave_out=frozenset({"policy_name"}))
    made = {
        "PolicyName": _policy_name(policy),
        "PolicyType": "TargetTrackingScaling",
        "ScalingTargetId": ref(_target_id(scaled)),
        "TargetTrackingScalingPolicyConfiguration": {**_tracked(spec, scaled, policy), **tracking},
    }
    path = (*scaled.source, "policies", index)
    return Resource("AWS::ApplicationAutoScaling::ScalingPolicy", made, path)


def _tracked(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy) -> Value:
    if metrics.find_predefined(policy.metric) is not None:
        return {"PredefinedMetricSpecification": {"PredefinedMetricType": policy.metric}}
    metric = _metric(spec, scaled, policy)
    customized = present(
        Namespace=metric.namespace,
        MetricName=metric.name,
        Dimensions=dimensions(scaled.dimensions, metric),
        Statistic=scaling_statistic(metric),
        Unit=named_unit(metric),
    )
    return {"CustomizedMetricSpecification": customized}


def _metric(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy) -> metrics.Metric:
    """The metric of the scaled part, or of the whole endpoint; the rules saw to it that there is one."""
    return next(
        metric
        for metric in metrics.find(policy.metric, kind_of(spec))
        if set(metrics.DIMENSION_NAMES[metric.dimensions]) <= set(scaled.dimensions)
    )


def _wake_up(scaled: Scaled) -> Resources:
    """From zero there is nothing to track: a refused request adds the first copy.

    https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
    """
    policy_id = f"WakeUpPolicy{scaled.id_suffix}"
    step = {
        "AdjustmentType": "ChangeInCapacity",
        "Cooldown": WAKE_UP_COOLDOWN.value,
        "MetricAggregationType": "Maximum",
        "StepAdjustments": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}],
    }
    policy = {
        "PolicyName": "WakeUp",
        "PolicyType": "StepScaling",
        "ScalingTargetId": ref(_target_id(scaled)),
        "StepScalingPolicyConfiguration": step,
    }
    (refused,) = metrics.find(_WAKE_UP_METRIC)
    alarm = {
        "AlarmDescription": "A request found no copy of the component; the alarm starts one.",
        "Namespace": refused.namespace,
        "MetricName": refused.name,
        "Dimensions": dimensions(scaled.dimensions, refused),
        "Statistic": "Maximum",
        "Period": WAKE_UP_PERIOD.value,
        "EvaluationPeriods": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "Threshold": WAKE_UP_THRESHOLD.value,
        "TreatMissingData": "missing",
        "AlarmActions": [ref(policy_id)],
    }
    return {
        policy_id: Resource("AWS::ApplicationAutoScaling::ScalingPolicy", policy, scaled.source),
        f"WakeUpAlarm{scaled.id_suffix}": Resource("AWS::CloudWatch::Alarm", alarm, scaled.source),
    }

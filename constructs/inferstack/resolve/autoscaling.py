"""Application Auto Scaling of variants' instances and of components' copies.

https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
"""

from collections.abc import Iterable, Iterator

import msgspec

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COPY_COUNT
from inferstack.defaults import (
    STEP_EVALUATION_PERIODS,
    STEP_MISSING_DATA,
    TRACK_COMPONENT,
)
from inferstack.resolve.alarms import ALARM, alarm_properties
from inferstack.resolve.convert import properties
from inferstack.resolve.endpoint import ENDPOINT
from inferstack.resolve.inference_component import component_id, identity
from inferstack.resolve.metric import dimensions, named_unit, scaling_statistic
from inferstack.resolve.resource import Resource, Resources, Value, given, pascal, present, ref, short_hash
from inferstack.spec.blocks.alarms import AlarmRule
from inferstack.spec.blocks.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import DEFAULT_VARIANT
from inferstack.spec.blocks.watched import Watched
from inferstack.spec.parts.measured import Measured, measured_component, measured_variant
from inferstack.spec.parts.to_zero import tracks_by_default, wake_up
from inferstack.spec.parts.walk import (
    component_scalings,
    kind_of,
    policy_name,
    variant_dimension,
    variant_scalings,
)
from inferstack.spec.problem import SpecPath

_NAMESPACE = "sagemaker"
_POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"


class Scaled(msgspec.Struct, frozen=True):
    """Something whose capacity is scaled."""

    id_suffix: str
    resource_id: str
    dimension: str
    depends_on: str
    part: Measured
    """Whose metrics decide."""
    scaling: Autoscaling
    source: SpecPath


def resolve_autoscaling(spec: ModelSpec) -> Resources:
    """Targets, policies, and for what may have no capacity the alarm that wakes it."""
    return _resolved(spec, _scaled_variants(spec)) | resolve_component_scaling(spec)


def resolve_component_scaling(spec: ModelSpec) -> Resources:
    """The same of the copies of components alone."""
    return _resolved(spec, _scaled_components(spec))


def _resolved(spec: ModelSpec, parts: Iterable[Scaled]) -> Resources:
    made: Resources = {}
    for scaled in parts:
        made[_target_id(scaled)] = _target(scaled)
        for path, policy in _policies(scaled):
            policy_id = f"ScalingPolicy{scaled.id_suffix}{pascal(policy_name(policy))}"
            made[policy_id] = _policy(spec, scaled, policy, path)
        for path, step in _steps(scaled):
            made |= _step(spec, scaled, step, path)
    return made


def _policies(scaled: Scaled) -> Iterator[tuple[SpecPath, ScalingPolicy]]:
    """The spec's own policies, or the one that a component down to no copy has above that."""
    for index, policy in enumerate(scaled.scaling.policies):
        yield (*scaled.source, "policies", index), policy
    if scaled.dimension == COPY_COUNT and tracks_by_default(scaled.scaling):
        yield (*scaled.source, "min_capacity"), TRACK_COMPONENT.value


def _steps(scaled: Scaled) -> Iterator[tuple[SpecPath, StepPolicy]]:
    """The spec's own step policies, and what wakes the first of it."""
    for index, step in enumerate(scaled.scaling.step_policies):
        yield (*scaled.source, "step_policies", index), step
    made = wake_up(scaled.scaling, of_copies=scaled.dimension == COPY_COUNT)
    if made is not None:
        yield (*scaled.source, "min_capacity"), made


def _scaled_variants(spec: ModelSpec) -> Iterator[Scaled]:
    for path, variant, scaling in variant_scalings(spec):
        yield Scaled(
            id_suffix=_variant_suffix(variant.variant_name),
            resource_id=f"endpoint/{spec.endpoint_name}/variant/{variant.variant_name}",
            dimension=variant_dimension(variant),
            depends_on=ENDPOINT,
            part=measured_variant(spec, variant),
            scaling=scaling,
            source=path,
        )


def _variant_suffix(name: str) -> str:
    """The usual name as it is; another with a hash, so that `A` with `BC` is not `AB` with `C`."""
    return name if name == DEFAULT_VARIANT else f"{pascal(name)}{short_hash(name)}"


def _scaled_components(spec: ModelSpec) -> Iterator[Scaled]:
    for path, name, component, scaling in component_scalings(spec):
        yield Scaled(
            id_suffix=identity(spec, name, component),
            resource_id=f"inference-component/{name}",
            dimension=COPY_COUNT,
            depends_on=component_id(spec, name, component),
            part=measured_component(spec, name, component),
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


def _policy(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy, path: SpecPath) -> Resource:
    tracking = properties(policy, leave_out=frozenset({"policy_name"}))
    made = {
        "PolicyName": policy_name(policy),
        "PolicyType": "TargetTrackingScaling",
        "ScalingTargetId": ref(_target_id(scaled)),
        "TargetTrackingScalingPolicyConfiguration": {**_tracked(spec, scaled, policy), **tracking},
    }
    return Resource(_POLICY, made, path)


def _tracked(spec: ModelSpec, scaled: Scaled, policy: ScalingPolicy) -> Value:
    if policy.metric is None:
        # The spec says all of it, under CloudFormation's own names.
        return {}
    if metrics.find_predefined(policy.metric) is not None:
        return {"PredefinedMetricSpecification": {"PredefinedMetricType": policy.metric}}
    metric = _metric(spec, scaled, policy.metric)
    customized = present(
        Namespace=metric.namespace,
        MetricName=metric.name,
        Dimensions=dimensions(scaled.part.values, metric),
        Statistic=scaling_statistic(metric),
        Unit=named_unit(metric),
    )
    return {"CustomizedMetricSpecification": customized}


def _metric(spec: ModelSpec, scaled: Scaled, name: str) -> metrics.Metric:
    """The metric of the scaled part, or of the whole endpoint; the rules saw to it that there is one."""
    found = metrics.find(name, kind_of(spec))
    return next(it for it in found if set(metrics.DIMENSION_NAMES[it.dimensions]) <= set(scaled.part.values))


def _step(spec: ModelSpec, scaled: Scaled, step: StepPolicy, path: SpecPath) -> Resources:
    """A policy, and the alarm that sets it off."""
    suffix = f"{scaled.id_suffix}{pascal(policy_name(step))}"
    policy = {
        "PolicyName": policy_name(step),
        "PolicyType": "StepScaling",
        "ScalingTargetId": ref(_target_id(scaled)),
        "StepScalingPolicyConfiguration": present(
            AdjustmentType=step.adjustment_type,
            Cooldown=step.cooldown,
            MetricAggregationType=step.metric_aggregation_type,
            MinAdjustmentMagnitude=step.min_adjustment_magnitude,
            StepAdjustments=[properties(adjustment) for adjustment in step.step_adjustments],
        ),
    }
    alarm = {**_step_alarm(spec, scaled, step), "AlarmActions": [ref(f"StepPolicy{suffix}")]}
    return {
        f"StepPolicy{suffix}": Resource(_POLICY, policy, path),
        f"StepAlarm{suffix}": Resource(ALARM, alarm, path),
    }


def _step_alarm(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> dict[str, Value]:
    metric = None if step.metric is None else _metric(spec, scaled, step.metric)
    rule = AlarmRule(
        **{key: getattr(step, key) for key in Watched.__struct_fields__},
        threshold=step.threshold,
        statistic=step.statistic,
        comparison_operator=step.comparison_operator,
        period=step.period,
        evaluation_periods=given(step.evaluation_periods, STEP_EVALUATION_PERIODS.value),
        datapoints_to_alarm=step.datapoints_to_alarm,
        treat_missing_data=given(step.treat_missing_data, STEP_MISSING_DATA.value),
    )
    return alarm_properties(rule, scaled.part, metric, "Capacity changes by a step.")

"""The policies of a spec in requests per minute and copy, so that traffic shows what they do.

A policy on anything else, such as the use of GPUs, is left out and named.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal

import msgspec

from inferstack.catalog.metrics import INSTANCE_COUNT, find_predefined
from inferstack.facts.quantity import UnfitQuantity
from inferstack.facts.scaling import Scaled, counted_metric, interval, policies_of, scaled_parts, steps_of
from inferstack.facts.walk import policy_name
from inferstack.format.autoscaling import ScalingPolicy, StepPolicy
from inferstack.format.defaults import (
    ALARM_OPERATOR,
    ALARM_PERIOD,
    STEP_EVALUATION_PERIODS,
    STEP_MISSING_DATA,
)
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.sizing.sharing.scaling import CopyScaling, Limits, Tracking
from inferstack.sizing.sharing.schedules import NotUnderstoodError, limits_over
from inferstack.sizing.sharing.steps import OPERATORS, Adjustment, Counted, Step, StepEvaluation
from inferstack.sizing.traffic_points import Period

_SECONDS_A_MINUTE = 60
# AWS's default for what SageMaker scales: API_TargetTrackingScalingPolicyConfiguration.html
_COOLDOWN = 300
_PER_COPY = frozenset({"InvocationsPerCopy", "InvocationsPerInstance"})
_AT_ONCE = frozenset({"ConcurrentRequestsPerCopy", "ConcurrentRequestsPerModel"})
_DOES_NOT_FOLLOW = "its value does not follow from requests"
_QUANTITIES: dict[str, Counted] = {
    **dict.fromkeys(_PER_COPY, "per copy"),
    "Invocations": "requests",
    "NoCapacityInvocationFailures": "refused",
}


class Simulated(msgspec.Struct, frozen=True):
    """What decides the number of copies, and what of the spec is left out of it, in words."""

    scaling: CopyScaling
    left_out: tuple[str, ...] = ()


def scaling_of(
    spec: ModelSpec, scaled: Scaled, period: Period, *, seconds: Decimal | None = None
) -> Simulated:
    """The scaling of a component or variant over a period.

    ``seconds`` is how long a request takes, which turns requests at once into requests per minute.
    """
    left_out: list[str] = []
    limits = Limits(scaled.scaling.min_capacity, scaled.scaling.max_capacity)
    suspended = scaled.scaling.suspended_state
    changes: Mapping[int, Limits] = {}
    try:
        if suspended is None or not suspended.scheduled_scaling_suspended:
            limits, changes = limits_over(scaled.scaling.scheduled_actions or (), limits, period)
    except NotUnderstoodError as error:
        left_out.append(f"{scaled.name}: the scheduled actions are not simulated: `{error}`")
    scaling = CopyScaling(
        limits=limits,
        changes=changes,
        tracking=tuple(_tracking(scaled, seconds, left_out)),
        steps=tuple(_steps(spec, scaled, left_out)),
        scales_out=suspended is None or not suspended.dynamic_scaling_out_suspended,
        scales_in=suspended is None or not suspended.dynamic_scaling_in_suspended,
    )
    return Simulated(scaling, tuple(left_out))


def scaling_of_variant(
    spec: ModelSpec, variant: Variant, period: Period, *, seconds: Decimal | None = None
) -> Simulated:
    """The scaling of a variant's instances over a period; without any, as many as it starts with."""
    for scaled in scaled_parts(spec):
        if scaled.variant is variant and scaled.dimension == INSTANCE_COUNT:
            return scaling_of(spec, scaled, period, seconds=seconds)
    return Simulated(fixed(variant.initial_instance_count or 1))


def fixed(count: int) -> CopyScaling:
    """A number that nothing changes."""
    return CopyScaling(limits=Limits(count, count))


def _metric(name: str | None) -> str:
    predefined = None if name is None else find_predefined(name)
    return predefined.metric if predefined is not None else name or ""


def _tracking(scaled: Scaled, seconds: Decimal | None, left_out: list[str]) -> Iterator[Tracking]:
    for _, policy in policies_of(scaled):
        metric = _metric(policy.metric)
        if metric in _PER_COPY:
            yield _tracked(policy, Decimal(str(policy.target_value)))
        elif metric in _AT_ONCE and seconds is not None:
            yield _tracked(policy, Decimal(str(policy.target_value)) * _SECONDS_A_MINUTE / seconds)
        else:
            why = "add `--seconds` a request takes" if metric in _AT_ONCE else _DOES_NOT_FOLLOW
            left_out.append(f"{scaled.name}: the policy on `{policy_name(policy)}` is not simulated: {why}")


def _tracked(policy: ScalingPolicy, target: Decimal) -> Tracking:
    cooldown = _COOLDOWN if policy.scale_in_cooldown is None else policy.scale_in_cooldown
    # Data every ten seconds, for adding capacity alone: endpoint-auto-scaling-add-code-define.html
    is_fast = (policy.metric or "").endswith("HighResolution")
    return Tracking(
        target=target,
        out_points=1 if is_fast else 3,
        in_cooldown=_minutes(cooldown),
        scales_in=not policy.disable_scale_in,
    )


def _minutes(seconds: int) -> int:
    return -(-seconds // _SECONDS_A_MINUTE)


def _steps(spec: ModelSpec, scaled: Scaled, left_out: list[str]) -> Iterator[Step]:
    for _, step in steps_of(scaled):
        simulated = _step(spec, scaled, step)
        if simulated is None:
            which = f"{scaled.name}: the step policy on `{policy_name(step)}`"
            left_out.append(f"{which} is not simulated: {_DOES_NOT_FOLLOW}")
        else:
            yield simulated


def _step(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> Step | None:
    """A step policy on requests; None for any other."""
    quantity = _QUANTITIES.get(_metric(step.metric))
    metric = counted_metric(spec, scaled, step)
    operator = ALARM_OPERATOR.value if step.comparison_operator is None else step.comparison_operator
    if quantity is None or metric is None or operator not in OPERATORS or isinstance(step.threshold, str):
        return None
    statistic = metric.statistic if step.statistic is None else step.statistic
    # A share of a request is sent for each: only their sum counts requests.
    if statistic != "Sum" and not (statistic == "Maximum" and quantity == "refused"):
        return None
    try:
        adjustments = tuple(_adjustments(spec, scaled, step))
    except UnfitQuantity:
        return None
    return Step(
        quantity=quantity,
        statistic="Sum" if statistic == "Sum" else "Maximum",
        threshold=Decimal(str(step.threshold)),
        operator=operator,
        evaluation=_evaluation(step),
        adjustment_type=step.adjustment_type,
        adjustments=adjustments,
        cooldown=_minutes(_COOLDOWN if step.cooldown is None else step.cooldown),
        least_change=step.min_adjustment_magnitude or 1,
    )


def _evaluation(step: StepPolicy) -> StepEvaluation:
    """When its alarm goes off, with the defaults of step policies."""
    periods = STEP_EVALUATION_PERIODS.value if step.evaluation_periods is None else step.evaluation_periods
    missing = STEP_MISSING_DATA.value if step.treat_missing_data is None else step.treat_missing_data
    return StepEvaluation(
        period=_minutes(ALARM_PERIOD.value if step.period is None else step.period),
        periods=periods,
        to_alarm=periods if step.datapoints_to_alarm is None else step.datapoints_to_alarm,
        missing_breaches=missing == "breaching",
    )


def _adjustments(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> Iterator[Adjustment]:
    for it in step.step_adjustments:
        low, high = (None if it is None else Decimal(str(it)) for it in interval(spec, scaled, step, it))
        yield Adjustment(it.scaling_adjustment, low, high)

"""Step policies: their metrics, their thresholds, and steps that join up."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from inferstack.catalog import metrics
from inferstack.check.rules.alarms.thresholds import unfit_threshold
from inferstack.check.rules.autoscaling.targets import called_like_another, same_names
from inferstack.check.rules.base import AWS, error
from inferstack.facts.alarms import evaluation
from inferstack.facts.quantity import UnfitQuantity, absolute_threshold
from inferstack.facts.scaling import (
    BOUNDS,
    Scaled,
    bound_of_step,
    counted_metric,
    interval,
    metrics_of,
    steps,
)
from inferstack.facts.walk import hosting_of
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.base import Number
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem
from inferstack.problems.words import choose
from inferstack.texts.placeholders import is_opaque

_STEP = f"{AWS}/autoscaling/application/userguide/application-auto-scaling-step-scaling-policies.html"
_PUT = f"{AWS}/autoscaling/application/APIReference/API_StepAdjustment.html"
_QUOTAS = f"{AWS}/autoscaling/application/userguide/application-auto-scaling-limits.html"
_MOST_STEPS = 20


@error("IS530", _STEP)
def metric_is_published(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of a step policy must be published for what the policy scales.

    Its alarm watches a CloudWatch metric; predefined types are only for policies that hold a target.
    """
    for path, scaled, step in steps(spec):
        if step.metric is not None and not metrics_of(spec, scaled, step.metric):
            fitting = [name for name in metrics.names(hosting_of(spec)) if metrics_of(spec, scaled, name)]
            message = f"the metric `{step.metric}` is not published for what scales here"
            yield Problem((*path, "metric"), message, choose(step.metric, fitting))


@error("IS531", _STEP)
def threshold_fits(spec: ModelSpec) -> Iterator[Problem]:
    """The threshold of a step policy must fit its metric.

    CloudWatch compares bare numbers: microseconds for a time, a sum over all devices for a share.
    """
    for path, scaled, step in steps(spec):
        # Nothing is known of a custom metric.
        if step.metric is not None:
            yield from unfit_threshold(path, step, metrics_of(spec, scaled, step.metric))


@error("IS532", _STEP)
def steps_do_not_overlap(spec: ModelSpec) -> Iterator[Problem]:
    """Steps must follow one another without gaps or overlaps.

    A missing lower bound is minus infinity, a missing upper one infinity.
    """
    for path, scaled, step in steps(spec):
        found = sorted(_intervals(spec, scaled, step))
        broken = any(it.low >= it.high for it in found)
        if broken or any(a.high != b.low for a, b in pairwise(found)):
            message = f"the steps do not join up: {', '.join(it.said for it in found)}"
            yield Problem((*path, "step_adjustments"), message, "begin each step where the one before ends")


class _Interval(NamedTuple):
    """A step's bounds as CloudWatch counts them, and as the spec writes them."""

    low: float
    high: float
    said_low: Number | str
    said_high: Number | str

    @property
    def said(self) -> str:
        return f"{self.said_low} to {self.said_high}"


def _intervals(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> list[_Interval]:
    """The intervals of all steps; none if IS547 refuses a bound, or another rule the threshold."""
    try:
        found = [(it, *interval(spec, scaled, step, it)) for it in step.step_adjustments]
    except UnfitQuantity:
        return []
    return [
        _Interval(
            -math.inf if low is None else low,
            math.inf if high is None else high,
            _bound_as_written(it.metric_interval_lower_bound, -math.inf),
            _bound_as_written(it.metric_interval_upper_bound, math.inf),
        )
        for it, low, high in found
    ]


def _bound_as_written(bound: Number | str | None, without: float) -> Number | str:
    return without if bound is None else bound


@error("IS547", _PUT)
def bounds_fit(spec: ModelSpec) -> Iterator[Problem]:
    """The bounds of a step must have the unit of its threshold.

    CloudWatch counts them from the threshold, in its unit: in microseconds, or over all devices.
    """
    for path, scaled, step in steps(spec):
        if not _has_threshold(spec, scaled, step):
            continue
        for index, adjustment in enumerate(step.step_adjustments):
            for key in BOUNDS:
                try:
                    bound_of_step(spec, scaled, step, getattr(adjustment, key))
                except UnfitQuantity as unfit:
                    yield Problem((*path, "step_adjustments", index, key), unfit.message, unfit.fix)


def _has_threshold(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> bool:
    """Whether bounds can count from this threshold; if not, another rule reports it."""
    metric = counted_metric(spec, scaled, step)
    if metric is None:
        return step.metric is None
    try:
        absolute_threshold(step.threshold, metric, scaled.part.devices(metric))
    except UnfitQuantity:
        return False
    return True


@error("IS533", _STEP)
def names_differ(spec: ModelSpec) -> Iterator[Problem]:
    """Policies of one target must have different names.

    A second one would replace the first, whatever its type. The built-in policy that scales up from zero
    has a name, too.
    """
    for same in same_names(spec):
        if isinstance(same.policy, StepPolicy):
            yield called_like_another(same.path, same)


@error("IS534", _STEP)
def least_change_is_of_a_percentage(spec: ModelSpec) -> Iterator[Problem]:
    """`min_adjustment_magnitude` needs a change in percent.

    Other changes are plain numbers already.
    """
    for path, _, step in steps(spec):
        fits = step.adjustment_type == "PercentChangeInCapacity" or is_opaque(step.adjustment_type)
        if step.min_adjustment_magnitude is not None and not fits:
            where = (*path, "min_adjustment_magnitude")
            message = f"`min_adjustment_magnitude` cannot be used with `{step.adjustment_type}`"
            yield Problem(where, message, "remove it, or write `adjustment_type: PercentChangeInCapacity`")


@error("IS535", _STEP)
def enough_data_points(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm of a step policy cannot need more breaching data points than it looks at.

    Its alarm could never go off, so CloudWatch refuses it.
    """
    for path, _, step in steps(spec):
        looked_at = evaluation(step).evaluation_periods
        if step.datapoints_to_alarm is not None and step.datapoints_to_alarm > looked_at:
            needed = step.datapoints_to_alarm
            message = f"`datapoints_to_alarm` is {needed}, but the alarm looks at only {looked_at}"
            yield Problem((*path, "datapoints_to_alarm"), message, f"write {looked_at} or less")


@error("IS536", _PUT)
def steps_are_open(spec: ModelSpec) -> Iterator[Problem]:
    """The outermost step must be open on the side of the threshold where the alarm goes off.

    Beyond the last bound nothing happens; Application Auto Scaling refuses a bound without a step.
    """
    for path, scaled, step in steps(spec):
        found = _intervals(spec, scaled, step)
        if not _can_be_judged(step, found):
            continue
        lowest, highest = min(found, key=lambda it: it.low), max(found, key=lambda it: it.high)
        down = evaluation(step).looks_down
        if (down or lowest.low < 0) and lowest.low != -math.inf:
            fix = "leave `metric_interval_lower_bound` out of the lowest step"
            message = f"no step covers values below {lowest.said_low}"
            yield Problem((*path, "step_adjustments"), message, fix)
        if (not down or highest.high > 0) and highest.high != math.inf:
            fix = "leave `metric_interval_upper_bound` out of the highest step"
            message = f"no step covers values above {highest.said_high}"
            yield Problem((*path, "step_adjustments"), message, fix)


def _can_be_judged(step: StepPolicy, found: Sequence[_Interval]) -> bool:
    """False if they are known only at deployment, or if IS532 or IS547 reports them."""
    if is_opaque(step.comparison_operator) or not found:
        return False
    known = not any(is_opaque(bound) and bound != -math.inf for it in found for bound in (it.low, it.high))
    return known and all(it.low < it.high for it in found)


@error("IS537", _STEP)
def steps_can_be_reached(spec: ModelSpec) -> Iterator[Problem]:
    """A step must be on the side of the threshold where the alarm goes off.

    Bounds count from the threshold; on its other side no alarm goes off.
    """
    for path, scaled, step in steps(spec):
        down = evaluation(step).looks_down
        side = "above" if down else "below"
        found = _intervals(spec, scaled, step)
        for index, it in enumerate(found if _can_be_judged(step, found) else ()):
            if it.low >= 0 if down else it.high <= 0:
                message = f"{it.said} is {side} the threshold, where the alarm never goes off"
                fix = "write bounds relative to the threshold"
                yield Problem((*path, "step_adjustments", index), message, fix)


@error("IS538", _QUOTAS)
def not_too_many_steps(spec: ModelSpec) -> Iterator[Problem]:
    """A step policy can have at most 20 steps.

    A quota of Application Auto Scaling.
    """
    for path, _, step in steps(spec):
        if len(step.step_adjustments) > _MOST_STEPS:
            message = f"the policy has {len(step.step_adjustments)} steps"
            yield Problem((*path, "step_adjustments"), message, f"at most {_MOST_STEPS} are allowed")


@error("IS539", _STEP)
def exact_capacity_is_possible(spec: ModelSpec) -> Iterator[Problem]:
    """An exact capacity cannot be negative.

    With `ExactCapacity`, an adjustment is the new capacity.
    """
    for path, _, step in steps(spec):
        for index, adjustment in enumerate(step.step_adjustments):
            number = adjustment.scaling_adjustment
            if step.adjustment_type == "ExactCapacity" and number < 0 and not is_opaque(number):
                where = (*path, "step_adjustments", index, "scaling_adjustment")
                fix = "write 0 or more, or `adjustment_type: ChangeInCapacity`"
                yield Problem(where, f"the exact capacity is {number}", fix)

"""IS530 to IS549: capacity that changes by steps and by the clock."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from inferstack.catalog import metrics
from inferstack.spec.blocks.autoscaling import StepAdjustment, StepPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.placeholders import is_opaque
from inferstack.spec.problem import SpecPath
from inferstack.spec.quantity import UnfitQuantity, parse_threshold
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.scaled import INSTANCES, Scaled, scaled_parts
from inferstack.spec.walk import is_async, kind_of
from inferstack.spec.words import choose

_STEP = "https://docs.aws.amazon.com/autoscaling/application/userguide/application-auto-scaling-step-scaling-policies.html"
_SCHEDULE = "https://docs.aws.amazon.com/autoscaling/application/userguide/scheduled-scaling-using-cron-expressions.html"
_ACTION = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScheduledAction.html"
_FORM = re.compile(
    r"cron\((\S+ +){5}\S+\)|rate\([1-9]\d* +(minute|hour|day)s?\)|at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)"
)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")


def _steps(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, StepPolicy]]:
    for scaled in scaled_parts(spec):
        for index, step in enumerate(scaled.scaling.step_policies):
            yield (*scaled.path, "step_policies", index), scaled, step


def _metrics_of(spec: ModelSpec, scaled: Scaled, name: str) -> list[metrics.Metric]:
    return [it for it in metrics.find(name, kind_of(spec)) if it.dimensions in scaled.levels]


@error("IS530", "The metric of a step policy is published for what it scales.", _STEP, ModelSpec)
def metric_is_published(spec: ModelSpec) -> Iterator[Finding]:
    """Its alarm watches CloudWatch's metric; predefined types are for policies that hold a target."""
    for path, scaled, step in _steps(spec):
        if not _metrics_of(spec, scaled, step.metric):
            fitting = [name for name in metrics.names(kind_of(spec)) if _metrics_of(spec, scaled, name)]
            message = f"what scales here publishes no metric `{step.metric}`"
            yield Finding((*path, "metric"), message, choose(step.metric, fitting))


@error("IS531", "The threshold of a step policy fits its metric.", _STEP, ModelSpec)
def threshold_fits(spec: ModelSpec) -> Iterator[Finding]:
    """As in an alarm: times carry a unit, shares a `%`."""
    for path, scaled, step in _steps(spec):
        for metric in _metrics_of(spec, scaled, step.metric)[:1]:
            try:
                parse_threshold(step.threshold, metric)
            except UnfitQuantity as unfit:
                yield Finding((*path, "threshold"), unfit.message, unfit.fix)


@error("IS532", "Steps follow one another without gap or overlap.", _STEP, ModelSpec)
def steps_do_not_overlap(spec: ModelSpec) -> Iterator[Finding]:
    """A missing lower bound is minus infinity, a missing upper one infinity."""
    for path, _, step in _steps(spec):
        found = sorted(map(_interval, step.step_adjustments))
        broken = any(low >= high for low, high in found)
        if broken or any(a[1] != b[0] for a, b in pairwise(found)):
            message = f"the steps cover {', '.join(f'{low} to {high}' for low, high in found)}"
            yield Finding(
                (*path, "step_adjustments"), message, "let each step begin where the one before ends"
            )


def _interval(step: StepAdjustment) -> tuple[float, float]:
    low, high = step.metric_interval_lower_bound, step.metric_interval_upper_bound
    return (-math.inf if low is None else low, math.inf if high is None else high)


@error("IS533", "Policies of one target have different names.", _STEP, ModelSpec)
def names_differ(spec: ModelSpec) -> Iterator[Finding]:
    """A policy is called like its metric unless it has a `policy_name`."""
    for scaled in scaled_parts(spec):
        held = [it.policy_name or it.metric for it in scaled.scaling.policies]
        found = [*held, *(it.policy_name or it.metric for it in scaled.scaling.step_policies)]
        twice = {name for name, count in Counter(found).items() if count > 1}
        for index, step in enumerate(scaled.scaling.step_policies):
            name = step.policy_name or step.metric
            if name in twice:
                where = (*scaled.path, "step_policies", index)
                yield Finding(where, f"another policy is called `{name}`, too", "give it a `policy_name`")


@error("IS534", "A least change goes with a change in percent.", _STEP, ModelSpec)
def least_change_is_of_a_percentage(spec: ModelSpec) -> Iterator[Finding]:
    """Other changes are numbers already."""
    for path, _, step in _steps(spec):
        if step.min_adjustment_magnitude is not None and step.adjustment_type != "PercentChangeInCapacity":
            where = (*path, "min_adjustment_magnitude")
            message = f"`min_adjustment_magnitude` does not fit `{step.adjustment_type}`"
            yield Finding(where, message, "remove it, or write `adjustment_type: PercentChangeInCapacity`")


@error(
    "IS535",
    "An alarm of a step policy needs no more breaching data points than it looks at.",
    _STEP,
    ModelSpec,
)
def enough_data_points(spec: ModelSpec) -> Iterator[Finding]:
    """`datapoints_to_alarm` is at most `evaluation_periods`, which is 1 when absent."""
    for path, _, step in _steps(spec):
        looked_at = 1 if step.evaluation_periods is None else step.evaluation_periods
        if step.datapoints_to_alarm is not None and step.datapoints_to_alarm > looked_at:
            message = f"{step.datapoints_to_alarm} of {looked_at} data points cannot breach"
            yield Finding((*path, "datapoints_to_alarm"), message, f"write {looked_at} or less")


@error("IS540", "A schedule is `cron(…)`, `rate(…)` or `at(…)`.", _SCHEDULE, ModelSpec)
def schedule_has_a_form(spec: ModelSpec) -> Iterator[Finding]:
    """Cron expressions of AWS have six fields."""
    for scaled in scaled_parts(spec):
        for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
            if not is_opaque(action.schedule) and not _FORM.fullmatch(action.schedule):
                where = (*scaled.path, "scheduled_actions", index, "schedule")
                fix = "write cron(0 8 ? * MON-FRI *), rate(1 day) or at(2026-12-24T08:00:00)"
                yield Finding(where, f'"{action.schedule[:60]}" is no schedule', fix)


@error("IS541", "Scheduled actions of one target have different names.", _ACTION, ModelSpec)
def actions_have_names(spec: ModelSpec) -> Iterator[Finding]:
    """An action replaces another one of its name."""
    for scaled in scaled_parts(spec):
        seen: set[str] = set()
        for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
            if action.scheduled_action_name in seen:
                where = (*scaled.path, "scheduled_actions", index, "scheduled_action_name")
                yield Finding(
                    where, f"`{action.scheduled_action_name}` is there already", "rename one of them"
                )
            seen.add(action.scheduled_action_name)


@error("IS542", "A scheduled action sets limits that fit together.", _ACTION, ModelSpec)
def actions_set_limits(spec: ModelSpec) -> Iterator[Finding]:
    """At least one of both, the least not above the most, and nothing below what can run."""
    for scaled in scaled_parts(spec):
        least = 1 if scaled.dimension == INSTANCES and not is_async(spec) else 0
        for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
            low, high = action.scalable_target_action.min_capacity, action.scalable_target_action.max_capacity
            where = (*scaled.path, "scheduled_actions", index, "scalable_target_action")
            if low is None and high is None:
                yield Finding(
                    where, "the action changes nothing", "add `min_capacity`, `max_capacity` or both"
                )
            elif low is not None and high is not None and low > high:
                yield Finding(
                    where, f"`min_capacity` is {low} and `max_capacity` {high}", f"write at most {high}"
                )
            elif low is not None and low < least:
                yield Finding((*where, "min_capacity"), f"`min_capacity` is {low}", f"write {least} or more")


@error(
    "IS543", "The times of a scheduled action are instants, the beginning before the end.", _ACTION, ModelSpec
)
def actions_have_times(spec: ModelSpec) -> Iterator[Finding]:
    """Written as 2026-12-01T00:00:00Z."""
    for scaled in scaled_parts(spec):
        for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
            where = (*scaled.path, "scheduled_actions", index)
            times = {"start_time": action.start_time, "end_time": action.end_time}
            for key, time in times.items():
                if time is not None and not is_opaque(time) and not _INSTANT.fullmatch(time):
                    yield Finding((*where, key), f'"{time[:60]}" is no time', "write 2026-12-01T00:00:00Z")
            if None not in times.values() and str(action.start_time) >= str(action.end_time):
                yield Finding(
                    (*where, "end_time"), "the action ends before it begins", "write a later `end_time`"
                )

"""Where the steps of a policy begin and end, in the unit in which CloudWatch counts the threshold."""

from inferstack.catalog.metrics import Metric
from inferstack.spec.blocks.autoscaling import StepAdjustment, StepPolicy
from inferstack.spec.blocks.base import Number
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.quantity import UnfitQuantity, absolute_bound, as_counted
from inferstack.spec.parts.scaling import Scaled, metrics_of
from inferstack.spec.problem.words import describe

_LOW, _HIGH = "metric_interval_lower_bound", "metric_interval_upper_bound"
BOUNDS = (_LOW, _HIGH)
"""The keys of a step's bounds."""


def interval(
    spec: ModelSpec, scaled: Scaled, step: StepPolicy, adjustment: StepAdjustment
) -> tuple[Number | None, Number | None]:
    """Where a step begins and where it ends; None for a side without a bound.

    Raises:
        UnfitQuantity: for a bound that does not fit the metric, or the threshold.
    """
    return (
        bound_of_step(spec, scaled, step, adjustment.metric_interval_lower_bound),
        bound_of_step(spec, scaled, step, adjustment.metric_interval_upper_bound),
    )


def bound_of_step(
    spec: ModelSpec, scaled: Scaled, step: StepPolicy, bound: Number | str | None
) -> Number | None:
    """One bound of a step of a policy.

    Raises:
        UnfitQuantity: as :func:`interval`.
    """
    if bound is None:
        return None
    metric = counted_metric(spec, scaled, step)
    if metric is not None:
        return absolute_bound(bound, step.threshold, metric, scaled.part.devices(metric))
    if isinstance(bound, str):
        message = f"the bound is {describe(bound)}, but this is a custom metric"
        fix = "write a number without quotes or unit, in the unit that the metric is published in"
        raise UnfitQuantity(message, fix)
    return bound


def counted_metric(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> Metric | None:
    """What a step policy watches, in the unit of its statistic; None for a metric of the user's own."""
    found = () if step.metric is None else metrics_of(spec, scaled, step.metric)
    return as_counted(found[0], step.statistic) if found else None

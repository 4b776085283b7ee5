"""Application Auto Scaling: a scalable target and its policies."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.spec.blocks.base import Block, Number, Statistic
from inferstack.spec.blocks.watched import MetricDimension, Watched

_POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"


class TargetTrackingMetric(Block):
    """A metric of any namespace."""

    shapes: ClassVar = (f"{_POLICY}.TargetTrackingMetric",)

    namespace: str
    """Where it is published."""
    metric_name: str
    """Its name."""
    dimensions: tuple[MetricDimension, ...] | None = None
    """All dimensions that it is published with."""


class TargetTrackingMetricStat(Block):
    """A metric and what of it is computed with."""

    shapes: ClassVar = (f"{_POLICY}.TargetTrackingMetricStat",)

    metric: TargetTrackingMetric
    """The metric."""
    stat: Statistic
    """`Average`, `Sum`, a percentile such as `p99`, a trimmed statistic such as `TM(10%:90%)`, …"""
    unit: str | None = None
    """Only data of this unit."""


class TargetTrackingMetricDataQuery(Block):
    """A metric, or an expression over the others."""

    shapes: ClassVar = (f"{_POLICY}.TargetTrackingMetricDataQuery",)

    id: str
    """Name for expressions: a small letter, then letters, digits and underscores."""
    metric_stat: TargetTrackingMetricStat | None = None
    """The metric."""
    expression: str | None = None
    """CloudWatch metric math, such as `busy / places * 100`."""
    label: str | None = None
    """What it is, for readers."""
    return_data: bool | None = None
    """True for the one that is held at the target, false for all others."""


class CustomizedMetricSpecification(Block):
    """A metric that SageMaker does not publish: yours, or computed from several."""

    shapes: ClassVar = (f"{_POLICY}.CustomizedMetricSpecification",)
    # Without bounds in this structure; no metric that CloudWatch has is beyond its own.
    aws_keys: ClassVar = {
        "namespace": ("AWS::CloudWatch::Alarm", "namespace"),
        "metric_name": ("AWS::CloudWatch::Alarm", "metric_name"),
    }

    namespace: str | None = None
    """Where it is published."""
    metric_name: str | None = None
    """Its name."""
    statistic: str | None = None
    """`Average`, `Sum`, `Minimum`, `Maximum` or `SampleCount`."""
    dimensions: tuple[MetricDimension, ...] | None = None
    """All dimensions that it is published with."""
    unit: str | None = None
    """Only data of this unit."""
    metrics: tuple[TargetTrackingMetricDataQuery, ...] | None = None
    """Several metrics and an expression over them, instead of the keys above."""


class ScalingPolicy(Block, kw_only=True):
    """Target tracking: capacity follows a metric so that it stays near the target."""

    shapes: ClassVar = (
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "AWS::ApplicationAutoScaling::ScalingPolicy.TargetTrackingScalingPolicyConfiguration",
    )

    metric: str | None = None
    """AWS's name of the metric: a predefined one such as `SageMakerVariantInvocationsPerInstance`,
    or one that SageMaker publishes such as `GPUUtilization`. Namespace, dimensions, statistic and unit
    follow from it."""
    customized_metric_specification: CustomizedMetricSpecification | None = None
    """Any other metric, instead of `metric`. It must fall as capacity is added."""
    target_value: Number
    """The value to hold, in the metric's own unit. GPUUtilization is a sum over the GPUs of an
    instance and CPUUtilization over its vCPUs: 60 % on four GPUs is 240. A latency
    has no target; for one, there are `step_policies`."""
    scale_in_cooldown: int | None = None
    """Seconds to wait after removing capacity before removing more."""
    scale_out_cooldown: int | None = None
    """Seconds to wait after adding capacity before adding more."""
    disable_scale_in: bool | None = None
    """True: this policy only ever adds capacity."""
    policy_name: str | None = None
    """Name of the policy; the metric's name when absent. Changing it replaces the policy."""


class StepAdjustment(Block):
    """What to do when the metric is so far beyond the threshold."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalingPolicy.StepAdjustment",)
    # A text has a unit, for which AWS has no place.
    aws_keys: ClassVar = {"metric_interval_lower_bound": None, "metric_interval_upper_bound": None}

    scaling_adjustment: int
    """Capacity to add, or to remove when negative; with `ExactCapacity` the capacity to have."""
    metric_interval_lower_bound: Number | str | None = None
    """The step begins where the metric is this much above the threshold; without it at minus infinity. It has
    the unit of the threshold: `500 ms` beside `2 s`, and `20 %` beside `60 %` is 20 % of all devices, too.
    0 needs none. Beside a threshold that is a plain number it is one, in the metric's own unit."""
    metric_interval_upper_bound: Number | str | None = None
    """The step ends where the metric is this much above the threshold; without it never. Written as the
    lower bound."""


class StepPolicy(Watched, kw_only=True):
    """An alarm on a metric, and by how much capacity changes when it goes off."""

    shapes: ClassVar = (
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "AWS::ApplicationAutoScaling::ScalingPolicy.StepScalingPolicyConfiguration",
        "AWS::CloudWatch::Alarm",
    )
    aws_keys: ClassVar = {"statistic": None}

    threshold: Number | str
    """The limit, written as in an alarm's rule: a latency with its unit, a utilization also as a share."""
    step_adjustments: Annotated[tuple[StepAdjustment, ...], Meta(min_length=1)]
    """What to do, by how far the metric is beyond the threshold. One step is enough."""
    adjustment_type: str
    """`ChangeInCapacity`, `PercentChangeInCapacity` or `ExactCapacity`."""
    comparison_operator: str | None = None
    """How a data point is compared with the threshold."""
    statistic: Statistic | None = None
    """What of a period's data is compared; the metric's usual one when absent."""
    period: int | None = None
    """Seconds of one data point."""
    evaluation_periods: int | None = None
    """Data points that are looked at."""
    datapoints_to_alarm: int | None = None
    """How many of them must be over the limit; all when absent."""
    treat_missing_data: str | None = None
    """What a minute without data means."""
    cooldown: int | None = None
    """Seconds to wait after a step before the next."""
    metric_aggregation_type: str | None = None
    """`Average`, `Minimum` or `Maximum` of the data points decides about the step."""
    min_adjustment_magnitude: int | None = None
    """With `PercentChangeInCapacity`: change by at least so many."""
    policy_name: str | None = None
    """Name of the policy; made from the metric when absent. Changing it replaces the policy."""


class ScalableTargetAction(Block):
    """New limits."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget.ScalableTargetAction",)
    # The registry bounds neither.
    aws_keys: ClassVar = {
        key: ("application-autoscaling:ScalableTargetAction", key) for key in ("min_capacity", "max_capacity")
    }

    min_capacity: int | None = None
    """Fewest instances or copies from then on. 0 brings what `min_capacity: 0` of the target brings: an
    alarm with which the first request starts one, and no instances where no component has a copy. With
    `max_capacity: 0` it is off until another action, and no request starts one."""
    max_capacity: int | None = None
    """Most instances or copies from then on."""


class ScheduledAction(Block):
    """Limits that change by the clock."""

    shapes: ClassVar = (
        "application-autoscaling:PutScheduledActionRequest",
        "AWS::ApplicationAutoScaling::ScalableTarget.ScheduledAction",
    )

    scheduled_action_name: str
    """Name of the action, one of its kind on the target."""
    schedule: str
    """`cron(0 8 ? * MON-FRI *)`, `rate(1 day)` or `at(2026-12-24T08:00:00)`."""
    scalable_target_action: ScalableTargetAction
    """The limits from then on."""
    timezone: str | None = None
    """Time zone of the schedule, for example `Europe/Berlin`; UTC when absent."""
    start_time: str | None = None
    """From when on, as `2026-12-01T00:00:00Z`."""
    end_time: str | None = None
    """Until when, as `2026-12-31T00:00:00Z`."""


class SuspendedState(Block):
    """Scaling that is switched off for a while without being removed."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget.SuspendedState",)

    dynamic_scaling_in_suspended: bool | None = None
    """True stops policies from removing capacity."""
    dynamic_scaling_out_suspended: bool | None = None
    """True stops policies from adding capacity."""
    scheduled_scaling_suspended: bool | None = None
    """True stops scheduled actions."""


class Autoscaling(Block):
    """Limits and policies for the instances of a variant or the copies of an inference component."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget",)

    min_capacity: int
    """Fewest instances or copies. 0 is possible for inference components and asynchronous endpoints, and
    brings the alarm with which the first request starts one. Where all components of a fleet go to 0, its
    instances do, too, unless `managed_instance_scaling` says otherwise."""
    max_capacity: int
    """Most instances or copies."""
    policies: tuple[ScalingPolicy, ...] = ()
    """Several policies work together: the one that asks for most capacity wins. A component with
    `min_capacity: 0` and nothing else follows 5 requests a minute and copy."""
    step_policies: tuple[StepPolicy, ...] = ()
    """Alarms that change capacity by steps, beside or instead of policies that hold a target."""
    scheduled_actions: tuple[ScheduledAction, ...] | None = None
    """Limits that change by the clock."""
    suspended_state: SuspendedState | None = None
    """Which kinds of scaling are paused."""

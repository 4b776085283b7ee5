"""Application Auto Scaling: a scalable target, its policies and its scheduled actions."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.catalog.resource_types import ALARM_TYPE, SCALING_POLICY_TYPE
from inferstack.format.alarms import ACTION_KEYS, AlarmAction, MetricDimension, Watched
from inferstack.format.base import Block, Items, Number, Statistic


class TargetTrackingMetric(Block):
    """A metric in any namespace."""

    shapes: ClassVar = (f"{SCALING_POLICY_TYPE}.TargetTrackingMetric",)

    namespace: str
    """CloudWatch namespace that the metric is published in."""
    metric_name: str
    """Name of the metric."""
    dimensions: Items[MetricDimension] | None = None
    """All dimensions that the metric is published with."""


class TargetTrackingMetricStat(Block):
    """A metric, and the statistic of it that is used."""

    shapes: ClassVar = (f"{SCALING_POLICY_TYPE}.TargetTrackingMetricStat",)

    metric: TargetTrackingMetric
    """The metric."""
    stat: Statistic
    """`Average`, `Sum`, a percentile such as `p99`, a trimmed statistic such as `TM(10%:90%)`, …"""
    unit: str | None = None
    """Use only data that is published with this unit."""


class TargetTrackingMetricDataQuery(Block):
    """A metric, or an expression over the other entries of the list."""

    shapes: ClassVar = (f"{SCALING_POLICY_TYPE}.TargetTrackingMetricDataQuery",)

    id: str
    """Name that expressions refer to: a lower-case letter, then letters, digits and underscores."""
    metric_stat: TargetTrackingMetricStat | None = None
    """The metric."""
    expression: str | None = None
    """CloudWatch metric math, such as `busy / places * 100`."""
    label: str | None = None
    """Label that describes the entry to readers."""
    return_data: bool | None = None
    """True for the entry that is held at the target, false for all others."""


class CustomizedMetricSpecification(Block):
    """A metric that SageMaker does not publish: one of your own, or one computed from several."""

    shapes: ClassVar = (f"{SCALING_POLICY_TYPE}.CustomizedMetricSpecification",)
    # AWS gives no bounds in this structure, and no metric in CloudWatch can exceed CloudWatch's own.
    aws_keys: ClassVar = {
        "namespace": (ALARM_TYPE, "namespace"),
        "metric_name": (ALARM_TYPE, "metric_name"),
    }

    namespace: str | None = None
    """CloudWatch namespace that the metric is published in."""
    metric_name: str | None = None
    """Name of the metric."""
    statistic: str | None = None
    """`Average`, `Sum`, `Minimum`, `Maximum` or `SampleCount`."""
    dimensions: Items[MetricDimension] | None = None
    """All dimensions that the metric is published with."""
    unit: str | None = None
    """Use only data that is published with this unit."""
    metrics: Items[TargetTrackingMetricDataQuery] | None = None
    """Several metrics and an expression over them, instead of the keys above."""


class ScalingPolicy(Block, kw_only=True):
    """Target tracking: capacity is adjusted so that a metric stays near its target value."""

    shapes: ClassVar = (
        SCALING_POLICY_TYPE,
        f"{SCALING_POLICY_TYPE}.TargetTrackingScalingPolicyConfiguration",
    )

    metric: str | None = None
    """AWS's name of the metric: a predefined one such as `SageMakerVariantInvocationsPerInstance`,
    or one that SageMaker publishes such as `GPUUtilization`. Namespace, dimensions, statistic and unit
    follow from it."""
    customized_metric_specification: CustomizedMetricSpecification | None = None
    """Any other metric, instead of `metric`. Its value must fall as capacity is added."""
    target_value: Number
    """The value to hold, in the metric's own unit. GPUUtilization is a sum over the GPUs of an
    instance and CPUUtilization over its vCPUs: 60 % on four GPUs is 240. A latency cannot be held at a
    target; use `step_policies` for it."""
    scale_in_cooldown: int | None = None
    """Seconds to wait after removing capacity before removing more; if left out, 300."""
    scale_out_cooldown: int | None = None
    """Seconds to wait after adding capacity before adding more; if left out, 300."""
    disable_scale_in: bool | None = None
    """True means that this policy only ever adds capacity."""
    policy_name: str | None = None
    """Name of the policy; if left out, the metric's name. Changing it replaces the policy."""


class StepAdjustment(Block):
    """How capacity changes while the metric is within a certain distance of the threshold."""

    shapes: ClassVar = (f"{SCALING_POLICY_TYPE}.StepAdjustment",)
    # As a string the bound carries a unit, for which AWS's property has no place.
    aws_keys: ClassVar = {"metric_interval_lower_bound": None, "metric_interval_upper_bound": None}

    scaling_adjustment: int
    """Capacity to add, or to remove if negative; with `ExactCapacity`, the capacity to set."""
    metric_interval_lower_bound: Number | str | None = None
    """The step begins this far above the threshold; if left out, at minus infinity. Write it with a unit if
    the threshold has one: `500 ms` for a threshold of `2 s`; `20 %` for one of `60 %` is 20 % of all devices,
    too. 0 needs no unit. If the threshold is a plain number, so is the bound, in the metric's own unit."""
    metric_interval_upper_bound: Number | str | None = None
    """The step ends this far above the threshold; if left out, it has no end. Written like the lower
    bound."""


class StepPolicy(Watched, kw_only=True):
    """An alarm on a metric, and how capacity changes when the alarm goes off."""

    shapes: ClassVar = (
        SCALING_POLICY_TYPE,
        f"{SCALING_POLICY_TYPE}.StepScalingPolicyConfiguration",
        ALARM_TYPE,
    )
    aws_keys: ClassVar = {"statistic": None, **ACTION_KEYS}

    threshold: Number | str
    """The value that each data point is compared with, written as in an alarm rule: a latency with its unit,
    a utilization as a number or as a share."""
    step_adjustments: Annotated[Items[StepAdjustment], Meta(min_length=1)]
    """How capacity changes, depending on how far the metric is beyond the threshold. One step is enough."""
    adjustment_type: str
    """What `scaling_adjustment` is: `ChangeInCapacity`, `PercentChangeInCapacity` or `ExactCapacity`."""
    comparison_operator: str | None = None
    """How a data point is compared with the threshold."""
    statistic: Statistic | None = None
    """The statistic of each period that is compared; if left out, the metric's usual one."""
    period: int | None = None
    """Length of one data point, in seconds."""
    evaluation_periods: int | None = None
    """How many of the latest data points are evaluated."""
    datapoints_to_alarm: int | None = None
    """How many of the `evaluation_periods` must breach the threshold to raise the alarm; if left out, all."""
    treat_missing_data: str | None = None
    """How a period without data is treated."""
    cooldown: int | None = None
    """Seconds to wait between one step and the next."""
    metric_aggregation_type: str | None = None
    """Whether the `Average`, `Minimum` or `Maximum` of the data points decides which step applies."""
    min_adjustment_magnitude: int | None = None
    """With `PercentChangeInCapacity`: the smallest number of instances or copies to change by."""
    policy_name: str | None = None
    """Name of the policy; if left out, it is made from the metric. Changing it replaces the policy."""
    actions: Items[AlarmAction] = ()
    """What else is notified or triggered when the alarm goes off, besides the step: ARNs as in
    `alarms.actions`, which do not apply here."""
    ok_actions: Items[AlarmAction] = ()
    """What is notified or triggered when the alarm goes back to OK."""
    insufficient_data_actions: Items[AlarmAction] = ()
    """What is notified or triggered when the alarm no longer has data."""


class ScalableTargetAction(Block):
    """The limits that a scheduled action sets."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget.ScalableTargetAction",)
    # The CloudFormation registry has no bounds for these two; the API has.
    aws_keys: ClassVar = {
        key: ("application-autoscaling:ScalableTargetAction", key) for key in ("min_capacity", "max_capacity")
    }

    min_capacity: int | None = None
    """New minimum number of instances or copies. 0 works like `min_capacity: 0` of the target: an alarm
    lets the first request start one, and a fleet whose components have no copies has no instances. With
    `max_capacity: 0` as well, nothing runs and no request starts anything until another action."""
    max_capacity: int | None = None
    """New maximum number of instances or copies."""


class ScheduledAction(Block):
    """A change of the limits at a set time."""

    shapes: ClassVar = (
        "application-autoscaling:PutScheduledActionRequest",
        "AWS::ApplicationAutoScaling::ScalableTarget.ScheduledAction",
    )

    scheduled_action_name: str
    """Name of the action, unique on the scalable target."""
    schedule: str
    """`cron(0 8 ? * MON-FRI *)`, `rate(1 day)` or `at(2026-12-24T08:00:00)`."""
    scalable_target_action: ScalableTargetAction
    """The limits from that time on."""
    timezone: str | None = None
    """Time zone of the schedule, for example `Europe/Berlin`; if left out, UTC."""
    start_time: str | None = None
    """When the schedule starts to apply, written as `2026-12-01T00:00:00Z`."""
    end_time: str | None = None
    """When the schedule stops applying, written as `2026-12-31T00:00:00Z`."""


class SuspendedState(Block):
    """Pauses kinds of scaling without removing them."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget.SuspendedState",)

    dynamic_scaling_in_suspended: bool | None = None
    """True keeps policies from removing capacity."""
    dynamic_scaling_out_suspended: bool | None = None
    """True keeps policies from adding capacity."""
    scheduled_scaling_suspended: bool | None = None
    """True pauses the scheduled actions."""


class Autoscaling(Block):
    """Limits and policies for the instances of a variant or the copies of an inference component."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget",)

    min_capacity: int
    """Minimum number of instances or copies. 0, to scale to zero, is possible for inference components and
    asynchronous endpoints, and adds an alarm that lets the first request start one. If all components of a
    fleet can go to 0, so can its instances, unless `managed_instance_scaling` says otherwise."""
    max_capacity: int
    """Maximum number of instances or copies."""
    policies: Items[ScalingPolicy] = ()
    """Target-tracking policies. If there are several, the one that asks for the most capacity wins. A
    component with `min_capacity: 0`, no policy and no schedule follows 5 requests a minute and copy, or with
    an engine for language models 5 at once; a step policy that wakes it up is none."""
    step_policies: Items[StepPolicy] = ()
    """Alarms that change capacity in steps, in addition to target-tracking policies or instead of them."""
    wake_up: bool | None = None
    """Whether a capacity of 0 gets a policy and alarms that start the first instance or copy when a request
    comes; if left out, it does, unless a step policy of the spec watches the same metric. Write `false` if
    something else starts it."""
    scheduled_actions: Items[ScheduledAction] | None = None
    """Changes of the limits at set times."""
    suspended_state: SuspendedState | None = None
    """Which kinds of scaling are paused."""

"""What an alarm watches: a metric that SageMaker publishes, a metric of your own, or an expression."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.spec.blocks.base import Block, Statistic, form
from inferstack.spec.texts.alarm_actions import ALARM_ACTION

ALARM_TYPE = "AWS::CloudWatch::Alarm"
SCALING_POLICY_TYPE = "AWS::ApplicationAutoScaling::ScalingPolicy"

AlarmAction = Annotated[str, form(ALARM_ACTION)]
ACTION_KEYS = {
    "actions": (ALARM_TYPE, "alarm_actions"),
    "ok_actions": (ALARM_TYPE, "ok_actions"),
    "insufficient_data_actions": (ALARM_TYPE, "insufficient_data_actions"),
}
"""By the state that an alarm goes into: what it calls, and the key that AWS has for it."""


class MetricDimension(Block):
    """A dimension of a metric of your own."""

    # CloudWatch's shape comes first: those of Application Auto Scaling have no bounds, and no metric can
    # exceed CloudWatch's.
    shapes: ClassVar = (
        f"{ALARM_TYPE}.Dimension",
        f"{SCALING_POLICY_TYPE}.MetricDimension",
        f"{SCALING_POLICY_TYPE}.TargetTrackingMetricDimension",
    )

    name: str
    """Name of the dimension."""
    value: str
    """Value of the dimension."""


class AlarmMetric(Block):
    """A metric in any namespace."""

    shapes: ClassVar = (f"{ALARM_TYPE}.Metric",)

    namespace: str
    """CloudWatch namespace that the metric is published in."""
    metric_name: str
    """Name of the metric."""
    dimensions: tuple[MetricDimension, ...] | None = None
    """All dimensions that the metric is published with."""


class AlarmMetricStat(Block):
    """A metric, and the statistic of it that is used."""

    shapes: ClassVar = (f"{ALARM_TYPE}.MetricStat",)

    metric: AlarmMetric
    """The metric."""
    period: int
    """Length of one data point, in seconds."""
    stat: Statistic
    """`Average`, `Sum`, a percentile such as `p99`, a trimmed statistic such as `TM(10%:90%)`, …"""
    unit: str | None = None
    """Use only data that is published with this unit."""


class AlarmMetricDataQuery(Block):
    """A metric, or an expression over the other entries of the list."""

    shapes: ClassVar = (f"{ALARM_TYPE}.MetricDataQuery",)

    id: str
    """Name that expressions refer to: a lower-case letter, then letters, digits and underscores."""
    metric_stat: AlarmMetricStat | None = None
    """The metric."""
    expression: str | None = None
    """CloudWatch metric math, such as `errors / requests * 100`, or a Metrics Insights query."""
    period: int | None = None
    """For a Metrics Insights query: length of one data point, in seconds."""
    label: str | None = None
    """Label that describes the entry to readers."""
    return_data: bool | None = None
    """True for the entry that is compared with the threshold, false for all others."""
    account_id: str | None = None
    """Account that holds the metric, if it is not the stack's own."""


class Watched(Block):
    """The keys with which alarms and step policies say what they watch."""

    metric: str | None = None
    """AWS's name of a metric that SageMaker publishes for the endpoint. Namespace, dimensions and unit
    follow from it."""
    namespace: str | None = None
    """For a metric of your own, instead of `metric`: the CloudWatch namespace that it is published in."""
    metric_name: str | None = None
    """For a metric of your own: its name."""
    dimensions: tuple[MetricDimension, ...] | None = None
    """For a metric of your own: all dimensions that it is published with."""
    unit: str | None = None
    """For a metric of your own: use only data that is published with this unit."""
    metrics: Annotated[tuple[AlarmMetricDataQuery, ...], Meta(min_length=1)] | None = None
    """Several metrics and an expression over them, instead of `metric` or a single metric of your own. Each
    metric has its own period and statistic."""

"""What an alarm watches: a metric that SageMaker publishes, one of your own, or an expression."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.spec.blocks.base import Block, Statistic

_ALARM = "AWS::CloudWatch::Alarm"
_POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"


class MetricDimension(Block):
    """A dimension of a metric of your own."""

    # CloudWatch's first: that of Application Auto Scaling has no bounds, and no metric is beyond these.
    shapes: ClassVar = (
        f"{_ALARM}.Dimension",
        f"{_POLICY}.MetricDimension",
        f"{_POLICY}.TargetTrackingMetricDimension",
    )

    name: str
    """Its name."""
    value: str
    """Its value."""


class AlarmMetric(Block):
    """A metric of any namespace."""

    shapes: ClassVar = (f"{_ALARM}.Metric",)

    namespace: str
    """Where it is published."""
    metric_name: str
    """Its name."""
    dimensions: tuple[MetricDimension, ...] | None = None
    """All dimensions that it is published with."""


class AlarmMetricStat(Block):
    """A metric and what of it is computed with."""

    shapes: ClassVar = (f"{_ALARM}.MetricStat",)

    metric: AlarmMetric
    """The metric."""
    period: int
    """Seconds of one data point."""
    stat: Statistic
    """`Average`, `Sum`, a percentile such as `p99`, a trimmed statistic such as `TM(10%:90%)`, …"""
    unit: str | None = None
    """Only data of this unit."""


class AlarmMetricDataQuery(Block):
    """A metric, or an expression over the others."""

    shapes: ClassVar = (f"{_ALARM}.MetricDataQuery",)

    id: str
    """Name for expressions: a small letter, then letters, digits and underscores."""
    metric_stat: AlarmMetricStat | None = None
    """The metric."""
    expression: str | None = None
    """CloudWatch metric math, such as `errors / requests * 100`, or a Metrics Insights query."""
    period: int | None = None
    """Seconds of one data point of a Metrics Insights query."""
    label: str | None = None
    """What it is, for readers."""
    return_data: bool | None = None
    """True for the one that is compared with the threshold, false for all others."""
    account_id: str | None = None
    """Account that has the metric, when it is another."""


class Watched(Block):
    """The keys with which alarms and step policies say what they watch."""

    metric: str | None = None
    """AWS's name of a metric that SageMaker publishes for the endpoint. Namespace, dimensions and unit
    follow from it."""
    namespace: str | None = None
    """Of a metric of your own, instead of `metric`: where it is published."""
    metric_name: str | None = None
    """Of a metric of your own: its name."""
    dimensions: tuple[MetricDimension, ...] | None = None
    """Of a metric of your own: all dimensions that it is published with."""
    unit: str | None = None
    """Of a metric of your own: only data of this unit."""
    metrics: Annotated[tuple[AlarmMetricDataQuery, ...], Meta(min_length=1)] | None = None
    """Several metrics and an expression over them, instead of the keys above. Each says its own period
    and statistic."""

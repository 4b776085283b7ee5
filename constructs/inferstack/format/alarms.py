"""CloudWatch alarms and the dashboard of an endpoint, and what an alarm watches."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    COMPOSITE_ALARM_TYPE,
    DASHBOARD_TYPE,
    LOG_GROUP_TYPE,
    SCALING_POLICY_TYPE,
)
from inferstack.format.base import Block, Items, Number, Statistic, form
from inferstack.texts.arns import ALARM_ACTION

# ---------------------------------------------------------------- what an alarm watches


AlarmKey = Annotated[str, form(r"^[A-Za-z][A-Za-z0-9_\-]*$", max_length=63)]
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
    dimensions: Items[MetricDimension] | None = None
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
    dimensions: Items[MetricDimension] | None = None
    """For a metric of your own: all dimensions that it is published with."""
    unit: str | None = None
    """For a metric of your own: use only data that is published with this unit."""
    metrics: Annotated[Items[AlarmMetricDataQuery], Meta(min_length=1)] | None = None
    """Several metrics and an expression over them, instead of `metric` or a single metric of your own. Each
    metric has its own period and statistic."""


# ---------------------------------------------------------------- alarms and dashboard


class AlarmRule(Watched, kw_only=True):
    """One alarm of your own."""

    shapes: ClassVar = (ALARM_TYPE,)
    # Covers both Statistic and ExtendedStatistic of AWS, so the enum of the former does not apply.
    aws_keys: ClassVar = {"statistic": None, **ACTION_KEYS}

    threshold: Number | str
    """The value that each data point is compared with. A latency needs a unit (`500 ms`, `2 s`, `800 us`),
    since CloudWatch counts microseconds; a utilization may be a share (`90 %`) of all GPUs or vCPUs of the
    instance."""
    statistic: Statistic | None = None
    """The statistic of each period that is compared: `Average`, `Sum`, a percentile such as `p99`, or a
    trimmed one such as `TM(10%:90%)`; if left out, the metric's usual one. Bounds in it without `%` are in
    the metric's own unit, which for latencies is microseconds. `SampleCount`, `TC` and `PR` describe the
    data points themselves: whatever the metric, their threshold is a count, and for `PR(:500000)` a share
    (`95 %`)."""
    comparison_operator: str | None = None
    """How a data point is compared with the threshold."""
    period: int | None = None
    """Length of one data point, in seconds. The default is longer if `metric_publish_frequency_in_seconds`
    makes SageMaker publish the metric less often."""
    evaluation_periods: int | None = None
    """How many of the latest data points are evaluated."""
    datapoints_to_alarm: int | None = None
    """How many of the `evaluation_periods` must breach the threshold to raise the alarm; if left out, all."""
    treat_missing_data: str | None = None
    """How a period without data is treated."""
    variant_name: str | None = None
    """Limits the rule to this variant; if left out, it applies to every variant. For a metric of your own:
    the variant that it is about."""
    inference_component: str | None = None
    """Limits the rule to this inference component; if left out, it applies to every component. For a metric
    of your own: the component that it is about, so that the alarm can roll back updates of that component."""
    alarm_name: str | None = None
    """Name of the alarm, unique in the account and region; if left out, CloudFormation chooses one. Only for
    a rule that makes one alarm. Another name makes another alarm, without history."""
    alarm_description: str | None = None
    """Text for those who are notified: what to do, or where to read it. If left out, it says what the
    alarm watches."""
    actions: Items[AlarmAction] | None = None
    """What this alarm notifies or triggers instead of `alarms.actions`: another topic for alarms that can
    wait until morning, or `[]` for nothing."""
    ok_actions: Items[AlarmAction] | None = None
    """What this alarm notifies or triggers instead of `alarms.ok_actions`."""
    insufficient_data_actions: Items[AlarmAction] | None = None
    """What this alarm notifies or triggers instead of `alarms.insufficient_data_actions`."""
    actions_enabled: bool | None = None
    """Whether the alarm acts, instead of `alarms.actions_enabled`."""


class CompositeAlarm(Block):
    """An alarm on the states of other alarms: one message for a failure that sets off many of them."""

    shapes: ClassVar = (COMPOSITE_ALARM_TYPE,)
    aws_keys: ClassVar = ACTION_KEYS

    alarm_rule: str
    """When it goes off: `ALARM(…)`, `OK(…)`, `INSUFFICIENT_DATA(…)`, `TRUE` or `FALSE`, with `AND`, `OR`,
    `NOT` and parentheses. A function names an alarm of this spec by its metric (`ModelLatency`, or for one
    variant or component `ModelLatency/chat`), by its `alarm_name`, or by the key of a composite alarm; any
    other alarm by its ARN. If several alarms have the metric, it is true if it is true of any of them."""
    alarm_name: str | None = None
    """Name of the alarm, unique in the account and region; if left out, CloudFormation chooses one. Another
    name makes another alarm, without history."""
    alarm_description: str | None = None
    """Text for those who are notified: what to do, or where to read it."""
    actions: Items[AlarmAction] | None = None
    """What it notifies or triggers instead of `alarms.actions`; it cannot trigger a scaling policy."""
    ok_actions: Items[AlarmAction] | None = None
    """What it notifies or triggers instead of `alarms.ok_actions`."""
    insufficient_data_actions: Items[AlarmAction] | None = None
    """What it notifies or triggers instead of `alarms.insufficient_data_actions`."""
    actions_enabled: bool | None = None
    """Whether the alarm acts, instead of `alarms.actions_enabled`."""


class Alarms(Block):
    """Alarms of the endpoint: a default set for its kind, and your own."""

    aws_keys: ClassVar = {**ACTION_KEYS, "composite_alarms": None}

    defaults: bool = True
    """False leaves out the default set of alarms."""
    actions: Items[AlarmAction] = ()
    """What is notified or triggered when an alarm goes into ALARM: ARNs of SNS topics, Lambda functions,
    OpsItems (`arn:aws:ssm:us-east-1:111122223333:opsitem:2#CATEGORY=Performance`), Incident Manager response
    plans, investigation groups or scaling policies. A function must allow CloudWatch to invoke it. A rule may
    have `actions` of its own instead."""
    ok_actions: Items[AlarmAction] = ()
    """What is notified or triggered when an alarm goes back to OK: ARNs as in `actions`, except OpsItems,
    incidents and investigations."""
    insufficient_data_actions: Items[AlarmAction] = ()
    """What is notified or triggered when an alarm no longer has data and goes into INSUFFICIENT_DATA."""
    actions_enabled: bool | None = None
    """False mutes the alarms: they still change their states and roll back updates, but notify nobody. Alarms
    of `step_policies` go on scaling."""
    rules: Items[AlarmRule] = ()
    """Alarms of your own."""
    composite_alarms: dict[AlarmKey, CompositeAlarm] | None = None
    """Alarms on the states of other alarms, by keys that `alarm_rule` of others can name."""


class Dashboard(Block):
    """Settings of the endpoint's dashboard."""

    shapes: ClassVar = (DASHBOARD_TYPE,)

    dashboard_name: str | None = None
    """Name of the dashboard; if left out, the endpoint's name and the region."""


class LogGroups(Block):
    """The log groups of the endpoint and of its components, made by the stack. They outlive it, until their
    logs have expired."""

    shapes: ClassVar = (LOG_GROUP_TYPE,)

    retention_in_days: int
    """How many days logs are kept."""
    kms_key_id: str | None = None
    """ARN of the KMS key that encrypts the logs, whose key policy must let CloudWatch Logs use it."""

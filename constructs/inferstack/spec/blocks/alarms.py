"""CloudWatch alarms and the dashboard of an endpoint."""

from typing import ClassVar

from inferstack.spec.blocks.base import Block, Number, Statistic
from inferstack.spec.blocks.watched import ACTION_KEYS, ALARM_TYPE, AlarmAction, Watched


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
    alarm_description: str | None = None
    """What whoever is notified reads: what to do, or where that is written. If left out, it says what the
    alarm watches."""
    actions: tuple[AlarmAction, ...] | None = None
    """What this alarm notifies or triggers instead of `alarms.actions`: another topic for what wakes nobody
    up, or `[]` for nothing."""
    ok_actions: tuple[AlarmAction, ...] | None = None
    """The same instead of `alarms.ok_actions`."""
    insufficient_data_actions: tuple[AlarmAction, ...] | None = None
    """The same instead of `alarms.insufficient_data_actions`."""


class Alarms(Block):
    """Alarms of the endpoint: a default set for its kind, and your own."""

    aws_keys: ClassVar = ACTION_KEYS

    defaults: bool = True
    """False leaves out the default set of alarms."""
    actions: tuple[AlarmAction, ...] = ()
    """What is notified or triggered when an alarm goes into ALARM: ARNs of SNS topics, Lambda functions,
    OpsItems (`arn:aws:ssm:us-east-1:111122223333:opsitem:2#CATEGORY=Performance`), Incident Manager response
    plans, investigation groups or scaling policies. A function must allow CloudWatch to invoke it. A rule may
    have `actions` of its own instead."""
    ok_actions: tuple[AlarmAction, ...] = ()
    """The same when an alarm goes back to OK; OpsItems, incidents and investigations are for `actions`
    only."""
    insufficient_data_actions: tuple[AlarmAction, ...] = ()
    """The same when an alarm no longer has data and goes into INSUFFICIENT_DATA."""
    rules: tuple[AlarmRule, ...] = ()
    """Alarms of your own."""


class Dashboard(Block):
    """Settings of the endpoint's dashboard."""

    shapes: ClassVar = ("AWS::CloudWatch::Dashboard",)

    dashboard_name: str | None = None
    """Name of the dashboard; if left out, the endpoint's name and the region."""

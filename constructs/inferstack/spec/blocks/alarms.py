"""CloudWatch alarms and the dashboard of an endpoint."""

from typing import Annotated, ClassVar

from inferstack.spec.blocks.base import Block, Number, Statistic, form
from inferstack.spec.blocks.watched import Watched
from inferstack.spec.texts.alarm_actions import ALARM_ACTION

AlarmAction = Annotated[str, form(ALARM_ACTION)]


class AlarmRule(Watched, kw_only=True):
    """One alarm of your own."""

    shapes: ClassVar = ("AWS::CloudWatch::Alarm",)
    # Stands for AWS's Statistic and ExtendedStatistic both, so that the enum of the first does not fit.
    aws_keys: ClassVar = {"statistic": None}

    threshold: Number | str
    """The limit. A latency carries its unit (`500 ms`, `2 s`, `800 us`), since CloudWatch counts
    microseconds; a utilization may be a share (`90 %`) of all the instance's GPUs or vCPUs."""
    statistic: Statistic | None = None
    """What of a period's data is compared: `Average`, `Sum`, a percentile such as `p99`, or a trimmed one
    such as `TM(10%:90%)`; the metric's usual one when absent. Bounds without `%` are in the metric's own
    unit, which of latencies is microseconds. `SampleCount`, `TC` and `PR` tell of the data points: their
    threshold is a count, of `PR(:500000)` a share (`95 %`), whatever the metric is."""
    comparison_operator: str | None = None
    """How a data point is compared with the threshold."""
    period: int | None = None
    """Seconds of one data point. The default is more where `metric_publish_frequency_in_seconds` puts more
    between two readings of the metric."""
    evaluation_periods: int | None = None
    """Data points that are looked at."""
    datapoints_to_alarm: int | None = None
    """How many of them must be over the limit; all when absent."""
    treat_missing_data: str | None = None
    """What a minute without data means."""
    variant_name: str | None = None
    """Only for this variant; every variant when absent. Of a metric of your own: what it tells about."""
    inference_component: str | None = None
    """Only for this inference component; every one when absent. Of a metric of your own: what it tells
    about, so that it can undo updates of the component."""


class Alarms(Block):
    """Alarms of the endpoint: a default set for its kind, and your own."""

    aws_keys: ClassVar = {
        "actions": ("AWS::CloudWatch::Alarm", "alarm_actions"),
        "ok_actions": ("AWS::CloudWatch::Alarm", "ok_actions"),
        "insufficient_data_actions": ("AWS::CloudWatch::Alarm", "insufficient_data_actions"),
    }

    defaults: bool = True
    """False leaves the default set out."""
    actions: tuple[AlarmAction, ...] = ()
    """What hears of it or is set off when an alarm goes off: ARNs of SNS topics, Lambda functions, OpsItems
    (`arn:aws:ssm:us-east-1:111122223333:opsitem:2#CATEGORY=Performance`), response plans of Incident Manager,
    investigation groups or scaling policies. A function must allow CloudWatch to invoke it."""
    ok_actions: tuple[AlarmAction, ...] = ()
    """The same when it is over; OpsItems, incidents and investigations are for `actions` alone."""
    insufficient_data_actions: tuple[AlarmAction, ...] = ()
    """The same when the data stops."""
    rules: tuple[AlarmRule, ...] = ()
    """Alarms of your own."""


class Dashboard(Block):
    """Settings of the endpoint's dashboard."""

    shapes: ClassVar = ("AWS::CloudWatch::Dashboard",)

    dashboard_name: str | None = None
    """Name of the dashboard; the endpoint's name and the region when absent."""

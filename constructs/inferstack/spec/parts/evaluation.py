"""How CloudWatch evaluates an alarm: what a rule or a step policy says, completed by our defaults."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from inferstack.defaults import FIELD_DEFAULTS
from inferstack.spec.blocks.alarms import AlarmRule
from inferstack.spec.blocks.autoscaling import StepPolicy
from inferstack.spec.blocks.watched import AlarmMetricDataQuery


class Evaluation(msgspec.Struct, frozen=True):
    """The fields that every alarm needs. ``period`` is the length of one data point, in seconds."""

    period: int
    evaluation_periods: int
    comparison_operator: str
    treat_missing_data: str

    @property
    def looks_down(self) -> bool:
        """Whether values below the threshold raise the alarm."""
        return self.comparison_operator.startswith("Less")


def evaluation(watched: AlarmRule | StepPolicy, between_readings: int = 0) -> Evaluation:
    """The evaluation of an alarm on a metric with ``between_readings`` seconds from one reading to the next.

    The default period is never shorter than that, since most periods would then have no data.
    """
    said: dict[str, Any] = {}
    for field, default in FIELD_DEFAULTS[type(watched)].items():
        written = getattr(watched, field)
        said[field] = default.value if written is None else written
    if watched.metrics is not None:
        # An expression is evaluated over the longest period among its metrics.
        said["period"] = max(_periods(watched.metrics), default=said["period"])
    elif watched.period is None:
        said["period"] = max(said["period"], between_readings)
    return Evaluation(**said)


def _periods(queries: Sequence[AlarmMetricDataQuery]) -> Iterator[int]:
    for query in queries:
        if query.metric_stat is not None:
            yield query.metric_stat.period
        if query.period is not None:
            yield query.period

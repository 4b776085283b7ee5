"""Metrics out of CloudWatch, in the JSON that the AWS CLI prints: traffic, or what a fleet did.

An answer does not say its period, and has no points for periods without requests. So the file may have
`Period`, `StartTime`, `EndTime` or `MetricDataQueries` of the request, too; a label may end in the period.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricStatistics.html
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from inferstack.problems import FilePlace, SpecError
from inferstack.problems.words import listed
from inferstack.sizing.data_files import shown, wrong_form
from inferstack.sizing.traffic_points import MINUTE, Points

# The year 5138; a larger number is not in seconds.
_LAST = 100_000_000_000

_FIX_OF_PERIOD = (
    "write the `Period` of the request into the file as well, or give it with `--period` of `size` or `share`"
)
_PERIOD = re.compile(r"(.+), ([1-9][0-9]{0,5}) s")
"""The label of a metric that says its period: see :func:`labeled`."""


class _Sample(NamedTuple):
    """What a metric of this name was at a time, both as the AWS CLI prints them."""

    name: str
    timestamp: Any
    value: Any


_Samples = Iterator[_Sample]


def labeled(name: str, period: int) -> str:
    """The label of a metric in a request, so that the answer says its name and its period."""
    return f"{name}, {period} s"


def points_of_export(text: str, stem: str | None, points: Points, period: int | None) -> int:
    """Adds the points of an export, as CloudWatch has them; the result is the minutes of its period.

    ``stem`` is the name for traffic that has none; None for metrics, which are named after their statistic.
    ``period`` is the seconds that were asked for, if the file does not say it.
    """
    try:
        data = json.loads(text, parse_float=Decimal, parse_constant=Decimal)
    except (ValueError, RecursionError) as error:
        raise points.stop(f"the file is not JSON: {error}") from None
    form = next((it for it in _FORMS if isinstance(data, dict) and it in data), None)
    if form is None:
        fix = f"it must have one of the keys {listed(list(_FORMS))}"
        raise points.stop("this JSON is not an export from CloudWatch", fix)
    try:
        _add_all(_FORMS[form](data, stem, points), points)
        periods = {*_periods(data), *(() if period is None else (period,))}
        times = [_instant(data[key]) for key in ("StartTime", "EndTime") if key in data]
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError, OSError) as error:
        fix = "write the whole answer into the file, as the AWS CLI prints it"
        raise points.stop(wrong_form(form, error), fix) from None
    if not points.lines and not points.problems:
        points.fault(1, "the export has no data", "ask for a day or a week in which there were requests")
    if points.problems:
        raise SpecError(points.problems)
    step = _step(periods, points)
    points.window = _window(times, step, points)
    _check_times(step, points)
    return step


def _add_all(samples: _Samples, points: Points) -> None:
    for name, timestamp, value in samples:
        points.named_at.setdefault(name, FilePlace(points.file))
        time = points.time(_as_text(timestamp), 1)
        requests = points.number(name, str(value), 1)
        if time is not None and requests is not None:
            points.add(name, time, requests, 1)


def _as_text(timestamp: Any) -> str:
    """A time as text; older versions of the AWS CLI can print seconds since 1970."""
    if isinstance(timestamp, int | Decimal) and 0 <= timestamp < _LAST:
        return datetime.fromtimestamp(int(timestamp), UTC).isoformat()
    return str(timestamp)


def _periods(data: Mapping[str, Any]) -> Iterator[int]:
    """The periods of the request in seconds, as far as the file has it."""
    queries = [it.get("MetricStat", it) for it in data.get("MetricDataQueries", ())]
    for it in (data, *queries):
        if "Period" in it:
            yield int(it["Period"])
    labels = (_PERIOD.fullmatch(str(it.get("Label"))) for it in data.get("MetricDataResults", ()))
    yield from (int(it[2]) for it in labels if it is not None)


def _step(periods: Collection[int], points: Points) -> int:
    """The minutes of the period. Points that are a minute apart prove it; any others may be of sparse data.

    Raises:
        SpecError: when it is not known.
    """
    if not periods and len(points.lines) > 1 and points.step() == 1:
        return 1
    if not periods:
        apart = f"; its points are {points.step()} minutes or more apart" if len(points.lines) > 1 else ""
        raise points.stop(f"the export does not say its period{apart}", _FIX_OF_PERIOD)
    if len(periods) > 1:
        seconds = listed([f"{it} seconds" for it in sorted(periods)], last="and", quote="")
        raise points.stop(f"there are several periods: {seconds}", "ask for all metrics with the same period")
    (period,) = periods
    if period < 1 or period % 60:
        raise points.stop(
            f"a period of {period} seconds is not in whole minutes", "ask for 60 seconds or more"
        )
    return period // 60


def _window(times: Sequence[datetime], step: int, points: Points) -> tuple[datetime, datetime] | None:
    """The first and the last period of the time that was asked for; None if the file does not have it."""
    if len(times) < 2:
        return None
    (start, end), length = times, step * MINUTE
    first, last = min(points.lines), max(points.lines)
    if first + length <= start or last >= end:
        message = f"there are points from {points.shown(first)} to {points.shown(last)}, outside of its times"
        raise points.stop(message, "let `StartTime` and `EndTime` be those of the request")
    # CloudWatch rounds the start down, so that the first period may begin before it.
    start = first - max(0, (first - start) // length) * length
    return start, start + (end - start - timedelta.resolution) // length * length


def _instant(value: Any) -> datetime:
    time = datetime.fromisoformat(_as_text(value))
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _check_times(step: int, points: Points) -> None:
    points.check_length(step)
    first = min(points.lines)
    for time in sorted(points.lines):
        if ((time - first).total_seconds() // 60) % step:
            message = f"{points.shown(time)} is not a multiple of {step} minutes after {points.shown(first)}"
            points.fault(1, message, "ask for all metrics with the same period")


_INCOMPLETE = {
    "PartialData": ("is only a part of its data", "ask again for a shorter time"),
    "Forbidden": ("may not be read", "ask with credentials that have the right cloudwatch:GetMetricData"),
    "InternalError": ("could not be read by CloudWatch", "ask again"),
}


def _of_metric_data(data: Mapping[str, Any], stem: str | None, points: Points) -> _Samples:
    if data.get("NextToken"):
        points.fault(1, "the export is only the first page", "leave out `--max-items` and `--no-paginate`")
    # The AWS CLI puts pages together, and only the last one of a metric is complete.
    statuses = {it.get("Label") or it["Id"]: it.get("StatusCode") for it in data["MetricDataResults"]}
    for name, status in statuses.items():
        if status in _INCOMPLETE:
            wrong, fix = _INCOMPLETE[status]
            points.fault(1, f"{shown(str(name))} {wrong}", fix)
    for result in data["MetricDataResults"]:
        name = str(result.get("Label") or result["Id"])
        if stem is None and (found := _PERIOD.fullmatch(name)):
            name = found[1]
        points.named_at.setdefault(name, FilePlace(points.file))
        points.by_name.setdefault(name, {})
        if len(result["Timestamps"]) != len(result["Values"]):
            raise ValueError(f"{shown(name)} does not have as many `Timestamps` as `Values`")
        for timestamp, value in zip(result["Timestamps"], result["Values"], strict=True):
            yield _Sample(name, timestamp, value)


def _of_metric_statistics(data: Mapping[str, Any], stem: str | None, points: Points) -> _Samples:
    for point in data["Datapoints"]:
        if stem is None:
            statistics = {**point, **point.get("ExtendedStatistics", {})}
            for name in statistics.keys() - _NO_STATISTICS:
                yield _Sample(f"{data['Label']} {name}", point["Timestamp"], statistics[name])
        elif "Sum" not in point:
            raise points.stop("a data point has no `Sum`", "ask for `--statistics Sum`")
        else:
            yield _Sample(stem, point["Timestamp"], point["Sum"])


_NO_STATISTICS = {"Timestamp", "Unit", "ExtendedStatistics"}
_FORMS: Mapping[str, Callable[[Mapping[str, Any], str | None, Points], _Samples]] = {
    "MetricDataResults": _of_metric_data,
    "Datapoints": _of_metric_statistics,
}

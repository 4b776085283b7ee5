"""Traffic out of CloudWatch, in the JSON that the AWS CLI prints.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricStatistics.html
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from inferstack.problems import FilePlace, SpecError
from inferstack.problems.words import listed
from inferstack.sizing.data_files import shown, wrong_form
from inferstack.sizing.traffic_points import Points

# The year 5138; a larger number is not in seconds.
_LAST = 100_000_000_000


class _Sample(NamedTuple):
    """What a metric of this name was at a time, both as the AWS CLI prints them."""

    name: str
    timestamp: Any
    value: Any


_Samples = Iterator[_Sample]


def points_of_export(text: str, stem: str, points: Points) -> int:
    """Adds the points of an export; the result is the minutes from one to the next.

    CloudWatch leaves out periods without data, in which there were no requests. ``stem`` is the name for an
    export that has none.
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
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError, OSError) as error:
        fix = "write the whole answer into the file, as the AWS CLI prints it"
        raise points.stop(wrong_form(form, error), fix) from None
    if not points.lines and not points.problems:
        points.fault(1, "the export has no data", "ask for a day or a week in which there were requests")
    if points.problems:
        raise SpecError(points.problems)
    return _per_minute(points)


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


def _per_minute(points: Points) -> int:
    """Turns sums over a period into requests per minute."""
    step = 1 if len(points.lines) == 1 else points.step()
    points.check_length(step)
    first = min(points.lines)
    for time in sorted(points.lines):
        if ((time - first).total_seconds() // 60) % step:
            message = f"{points.shown(time)} is not a multiple of {step} minutes after {points.shown(first)}"
            points.fault(1, message, "ask for all metrics with the same period")
    for of_name in points.by_name.values():
        for time, requests in of_name.items():
            of_name[time] = requests / step
    return step


def _of_metric_data(data: Mapping[str, Any], _: str, points: Points) -> _Samples:
    if data.get("NextToken"):
        points.fault(1, "the export is only the first page", "leave out `--max-items` and `--no-paginate`")
    for result in data["MetricDataResults"]:
        name = str(result.get("Label") or result["Id"])
        if result.get("StatusCode") == "PartialData":
            points.fault(1, f"{shown(name)} is only a part of its data", "ask again for a shorter time")
        points.named_at.setdefault(name, FilePlace(points.file))
        points.by_name.setdefault(name, {})
        if len(result["Timestamps"]) != len(result["Values"]):
            raise ValueError(f"{shown(name)} does not have as many `Timestamps` as `Values`")
        for timestamp, value in zip(result["Timestamps"], result["Values"], strict=True):
            yield _Sample(name, timestamp, value)


def _of_metric_statistics(data: Mapping[str, Any], stem: str, points: Points) -> _Samples:
    for point in data["Datapoints"]:
        if "Sum" not in point:
            raise points.stop("a data point has no `Sum`", "ask for `--statistics Sum`")
        yield _Sample(stem, point["Timestamp"], point["Sum"])


_FORMS: Mapping[str, Callable[[Mapping[str, Any], str, Points], _Samples]] = {
    "MetricDataResults": _of_metric_data,
    "Datapoints": _of_metric_statistics,
}

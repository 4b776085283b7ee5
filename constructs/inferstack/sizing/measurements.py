"""Measurements of configurations, read from the files that load tests leave behind.

| file | from |
|---|---|
| CSV | yourself, or `inferstack measure`: a line of names, then a line for each configuration |
| JSON with ``InferenceRecommendations`` | ``DescribeInferenceRecommendationsJob`` |
| JSON with ``Recommendations`` | ``DescribeAIRecommendationJob`` |
| JSON with ``request_throughput`` | AIPerf's ``profile_export_aiperf.json`` |

:func:`measured_in` reads the same answers where they are at hand, and :func:`as_csv` makes a CSV file.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from inferstack.problems import MOST_SHOWN, FilePlace, Problem, SpecError
from inferstack.problems.file_codes import UNREADABLE_MEASUREMENTS
from inferstack.problems.words import did_you_mean, listed
from inferstack.sizing.data_files import counted, other_separator, shown, wrong_form
from inferstack.source.other_files import read_text

_MS_A_MINUTE = 60_000
# Within a fifth of what they can send at most, users do nothing but wait.
_WAITING = Decimal("0.8")


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What one instance did in a load test."""

    configuration: str
    instance_type: str
    requests_per_minute: Decimal
    latencies: Mapping[Decimal, Decimal] = msgspec.field(default_factory=dict)
    """Milliseconds by percentile, such as 95."""
    price_per_hour: Decimal | None = None
    users: int | None = None
    """How many users sent requests to it at the same time, each waiting for an answer before the next."""

    @property
    def usual_latency(self) -> Decimal | None:
        """The latency at the lowest percentile that was measured."""
        return self.latencies[min(self.latencies)] if self.latencies else None

    @property
    def most_that_users_send(self) -> Decimal | None:
        """Requests per minute, by Little's law: each user waits for an answer before the next request."""
        if self.users is None or not self.usual_latency:
            return None
        return self.users * _MS_A_MINUTE / self.usual_latency

    @property
    def keeps_users_waiting(self) -> bool:
        """Whether the users could hardly have sent more, as always in a closed loop: it does not show whether
        they or the instance were the limit.
        """
        most = self.most_that_users_send
        return most is not None and self.requests_per_minute >= _WAITING * most


# ---------------------------------------------------------------- any file

# Beyond these, a number is a mistake, and no result could be shown.
_LEAST, _MOST = Decimal("1e-9"), Decimal("1e12")
_WANTED = "a CSV or JSON file of measurements"


class _Reader(msgspec.Struct):
    """One file, with what is wrong with it so far. ``instance_type`` and ``instances`` are those of the test,
    for files that do not say.
    """

    file: str
    instance_type: str | None
    instances: int
    problems: list[Problem] = msgspec.field(default_factory=list)

    def fault(self, line: int, message: str, fix: str) -> None:
        """Notes a problem; a file in which nearly every line is wrong is given up."""
        at = FilePlace(self.file, line)
        self.problems.append(Problem(at, message, fix, UNREADABLE_MEASUREMENTS))
        if len(self.problems) > 2 * MOST_SHOWN:
            raise SpecError(self.problems)

    def stop(self, message: str, fix: str = f"name {_WANTED}") -> SpecError:
        self.fault(1, message, fix)
        return SpecError(self.problems)


def read_measurements(
    path: Path, *, instance_type: str | None = None, instances: int = 1
) -> list[Measurement]:
    """Reads a file of measurements.

    ``instance_type`` and the number of ``instances`` are those of the test, for files that name none: AIPerf
    knows only a URL.

    Raises:
        SpecError: with everything that is wrong with the file.
    """
    reader = _Reader(path.as_posix(), instance_type, instances)
    large = "name the summary of the load test, not its record of each request"
    text = read_text(path, reader.stop, wanted=_WANTED, if_large=large)
    is_json = text.lstrip()[:1] in ("{", "[")
    measurements = list(_of_json(text, reader) if is_json else _of_csv(text, reader))
    if not measurements and not reader.problems:
        reader.fault(1, "the file holds no measurement", "run the load test to its end")
    if reader.problems:
        raise SpecError(reader.problems)
    return measurements


def measured_in(
    answer: Mapping[str, Any], *, source: str, instance_type: str | None = None, instances: int = 1
) -> list[Measurement]:
    """The measurements in the answer of a job; none, if it has none. ``source`` is what problems are about.

    Raises:
        SpecError: when it does not have the form of its API.
    """
    reader = _Reader(source, instance_type, instances)
    text = json.dumps(answer, default=str)
    measurements = list(_of_json(text, reader)) if answer.keys() & _JSON_FORMS.keys() else []
    if reader.problems:
        raise SpecError(reader.problems)
    return measurements


# ---------------------------------------------------------------- CSV

_REQUIRED = ("configuration", "instance_type", "requests_per_minute")
_OPTIONAL = ("price_per_hour", "users")
_LATENCY = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)_ms")
COLUMNS = (*_REQUIRED, "p95_ms", *_OPTIONAL)
"""The columns of a CSV file; there may be more latencies, such as `p50_ms` and `p99_ms`."""
_HEADER = f"the columns are {listed(COLUMNS, last='and')}"


def _of_csv(text: str, reader: _Reader) -> Iterator[Measurement]:
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        _check_names(names, reader)
        for row in rows:
            if not any(row):
                continue
            if len(row) != len(names):
                message = f"the line has {counted(row)}, but there are {len(names)} columns"
                reader.fault(rows.line_num, message, "leave a value empty, but keep its comma")
            elif not reader.problems or reader.problems[0].line > 1:
                yield from _of_row(dict(zip(names, map(str.strip, row), strict=True)), rows.line_num, reader)
    except csv.Error as error:
        reader.fault(rows.line_num, f"the line is not CSV: {error}", "check its quotes")


def _check_names(names: list[str], reader: _Reader) -> None:
    if (other := other_separator(names)) is not None:
        raise reader.stop(*other)
    if len(names) == 1 and names[0] not in COLUMNS:
        raise reader.stop(f"the first line is {shown(names[0])}, not the names of columns", _HEADER)
    for name in names:
        if name not in COLUMNS and not _LATENCY.fullmatch(name):
            reader.fault(1, f"unknown column {shown(name)}", did_you_mean(name, COLUMNS, "remove it"))
    for name in _REQUIRED:
        if name not in names:
            reader.fault(1, f"the column `{name}` is missing", _HEADER)
    # `p95_ms` and `p95.0_ms` are the same.
    meant = [_percentile(name) if _LATENCY.fullmatch(name) else name for name in names]
    for name, it in {name: it for name, it in zip(names, meant, strict=True) if meant.count(it) > 1}.items():
        if meant.index(it) == names.index(name):
            reader.fault(1, f"the column `{name}` occurs twice", "keep one of them")


def _of_row(row: Mapping[str, str], line: int, reader: _Reader) -> Iterator[Measurement]:
    before = len(reader.problems)
    for name in ("configuration", "instance_type"):
        if not row[name]:
            reader.fault(line, f"`{name}` is empty", "write the name of what was measured")
    if row["instance_type"] and not row["instance_type"].startswith("ml."):
        fix = "write a SageMaker instance type, such as `ml.g5.xlarge`"
        reader.fault(line, f"`instance_type` is {shown(row['instance_type'])}", fix)
    numbers = {
        name: _number(name, text, line, reader) for name, text in row.items() if _is_number(name, text)
    }
    if len(reader.problems) == before:
        users = numbers.get("users")
        yield Measurement(
            configuration=row["configuration"],
            instance_type=row["instance_type"],
            requests_per_minute=numbers["requests_per_minute"],
            latencies={
                _percentile(name): value for name, value in numbers.items() if _LATENCY.fullmatch(name)
            },
            price_per_hour=numbers.get("price_per_hour"),
            users=None if users is None else int(users),
        )


def _is_number(name: str, text: str) -> bool:
    return name == "requests_per_minute" or (name not in _REQUIRED and text != "")


def _percentile(column: str) -> Decimal:
    return Decimal(column.removeprefix("p").removesuffix("_ms"))


def _number(name: str, text: str, line: int, reader: _Reader) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not _LEAST <= number <= _MOST:
        reader.fault(line, f"`{name}` is {shown(text)}", "write a number above 0, with a point and no unit")
    elif name == "users" and number != int(number):
        reader.fault(line, f"`{name}` is {shown(text)}", "write a whole number")
    return number


def as_csv(measurements: Sequence[Measurement]) -> str:
    """The text of a CSV file with these measurements."""
    percentiles = sorted({at for it in measurements for at in it.latencies})
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([*_REQUIRED, *(f"p{at:f}_ms" for at in percentiles), *_OPTIONAL])
    for measurement in measurements:
        latencies = (_plain(measurement.latencies.get(at)) for at in percentiles)
        rate, price = _plain(measurement.requests_per_minute), _plain(measurement.price_per_hour)
        users = "" if measurement.users is None else str(measurement.users)
        rows.writerow([measurement.configuration, measurement.instance_type, rate, *latencies, price, users])
    return file.getvalue()


def _plain(number: Decimal | None) -> str:
    return "" if number is None else f"{number:f}"


# ---------------------------------------------------------------- JSON


def _of_json(text: str, reader: _Reader) -> Iterator[Measurement]:
    try:
        data = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise reader.stop(f"the file is not JSON: {error}") from None
    for key, read in _JSON_FORMS.items():
        if isinstance(data, dict) and key in data:
            try:
                yield from read(data, reader)
            except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
                reader.fault(1, wrong_form(key, error), _FIXES.get(key, _WHOLE_ANSWER))
            return
    message = "this JSON does not come from a known load test"
    reader.fault(1, message, f"it must have one of the keys {listed(list(_JSON_FORMS))}")


def _of_recommender(job: Mapping[str, Any], _: _Reader) -> Iterator[Measurement]:
    """The result of SageMaker Inference Recommender. It measures P95, unless the job asks for P99.

    What it recommends without having measured it is skipped, and so is serverless inference.
    Where it recommends several instances, to get to the requests that end the job, rate and cost are those of
    all together, as in AWS's example of three ml.c5d.xlarge:
    https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-load-test.html#load-test-get-results
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_RecommendationMetrics.html
    """
    asked = (job.get("StoppingConditions") or {}).get("ModelLatencyThresholds") or [{}]
    percentile = _positive(str(asked[0].get("Percentile", "P95")).removeprefix("P"))
    for number, found in enumerate(job["InferenceRecommendations"], 1):
        metrics, endpoint = found.get("Metrics"), found["EndpointConfiguration"]
        if metrics is not None and endpoint.get("ServerlessConfig") is None:
            instances, cost = _count(endpoint.get("InitialInstanceCount") or 1), metrics.get("CostPerHour")
            yield Measurement(
                configuration=_named(found.get("ModelConfiguration") or {}) or f"recommendation-{number}",
                instance_type=str(endpoint["InstanceType"]),
                requests_per_minute=_positive(metrics["MaxInvocations"]) / instances,
                latencies={percentile: _positive(metrics["ModelLatency"])},
                price_per_hour=None if cost is None else _single(cost) / instances,
            )


def _named(model: Mapping[str, Any]) -> str:
    """What distinguishes the configurations of one job."""
    variables = model.get("EnvironmentParameters") or ()
    values = ", ".join(f"{it['Key']}={it['Value']}" for it in variables)
    return values or str(model.get("InferenceSpecificationName") or "")


def _of_recommendation_job(job: Mapping[str, Any], _: _Reader) -> Iterator[Measurement]:
    """The result of a recommendation job for a language model.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeAIRecommendationJob.html
    """
    for number, found in enumerate(job["Recommendations"], 1):
        deployed = found["DeploymentConfiguration"]
        measured = {
            (it["Metric"], it.get("Stat")): Decimal(it["Value"]) for it in found["ExpectedPerformance"]
        }
        instances = _count(deployed.get("InstanceCount") or 1)
        per_second = measured["RequestThroughput", "avg"] / instances
        users = measured.get(("ClientSideConcurrency", None))
        name = (found.get("ModelDetails") or {}).get("InferenceSpecificationName")
        yield Measurement(
            configuration=str(name or f"recommendation-{number}"),
            instance_type=str(deployed["InstanceType"]),
            requests_per_minute=_positive(per_second * 60),
            latencies={
                Decimal(str(stat).removeprefix("p")): _positive(value)
                for (metric, stat), value in measured.items()
                if metric == "RequestLatency" and re.fullmatch("p[0-9.]+", str(stat))
            },
            users=_of_one(users, instances),
        )


def _of_one(users: Any, instances: int) -> int | None:
    """The users of one instance, of those that shared several."""
    return None if users is None else math.ceil(_count(users) / instances)


def _of_aiperf(export: Mapping[str, Any], reader: _Reader) -> Iterator[Measurement]:
    """The summary of a run of AIPerf, which knows a URL, but not what is behind it."""
    if reader.instance_type is None:
        reader.fault(1, "AIPerf does not say which instance it measured", "add `--instance-type ml.…`")
        return
    users = export.get("input_config", {}).get("loadgen", {}).get("concurrency")
    yield Measurement(
        configuration=", ".join(export["input_config"]["endpoint"]["model_names"]),
        instance_type=reader.instance_type,
        requests_per_minute=_positive(export["request_throughput"]["avg"]) * 60 / reader.instances,
        latencies={
            Decimal(stat.removeprefix("p")): _positive(value)
            for stat, value in export["request_latency"].items()
            if re.fullmatch("p[0-9]+", stat)
        },
        users=_of_one(users, reader.instances),
    )


def _positive(value: Any) -> Decimal:
    # Of a list, `Decimal` would make a number, or complain in its own words.
    number = Decimal(value) if isinstance(value, str | int | Decimal) else Decimal("NaN")
    if not number.is_finite() or not _LEAST <= number <= _MOST:
        raise ValueError(f"{shown(str(value))} is not a usable number above 0")
    return number


def _count(value: Any) -> int:
    number = _positive(value)
    if number != number.to_integral_value():
        raise ValueError(f"{shown(str(value))} is not a whole number")
    return int(number)


def _single(value: Any) -> Decimal:
    """A number that the API has with 32 bits: 0.736 comes as 0.7360000014305115."""
    return _positive(f"{float(value):.7g}")


_WHOLE_ANSWER = "write the job's whole answer into the file, as the AWS CLI prints it"
_FIXES = {"request_throughput": "name the summary as AIPerf wrote it, at the end of a run that had answers"}
_JSON_FORMS: Mapping[str, Callable[[Mapping[str, Any], _Reader], Iterator[Measurement]]] = {
    "InferenceRecommendations": _of_recommender,
    "Recommendations": _of_recommendation_job,
    "request_throughput": _of_aiperf,
}

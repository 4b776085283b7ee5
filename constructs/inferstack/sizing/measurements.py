"""Measurements of configurations, read from the files that load tests leave behind.

| file | from |
|---|---|
| CSV | yourself, or `inferstack measure`: a line of names, then a line for each configuration |
| CSV with ``rps`` | AWS's benchmark suite for language models |
| CSV with ``transactions_per_minute`` | FMBench, AWS's benchmark of foundation models |
| JSON with ``InferenceRecommendations`` | ``DescribeInferenceRecommendationsJob`` |
| JSON with ``Recommendations`` | ``DescribeAIRecommendationJob`` |
| JSON with ``aiperf_version`` | AIPerf's ``profile_export_aiperf.json`` |
| JSON with ``output_throughput`` | what vLLM's ``bench serve`` saves, or SGLang's ``bench_serving`` |

:func:`measured_in` reads the same answers where they are at hand, and :func:`as_csv` makes a CSV file.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from inferstack.problems import SpecError
from inferstack.problems.file_codes import UNREADABLE_MEASUREMENTS
from inferstack.problems.words import did_you_mean, listed
from inferstack.sizing.data_files import DataFile, shown, wrong_form
from inferstack.sizing.measurement import MOST_FAILED, Measurement, too_many_failed
from inferstack.sizing.results import CLIENTS, KEYS, LEAST, MOST, ROW_ERRORS, NoRunError, Tested, measured_by
from inferstack.source.other_files import read_text

_WANTED = "a CSV or JSON file of measurements"


class _Reader(DataFile):
    code = UNREADABLE_MEASUREMENTS
    usual_fix = f"name {_WANTED}"
    fix_of_length = "leave a value empty, but keep its comma"

    tested: Tested = Tested()


def read_measurements(
    path: Path, *, instance_type: str | None = None, instances: int = 1
) -> list[Measurement]:
    """Reads a file of measurements.

    ``instance_type`` and the number of ``instances`` are those of the test, for files that name none: AIPerf
    knows only a URL.

    Raises:
        SpecError: with everything that is wrong with the file.
    """
    reader = _Reader(path.as_posix(), tested=Tested(instance_type, instances))
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
    reader = _Reader(source, tested=Tested(instance_type, instances))
    text = json.dumps(answer, default=str)
    measurements = list(_of_json(text, reader)) if answer.keys() & {*KEYS} else []
    if reader.problems:
        raise SpecError(reader.problems)
    return measurements


# ---------------------------------------------------------------- the columns of a CSV file

_REQUIRED = ("configuration", "instance_type", "requests_per_minute")
_OPTIONAL = ("price_per_hour", "users")
_COMPONENT = "component"
_TEXTS = ("configuration", "instance_type", _COMPONENT)
_TOKENS = "tokens_per_second"
COLUMNS = (*_REQUIRED, "p95_ms", *_OPTIONAL, "ttft_p95_ms", "itl_p95_ms", _TOKENS, _COMPONENT)
"""The columns of a CSV file; latencies may be at other percentiles, too, as in `p50_ms`."""
_HEADER = f"the columns are {listed(COLUMNS, last='and')}"

# https://github.com/aws-samples/sagemaker-genai-hosting-examples/tree/main/07-benchmark/sagemaker-inference-benchmark-suite
_SUITE = "rps"
# https://github.com/aws-samples/foundation-model-benchmarking-tool
_FMBENCH = "transactions_per_minute"
_ERRORS = "error_rate"
_TOGETHER = "instance_count"
_PER_SECOND = (_SUITE, "requests_per_second")
_OTHER_NAMES = {
    **dict.fromkeys(_PER_SECOND, "requests_per_minute"),
    _FMBENCH: "requests_per_minute",
    "concurrency": "users",
    "aggregate_output_tok_sec": _TOKENS,
}
_SUITES_CONFIGURATION = ("model", "optimization", "use_case", "experiment_name", "payload_file")
_FAILED, _SENT = "failed", "total_requests"
_FAILURES = re.compile("fail|error", re.IGNORECASE)
_SECONDS_A_MINUTE = 60
_MILLISECONDS_A_SECOND = 1000

# Of its exports for spreadsheets: of a run, of several with the same settings, and of a sweep.
_AIPERFS = {"Metric", "metric", "request_throughput_mean"}

_LATENCY = re.compile(r"(?:(latency|ttft|itl)_)?p([0-9]{1,2}(?:\.[0-9]+)?)(_ms)?")
_FAMILIES = {"": "latencies", "ttft_": "time_to_first_token", "itl_": "inter_token_latency"}
"""By the beginning of a column's name: the field that its percentiles are in."""


class _Latency(msgspec.Struct, frozen=True):
    """What a column of milliseconds says: a percentile of a field."""

    field: str
    percentile: Decimal


def _meaning(name: str, names: Sequence[str]) -> str | _Latency | None:
    """What a column means in a file with these ``names``; None if nobody needs it.

    A latency without a unit is in milliseconds where it is AWS's suite that wrote the file, and in seconds
    where FMBench did.
    """
    found = _LATENCY.fullmatch(name)
    if found is not None and (found[3] or (found[1] and {_SUITE, _FMBENCH} & {*names})):
        field = "latencies" if found[1] in (None, "latency") else _FAMILIES[f"{found[1]}_"]
        return _Latency(field, Decimal(found[2]))
    known = (*_REQUIRED, *_OPTIONAL, _TOKENS, _FAILED, _SENT, _COMPONENT, _TOGETHER)
    if name == _ERRORS and _FMBENCH in names:
        return name
    return _OTHER_NAMES.get(name, name if name in known else None)


def _of_csv(text: str, reader: _Reader) -> Iterator[Measurement]:
    lines = reader.lines_of_csv(text)
    _, names = next(lines)
    _check_names(names, reader)
    for line, cells in lines:
        if not reader.problems or reader.problems[0].line > 1:
            yield from _of_row(dict(zip(names, cells, strict=True)), line, reader)


def _check_names(names: list[str], reader: _Reader) -> None:
    if len(names) == 1 and names[0] not in COLUMNS:
        raise reader.stop(f"the first line is {shown(names[0])}, not the names of columns", _HEADER)
    if {*names} & _AIPERFS and not {*names} & {*_REQUIRED}:
        raise reader.stop("these columns of AIPerf's do not say what was measured", _SUMMARY)
    meanings = [_meaning(name, names) for name in names]
    if not {*_REQUIRED} & {*meanings}:
        raise reader.stop(f"columns are missing: {listed(_REQUIRED, last='and')}", _HEADER)
    # What is there already was not misspelt.
    lacking = [it for it in COLUMNS if it not in meanings]
    for name, meaning in zip(names, meanings, strict=True):
        if meaning is None and _LATENCY.fullmatch(name):
            fix = f"if it is in milliseconds, write `{name.removeprefix('latency_')}_ms`"
            reader.fault(1, f"the column `{name}` does not say its unit", fix)
        elif meaning is None and not {_SUITE, _FMBENCH} & {*names} and (meant := did_you_mean(name, lacking)):
            reader.fault(1, f"unknown column {shown(name)}", meant)
    is_named = {*names} & {*_SUITES_CONFIGURATION}
    missing = [it for it in _REQUIRED if it not in meanings and not (it == "configuration" and is_named)]
    if missing:
        are = "columns are" if len(missing) > 1 else "column is"
        reader.fault(1, f"{are} missing: {listed(missing, last='and')}", _HEADER)
    for meaning in dict.fromkeys(it for it in meanings if it is not None and meanings.count(it) > 1):
        same = [name for name, it in zip(names, meanings, strict=True) if it == meaning]
        twice = "occurs twice" if len({*same}) == 1 else f"means the same as `{same[-1]}`"
        reader.fault(1, f"the column `{same[0]}` {twice}", "keep one of them")


def _of_row(row: Mapping[str, str], line: int, reader: _Reader) -> Iterator[Measurement]:
    before = len(reader.problems)
    parts = ("configuration",) if "configuration" in row else _SUITES_CONFIGURATION
    configuration = ", ".join(row[part] for part in parts if row.get(part))
    for name, text in {**row, "configuration": configuration}.items():
        if name in _TEXTS and not text:
            reader.fault(line, f"`{name}` is empty", "write the name of what was measured")
    if row["instance_type"] and not row["instance_type"].startswith("ml."):
        fix = "write a SageMaker instance type, such as `ml.g5.xlarge`"
        reader.fault(line, f"`instance_type` is {shown(row['instance_type'])}", fix)
    numbers: dict[str | _Latency, Decimal] = {}
    for name, text in row.items():
        meaning = _meaning(name, [*row])
        is_wanted = text or meaning == "requests_per_minute"
        if meaning is not None and is_wanted and meaning not in _TEXTS:
            numbers[meaning] = _number(name, meaning, text, line, reader)
            if isinstance(meaning, _Latency) and _FMBENCH in row and not name.endswith("_ms"):
                numbers[meaning] *= _MILLISECONDS_A_SECOND
    if len(reader.problems) == before and numbers.get(_TOGETHER, 1) != 1:
        together = f"`{_TOGETHER}` is {row[_TOGETHER]}, so the rates are those of several instances together"
        reader.fault(line, together, f"write what one answered, and leave out `{_TOGETHER}`")
    if len(reader.problems) == before:
        users = numbers.get("users")
        per_minute = numbers["requests_per_minute"] * (
            _SECONDS_A_MINUTE if row.keys() & {*_PER_SECOND} else 1
        )
        yield Measurement(
            configuration=configuration,
            instance_type=row["instance_type"],
            requests_per_minute=per_minute,
            tokens_per_second=numbers.get(_TOKENS) or None,
            price_per_hour=numbers.get("price_per_hour"),
            users=None if users is None else int(users),
            ended_badly=tuple(_bad_ends(numbers)),
            doubts=tuple(_doubts(row, numbers)),
            component=row.get(_COMPONENT),
            leaves_instances_open=False,
            **{field: _of_field(field, numbers) for field in _FAMILIES.values()},
        )


def _bad_ends(numbers: Mapping[str | _Latency, Decimal]) -> Iterator[str]:
    if numbers.get(_TOKENS) == 0:
        yield "the answers had no tokens"
    if numbers.get(_ERRORS, 0) > MOST_FAILED:
        yield f"{numbers[_ERRORS]:.0%} of the requests failed"
    if {_FAILED, _SENT} <= numbers.keys():
        yield from too_many_failed(int(numbers[_FAILED]), int(numbers[_SENT]))


def _doubts(row: Mapping[str, str], numbers: Mapping[str | _Latency, Decimal]) -> Iterator[str]:
    for name, text in row.items():
        if _FAILURES.search(name) and text.strip("0.%") and _meaning(name, [*row]) is None:
            yield f"`{name}` is {shown(text)}, which is not read: `{_FAILED}` and `{_SENT}` count what failed"
    users, sent = numbers.get("users"), numbers.get(_SENT)
    if users is not None and sent is not None and sent < users:
        yield f"{users:f} users sent only {sent:f} requests, so many were never answered at once"


def _of_field(field: str, numbers: Mapping[str | _Latency, Decimal]) -> dict[Decimal, Decimal]:
    return {
        at.percentile: value
        for at, value in numbers.items()
        if isinstance(at, _Latency) and at.field == field
    }


def _number(name: str, meaning: str | _Latency, text: str, line: int, reader: _Reader) -> Decimal:
    unknown = Decimal("NaN")
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = unknown
    if not number.is_finite():
        # One that signals can be compared with nothing.
        number = unknown
    is_none = number == 0 and meaning in (_FAILED, _TOKENS, _ERRORS)
    if number == 0 and meaning == "requests_per_minute":
        fix = "leave out a run in which nothing was answered"
    elif not number.is_finite() or not (is_none or LEAST <= number <= MOST):
        fix = "write a number above 0, with a point and no unit"
    elif meaning in ("users", _FAILED, _SENT) and number != int(number):
        fix = "write a whole number"
    else:
        return number
    reader.fault(line, f"`{name}` is {shown(text)}", fix)
    return unknown


def as_csv(measurements: Sequence[Measurement]) -> str:
    """The text of a CSV file with these measurements, without runs that ended badly."""
    sound = [it for it in measurements if not it.ended_badly]
    at = [
        (begin, field, percentile)
        for begin, field in _FAMILIES.items()
        for percentile in sorted({it for one in sound for it in getattr(one, field)})
    ]
    last = (*((_TOKENS,) if any(it.tokens_per_second for it in sound) else ()), *_OPTIONAL)
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([*_REQUIRED, *(f"{begin}p{percentile:f}_ms" for begin, _, percentile in at), *last])
    for it in sound:
        latencies = (getattr(it, field).get(percentile) for _, field, percentile in at)
        numbers = map(_plain, (it.requests_per_minute, *latencies, *(getattr(it, name) for name in last)))
        rows.writerow([it.configuration, it.instance_type, *numbers])
    return file.getvalue()


def _plain(number: Decimal | int | None) -> str:
    return "" if number is None else f"{number:f}" if isinstance(number, Decimal) else str(number)


# ---------------------------------------------------------------- JSON

_WHOLE_ANSWER = "write the job's whole answer into the file, as the AWS CLI prints it"
_AS_CSV = "write what another load test measured into a CSV file"
_SUMMARY = "name `profile_export_aiperf.json` of each run"


def _of_json(text: str, reader: _Reader) -> Iterator[Measurement]:
    try:
        data = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise reader.stop(f"the file is not JSON: {error}") from None
    key = next((it for it in KEYS if isinstance(data, dict) and it in data), None)
    about = data.get("metadata") if isinstance(data, dict) else None
    if isinstance(about, dict) and "aggregation_type" in about:
        reader.fault(1, "this JSON sums up several runs of AIPerf", _SUMMARY)
    elif key is None:
        message, fix = (
            "this JSON does not come from a known load test",
            f"it must have one of the keys {listed(KEYS)}",
        )
        reader.fault(1, message, f"{fix}; {_AS_CSV}")
    elif key in CLIENTS and reader.tested.instance_type is None:
        reader.fault(
            1, f"{CLIENTS[key]} does not say which instance it measured", "add `--instance-type ml.…`"
        )
    else:
        try:
            yield from measured_by(key, data, reader.tested)
        except NoRunError as error:
            reader.fault(1, *error.args)
        except ROW_ERRORS as error:
            summary = f"name the summary as {CLIENTS.get(key)} wrote it, or {_AS_CSV}"
            reader.fault(1, wrong_form(key, error), summary if key in CLIENTS else _WHOLE_ANSWER)

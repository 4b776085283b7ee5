"""What a fleet that runs shows of an instance, out of CloudWatch's answers."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from inferstack.endpoint.cost import NO_PRICES
from inferstack.facts.publications import of_variant
from inferstack.problems import SpecError
from inferstack.sizing.observed import observed, query, read_recorded, recorded_in
from inferstack.sizing.sizes import Demand, PercentileLimit, sizes

START = datetime(2026, 11, 23, tzinfo=UTC)
LIMIT = PercentileLimit(Decimal(95), Decimal(500))
NAMES = (
    *("Invocations Sum", "InvocationsPerInstance Sum", "Invocation4XXErrors Sum", "Invocation5XXErrors Sum"),
    *("ModelLatency p95", "OverheadLatency p95", "GPUUtilization Average", "CPUUtilization Average"),
)


class Minute(NamedTuple):
    requests: float
    milliseconds: float | None = 100
    instances: int = 1
    wrong: int = 0
    failed: int = 0


def answer(*minutes, period=60, **more):
    """CloudWatch's answer about some minutes, the newest first; None is one without any data."""
    columns = {name: ([], []) for name in NAMES}
    for at, it in reversed([*enumerate(minutes)]):
        if it is None:
            continue
        late = None if it.milliseconds is None else it.milliseconds * 1000 - 4000
        values = (it.requests, it.requests / it.instances, it.wrong, it.failed, late, late and 4000, 40, 100)
        for name, value in zip(NAMES, values, strict=True):
            if value is not None:
                columns[name][0].append((START + at * timedelta(seconds=period)).isoformat())
                columns[name][1].append(value)
    results = [
        {"Id": f"m{at}", "Label": f"{name}, {period} s", "Timestamps": times, "Values": values}
        for at, (name, (times, values)) in enumerate(columns.items())
    ]
    return {"MetricDataResults": results, **more}


def seen(*minutes, limit=LIMIT, since=None, period=60):
    recorded = recorded_in(json.dumps(answer(*minutes, period=period)), "answer.json")
    return observed(recorded, "bert AllTraffic", "ml.g4dn.xlarge", limit, since)


NEVER_LOADED = "no busier minute came: it may do more, and fewer instances may do"
ENOUGH = [Minute(it) for it in (390, 392, 394, 396, 400)]
SLOW = [Minute(it, 700) for it in (600, 610, 620)]
CASES = {
    # Minutes; the rate, the latency, the doubts, and what else is said.
    "never loaded": (ENOUGH, 400, 100, [NEVER_LOADED], "used meanwhile, on average: GPU 40 %, CPU 25 %"),
    "a limit": (
        [*ENOUGH, *SLOW],
        400,
        100,
        [],
        "3 busier periods, with up to 620, were too slow or failed, up",
    ),
    "busier, but lucky": ([*ENOUGH, *SLOW, Minute(615, 90)], 400, 100, [], "4 busier periods"),
    "a slow start at night": ([Minute(10, 9000), *ENOUGH], 400, 100, [NEVER_LOADED], "5 of 6 periods"),
    "two instances": ([Minute(800, instances=2)] * 5, 400, 100, [NEVER_LOADED], "; instances: 2"),
    "scaled": ([Minute(400), *[Minute(800, instances=2)] * 5], 400, 100, [NEVER_LOADED], "1 to 2 instances"),
    "failing when busier": (
        [*ENOUGH, *[Minute(500, failed=50)] * 3],
        400,
        100,
        [],
        "of 3,472 requests, 150 failed (5xx), and 0 were wrong (4xx)",
    ),
    # A caller's mistake costs nothing, and is no failure of the endpoint.
    "wrong requests": ([Minute(400, wrong=100)] * 5, 300, 100, [NEVER_LOADED], "and 500 were wrong (4xx)"),
    "hours": (
        [Minute(60 * 400)] * 5,
        400,
        100,
        [NEVER_LOADED],
        "300 minutes from 2026-11-23 00:00, in periods",
    ),
    "one minute": (
        [Minute(400)],
        400,
        100,
        [NEVER_LOADED, "it rests on 1 of 1 periods: put it under load to be sure"],
        "",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_busiest_minutes_that_were_fast_enough_count(name):
    minutes, rate, latency, doubts, said = CASES[name]
    found = seen(*minutes, period=3600 if name == "hours" else 60)
    measured = found.measurement
    assert (measured.requests_per_minute, measured.latencies) == (rate, {95: latency})
    assert [*measured.doubts] == doubts
    assert said in "\n".join(found.basis)


def test_what_was_never_fast_enough_or_always_failed_does_not_count():
    demand = Demand(peak=Decimal(100), limits={"latency": LIMIT})
    [slow] = sizes([seen(*SLOW).measurement], demand, NO_PRICES)
    assert slow.objections == ("700 ms is over the limit of 500 ms at P95",)
    [failing] = sizes([seen(Minute(400, failed=100)).measurement], demand, NO_PRICES)
    assert failing.objections[0] == "more than 5% of the requests failed whenever there were any"
    # Latencies of other minutes say nothing about one without.
    assert seen(*ENOUGH, Minute(900, None)).measurement.requests_per_minute == 400


def test_without_a_limit_nothing_is_too_slow():
    found = seen(*ENOUGH, *SLOW, limit=None).measurement
    assert (found.requests_per_minute, found.latencies) == (620, {})
    assert (
        "the objective has no `latency`, so it does not matter how slow the busiest minute was"
        in found.doubts
    )


def test_what_came_is_the_traffic_and_an_objective_may_ask_for_more():
    found = seen(Minute(800, instances=2), None, Minute(200))
    assert found.traffic.totals == (800, 0, 200)
    assert (found.traffic.is_dated, found.traffic.hidden) == (True, None)
    for asked, most in ((10, 800), (3000, 3000)):
        demand = found.over(Demand(peak=Decimal(asked), lowest=Decimal(5)))
        assert (demand.peak, demand.lowest, demand.traffic) == (most, 0, (800, 0, 200))
    hourly = seen(Minute(60 * 400), period=3600).traffic
    assert (hourly.totals, hourly.hidden is None) == ((400,) * 60, False)


def test_what_ran_before_the_configuration_is_only_traffic():
    found = seen(Minute(900), Minute(400), since=START + timedelta(minutes=1))
    assert (found.measurement.requests_per_minute, found.traffic.peak) == (400, 900)
    with pytest.raises(
        SpecError, match="answered no requests since 2026-11-23 00:05, when its configuration"
    ):
        seen(Minute(900), since=START + timedelta(minutes=5))


WRONG = {
    "{": "the file is not JSON",
    "[]": "this JSON is not an export from CloudWatch; it must have one of the keys",
    json.dumps(answer()): "the export has no data; ask for a day or a week in which there were requests",
    json.dumps(answer(Minute(0))): "bert AllTraffic answered no requests",
    json.dumps(answer(Minute(400, failed=400))): "bert AllTraffic answered no requests",
    json.dumps(answer(Minute(400, None))): "there are no data of ModelLatency and OverheadLatency p95; ask with",
    json.dumps(answer(Minute(400, instances=0.5))): "`InvocationsPerInstance` is above `Invocations` at 2026-11-23",
    json.dumps(answer(Minute(4), NextToken="x")): "the export is only the first page",
    json.dumps(answer(Minute(4))).replace(", 60 s", ""): "the export does not say its period; write the `Period`",
    json.dumps({"MetricDataResults": [{"Id": "m0", "Label": "Invocations", "Timestamps": ["2026-11-23T00:00Z"],
                "Values": [5]}], "Period": 60}): "there are no data of `Invocations Sum` and `InvocationsPerInst",
    json.dumps(answer(Minute(4))).replace('"Values": [4]', '"Values": [4], "StatusCode": "Forbidden"'):
        "`Invocations Sum, 60 s` may not be read; ask with credentials that have the right cloudwatch:GetMetricData",
    json.dumps(answer(Minute(4))).replace('"Values": [4]', '"Values": [4], "StatusCode": "PartialData"'):
        "`Invocations Sum, 60 s` is only a part of its data",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_an_answer_lacks_is_said(text):
    with pytest.raises(SpecError) as caught:
        observed(recorded_in(text, "answer.json"), "bert AllTraffic", "ml.g4dn.xlarge", LIMIT)
    assert WRONG[text] in str(caught.value)


def test_pages_that_the_aws_cli_has_put_together_are_whole():
    first, second = answer(Minute(400)), answer(None, Minute(500))
    for page, status in ((first, "PartialData"), (second, "Complete")):
        for it in page["MetricDataResults"]:
            it["StatusCode"] = status
    whole = {"MetricDataResults": first["MetricDataResults"] + second["MetricDataResults"]}
    assert recorded_in(json.dumps(whole), "answer.json").traffic.totals == (400, 500)


def statistics(metric, *values, extended=False):
    """What `aws cloudwatch get-metric-statistics` prints of a metric."""
    points = []
    for at, value in enumerate(values):
        statistic = {"ExtendedStatistics": {"p95": value}} if extended else {"Sum": value}
        points.append({"Timestamp": (START + at * timedelta(minutes=1)).isoformat(), **statistic})
    return {"Label": metric, "Datapoints": points}


def test_a_file_for_each_metric_is_read_too(tmp_path):
    late = {f"{name}Latency": (90_000, 90_000) for name in ("Model", "Overhead")}
    files = []
    for metric, values in {"Invocations": (400, 800), "InvocationsPerInstance": (400, 400), **late}.items():
        files.append(tmp_path / f"{metric}.json")
        files[-1].write_text(json.dumps(statistics(metric, *values, extended=metric in late)))
    found = observed(read_recorded(files, None), "bert", "ml.g4dn.xlarge", LIMIT)
    assert (found.measurement.requests_per_minute, found.measurement.latencies) == (400, {95: 180})
    files[-1].write_text(json.dumps({**statistics("OverheadLatency", 1, extended=True), "Period": 300}))
    with pytest.raises(SpecError, match="its period is 300 seconds, but that of the first file 60"):
        read_recorded(files, None)
    with pytest.raises(SpecError, match="`Invocations Sum` has 2026-11-23 00:00 twice"):
        read_recorded([files[0], *files[:-1]], None)


@pytest.mark.parametrize(("days", "period"), [(14, 60), (15, 300), (31, 300)])
def test_the_request_is_one_of_cloudwatch_and_its_answer_says_what_it_is(days, period):
    now = datetime(2026, 11, 27, 10, 42, tzinfo=UTC)
    asked = query(of_variant("bert", "AllTraffic"), Decimal("99.9"), now, days)
    model = get_session().get_service_model("cloudwatch").operation_model("GetMetricData")
    assert not ParamValidator().validate(asked, model.input_shape).has_errors()
    assert (asked["StartTime"], asked["EndTime"]) == (
        (datetime(2026, 11, 27, 10, tzinfo=UTC) - timedelta(days=days)).isoformat(),
        "2026-11-27T10:00:00+00:00",
    )
    labels = [it["Label"] for it in asked["MetricDataQueries"]]
    assert labels == [f"{it.replace('p95', 'p99.9')}, {period} s" for it in NAMES]
    spaces = {it["MetricStat"]["Metric"]["Namespace"] for it in asked["MetricDataQueries"][6:]}
    assert spaces == {"/aws/sagemaker/Endpoints"}

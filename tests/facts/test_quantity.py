"""Thresholds as the numbers that CloudWatch counts, and how those that do not fit are refused."""

from fractions import Fraction

import pytest

from inferstack.catalog import metrics
from inferstack.catalog.metrics import Metric
from inferstack.facts.quantity import (
    UnfitQuantity,
    absolute_threshold,
    is_time,
    is_utilization,
    parse_threshold,
)

LATENCY, GPUS, REQUESTS = (
    metrics.find(name)[0] for name in ("ModelLatency", "GPUUtilization", "Invocations")
)
SHARE = metrics.find("ServerlessProvisionedConcurrencyUtilization")[0]
LONG = 200_000


@pytest.mark.parametrize(
    ("text", "metric", "devices", "expected"),
    [
        ("500 ms", LATENCY, 1, 500_000),
        ("500ms", LATENCY, 1, 500_000),
        ("2 s", LATENCY, 1, 2_000_000),
        ("1.5 min", LATENCY, 1, 90_000_000),
        ("0.5 us", LATENCY, 1, 0.5),
        ("0 ms", LATENCY, 1, 0),
        ("90 %", GPUS, 4, 360),
        ("92.5%", GPUS, 4, 370),
        ("0 %", GPUS, 8, 0),
        ("100 %", GPUS, 8, 800),
        (360, GPUS, 4, 360),
        ("70 %", SHARE, 1, 0.7),
        (0.7, SHARE, 1, 0.7),
        (0, REQUESTS, 1, 0),
        (2.5, REQUESTS, 1, 2.5),
    ],
)
def test_a_threshold_becomes_the_number_that_cloudwatch_counts(
    text: str | float, metric: Metric, devices: int, expected: float
) -> None:
    found = absolute_threshold(text, metric, devices)
    assert found == expected
    assert isinstance(found, type(expected))


@pytest.mark.parametrize("name", ["TotalProcessingTime", "ApproximateAgeOfOldestRequest", "ModelLatency"])
def test_a_time_becomes_the_unit_that_its_metric_has(name: str) -> None:
    metric = metrics.find(name)[0]
    seconds = {"Microseconds": 1_000_000, "Milliseconds": 1_000, "Seconds": 1}[metric.unit]
    assert absolute_threshold("2 s", metric) == 2 * seconds


@pytest.mark.parametrize(
    ("text", "metric", "says"),
    [
        (500, LATENCY, 'write a unit: "500 ms"'),
        (500, LATENCY, '500 ms"; allowed: us, ms, s, min; in CloudWatch the number is microseconds'),
        (5_000, LATENCY, 'write a unit: "5000 ms"; or "5 ms" if the number comes from CloudWatch'),
        (
            500_000,
            LATENCY,
            'write a unit: "500 ms" if the number comes from CloudWatch, which counts in microseconds',
        ),
        (500, metrics.find("ApproximateAgeOfOldestRequest")[0], 'write a unit: "500 s"; allowed'),
        ("500", LATENCY, "500 ms"),
        ("50 %", LATENCY, "us, ms, s, min"),
        ("5 ms", REQUESTS, "or unit"),
        ("5", REQUESTS, "without quotes"),
        ("101 %", GPUS, "0 % to 100 %"),
        ("5 ms", GPUS, "90 %"),
        ("-5 %", GPUS, "90 %"),
        ("", GPUS, "90 %"),
        ("1e3 ms", LATENCY, "500 ms"),
        ("2 seconds", LATENCY, 'write "2 s"'),
        ("0.5 Min", LATENCY, 'write "0.5 min"'),
        ("1.5 m", LATENCY, 'write "1.5 min"'),
        ("90 percent", GPUS, 'write "90 %"'),
        ("90 percent", LATENCY, "500 ms"),
        ("\u0665 ms", LATENCY, "500 ms"),
        (float("inf"), GPUS, "finite"),
        (float("nan"), REQUESTS, "finite"),
    ],
)
def test_a_threshold_that_does_not_fit_its_metric_is_refused(
    text: str | float, metric: Metric, says: str
) -> None:
    with pytest.raises(UnfitQuantity) as caught:
        parse_threshold(text, metric)
    assert says in caught.value.fix


def test_a_threshold_that_only_the_deployment_knows_stays_as_it_is() -> None:
    token = "${Token[TOKEN.17]}"
    assert absolute_threshold(token, LATENCY) == token


def test_a_metric_is_a_time_or_a_share_but_never_both() -> None:
    table = [metric for name in metrics.names() for metric in metrics.find(name)]
    assert [metric.name for metric in table if is_time(metric) and is_utilization(metric)] == []
    assert {metric.unit for metric in table if is_utilization(metric)} == {"Percent", "None"}


def test_a_share_is_exact() -> None:
    assert absolute_threshold("0.1 %", GPUS, 3) == float(Fraction(3, 10))


@pytest.mark.parametrize(
    ("threshold", "metric"),
    [
        ("x" * LONG, "ModelLatency"),
        ("1 " + "x" * LONG, "ModelLatency"),
        (" " * LONG + "1 x", "ModelLatency"),
        ("101" + " " * LONG + "%", "CPUUtilization"),
    ],
)
def test_a_long_threshold_is_cut_in_its_message(threshold: str, metric: str) -> None:
    found = metrics.find(metric)[0]
    with pytest.raises(UnfitQuantity) as caught:
        parse_threshold(threshold, found)
    assert len(caught.value.message) < 200

"""Measurements in the answers of SageMaker's jobs and in AIPerf's summaries.

Whatever was not measured is left out of them, and :func:`lacking` says what that is.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from inferstack.sizing.data_files import shown, wrong_form
from inferstack.sizing.measurement import Measurement, Percentiles, too_many_failed

# Beyond these, a number is a mistake, and no result could be shown.
LEAST, MOST = Decimal("1e-9"), Decimal("1e12")
Answer = Mapping[str, Any]
ROW_ERRORS = (AttributeError, KeyError, TypeError, ValueError, ArithmeticError)
"""What reading an answer ends in that does not have its form."""


class Tested(msgspec.Struct, frozen=True):
    """What a test ran on, for files that do not say it: AIPerf knows only a URL."""

    instance_type: str | None = None
    instances: int = 1


class NoRunError(ValueError):
    """Says why a file that is what it claims to be holds no run that could be used, and the fix."""


# ---------------------------------------------------------------- numbers and their units

_MILLISECONDS = {
    **dict.fromkeys(("ms", "milliseconds"), Decimal(1)),
    **dict.fromkeys(("ns", "nanoseconds"), Decimal("1e-6")),
    **dict.fromkeys(("us", "µs", "microseconds"), Decimal("1e-3")),
    **dict.fromkeys(("sec", "s", "seconds"), Decimal(1000)),
}
_REQUESTS_PER_MINUTE = {
    **dict.fromkeys(("requests/sec", "requests/second"), Decimal(60)),
    **dict.fromkeys(("requests/min", "requests/minute"), Decimal(1)),
}
_TOKENS_PER_SECOND = dict.fromkeys(("tokens/sec", "tokens/second"), Decimal(1))
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)")


def _in(units: Mapping[str, Decimal], unit: object, of: str) -> Decimal:
    """What a number of a unit is multiplied by."""
    factor = units.get(str(unit).lower())
    if factor is None:
        raise ValueError(f"`{of}` is in {shown(str(unit))}, not in `{next(iter(units))}` or the like")
    return factor


def positive(value: Any) -> Decimal:
    """A number of an answer.

    Raises:
        ValueError: when it is none, or not a usable one.
    """
    # Of a list, `Decimal` would make a number, or complain in its own words.
    number = Decimal(value) if isinstance(value, str | int | Decimal) else Decimal("NaN")
    if not number.is_finite() or not LEAST <= number <= MOST:
        raise ValueError(f"{shown(str(value))} is not a usable number above 0")
    return number


def _count(value: Any) -> int:
    number = positive(value)
    if number != number.to_integral_value():
        raise ValueError(f"{shown(str(value))} is not a whole number")
    return int(number)


def _of_one(users: Any, instances: int) -> int | None:
    """The users of one instance, of those that shared several."""
    return None if users is None else math.ceil(_count(users) / instances)


# ---------------------------------------------------------------- SageMaker Inference Recommender

# AWS's page shows answers of 2021, in which the rate had another name, and the latency was in microseconds:
# 100,000 where the job stops at 100 milliseconds. The API has `MaxInvocations` and milliseconds.
# https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-load-test.html#load-test-get-results
_RATES = {"MaxInvocations": "milliseconds", "MaximumInvocations": "microseconds"}


def _recommender(job: Answer, found: Answer, number: int) -> Iterator[Measurement]:
    """One measurement of Inference Recommender, at P95 unless the job asks for P99; none if it was not
    measured, or not on instances.

    Where it recommends several instances, to get to the requests that end the job, rate and cost are those of
    all together, as in AWS's example of three ml.c5d.xlarge:
    https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-load-test.html#load-test-get-results
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_RecommendationMetrics.html
    """
    asked = (job.get("StoppingConditions") or {}).get("ModelLatencyThresholds") or [{}]
    percentile = positive(str(asked[0].get("Percentile", "P95")).removeprefix("P"))
    metrics, endpoint = found.get("Metrics") or {}, found["EndpointConfiguration"]
    named = next((name for name in _RATES if metrics.get(name) is not None), None)
    if named is None or endpoint.get("ServerlessConfig") is not None:
        return
    instances, cost = _count(endpoint.get("InitialInstanceCount") or 1), metrics.get("CostPerHour")
    latency = metrics.get("ModelLatency")
    factor = _MILLISECONDS[_RATES[named]]
    yield Measurement(
        configuration=_named(found.get("ModelConfiguration") or {}) or f"recommendation-{number}",
        instance_type=str(endpoint["InstanceType"]),
        requests_per_minute=positive(metrics[named]) / instances,
        latencies={} if latency is None else {percentile: positive(latency) * factor},
        price_per_hour=None if cost is None else _single(cost) / instances,
    )


def _named(model: Answer) -> str:
    """What distinguishes the configurations of one job."""
    variables = model.get("EnvironmentParameters") or ()
    values = ", ".join(f"{it['Key']}={it['Value']}" for it in variables)
    return values or str(model.get("InferenceSpecificationName") or "")


def _single(value: Any) -> Decimal:
    """A number that the API has with 32 bits: 0.736 comes as 0.7360000014305115."""
    return positive(f"{float(value):.7g}")


# ---------------------------------------------------------------- recommendation jobs for language models


def _recommendation_job(_: Answer, found: Answer, number: int) -> Iterator[Measurement]:
    """One measurement of a recommendation job for a language model; none if nothing is expected of it.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeAIRecommendationJob.html
    """
    deployed, metrics = found["DeploymentConfiguration"], found.get("ExpectedPerformance") or ()
    measured = {(it["Metric"], it.get("Stat")): it for it in metrics}
    rate = measured.get(("RequestThroughput", "avg"))
    if rate is None:
        return
    instances = _count(deployed.get("InstanceCount") or 1)
    tokens = measured.get(("OutputTokenThroughput", "avg"))
    users = measured.get(("ClientSideConcurrency", None), {}).get("Value")
    yield Measurement(
        configuration=_recommended(found, number),
        instance_type=str(deployed["InstanceType"]),
        requests_per_minute=_value(rate, _REQUESTS_PER_MINUTE) / instances,
        latencies=_expected(metrics, "RequestLatency"),
        time_to_first_token=_expected(metrics, "TimeToFirstToken"),
        inter_token_latency=_expected(metrics, "InterTokenLatency"),
        tokens_per_second=None if tokens is None else _value(tokens, _TOKENS_PER_SECOND) / instances,
        users=_of_one(users, instances),
    )


def _recommended(found: Answer, number: int) -> str:
    name = (found.get("ModelDetails") or {}).get("InferenceSpecificationName")
    return str(name or f"recommendation-{number}")


def _value(metric: Answer, units: Mapping[str, Decimal]) -> Decimal:
    """A number of an expected performance, in the unit that the table counts in."""
    return positive(metric["Value"]) * _in(units, metric.get("Unit") or next(iter(units)), metric["Metric"])


def _expected(metrics: Iterable[Answer], name: str) -> Percentiles:
    at = ((_PERCENTILE.fullmatch(str(it.get("Stat"))), it) for it in metrics if it["Metric"] == name)
    return {
        Decimal(stat[1]): _value({"Unit": "ms", **it}, _MILLISECONDS) for stat, it in at if stat is not None
    }


# ---------------------------------------------------------------- AIPerf

_SECONDS_A_MINUTE = 60
_SCHEMA = re.compile(r"1\.[0-9]+")


def _aiperf(export: Answer, tested: Tested) -> Iterator[Measurement]:
    """The summary of a run of AIPerf.

    Its schema 1.1 came with 0.8, 1.3 with 0.9, and 1.4, which says whether the run is complete, with 0.12. A
    metric that no request had is left out.
    https://github.com/ai-dynamo/aiperf/blob/main/src/aiperf/common/models/export_models.py
    """
    version = str(export.get("schema_version", "1.0"))
    if _SCHEMA.fullmatch(version) is None:
        wrong = f"its `schema_version` is {shown(version)}, and only 1.0 to 1.x are known"
        raise NoRunError(wrong, "write its numbers into a CSV file")
    assert tested.instance_type is not None
    failed, answered = (_requests(export, it) for it in ("error_request_count", "request_count"))
    if "request_throughput" not in export:
        raise NoRunError(f"no request was answered, and {failed} failed", "repeat the run")
    config = export["input_config"]
    rate, tokens = export["request_throughput"], export.get("output_token_throughput")
    yield Measurement(
        configuration=", ".join(_models(config)),
        instance_type=tested.instance_type,
        requests_per_minute=positive(rate["avg"])
        * _in(_REQUESTS_PER_MINUTE, rate["unit"], "request_throughput")
        / tested.instances,
        latencies=_at_percentiles(export, "request_latency"),
        time_to_first_token=_at_percentiles(export, "time_to_first_token"),
        inter_token_latency=_at_percentiles(export, "inter_token_latency", pieces=True),
        tokens_per_second=None
        if tokens is None
        else positive(tokens["avg"])
        * _in(_TOKENS_PER_SECOND, tokens["unit"], "output_token_throughput")
        / tested.instances,
        users=_of_one(_concurrency(config), tested.instances),
        leaves_instances_open=True,
        ended_badly=(*_cut_short(export), *too_many_failed(failed, answered + failed)),
    )


def _requests(export: Answer, name: str) -> int:
    """A number of requests, which is left out where it is 0."""
    counted = (export.get(name) or {}).get("avg") or 0
    return _count(counted) if counted else 0


def _cut_short(export: Answer) -> Iterator[str]:
    if export.get("was_cancelled"):
        yield "the run was cancelled"
    if export.get("is_complete") is False:
        yield f"the run is incomplete: {export.get('incomplete_reason', 'AIPerf does not say why')}"


def _models(config: Answer) -> Iterator[str]:
    """The names of the models: since 0.9, the configuration of a run has another form."""
    if "models" in config:
        yield from (it["name"] for it in config["models"]["items"])
    else:
        yield from config["endpoint"]["model_names"]


def _concurrency(config: Answer) -> int | None:
    """The users who wait for each answer; None where requests are sent at a rate of their own."""
    if "phases" not in config:
        load = config.get("loadgen") or {}
        at_a_rate = load.get("request_rate") is not None or load.get("user_centric_rate") is not None
        return None if at_a_rate else load.get("concurrency")
    phases = [it for it in config["phases"] if it.get("kind", it.get("name")) != "warmup"]
    [measured] = phases if len(phases) == 1 else [{}]
    # AIPerf leaves out what nobody set.
    return measured.get("concurrency", 1) if measured.get("type") == "concurrency" else None


def _at_percentiles(export: Answer, name: str, *, pieces: bool = False) -> Percentiles:
    """Reads a metric in milliseconds. Of the time between ``pieces`` of answers, it leaves out the zeros that
    AIPerf has for answers in one piece.
    """
    metric = export.get(name, {})
    factor = _in(_MILLISECONDS, metric["unit"], name) if metric else Decimal(1)
    at = ((_PERCENTILE.fullmatch(stat), value) for stat, value in metric.items())
    return {
        Decimal(stat[1]): positive(value) * factor
        for stat, value in at
        if stat is not None and not (pieces and value == 0)
    }


# ---------------------------------------------------------------- vLLM and SGLang

_OF_VLLM = {
    "ttft": "time_to_first_token",
    "itl": "inter_token_latency",
    "e2el": "latencies",
    "e2e_latency": "latencies",
}
_STATISTIC = re.compile(rf"(?:p([0-9]{{1,2}}(?:\.[0-9]+)?)|median)_({'|'.join(_OF_VLLM)})_ms")


def _vllm(result: Answer, tested: Tested) -> Iterator[Measurement]:
    """What vLLM's `bench serve --save-result` has counted, and SGLang's `bench_serving` in the same words.

    https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py
    https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py
    """
    assert tested.instance_type is not None
    if not result["completed"]:
        raise NoRunError("no request was answered", "repeat the run")
    answered = _count(result["completed"])
    sent = _count(result.get("num_prompts") or answered)
    at_a_rate = str(result.get("request_rate", "inf")).lower() not in ("inf", "infinity")
    found: dict[str, dict[Decimal, Decimal]] = {field: {} for field in _OF_VLLM.values()}
    for name, value in result.items():
        statistic = _STATISTIC.fullmatch(name)
        # A metric that nothing was counted of is 0.
        if statistic is not None and value:
            found[_OF_VLLM[statistic[2]]][Decimal(statistic[1] or 50)] = positive(value)
    yield Measurement(
        configuration=str(result.get("model_id") or result.get("backend") or "benchmark"),
        instance_type=tested.instance_type,
        requests_per_minute=positive(result["request_throughput"]) * _SECONDS_A_MINUTE / tested.instances,
        tokens_per_second=positive(result["output_throughput"]) / tested.instances,
        users=None if at_a_rate else _of_one(result.get("max_concurrency"), tested.instances),
        leaves_instances_open=True,
        ended_badly=tuple(too_many_failed(sent - answered, sent)),
        latencies=found["latencies"],
        time_to_first_token=found["time_to_first_token"],
        inter_token_latency=found["inter_token_latency"],
    )


# ---------------------------------------------------------------- any of them

_JOBS: Mapping[str, Callable[[Answer, Answer, int], Iterator[Measurement]]] = {
    "InferenceRecommendations": _recommender,
    "Recommendations": _recommendation_job,
}
"""How a recommendation of a job is read, by the key that all of them are in."""
CLIENTS = {"output_throughput": "vLLM", "request_throughput": "AIPerf", "aiperf_version": "AIPerf"}
"""What sends requests to a URL and knows nothing else, by a key of what it writes."""
KEYS = (*_JOBS, *CLIENTS)
"""The keys of which an answer that can be read has one."""
_NOTHING: Answer = {"EndpointConfiguration": {}, "DeploymentConfiguration": {}}
"""A recommendation of which nothing is known."""


def measured_by(key: str, answer: Answer, tested: Tested) -> Iterator[Measurement]:
    """The measurements in an answer that has one of :data:`KEYS`."""
    if key in CLIENTS:
        yield from (_vllm if CLIENTS[key] == "vLLM" else _aiperf)(answer, tested)
    else:
        for number, found in enumerate(answer[key], 1):
            yield from _JOBS[key](answer, found, number)


def usable_part(answer: Answer) -> tuple[Answer, tuple[str, ...]]:
    """The answer without rows that cannot be used, and what is wrong with these: the others are paid for."""
    usable, wrong = dict(answer), list[str]()
    for key, read in _JOBS.items():
        for number, found in enumerate(answer.get(key) or (), 1):
            try:
                plain = json.loads(json.dumps(found, default=str), parse_float=Decimal)
                list(read(answer, plain, number))
            except ROW_ERRORS as error:
                on = found.get("EndpointConfiguration") or found.get("DeploymentConfiguration") or {}
                why = str(error) if isinstance(error, ValueError) else wrong_form(key, error)
                name = f"{on.get('InstanceType', 'serverless')}, recommendation-{number}"
                wrong.append(f"{name} cannot be used: {why}")
                usable[key] = [_NOTHING if it is found else it for it in usable[key]]
    return usable, tuple(wrong)


def lacking(answer: Answer) -> Iterator[str]:
    """What the recommendations of a job lack, so that `size` has none or only a part of them."""
    for number, found in enumerate(answer.get("InferenceRecommendations") or (), 1):
        metrics, endpoint = found.get("Metrics") or {}, found.get("EndpointConfiguration") or {}
        name = f"{endpoint.get('InstanceType', 'serverless')}, recommendation-{number}"
        if not metrics:
            yield f"{name}: it was not measured"
        elif not metrics.keys() & _RATES.keys():
            yield f"{name}: it has no `MaxInvocations`, so instances cannot be counted"
        elif "ModelLatency" not in metrics:
            yield f"{name}: it has no `ModelLatency`, so it meets no latency limit"
    for number, found in enumerate(answer.get("Recommendations") or (), 1):
        name = _recommended(found, number)
        measured = {(it["Metric"], it.get("Stat")) for it in found.get("ExpectedPerformance") or ()}
        if ("RequestThroughput", "avg") not in measured:
            yield f"{name}: it has no `RequestThroughput`, so instances cannot be counted"
        elif not any(metric == "RequestLatency" for metric, _ in measured):
            yield f"{name}: it has no `RequestLatency`, so it meets no latency limit"

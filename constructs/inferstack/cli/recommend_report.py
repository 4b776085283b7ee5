"""What ``inferstack recommend`` prints: what a job will do, how far it is, what it found, and scaling."""

import itertools
import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from inferstack.account.recommender import Progress
from inferstack.cli.recommend_result import Result, configured_as
from inferstack.cli.report import counted
from inferstack.cli.terminal import table
from inferstack.endpoint.cost import Prices
from inferstack.sizing.job_plans import MOST_MINUTES_OF_DEFAULT, JobPlan
from inferstack.sizing.job_requests import Requests
from inferstack.sizing.measurements import Measurement
from inferstack.sizing.prices import HOW_TO_GET_PRICES

_WIDTH = 80
_MARGIN = "  {:<10} "
_CENT = Decimal("0.01")
_KINDS = {
    "Default": "an inference recommendation of SageMaker Inference Recommender",
    "Advanced": "a load test by SageMaker Inference Recommender",
    "ai_benchmark_job": "a benchmark by SageMaker, with AIPerf",
    "ai_recommendation_job": "a recommendation by SageMaker for a language model",
}


def plan_lines(block: str, requests: Requests, plan: JobPlan, prices: Prices) -> Iterator[str]:
    """What a job will do, for how long, and for how much."""
    request = next(reversed(requests.values()))
    kind = request.get("JobType", block)
    yield f"{plan.name}"
    rows = [("kind", _KINDS[kind]), *_measured(requests), *_tests(plan, kind)]
    rows += [("time", _time(plan, kind)), ("cost", _cost(plan, prices))]
    rows += [("results", request["OutputConfig"]["S3OutputLocation"])] if block != "load_test" else []
    for name, text in rows:
        yield from _wrapped(name, text)


def _sent(requests: Requests) -> Iterator[str]:
    """What a workload sends, as far as the spec says it."""
    workload = requests.get("CreateAIWorkloadConfig")
    if workload is not None:
        written = json.loads(workload["AIWorkloadConfigs"]["WorkloadSpec"]["Inline"])
        yield ", ".join(f"{name}: {value}" for name, value in written.get("parameters", {}).items())


def _measured(requests: Requests) -> Iterator[tuple[str, str]]:
    request = next(reversed(requests.values()))
    inputs = request.get("InputConfig", {})
    for key in ("ModelPackageVersionArn", "ModelName"):
        if key in inputs:
            yield "model", inputs[key]
    for endpoint in inputs.get("Endpoints", ()):
        yield "endpoint", f"{endpoint['EndpointName']}, which must get no other requests during the job"
    target = request.get("BenchmarkTarget", {}).get("Endpoint")
    if target is not None:
        parts = [it["Identifier"] for it in target.get("InferenceComponents", ())]
        of_it = f": {', '.join(parts)}" if parts else ""
        yield "endpoint", f"{target['Identifier']}{of_it}; it gets this load besides its own"
    for parameters in _sent(requests):
        yield "sends", parameters
    if "ModelSource" in request:
        yield "model", request["ModelSource"]["S3"]["S3Uri"]
        yield "for", ", ".join(it["Metric"] for it in request["PerformanceTarget"]["Constraints"])


def _tests(plan: JobPlan, kind: str) -> Iterator[tuple[str, str]]:
    if kind == "ai_benchmark_job":
        return
    if not plan.tests:
        yield "tests", "on instance types that AWS chooses"
        return
    counts: Counter[str] = Counter()
    for it in plan.tests:
        counts[it.on] += it.count
    on = ", ".join(f"{name} (x {count})" if count > 1 else name for name, count in counts.items())
    at_once = "" if plan.at_once is None else f", {plan.at_once} at a time"
    if kind == "ai_recommendation_job":
        yield "considers", on
        return
    yield "tests", f"{plan.test_count}{at_once}: {on}"
    if plan.traffic is not None and plan.seconds_per_test is not None:
        yield "traffic", f"{plan.traffic}, {span(plan.seconds_per_test)} in each test"


def _time(plan: JobPlan, kind: str) -> str:
    if kind == "Default":
        return f"up to {MOST_MINUTES_OF_DEFAULT} minutes, AWS says"
    if plan.seconds_per_test is None:
        return "AWS does not say how long it takes"
    one, every = plan.seconds_per_test, plan.seconds_per_test * plan.test_count
    longest = every if plan.at_once is None else one * -(-plan.test_count // plan.at_once)
    shortest = f"{span(one)} to " if plan.at_once is None and every > one else ""
    limit = "" if plan.job_seconds is None else f"; no test starts after {span(plan.job_seconds)}"
    return f"{shortest}{span(longest)} of traffic, and the time that endpoints take to start{limit}"


def _cost(plan: JobPlan, prices: Prices) -> str:
    seconds, cost = plan.instance_seconds, plan.cost(prices)
    if seconds is None:
        return "AWS bills all instances that the job starts"
    hours = f"{Decimal(seconds) / 3600:.2f} instance hours under load"
    on_top = "starting and deleting endpoints comes on top"
    if cost is None:
        return f"{hours}; {on_top}; for prices, {HOW_TO_GET_PRICES}"
    return f"{cost.quantize(_CENT)} {prices.currency} for {hours}; {on_top}"


def span(seconds: int) -> str:
    """A length of time in words."""
    hours, minutes = divmod(seconds // 60, 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{seconds % 60} s"]
    return " ".join(it for it in parts if it and it != "0 s") or "0 s"


def _wrapped(name: str, text: str) -> Iterator[str]:
    """Lines that fit on a terminal; a long word stays whole, so that it can be copied."""
    margin = _MARGIN.format(name)
    blank = " " * len(margin)
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=blank,
        break_long_words=False,
        break_on_hyphens=False,
    )


# ---------------------------------------------------------------- while it runs


def progress_line(progress: Progress) -> str:
    """How far a job is."""
    if not progress.steps:
        return progress.status
    done = [it for it in progress.steps if it["Status"] in ("COMPLETED", "FAILED", "STOPPED")]
    return f"{progress.status}: {len(done)} of {counted(len(progress.steps), 'test')} done"


# ---------------------------------------------------------------- what it found


def result_lines(result: Result) -> Iterator[str]:
    """The measurements as a table, and what `size` leaves out."""
    if result.measurements:
        at = [it.latencies for it in result.measurements]
        shown = max({percentile for latencies in at for percentile in latencies}, default=Decimal(95))
        shown = Decimal(95) if all(Decimal(95) in it for it in at) else shown
        header = ("INSTANCE TYPE", "CONFIGURATION", "A MINUTE", f"P{shown:f} MS", "PER HOUR", "PER MILLION")
        yield from table([header, *(_cells(it, shown) for it in result.measurements)])
    for found in result.answer.get("InferenceRecommendations", ()):
        metrics, endpoint = found.get("Metrics"), found["EndpointConfiguration"]
        if metrics is None:
            yield f"{configured_as(endpoint)}: recommended without a measurement"
        elif endpoint.get("ServerlessConfig") is not None:
            yield f"{configured_as(endpoint)}: {_rate(metrics)}"
    for found in result.answer.get("EndpointPerformances", ()):
        name = (found.get("EndpointInfo") or {}).get("EndpointName", "the endpoint")
        yield f"{name}, as it is: {_rate(found['Metrics'])}"
    for found in result.answer.get("Recommendations", ()):
        yield from _deployment(found)


def _cells(measured: Measurement, percentile: Decimal) -> tuple[str, ...]:
    latency, price = measured.latencies.get(percentile), measured.price_per_hour
    million = None if price is None else price * 1_000_000 / (measured.requests_per_minute * 60)
    return (
        measured.instance_type,
        measured.configuration,
        f"{measured.requests_per_minute:.6g}",
        "-" if latency is None else f"{latency:.6g}",
        "-" if price is None else f"{price.normalize():f}",
        "-" if million is None else f"{million.quantize(_CENT):,}",
    )


def _rate(metrics: Mapping[str, Any]) -> str:
    return f"{metrics['MaxInvocations']} requests a minute, {metrics['ModelLatency']} ms"


def _deployment(found: Mapping[str, Any]) -> Iterator[str]:
    """What a recommendation for a language model deploys, in the words of a spec."""
    deployed = found.get("DeploymentConfiguration") or {}
    name = (found.get("ModelDetails") or {}).get("InferenceSpecificationName", "recommendation")
    yield f"{name}: {deployed.get('InstanceCount', 1)} x {deployed.get('InstanceType')}"
    yield f"  copies of the model on each: {deployed.get('CopyCountPerInstance', 1)}"
    if deployed.get("MinCpuMemoryRequiredInMb") is not None:
        yield f"  min_memory_required_in_mb: {deployed['MinCpuMemoryRequiredInMb']}"
    if deployed.get("ImageUri") is not None:
        yield f"  image: {deployed['ImageUri']}"
    if deployed.get("EnvironmentVariables"):
        yield "  environment:"
        yield from (f"    {key}: {json.dumps(it)}" for key, it in deployed["EnvironmentVariables"].items())


# ---------------------------------------------------------------- scaling


def scaling_lines(recommendation: str, autoscaling: Mapping[str, Any]) -> Iterator[str]:
    """The `autoscaling` block as YAML."""
    yield f"# recommended by SageMaker for {recommendation}"
    yield "autoscaling:"
    for key in ("min_capacity", "max_capacity"):
        yield f"  {key}: {autoscaling[key]}"
    yield "  policies:"
    for policy in autoscaling["policies"]:
        marks = itertools.chain(("-",), itertools.repeat(" "))
        yield from (
            f"    {mark} {key}: {_flow(it)}" for mark, (key, it) in zip(marks, policy.items(), strict=False)
        )


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(it)}" for key, it in value.items()) + "}"
    return str(value)

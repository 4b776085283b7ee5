"""What a job will do, in words, before it is paid for."""

import argparse
import json
import textwrap
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from inferstack.check.load import LoadedSpec
from inferstack.endpoint.cost import Prices
from inferstack.facts.walk import region_of
from inferstack.problems import printable
from inferstack.sizing.job_plans import MOST_MINUTES_OF_DEFAULT, JobPlan, plan_of
from inferstack.sizing.job_requests import Requests
from inferstack.sizing.prices import HOW_TO_GET_PRICES, prices_for

_WIDTH = 80
_MARGIN = "  {:<10} "
_CENT = Decimal("0.01")
_KINDS = {
    "Default": "an inference recommendation of SageMaker Inference Recommender",
    "Advanced": "a load test by SageMaker Inference Recommender",
    "ai_benchmark_job": "a benchmark by SageMaker, with AIPerf",
    "ai_recommendation_job": "a recommendation by SageMaker for a language model",
}


def show_plan(loaded: LoadedSpec, block: str, requests: Requests, options: argparse.Namespace) -> None:
    """Prints what a job will do, for how long, and for how much."""
    prices = prices_for(region_of(loaded.spec), options.prices)
    for line in _plan_lines(block, requests, plan_of(requests), prices):
        print(printable(line), flush=True)


def _plan_lines(block: str, requests: Requests, plan: JobPlan, prices: Prices) -> Iterator[str]:
    """What a job will do, for how long, and for how much."""
    request = next(reversed(requests.values()))
    kind = request.get("JobType", block)
    yield f"{plan.name}"
    rows = [("kind", _KINDS[kind]), *_measured(requests), *_tests(plan, kind)]
    rows += [("time", _time(plan, kind)), ("cost", _cost(plan, prices))]
    rows += [("results", request["OutputConfig"]["S3OutputLocation"])] if block != "load_test" else []
    for name, text in rows:
        yield from _wrapped(name, text)


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
    workload = requests.get("CreateAIWorkloadConfig")
    if workload is not None:
        # What it sends, as far as the spec says it.
        written = json.loads(workload["AIWorkloadConfigs"]["WorkloadSpec"]["Inline"])
        parameters = written.get("parameters", {}).items()
        yield "sends", ", ".join(f"{name}: {value}" for name, value in parameters)
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
    for test in plan.tests:
        counts[test.on] += test.count
    on = ", ".join(f"{name} (x {count})" if count > 1 else name for name, count in counts.items())
    at_once = "" if plan.at_once is None else f", {plan.at_once} at a time"
    if kind == "ai_recommendation_job":
        yield "considers", on
        return
    yield "tests", f"{plan.test_count}{at_once}: {on}"
    if plan.traffic is not None and plan.seconds_per_test is not None:
        yield "traffic", f"{plan.traffic}, {_in_words(plan.seconds_per_test)} in each test"


def _time(plan: JobPlan, kind: str) -> str:
    if kind == "Default":
        return f"up to {MOST_MINUTES_OF_DEFAULT} minutes, AWS says"
    if plan.seconds_per_test is None:
        return "AWS does not say how long it takes"
    each, every = plan.seconds_per_test, plan.seconds_per_test * plan.test_count
    longest = every if plan.at_once is None else each * -(-plan.test_count // plan.at_once)
    shortest = f"{_in_words(each)} to " if plan.at_once is None and every > each else ""
    limit = "" if plan.job_seconds is None else f"; no test starts after {_in_words(plan.job_seconds)}"
    return f"{shortest}{_in_words(longest)} of traffic, and the time that endpoints take to start{limit}"


def _cost(plan: JobPlan, prices: Prices) -> str:
    seconds, cost = plan.instance_seconds, plan.cost(prices)
    if seconds is None:
        return "AWS bills all instances that the job starts"
    hours = f"{Decimal(seconds) / 3600:.2f} instance hours under load"
    on_top = "starting and deleting endpoints comes on top"
    if cost is None:
        return f"{hours}; {on_top}; for prices, {HOW_TO_GET_PRICES}"
    return f"{cost.quantize(_CENT)} {prices.currency} for {hours}; {on_top}"


def _in_words(seconds: int) -> str:
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

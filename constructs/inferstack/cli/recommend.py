"""``inferstack recommend``: jobs of SageMaker that measure a spec's model, from its request to its result."""

import argparse
import itertools
import json
import re
import shlex
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from inferstack.account.connection import AccountError, connect
from inferstack.account.job_result import JobResult, configured_as, result_of
from inferstack.account.recommender import NoSuchJobError, Progress, Recommender
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.arguments import add_region, whole_number, whole_number_within
from inferstack.cli.editing import edit_spec
from inferstack.cli.report import counted
from inferstack.cli.terminal import Refusal, table, tell, termination_interrupts
from inferstack.endpoint.cost import Prices
from inferstack.facts.walk import region_of
from inferstack.format.kinds import HOSTING_NAME, LONGEST_HOSTING_NAME
from inferstack.problems import Severity, SpecError, printable
from inferstack.problems.words import choose, listed
from inferstack.sizing.job_plans import MOST_MINUTES_OF_DEFAULT, JobPlan, plan_of
from inferstack.sizing.job_requests import Requests, job_blocks, lacking, needs_model_name, requests_of
from inferstack.sizing.job_scaling import (
    NothingToScaleError,
    autoscaling_of,
    changes_for,
    recommendation_to_scale,
)
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import as_csv
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, prices_for
from inferstack.triton.archive.writing import complete_or_absent

_WIDTH = 80
_MARGIN = "  {:<10} "
_CENT = Decimal("0.01")
_KINDS = {
    "Default": "an inference recommendation of SageMaker Inference Recommender",
    "Advanced": "a load test by SageMaker Inference Recommender",
    "ai_benchmark_job": "a benchmark by SageMaker, with AIPerf",
    "ai_recommendation_job": "a recommendation by SageMaker for a language model",
}
_EXAMPLE = "`load_test`, `ai_benchmark_job` or `ai_recommendation_job`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    add = parser.add_argument
    add("spec", type=Path, metavar="SPEC", help=f"a spec with a block {_EXAMPLE}")
    add("--stage", metavar="STAGE", help="the stage of the spec")
    add_region(parser)
    add("--block", metavar="KEY", help="which of the blocks, if there are several")
    model = "the SageMaker model to measure (default: that of the endpoint)"
    add("--model-name", type=_name, metavar="NAME", help=model)
    add("--job-name", type=_name, metavar="NAME", help="name of the job (default: made from the request)")
    _add_actions(parser)
    add("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    _add_result(parser)
    parser.set_defaults(wrong_usage=parser.error)


def _add_actions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_mutually_exclusive_group().add_argument
    add("--print", action="store_true", help="print the requests as JSON; nothing is started")
    add("--run", dest="start", action="store_true", help="start the job, and wait for its result")
    add("--result", type=_name, metavar="JOB", help="wait for the result of an earlier job")
    add("--stop", type=_name, metavar="JOB", help="stop a job")


def _add_result(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--measurements-out", type=Path, metavar="FILE", help="write the result as CSV, for `size`")
    scaling = "after a load test, ask for scaling, too: for this recommendation, or the best"
    add("--autoscaling", nargs="?", const="", metavar="ID", help=scaling)
    write = "with --autoscaling: write it and its instances into the spec"
    add("--write", action="store_true", help=write)
    cores = "with --autoscaling: utilization to aim for, per core (50)"
    add("--target-cpu", type=whole_number_within(1, 100), metavar="PERCENT", help=cores)
    measured = "instances that a benchmark measured (default: as in the spec)"
    add("--instances", type=whole_number, metavar="N", help=measured)
    add("--format", choices=("text", "json"), default="text", help="json: the result as AWS gives it")


def _name(text: str) -> str:
    if re.fullmatch(HOSTING_NAME, text) is None or len(text) > LONGEST_HOSTING_NAME:
        raise argparse.ArgumentTypeError("letters, digits and hyphens, 63 at most")
    return text


def run(options: argparse.Namespace) -> int:
    """Show what a job that measures the spec's model would do; --run starts it and waits for its result.

    Such jobs cost money: SageMaker starts instances for them. A job goes on when this command is interrupted;
    --result takes it up again, and --stop ends it.
    """
    loaded = load_spec(options.spec, stage=options.stage, region=options.region)
    block = _block(loaded, options.block)
    if options.autoscaling is not None and block != "load_test":
        options.wrong_usage("--autoscaling is for jobs of `load_test`")
    if options.write and options.autoscaling is None:
        options.wrong_usage("--write needs --autoscaling")
    try:
        with termination_interrupts():
            return _act(loaded, block, options)
    except AccountError as error:
        raise Refusal(str(error)) from None


def _act(loaded: LoadedSpec, block: str, options: argparse.Namespace) -> int:
    if options.stop is not None:
        _recommender(loaded, block).stop(options.stop)
        later = f"{_command(options)} --result {options.stop} shows what it has found by then"
        tell(f"{options.stop}: AWS is stopping it; {later}")
        return 0
    if options.result is not None:
        return _result(_recommender(loaded, block), loaded, options.result, options)
    requests = _requests(loaded, block, options.model_name, options.job_name)
    if options.print:
        print(json.dumps(requests, indent=1))
        _tell_of_model(loaded, block, options)
        return 0
    if not options.start:
        _show_plan(loaded, block, requests, options)
        _tell_of_model(loaded, block, options)
        tell("nothing is started: --print shows the requests, --run makes them")
        return 0
    return _run(loaded, block, options)


def _block(loaded: LoadedSpec, wanted: str | None) -> str:
    blocks = job_blocks(loaded.spec)
    if not blocks:
        raise Refusal(f"{loaded.document.file}: the spec has no job; add a block {_EXAMPLE}")
    if wanted is None and len(blocks) > 1:
        raise Refusal(f"the spec has {listed(list(blocks), last='and')}; choose one with --block")
    if wanted is not None and wanted not in blocks:
        raise Refusal(f"--block {wanted}: the spec has no such block; {choose(wanted, blocks)}")
    return blocks[0] if wanted is None else wanted


def _requests(loaded: LoadedSpec, block: str, model_name: str | None, job_name: str | None) -> Requests:
    """The requests of a block.

    Raises:
        SpecError: with everything that the spec lacks.
    """
    problems = [
        loaded.document.located(it, it.code, Severity.ERROR)
        for it in lacking(loaded.spec, block, model_name=model_name)
    ]
    if problems:
        raise SpecError(problems)
    return requests_of(loaded.spec, block, model_name=model_name, job_name=job_name)


def _tell_of_model(loaded: LoadedSpec, block: str, options: argparse.Namespace) -> None:
    if options.model_name is None and needs_model_name(loaded.spec, block):
        endpoint = loaded.spec.endpoint_name
        tell(f"--run adds the model that the endpoint {endpoint} runs then; the job's name depends on it")


# ---------------------------------------------------------------- what a job will do


def _show_plan(loaded: LoadedSpec, block: str, requests: Requests, options: argparse.Namespace) -> None:
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


# ---------------------------------------------------------------- in the account


def _recommender(loaded: LoadedSpec, block: str) -> Recommender:
    connection, spec = connect(loaded.spec.region), loaded.spec
    if spec.account not in (None, connection.account):
        message = (
            f"the spec is for the account {spec.account}, but the credentials are for {connection.account}"
        )
        raise Refusal(f"{message}; use others, or choose another stage")
    if connection.region is None:
        raise Refusal("the job needs a region; set AWS_REGION, or `env: {region: …}` in the spec")
    return Recommender(connection, connection.region, block)


def _run(loaded: LoadedSpec, block: str, options: argparse.Namespace) -> int:
    recommender, model_name = _recommender(loaded, block), options.model_name
    if model_name is None and needs_model_name(loaded.spec, block):
        model_name = recommender.deployed_model(loaded.spec.endpoint_name)
    requests = _requests(loaded, block, model_name, options.job_name)
    _show_plan(loaded, block, requests, options)
    job = plan_of(requests).name
    with _taken_up_again(options, job):
        if not recommender.start(requests):
            again = "another --job-name repeats it"
            tell(f"{job}: AWS has this job already, so it is neither started nor paid for again; {again}")
    return _result(recommender, loaded, job, options)


@contextmanager
def _taken_up_again(options: argparse.Namespace, job: str) -> Iterator[None]:
    """Says how to go on, whatever ends the block before its time: the job does not end with it."""
    try:
        yield
    except (KeyboardInterrupt, AccountError) as error:
        if isinstance(error, NoSuchJobError) and not options.start:
            raise
        tell(f"{job} continues without this command, if it was started")
        tell(f"  its result: {_command(options)} --result {job}")
        tell(f"  to end it:  {_command(options)} --stop {job}")
        raise


def _command(options: argparse.Namespace) -> str:
    """The command line up to the action."""
    words = ["inferstack", "recommend", str(options.spec)]
    for name in ("stage", "region", "block"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", value]
    return printable(shlex.join(words))


@contextmanager
def _shown_progress() -> Iterator[Any]:
    """A function that shows progress: on a terminal in one line, else in a line whenever it changes."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    last: list[str] = []
    begun = time.monotonic()

    def report(progress: Progress) -> None:
        line = printable(_progress_line(progress))
        if is_terminal:
            waited = int(time.monotonic() - begun) // 60
            sys.stderr.write(f"\r\x1b[K{line} ({waited} min)")
            sys.stderr.flush()
        elif [line] != last:
            tell(line)
        last[:] = [line]

    try:
        yield report
    finally:
        if is_terminal and last:
            sys.stderr.write("\r\x1b[K")


def _progress_line(progress: Progress) -> str:
    """How far a job is."""
    if not progress.steps:
        return progress.status
    done = [it for it in progress.steps if it["Status"] in ("COMPLETED", "FAILED", "STOPPED")]
    return f"{progress.status}: {len(done)} of {counted(len(progress.steps), 'test')} done"


# ---------------------------------------------------------------- what it found


def _result(recommender: Recommender, loaded: LoadedSpec, job: str, options: argparse.Namespace) -> int:
    with _taken_up_again(options, job), _shown_progress() as report:
        ended = recommender.ended(job, report)
    result = result_of(loaded.spec, recommender, job, ended, instances=options.instances)
    _print_result(loaded, result, options)
    if options.autoscaling is not None and result.is_complete:
        _print_scaling(loaded, recommender, job, result, options)
    return 0 if result.is_complete else 1


def _print_result(loaded: LoadedSpec, result: JobResult, options: argparse.Namespace) -> None:
    if options.format == "json":
        print(json.dumps(result.answer, indent=1, default=str))
    else:
        for line in result_lines(result):
            print(printable(line), flush=True)
    if options.measurements_out is not None and result.measurements:
        with complete_or_absent(options.measurements_out) as file:
            file.write(as_csv(result.measurements).encode())
        size = shlex.join(
            ["inferstack", "size", str(options.spec), "--measurements", str(options.measurements_out)]
        )
        tell(printable(f"{options.measurements_out}: written; count instances with `{size}`"))
    for line in result.complaints:
        tell(printable(line))


def result_lines(result: JobResult) -> Iterator[str]:
    """The measurements as a table, and what `size` leaves out."""
    if result.measurements:
        at = [it.latencies for it in result.measurements]
        shown = max({percentile for latencies in at for percentile in latencies}, default=Decimal(95))
        shown = Decimal(95) if all(Decimal(95) in it for it in at) else shown
        header = ("INSTANCE TYPE", "CONFIGURATION", "A MINUTE", f"P{shown:f} MS", "PER HOUR", "PER MILLION")
        yield from table([header, *(_cells(it, shown) for it in result.measurements)])
    for recommended in result.answer.get("InferenceRecommendations", ()):
        metrics, endpoint = recommended.get("Metrics"), recommended["EndpointConfiguration"]
        if metrics is None:
            yield f"{configured_as(endpoint)}: recommended without a measurement"
        elif endpoint.get("ServerlessConfig") is not None:
            yield f"{configured_as(endpoint)}: {_rate(metrics)}"
    for performance in result.answer.get("EndpointPerformances", ()):
        name = (performance.get("EndpointInfo") or {}).get("EndpointName", "the endpoint")
        yield f"{name}, as it is: {_rate(performance['Metrics'])}"
    for recommended in result.answer.get("Recommendations", ()):
        yield from _deployment(recommended)


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


def _deployment(recommended: Mapping[str, Any]) -> Iterator[str]:
    """What a recommendation for a language model deploys, in the words of a spec."""
    deployed = recommended.get("DeploymentConfiguration") or {}
    name = (recommended.get("ModelDetails") or {}).get("InferenceSpecificationName", "recommendation")
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


def _print_scaling(
    loaded: LoadedSpec, recommender: Recommender, job: str, result: JobResult, options: argparse.Namespace
) -> None:
    try:
        chosen = recommendation_to_scale(loaded.spec, result.answer, options.autoscaling)
    except NothingToScaleError as error:
        raise Refusal(str(error)) from None
    asked: dict[str, Any] = {}
    objective = loaded.spec.objective
    if objective is not None:
        most, least = objective.requests_per_minute, objective.lowest_requests_per_minute
        expected = {"MaxInvocationsPerMinute": most, "MinInvocationsPerMinute": least}
        rates = {name: round(rate) for name, rate in expected.items() if rate is not None}
        asked["ScalingPolicyObjective"] = rates
    if options.target_cpu is not None:
        asked["TargetCpuUtilizationPerCore"] = options.target_cpu
    name = chosen["RecommendationId"]
    answer = recommender.scaling(job, name, **asked)
    try:
        block = autoscaling_of(answer)
        changes = changes_for(loaded.spec, chosen, block) if options.write else {}
    except ValueError as error:
        raise Refusal(f"SageMaker's scaling for {name} cannot be used: {error}") from None
    for line in _scaling_lines(name, block):
        print(printable(line), flush=True)
    if options.write:
        edit_spec(options.spec, changes, stage=options.stage, region=options.region)


def _scaling_lines(recommendation: str, autoscaling: Mapping[str, Any]) -> Iterator[str]:
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

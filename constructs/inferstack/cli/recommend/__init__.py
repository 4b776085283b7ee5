"""``inferstack recommend``: jobs of SageMaker that measure a spec's model, from its request to its result."""

import argparse
import json
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inferstack.account.connection import AccountError, connect
from inferstack.account.job_result import JobResult, result_of
from inferstack.account.recommender import NoSuchJobError, Progress, Recommender
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.arguments import add_region, unread, whole_number, whole_number_within
from inferstack.cli.editing import edit_spec
from inferstack.cli.recommend.found import result_lines
from inferstack.cli.recommend.plan import show_plan
from inferstack.cli.terminal import Refusal, passing, tell, termination_interrupts
from inferstack.format.kinds import HOSTING_NAME, LONGEST_HOSTING_NAME
from inferstack.problems import Severity, SpecError, printable
from inferstack.problems.words import choose, counted, listed
from inferstack.sizing.job_plans import plan_of
from inferstack.sizing.job_requests import Requests, job_blocks, lacking, needs_model_name, requests_of
from inferstack.sizing.job_scaling import (
    NothingToScaleError,
    autoscaling_of,
    changes_for,
    recommendation_to_scale,
)
from inferstack.sizing.measurements import as_csv
from inferstack.sizing.prices import PRICE_FILE
from inferstack.source.whole_files import complete_or_absent
from inferstack.source.written import entry_lines

_OF_RESULTS = ("measurements_out", "autoscaling", "write", "target_cpu", "instances")
_OF_BENCHMARKS = "jobs of `ai_benchmark_job`"
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
    for message in _wrong_usage(options):
        options.wrong_usage(message)
    loaded = load_spec(options.spec, stage=options.stage, region=options.region)
    block = _block(loaded, options.block)
    if options.autoscaling is not None and block != "load_test":
        options.wrong_usage("--autoscaling is for jobs of `load_test`")
    for message in unread(options, ("instances",) if block != "ai_benchmark_job" else (), _OF_BENCHMARKS):
        options.wrong_usage(message)
    try:
        with termination_interrupts():
            return _act(loaded, block, options)
    except AccountError as error:
        raise Refusal(str(error)) from None


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    if options.result is not None or options.stop is not None:
        yield from unread(options, ("model_name", "job_name", "prices"), "a job that is not started yet")
    if options.print:
        yield from unread(options, ("prices",), "the plan, which --print does not show")
    if not options.start and options.result is None:
        yield from unread(options, _OF_RESULTS, "a result: add --run, or --result JOB")
        if options.format == "json":
            yield "--format json is for a result: add --run, or --result JOB"
    if options.autoscaling is None:
        if options.write:
            yield "--write needs --autoscaling"
        yield from unread(options, ("target_cpu",), "--autoscaling")


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
        show_plan(loaded, block, requests, options)
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


# ---------------------------------------------------------------- in the account


def _recommender(loaded: LoadedSpec, block: str) -> Recommender:
    connection, spec = connect(loaded.spec.region), loaded.spec
    connection.require_account(spec.account)
    if connection.region is None:
        raise Refusal("the job needs a region; set AWS_REGION, or `env: {region: …}` in the spec")
    return Recommender(connection, connection.region, block)


def _run(loaded: LoadedSpec, block: str, options: argparse.Namespace) -> int:
    recommender, model_name = _recommender(loaded, block), options.model_name
    if model_name is None and needs_model_name(loaded.spec, block):
        model_name = recommender.deployed_model(loaded.spec.endpoint_name)
    requests = _requests(loaded, block, model_name, options.job_name)
    show_plan(loaded, block, requests, options)
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
    last, begun = "", time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        line = _progress_line(progress)
        show(f"{line} ({int(time.monotonic() - begun) // 60} min)")
        if line != last and not is_terminal:
            tell(printable(line))
        last = line

    with passing() as show:
        yield report


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
    is_written = options.measurements_out is None or any(not it.ended_badly for it in result.measurements)
    return 0 if result.is_complete and result.found_anything and is_written else 1


def _print_result(loaded: LoadedSpec, result: JobResult, options: argparse.Namespace) -> None:
    if options.format == "json":
        print(json.dumps(result.answer, indent=1, default=str))
    else:
        for line in result_lines(result):
            print(printable(line), flush=True)
    sound = [it for it in result.measurements if not it.ended_badly]
    if options.measurements_out is not None and not sound:
        tell(printable(f"{options.measurements_out}: not written: the job has nothing that `size` could use"))
    elif options.measurements_out is not None:
        with complete_or_absent(options.measurements_out) as file:
            file.write(as_csv(sound).encode())
        size = shlex.join(
            ["inferstack", "size", str(options.spec), "--measurements", str(options.measurements_out)]
        )
        tell(printable(f"{options.measurements_out}: written; count instances with `{size}`"))
    for line in result.complaints:
        tell(printable(line))


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
    for line in (f"# recommended by SageMaker for {name}", *entry_lines("autoscaling", block)):
        print(printable(line), flush=True)
    if options.write:
        edit_spec(options.spec, changes, stage=options.stage, region=options.region)

"""``inferstack measure``: how much a spec's Triton model answers on this machine, or a deployed endpoint."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.arguments import add_region, positive_number, whole_number
from inferstack.cli.choice import blocks_of, chosen_by, only_block
from inferstack.cli.measure_endpoint import measure_endpoint
from inferstack.cli.measure_report import Goal, loads, picture_of, show_points, write_measurements
from inferstack.cli.measure_tuning import Tuning
from inferstack.cli.pictures import add_picture, draw, require_extra
from inferstack.cli.rehearse import rehearsals_at
from inferstack.cli.terminal import Refusal, passing, tell, termination_interrupts
from inferstack.facts.triton import PlacedTriton
from inferstack.problems.words import choose, listed
from inferstack.sizing.bench import Bench, Point, only_ratios, processors
from inferstack.sizing.closed_loop import Pace
from inferstack.sizing.prices import PRICE_FILE
from inferstack.sizing.search import TRIED, USERS
from inferstack.triton.measuring.serving import Serving, serving
from inferstack.triton.rehearsal import Rehearsal, RehearsalRefused

_SECONDS, _WINDOW, _LONGEST = 120.0, 1.0, 20.0
_MOST_USERS = 1024
_MOST_REQUESTS = 100_000


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack measure``."""
    add = command.add_argument
    add("spec", metavar="SPEC", type=Path, help="spec file")
    add("--stage", help="choose this stage of the spec")
    usual = ",".join(map(str, USERS))
    add("--concurrency", metavar="N,…", type=_users, default=USERS, help=f"users at once ({usual})")
    tried = f"search the best of {','.join(TRIED)}"
    add("--try", metavar="KEY,…", type=_tried, dest="tried", default=(), help=tried)
    add("--write", action="store_true", help="with --try: write the best into the spec or config.pbtxt")
    add("--out", metavar="FILE", type=Path, help="write a CSV file for `inferstack size --measurements`")
    add_picture(command, "draw requests per minute against latency")
    add("--format", choices=("text", "json"), default="text", help="text (default) or json")
    _add_load(command)
    _add_server(command)
    _add_endpoint(command)
    command.set_defaults(wrong_usage=command.error)


def _add_load(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("the load").add_argument
    add("--rows", metavar="N", type=whole_number, default=1, help="rows of each request (1)")
    add("--body", metavar="FILE", type=Path, help="send this file, not a body made from the declared inputs")
    add("--content-type", metavar="TYPE", help="with --body: the content type that `body` printed")
    window = f"a run ends when three windows of this many seconds agree ({_WINDOW:g})"
    add("--window", metavar="S", type=positive_number, default=_WINDOW, help=window)
    longest = f"or after this many seconds ({_LONGEST:g})"
    add("--longest", metavar="S", type=positive_number, default=_LONGEST, help=longest)
    timeout = f"seconds to wait for the start, for loading, and for each answer ({_SECONDS:g})"
    add("--timeout", metavar="S", type=positive_number, default=_SECONDS, help=timeout)
    add("--component", metavar="NAME", help="choose this inference component")
    add("--model", metavar="NAME", help="choose this entry of `models`")
    add("--target-model", metavar="ARCHIVE", help="choose this archive of a multi-model endpoint")


def _add_server(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("on this machine").add_argument
    add("--tune", metavar="NAME", help="with --try: the model to tune, if the repository has several")
    python = "interpreter with nvidia-pytriton and what the models import (default: this one)"
    add("--python", metavar="FILE", type=Path, default=Path(sys.executable), help=python)
    allow = "also allow files from this folder, besides the spec's own"
    add("--allow", metavar="DIR", type=Path, action="append", default=[], help=allow)
    add("--log", metavar="FILE", type=Path, help="write Triton's whole log here")


def _add_endpoint(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("a deployed endpoint").add_argument
    add("--endpoint", metavar="NAME", help="send the load to this endpoint (needs AWS credentials)")
    requests = f"the most requests to send, in all ({_MOST_REQUESTS:,})"
    add("--requests", metavar="N", type=whole_number, default=_MOST_REQUESTS, help=requests)
    budget = "stop before its instances have cost this much, in the currency of the prices"
    add("--budget", metavar="X", type=positive_number, help=budget)
    add("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    add_region(command)


def run(options: argparse.Namespace) -> int:
    """Put a spec's Triton model under the load of users who wait for each answer: how much it answers, how
    fast, and with --try in which configuration it answers most within the objective's latency limit.
    """
    for message in _wrong_usage(options):
        options.wrong_usage(message)
    if options.picture is not None:
        require_extra()
    loaded = load_spec(options.spec, stage=options.stage, region=options.region, locked=False)
    goal = Goal.of(loaded.spec.objective)
    pace = Pace(options.window, options.longest, percentiles=goal.percentiles)
    if options.log is not None:
        options.log.write_bytes(b"")
    with termination_interrupts():
        if options.endpoint is not None:
            found = None if options.body is not None else rehearsal_of(loaded, options)[1]
            return measure_endpoint(loaded, found, goal, pace, options)
        return _on_this_machine(loaded, goal, pace, options)


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    if (options.body is None) != (options.content_type is None):
        yield "--body and --content-type go together"
    if options.body is not None and options.rows != 1:
        yield "--rows is for a body that is made from the declared inputs, not for --body"
    if not options.tried and (options.write or options.tune):
        yield "--write and --tune need --try"
    if options.tried and options.endpoint is not None:
        yield "--try changes a local server; an endpoint is measured as it is"
    if options.endpoint is None and options.budget is not None:
        yield "--budget is for an --endpoint"


def _users(written: str) -> tuple[int, ...]:
    numbers = [whole_number(it) for it in written.split(",")]
    if max(numbers) > _MOST_USERS:
        raise argparse.ArgumentTypeError(f"{max(numbers)} users at once are too many: at most {_MOST_USERS}")
    return tuple(sorted({*numbers}))


def _tried(written: str) -> tuple[str, ...]:
    names = tuple(written.split(","))
    for name in names:
        if name not in TRIED:
            raise argparse.ArgumentTypeError(f"{name!r} cannot be tried; {choose(name, list(TRIED))}")
    return names


def rehearsal_of(loaded: LoadedSpec, options: argparse.Namespace) -> tuple[PlacedTriton, Rehearsal]:
    """What is served: one repository of the spec."""
    choice = chosen_by(options)
    blocks = blocks_of(loaded.spec, choice)
    if not blocks:
        raise Refusal(f"{options.spec}: nothing to measure: the spec has no `triton` block")
    placed = only_block(loaded.spec, blocks, "the load", choice)
    first, *_ = rehearsals_at(placed, loaded, options.spec, options.python, options.timeout)
    by_archive = {it.archive: it for it in first.repositories}
    wanted = options.target_model
    if wanted is None and len(by_archive) > 1:
        raise Refusal(
            f"the load could be for any of several archives; add --target-model: {listed([*by_archive])}"
        )
    if wanted is not None and wanted not in by_archive:
        raise Refusal(f"--target-model: no `{wanted}`; {choose(wanted, [*by_archive])}")
    repository = next(iter(by_archive.values())) if wanted is None else by_archive[wanted]
    allowed = (*first.allowed, *options.allow)
    return placed, replace(first, repositories=[repository], allowed=allowed, log=options.log)


# ---------------------------------------------------------------- on this machine


def _on_this_machine(loaded: LoadedSpec, goal: Goal, pace: Pace, options: argparse.Namespace) -> int:
    placed, rehearsal = rehearsal_of(loaded, options)
    types = tuple(dict.fromkeys(it for loader in placed.loaders for it in loader.instance_types))
    try:
        with serving(rehearsal) as served:
            reasons = tuple(only_ratios(types, served.archive.configs.items(), processors()))
            _require_meaning(served, reasons, options)
            return _measured(served, goal, pace, types, reasons, options)
    except RehearsalRefused as refused:
        raise Refusal(str(refused)) from None


def _require_meaning(served: Serving, reasons: tuple[str, ...], options: argparse.Namespace) -> None:
    """Refuses what would be a waste of time."""
    played = [name for name, it in served.archive.configs.items() if it.stand_in and not it.run_by]
    if played:
        notes = "; ".join(it for name in played for it in served.archive.notes[name][:1])
        raise Refusal(f"a stand-in answers for {listed(played)}, whose speed means nothing: {notes}")
    if options.out is not None and reasons:
        raise Refusal(f"--out: ratios only, which `size` cannot use: {reasons[0]}")
    for name in served.cached:
        tell(f"`{name}` is measured without its response cache: all users send the same request")


def _measured(
    served: Serving,
    goal: Goal,
    pace: Pace,
    types: tuple[str, ...],
    reasons: tuple[str, ...],
    options: argparse.Namespace,
) -> int:
    body, form = options.body, options.content_type
    request = served.request(options.rows) if body is None else served.as_sent(body.read_bytes(), form)
    bench = Bench(served, request, pace)
    bench.try_once()
    points: list[Point] = []
    tuning = Tuning(bench, served, goal, points, options) if options.tried else None
    try:
        with passing() as show:
            _run(bench, served, points, show, options) if tuning is None else tuning.search(show)
    finally:
        # Also what was found before Ctrl-C.
        lines = loads(points) if tuning is None else tuning.lines()
        show_points(points, lines, options.format)
    for reason in reasons:
        tell(f"ratios only: {reason}")
    if options.out is not None:
        write_measurements(options.out, points, types[0])
    if tuning is not None and options.write:
        tuning.write()
    if options.picture is not None:
        draw(options.picture, lambda: picture_of(points, goal) if tuning is None else tuning.picture())
    return int(not any(it.run.answers for it in points))


def _run(
    bench: Bench,
    served: Serving,
    points: list[Point],
    show: Callable[[str], None],
    options: argparse.Namespace,
) -> None:
    for users in options.concurrency:
        show(f"{users} users")
        points.append(bench.point(served.answering, users))

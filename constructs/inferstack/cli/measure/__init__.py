"""``inferstack measure``: how much a spec's Triton model answers on this machine, or a deployed endpoint."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.arguments import add_region, positive_number, unread, whole_number
from inferstack.cli.measure.deployed import MOST_REQUESTS, on_endpoint
from inferstack.cli.measure.output import loads, show_points, status, write_measurements
from inferstack.cli.measure.served import what_is_served
from inferstack.cli.measure.tuning import Tuning
from inferstack.cli.pictures import add_picture, draw, require_extra
from inferstack.cli.terminal import Refusal, passing, tell, termination_interrupts
from inferstack.problems.words import choose, listed
from inferstack.sizing.bench import Bench, Point, only_ratios, processors
from inferstack.sizing.closed_loop import Pace
from inferstack.sizing.prices import PRICE_FILE
from inferstack.sizing.search import TRIED, USERS, Goal
from inferstack.triton.measuring.serving import Serving, serving
from inferstack.triton.rehearsal import RehearsalRefused

_SECONDS, _WINDOW, _LONGEST = 120.0, 1.0, 20.0
_MOST_USERS = 1024


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack measure``."""
    add = command.add_argument
    add("spec", metavar="SPEC", type=Path, help="spec file")
    add("--stage", help="choose this stage of the spec")
    usual = ",".join(map(str, USERS))
    add("--concurrency", metavar="N,…", type=_users, default=USERS, help=f"users at once ({usual})")
    tried = f"search for the best of {','.join(TRIED)}"
    add("--try", metavar="KEY,…", type=_tried, dest="tried", default=(), help=tried)
    add("--write", action="store_true", help="with --try: write the best into the spec or config.pbtxt")
    add("--out", metavar="FILE", type=Path, help="write a CSV file for `inferstack size --measurements`")
    add_picture(command, "with --try: draw requests per minute against latency")
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
    add("--python", metavar="FILE", type=Path, help=python)
    allow = "also allow files from this folder, besides the spec's own"
    add("--allow", metavar="DIR", type=Path, action="append", default=[], help=allow)
    add("--log", metavar="FILE", type=Path, help="write Triton's whole log here")


def _add_endpoint(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("a deployed endpoint").add_argument
    add("--endpoint", metavar="NAME", help="send the load to this endpoint (needs AWS credentials)")
    requests = f"the most requests to send, in all ({MOST_REQUESTS:,})"
    add("--requests", metavar="N", type=whole_number, help=requests)
    budget = "stop before its instances have cost this much, in the currency of the prices"
    add("--budget", metavar="X", type=positive_number, help=budget)
    add("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    add_region(command)


def _users(written: str) -> tuple[int, ...]:
    numbers = [whole_number(number) for number in written.split(",")]
    if max(numbers) > _MOST_USERS:
        raise argparse.ArgumentTypeError(f"{max(numbers)} users at once are too many: at most {_MOST_USERS}")
    return tuple(sorted({*numbers}))


def _tried(written: str) -> tuple[str, ...]:
    names = tuple(written.split(","))
    for name in names:
        if name not in TRIED:
            raise argparse.ArgumentTypeError(f"{name!r} cannot be tried; {choose(name, list(TRIED))}")
    return names


def run(options: argparse.Namespace) -> int:
    """Put a spec's Triton model under the load of users who wait for each answer: show how much it answers,
    how fast, and with --try in which configuration it answers most within the objective's latency limit.
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
            return on_endpoint(loaded, pace, options)
        return _on_this_machine(loaded, goal, pace, options)


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    if (options.body is None) != (options.content_type is None):
        yield "--body and --content-type go together"
    if options.body is not None and options.rows != 1:
        yield "--rows is for a body that is made from the declared inputs, not for --body"
    if not options.tried and (options.write or options.tune or options.picture):
        yield "--write, --tune and --picture need --try"
    if options.tried and options.endpoint is not None:
        yield "--try changes a local server; an endpoint is measured as it is"
    if options.endpoint is None:
        yield from unread(options, ("budget", "requests", "prices"), "an --endpoint")
    else:
        yield from unread(options, ("python", "allow", "log"), "a server on this machine, not an --endpoint")
        if options.body is not None:
            yield from unread(options, ("model",), "a body that is made from the declared inputs, not --body")


# ---------------------------------------------------------------- on this machine


def _on_this_machine(loaded: LoadedSpec, goal: Goal, pace: Pace, options: argparse.Namespace) -> int:
    placed, rehearsal = what_is_served(loaded, options)
    types = tuple(dict.fromkeys(name for loader in placed.loaders for name in loader.instance_types))
    try:
        with serving(rehearsal) as served:
            return _under_load(served, types, goal, pace, options)
    except RehearsalRefused as refused:
        raise Refusal(str(refused)) from None


def _under_load(
    served: Serving, types: Sequence[str], goal: Goal, pace: Pace, options: argparse.Namespace
) -> int:
    reasons = tuple(only_ratios(types, served.archive.configs.items(), processors()))
    _require_meaning(served, reasons, options)
    body, form = options.body, options.content_type
    request = served.request(options.rows) if body is None else served.as_sent(body.read_bytes(), form)
    bench = Bench(served, request, pace)
    bench.try_once()
    points: list[Point] = []
    tuning = Tuning(bench, served, goal, points, options) if options.tried else None
    try:
        with passing() as show:
            if tuning is None:
                for users in options.concurrency:
                    show(f"{users} users")
                    points.append(bench.point(served.answering, users))
            else:
                tuning.search(show)
                tuning.confirm(show)
    finally:
        # Also what was found before Ctrl-C.
        if tuning is None:
            show_points(points, loads(points), options.format)
        else:
            show_points(points, tuning.lines(), options.format, tuning.verdict_on)
    for reason in reasons:
        tell(f"ratios only: {reason}")
    if options.out is not None:
        write_measurements(options.out, [*points, *([] if tuning is None else tuning.repeated)], types[0])
    if tuning is not None and options.picture is not None:
        draw(options.picture, tuning.picture)
    if tuning is not None and options.write:
        tuning.write()
    return status(points)


def _require_meaning(served: Serving, reasons: tuple[str, ...], options: argparse.Namespace) -> None:
    """Refuses what would be a waste of time."""
    configs = served.archive.configs.items()
    played = [name for name, config in configs if config.stand_in and not config.run_by]
    if played:
        notes = "; ".join(note for name in played for note in served.archive.notes[name][:1])
        raise Refusal(f"a stand-in answers for {listed(played)}, so the speed means nothing: {notes}")
    if options.out is not None and reasons:
        raise Refusal(f"--out: ratios only, which `size` cannot use: {reasons[0]}")
    for name in served.cached:
        tell(f"`{name}` is measured without its response cache: all users send the same request")

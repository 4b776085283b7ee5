"""``inferstack measure``: how much a spec's Triton model answers on this machine, or a deployed endpoint."""

import argparse
import difflib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.account.connection import AccountError, connect
from inferstack.account.endpoint_load import EndpointLoad
from inferstack.account.invoking import Invocation
from inferstack.catalog.triton_container import DEFAULT_MODEL, set_variable
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.arguments import add_region, positive_number, whole_number
from inferstack.cli.choice import blocks_of, chosen_by, only_block
from inferstack.cli.editing import edit_spec
from inferstack.cli.pictures import add_picture, draw, require_extra
from inferstack.cli.rehearse import rehearsals_at
from inferstack.cli.terminal import Refusal, passing, table, tell, termination_interrupts
from inferstack.facts.triton import PlacedTriton
from inferstack.facts.walk import region_of
from inferstack.problems import dotted, printable
from inferstack.problems.words import choose, listed
from inferstack.sizing.bench import Bench, Point, doubts_about, only_ratios, processors
from inferstack.sizing.closed_loop import PERCENTILES, LoadRun, Pace, rounded
from inferstack.sizing.measurements import as_csv
from inferstack.sizing.pictures import Picture
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, prices_for
from inferstack.sizing.rate_picture import rates_of_kinds, rates_of_loads
from inferstack.sizing.search import (
    BATCHING,
    TRIED,
    USERS,
    BestOfKind,
    Goal,
    Trial,
    best_of,
    rows,
    search,
    space_of,
)
from inferstack.source.written import in_flow
from inferstack.triton.archive.writing import complete_or_absent
from inferstack.triton.config import ConfigError
from inferstack.triton.measuring.config_edit import edited_text
from inferstack.triton.measuring.configurations import Configuration, changes, configured
from inferstack.triton.measuring.serving import Serving, request_to, serving
from inferstack.triton.measuring.statistics import Counted
from inferstack.triton.model import CONFIG_FILE, FieldPath
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
    tried = f"search for the best of {','.join(TRIED)}"
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
            return _on_endpoint(loaded, goal, pace, options)
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


def _rehearsal(loaded: LoadedSpec, options: argparse.Namespace) -> tuple[PlacedTriton, Rehearsal]:
    """What is served: one repository of the spec."""
    choice = chosen_by(options)
    blocks = blocks_of(loaded.spec, choice)
    if not blocks:
        raise Refusal(f"{options.spec}: nothing to measure: the spec has no `triton` block")
    placed = only_block(loaded.spec, blocks, "the load", choice)
    first, *_ = rehearsals_at(placed, loaded, options.spec, options.python, options.timeout)
    by_archive = {repository.archive: repository for repository in first.repositories}
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
    placed, rehearsal = _rehearsal(loaded, options)
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
    finally:
        # Also what was found before Ctrl-C.
        show_points(points, loads(points) if tuning is None else tuning.lines(), options.format)
    for reason in reasons:
        tell(f"ratios only: {reason}")
    if options.out is not None:
        write_measurements(options.out, points, types[0])
    if tuning is not None and options.write:
        tuning.write()
    if options.picture is not None:
        draw(options.picture, partial(_picture_of, points, goal) if tuning is None else tuning.picture)
    return _status(points)


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


# ---------------------------------------------------------------- the search of --try


class Tuning:
    """A search for the best configuration of one model of a server. What it measures goes into ``points``."""

    def __init__(
        self, bench: Bench, served: Serving, goal: Goal, points: list[Point], options: argparse.Namespace
    ) -> None:
        self._bench, self._served, self._goal, self._options = bench, served, goal, options
        self._points = points
        self._model = served.model(self._chosen())
        ensembles = (it.config.max_batch_size for it in served.repository.models if it.is_ensemble)
        self._space = space_of(
            self._model,
            options.tried,
            processors=processors(),
            users=options.concurrency,
            smallest_batch=max((options.rows, *ensembles)),
        )
        if BATCHING in options.tried and self._model.config.max_batch_size < 1:
            tell(f"`{self._model.name}` takes no batches: `max_batch_size` is 0, so batching is not tried")

    def search(self, show: Callable[[str], None]) -> None:
        """Measures until nothing that is left is likely to be better."""

        def measure(wanted: Configuration, users: int) -> Trial:
            show(f"measurement {len(self._points) + 1}: {wanted.name}, {users} users")
            self._points.append(self._bench.configured(self._model.name, wanted, users))
            return self._points[-1].trial(self._goal.percentile)

        search(self._space, measure, self._goal.limit)

    def lines(self) -> Iterator[str]:
        """The comparison, and the best."""
        trials = self._trials
        if not trials:
            return
        yield from comparison(rows(trials, self._goal.limit), self._goal)
        yield ""
        best, goal = best_of(trials, self._goal.limit), self._goal
        if best is None:
            yield f"{len(trials)} measurements, none within {goal.limit:g} ms at P{goal.percentile:g}"
            return
        bound = "" if math.isinf(goal.limit) else f" within {goal.limit:g} ms at P{goal.percentile:g}"
        yield f"best of {len(trials)} measurements{bound}: {best.configuration.name}"
        yield from self._block(best.configuration)

    def picture(self) -> Picture:
        """All that was measured, by kind of configuration.

        Raises:
            NoPictureError: when nothing was answered.
        """
        goal = self._goal
        return rates_of_kinds(self._trials, self._model.name, percentile=goal.percentile, limit=goal.limit)

    def write(self) -> None:
        """Puts the best into the spec, or into the model's own file, and shows the diff.

        Raises:
            SpecError: when the spec cannot be edited.
        """
        best = best_of(self._trials, self._goal.limit)
        if best is None:
            raise Refusal("nothing is written: no configuration is within the objective's limit")
        if self._model.folder is None:
            wanted = {self._path(field): value for field, value in self._changes(best.configuration).items()}
            edit_spec(self._options.spec, wanted, stage=self._options.stage)
        else:
            self._write_config(best.configuration)

    @property
    def _trials(self) -> list[Trial]:
        return [it.trial(self._goal.percentile) for it in self._points]

    def _chosen(self) -> str:
        """The model to try configurations on: the only one, the named one, or the one that takes longest."""
        names = [it.name for it in self._served.repository.models if not it.is_ensemble]
        named = self._options.tune
        if named is not None and named not in names:
            raise Refusal(f"--tune: no model `{named}`; {choose(named, names)}")
        if named is not None or len(names) == 1:
            return str(named or names[0])
        counted = self._bench.point("", min(self._options.concurrency)).counted
        slowest = max(names, key=lambda name: counted[name].compute_ns if name in counted else 0)
        tell(f"trying configurations of `{slowest}`, which takes longest; --tune NAME chooses another")
        return slowest

    def _changes(self, best: Configuration) -> Mapping[FieldPath, Any]:
        return changes(self._model.config, self._model.backend, best)

    def _path(self, field: FieldPath) -> tuple[str | int, ...]:
        """Where the spec has a field of the model."""
        place = self._model.where(field)
        return place if isinstance(place, tuple) else ()

    def _block(self, best: Configuration) -> Iterator[str]:
        values = self._changes(best)
        if not values:
            yield f"`{self._model.name}` has this configuration already"
            return
        own = self._model.folder is not None
        yield f"in {self._model.name}/{CONFIG_FILE}:" if own else f"in the spec, at {dotted(self._path(()))}:"
        for field, value in values.items():
            yield f"  {dotted(field)}: {in_flow(value)}" if value is not None else f"  no {dotted(field)}"

    def _write_config(self, best: Configuration) -> None:
        model = self._model
        file, text = (model.folder or self._options.spec) / CONFIG_FILE, model.text or ""
        try:
            made = edited_text(text, model.config, configured(model.config, model.backend, best))
        except ConfigError as error:
            raise Refusal(f"{file}: {error.message}") from None
        lines = difflib.unified_diff(
            text.splitlines(), made.splitlines(), str(file), f"{file} (edited)", lineterm=""
        )
        print("".join(f"{printable(line)}\n" for line in lines), end="", flush=True)
        with complete_or_absent(file) as target:
            target.write(made.encode())
        tell(f"{file}: written")


def comparison(of_kinds: Iterable[BestOfKind], goal: Goal) -> Iterator[str]:
    """A line for each kind of configuration."""
    kinds = list(of_kinds)
    base = next((kind.best.per_second for kind in kinds if kind.name == "base"), 0.0)
    latency = f"P{goal.percentile:g}"
    header = ("", "USERS", "PER MINUTE", "RATIO", latency, "BATCH", "DELAY", "INSTANCES", "THREADS")
    yield from table([header, *(_row(kind, base) for kind in kinds)])
    if not all(kind.within for kind in kinds):
        yield f"! over the limit of {goal.limit:g} ms, or failed requests"


def _row(kind: BestOfKind, base: float) -> tuple[str, ...]:
    best, made = kind.best, kind.best.configuration
    return (
        *(kind.name, str(best.users), f"{rounded(best.per_second * 60):f}"),
        f"{best.per_second / base:.2f}" if base else "-",
        _milliseconds(best.latency) + ("" if kind.within else "!"),
        *(str(made.batch or "-"), f"{made.delay / 1000:g}" if made.batch else "-", str(made.instances)),
        str(made.threads or "-"),
    )


# ---------------------------------------------------------------- a deployed endpoint


def _on_endpoint(loaded: LoadedSpec, goal: Goal, pace: Pace, options: argparse.Namespace) -> int:
    """Bounded in requests, time and money."""
    try:
        load = _endpoint_load(loaded, pace, options)
        points: list[Point] = []
        try:
            with passing() as show:
                load.try_once()
                for users in options.concurrency:
                    requests = options.requests - load.sent
                    longest = min(pace.longest, load.seconds_left(options.budget))
                    if requests < 1 or longest <= 0:
                        used = "--requests" if requests < 1 else "--budget"
                        tell(f"stopped before {users} users: {used} is used up")
                        break
                    show(f"{users} users")
                    points.append(load.point(users, requests=requests, longest=longest))
        finally:
            show_points(points, loads(points), options.format)
            if points:
                tell(_taken(load))
        if options.out is not None:
            [variant] = load.variants
            write_measurements(options.out, points, str(variant.instance_type), variant.instances)
    except AccountError as error:
        raise Refusal(str(error)) from None
    if options.picture is not None:
        draw(options.picture, partial(_picture_of, points, goal))
    return _status(points)


def _endpoint_load(loaded: LoadedSpec, pace: Pace, options: argparse.Namespace) -> EndpointLoad:
    """The load, which may be started: its bounds and its file make sense for this endpoint."""
    invocation = _invocation(loaded, options)
    connection = connect(region_of(loaded.spec))
    if connection.region is None:
        raise Refusal("no region is known; add --region")
    prices = prices_for(connection.region, options.prices)
    load = EndpointLoad(connection, connection.region, invocation, pace, prices, seconds=options.timeout)
    if options.budget is not None and load.per_hour is None:
        raise Refusal(f"--budget: the price of its instances is not known; {HOW_TO_GET_PRICES}")
    types = [variant.instance_type for variant in load.variants]
    if options.out is not None and (len(types) != 1 or types[0] is None):
        raise Refusal("--out: `size` counts instances of one type, which this endpoint does not have")
    return load


def _invocation(loaded: LoadedSpec, options: argparse.Namespace) -> Invocation:
    component, target = options.component, options.target_model
    if options.body is not None:
        return Invocation(
            options.endpoint, options.body.read_bytes(), options.content_type, component, target
        )
    _, rehearsal = _rehearsal(loaded, options)
    [repository] = rehearsal.repositories
    model = repository.served(set_variable(rehearsal.environment, DEFAULT_MODEL))
    if model is None:
        raise Refusal(f"it is not clear which model of {repository.archive} answers: add `default_model`")
    body, form = request_to(model.config, options.rows)
    archive = repository.archive if repository.multi_model else None
    return Invocation(options.endpoint, body, form, component, archive)


def _taken(load: EndpointLoad) -> str:
    counts = ", ".join(f"{it.instances} x {it.instance_type or 'serverless'}" for it in load.variants)
    cost = "" if load.per_hour is None else f"; {load.spent:.4f} {load.currency} of their time"
    return f"{load.sent} requests to {counts}{cost}"


# ---------------------------------------------------------------- what is printed and written


def _status(points: Iterable[Point]) -> int:
    return int(not any(point.run.answers for point in points))


def show_points(points: Sequence[Point], lines: Iterable[str], form: str) -> None:
    """Prints what was found, and says on standard error what is doubtful about it."""
    if form == "json":
        print(json.dumps([_fields(point) for point in points], indent=1), flush=True)
        return
    print("".join(f"{printable(line)}\n" for line in lines if points), end="", flush=True)
    for line in doubts_about(points):
        tell(printable(line))


def loads(points: Sequence[Point]) -> Iterator[str]:
    """A line for each number of users, and Triton's statistics below."""
    header = ("USERS", "PER MINUTE", *(f"P{it:g}" for it in PERCENTILES), "ERRORS")
    yield from table([header, *(_load(it.run) for it in points)])
    by_model = [
        _counted(point.run.users, name, counted)
        for point in points
        for name, counted in point.counted.items()
    ]
    if by_model:
        yield ""
        yield from table([("USERS", "MODEL", "QUEUE", "COMPUTE", "BATCH", "SIZES OF BATCHES"), *by_model])


def _load(run: LoadRun) -> tuple[str, ...]:
    latencies = (_milliseconds(run.latencies.get(it, math.inf)) for it in PERCENTILES)
    failed = str(sum(run.errors.values()))
    return str(run.users), f"{run.per_minute:f}", *latencies, failed


def _counted(users: int, name: str, counted: Counted) -> tuple[str, ...]:
    times = (_milliseconds(it) for it in (counted.queue_ms, counted.compute_ms))
    return str(users), name, *times, f"{counted.batch:.3g}", _sizes(counted.batches)


def _sizes(batches: Mapping[int, int]) -> str:
    """The two most frequent sizes, with their share."""
    total = sum(batches.values())
    usual = sorted(batches.items(), key=lambda it: -it[1])[:2]
    shares = [f"{size} ({count / total:.0%})".replace("%", " %") for size, count in sorted(usual)]
    return ", ".join([*shares, *(["…"] if len(batches) > len(usual) else [])])


def _milliseconds(value: float) -> str:
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return "-" if math.isinf(value) else f"{value:.{digits}f}"


def _picture_of(points: Sequence[Point], goal: Goal) -> Picture:
    """What one model or endpoint answered to each number of users.

    Raises:
        NoPictureError: when it answered nothing.
    """
    name = points[0].name if points else ""
    trials = [it.trial(goal.percentile) for it in points]
    return rates_of_loads(trials, name, percentile=goal.percentile, limit=goal.limit)


def _fields(point: Point) -> dict[str, Any]:
    run = point.run
    return {
        "configuration": point.name,
        **({} if point.configuration is None else msgspec.to_builtins(point.configuration)),
        "users": run.users,
        "requests_per_minute": float(run.per_minute),
        "milliseconds": {f"p{at:g}": float(rounded(value)) for at, value in run.latencies.items()},
        "answers": run.answers,
        "seconds": round(run.seconds, 3),
        "errors": dict(run.errors),
        "steady": run.steady,
        "trouble": point.trouble,
        "triton": {
            name: {
                "queue_ms": round(it.queue_ms, 3),
                "compute_ms": round(it.compute_ms, 3),
                "batch": round(it.batch, 2),
                "batch_sizes": it.batches,
            }
            for name, it in point.counted.items()
        },
    }


def write_measurements(file: Path, points: Iterable[Point], instance_type: str, instances: int = 1) -> None:
    """Writes the rows for `inferstack size`, of one instance."""
    measured = [it.measurement(instance_type, instances) for it in points if it.run.answers]
    with complete_or_absent(file) as out:
        out.write(as_csv(measured).encode())
    tell(f"{file}: {len(measured)} measurements for `inferstack size --measurements`")

"""What ``inferstack measure`` found: as tables, as JSON, and as the rows of a file of measurements."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from inferstack.cli.terminal import table, tell
from inferstack.format.objective import Objective
from inferstack.problems import printable
from inferstack.sizing.bench import Point
from inferstack.sizing.closed_loop import PERCENTILES, LoadRun, rounded
from inferstack.sizing.measurements import Measurement, as_csv
from inferstack.sizing.pictures import Picture
from inferstack.sizing.rate_picture import rates_of_loads
from inferstack.sizing.search import BestOfKind
from inferstack.triton.archive.writing import complete_or_absent
from inferstack.triton.measuring.statistics import Counted


class Goal(msgspec.Struct, frozen=True):
    """The latency limit of an objective, in milliseconds at a percentile; infinity without one."""

    percentile: float = 95.0
    limit: float = math.inf

    @classmethod
    def of(cls, objective: Objective | None) -> "Goal":
        """The goal that a spec's objective sets."""
        limit = None if objective is None else objective.latency
        if limit is None:
            return cls()
        return cls(float(limit.percentile.removeprefix("P")), float(limit.value_in_milliseconds))

    @property
    def percentiles(self) -> tuple[float, ...]:
        """The usual ones, and its own."""
        return tuple(sorted({*PERCENTILES, self.percentile}))


# ---------------------------------------------------------------- for people


def show_points(points: Sequence[Point], lines: Iterable[str], form: str) -> None:
    """Prints what was found, and says on standard error what is doubtful about it."""
    if form == "json":
        print(_json(points), end="", flush=True)
        return
    print("".join(f"{printable(line)}\n" for line in lines if points), end="", flush=True)
    for line in _troubles(points):
        tell(printable(line))


def loads(points: Sequence[Point]) -> Iterator[str]:
    """A line for each number of users, and Triton's statistics below."""
    header = ("USERS", "PER MINUTE", *(f"P{it:g}" for it in PERCENTILES), "ERRORS")
    yield from table([header, *(_load(it.run) for it in points)])
    counted = [(it.run.users, name, one) for it in points for name, one in it.counted.items()]
    if counted:
        yield ""
        header = ("USERS", "MODEL", "QUEUE", "COMPUTE", "BATCH", "SIZES OF BATCHES")
        yield from table([header, *(_counted(*it) for it in counted)])


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


def comparison(rows: Iterable[BestOfKind], goal: Goal) -> Iterator[str]:
    """A line for each kind of configuration."""
    found = list(rows)
    base = next((it.best.per_second for it in found if it.name == "base"), 0.0)
    latency = f"P{goal.percentile:g}"
    header = ("", "USERS", "PER MINUTE", "RATIO", latency, "BATCH", "DELAY", "INSTANCES", "THREADS")
    yield from table([header, *(_row(it, base) for it in found)])
    if not all(it.within for it in found):
        yield f"! over the limit of {goal.limit:g} ms, or failed requests"


def _row(row: BestOfKind, base: float) -> tuple[str, ...]:
    found, made = row.best, row.best.configuration
    return (
        *(row.name, str(found.users), f"{rounded(found.per_second * 60):f}"),
        f"{found.per_second / base:.2f}" if base else "-",
        _milliseconds(found.latency) + ("" if row.within else "!"),
        *(str(made.batch or "-"), f"{made.delay / 1000:g}" if made.batch else "-", str(made.instances)),
        str(made.threads or "-"),
    )


def _troubles(points: Sequence[Point]) -> Iterator[str]:
    """What is doubtful about runs; what many have in common is said once."""
    for point in points:
        who = f"{point.name}, {point.run.users} user{'' if point.run.users == 1 else 's'}"
        for error, count in list(point.run.errors.items())[:1]:
            failed = f"{sum(point.run.errors.values())} of {point.run.sent} requests failed"
            yield f"{who}: {failed}, {count} of them with {error}"
        if point.note is not None:
            yield f"{who}: {point.note}"
    for name, why in {it.name: it.trouble for it in points if it.trouble is not None}.items():
        yield f"{name}: {why}"
    ran = [it.run for it in points if it.trouble is None]
    rough, busy = [it for it in ran if not it.steady], [it for it in ran if it.busy]
    if rough:
        which = _which(rough, ran)
        yield f"{which} not become steady, so the numbers are rough; --longest S gives more time"
    if busy:
        yield f"{_which(busy, ran)} used a whole processor for the users, so the server might do more"


def _which(some: Sequence[LoadRun], runs: Sequence[LoadRun]) -> str:
    return "the run has" if len(runs) == 1 else f"{len(some)} of {len(runs)} runs have"


def picture_of(points: Sequence[Point], goal: Goal) -> Picture:
    """What one model or endpoint answered to each number of users.

    Raises:
        NoPictureError: when it answered nothing.
    """
    name = points[0].name if points else ""
    trials = [it.trial(goal.percentile) for it in points]
    return rates_of_loads(trials, name, percentile=goal.percentile, limit=goal.limit)


# ---------------------------------------------------------------- for programs


def _json(points: Iterable[Point]) -> str:
    return json.dumps([_fields(it) for it in points], indent=1) + "\n"


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
    found = [it for it in points if it.run.answers]
    rows = [_measurement(it, instance_type, instances) for it in found]
    with complete_or_absent(file) as out:
        out.write(as_csv(rows).encode())
    tell(f"{file}: {len(rows)} measurements for `inferstack size --measurements`")


def _measurement(point: Point, instance_type: str, instances: int) -> Measurement:
    run = point.run
    return Measurement(
        configuration=point.name,
        instance_type=instance_type,
        requests_per_minute=rounded(run.per_second * 60 / instances),
        latencies={Decimal(f"{at:g}"): rounded(value) for at, value in run.latencies.items()},
        users=math.ceil(run.users / instances),
    )

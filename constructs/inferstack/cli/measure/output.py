"""What measurements are printed as, and the file of them for ``size``."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from inferstack.cli.terminal import table, tell
from inferstack.problems import printable
from inferstack.sizing.bench import Point, doubts_about
from inferstack.sizing.closed_loop import PERCENTILES, LoadRun, rounded
from inferstack.sizing.measurements import as_csv
from inferstack.source.whole_files import complete_or_absent
from inferstack.triton.measuring.statistics import Counted


def status(points: Iterable[Point]) -> int:
    """The exit status: 1 if nothing was answered."""
    return int(not any(point.run.answers for point in points))


def show_points(
    points: Sequence[Point],
    lines: Iterable[str],
    form: str,
    verdict_on: Callable[[Point], Mapping[str, Any] | None] = lambda _: None,
) -> None:
    """Prints what was found, and says on standard error what is doubtful about it."""
    if form == "json":
        found = [{**_fields(point), "verdict": verdict_on(point)} for point in points]
        print(json.dumps(found, indent=1), flush=True)
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
    latencies = (milliseconds(run.latencies.get(it, math.inf)) for it in PERCENTILES)
    failed = str(sum(run.errors.values()))
    return str(run.users), f"{run.per_minute:f}", *latencies, failed


def _counted(users: int, name: str, counted: Counted) -> tuple[str, ...]:
    times = (milliseconds(it) for it in (counted.queue_ms, counted.compute_ms))
    return str(users), name, *times, f"{counted.batch:.3g}", _sizes(counted.batches)


def _sizes(batches: Mapping[int, int]) -> str:
    """The two most frequent sizes, with their share."""
    total = sum(batches.values())
    usual = sorted(batches.items(), key=lambda it: -it[1])[:2]
    shares = [f"{size} ({count / total:.0%})".replace("%", " %") for size, count in sorted(usual)]
    return ", ".join([*shares, *(["…"] if len(batches) > len(usual) else [])])


def milliseconds(value: float) -> str:
    """A latency in a table."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return "-" if math.isinf(value) else f"{value:.{digits}f}"


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
    every = [it.measurement(instance_type, instances) for it in points if it.run.answers]
    measured = [it for it in every if not it.ended_badly]
    for it in every:
        for why in it.ended_badly:
            tell(printable(f"{it.configuration}, {it.users} users: left out of {file}: {why}"))
    if not measured:
        tell(f"{file}: not written: no run could be used")
        return
    with complete_or_absent(file) as out:
        out.write(as_csv(measured).encode())
    tell(f"{file}: {len(measured)} measurements for `inferstack size --measurements`")

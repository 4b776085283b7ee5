"""Traffic: requests per minute of each model, minute by minute, from a file.

| file | |
|---|---|
| CSV, a column for each model | `time,llama,mistral`, then a line for each time |
| CSV, a line for each model and time | `time,component,requests` (or `model`, or `name`) |
| JSON of `aws cloudwatch get-metric-data` | the label of each result is the name |
| JSON of `aws cloudwatch get-metric-statistics` | the name of the file is the name |

An export from CloudWatch has its period from the request; see :mod:`cloudwatch_export`. Otherwise, times are
`HH:MM`, minutes counted from 0, or dates with times. A CSV may have a line for each minute or for each hour:
what a line says applies until the next, and all are equally far apart.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import msgspec

from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import OTHER_TRAFFIC
from inferstack.problems.words import counted, did_you_mean, listed
from inferstack.sizing.cloudwatch_export import points_of_export
from inferstack.sizing.data_files import shown
from inferstack.sizing.traffic_points import FIX_OF_LENGTH, MINUTE, MINUTES_LONGEST, Period, Points
from inferstack.source.other_files import read_text

_WANTED = "a CSV file, or an export of CloudWatch's"
_TIMES = ("time", "minute")
_NAMES = ("component", "model", "name")
_REQUESTS = ("requests", "requests_per_minute")
_HEADER = "the first line must be like `time,MODEL,MODEL` or `time,component,requests`"


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """Requests per minute by name, all from the same minute on and equally long."""

    requests: Mapping[str, tuple[Decimal, ...]]
    start: datetime
    """The first minute, in UTC. Traffic without dates begins on a Monday."""
    is_dated: bool = False
    step: int = 1
    """Minutes that a number of the file is the average of."""
    is_sparse: bool = False
    """Whether times without a number had no requests, also before the first and after the last."""
    named_at: Mapping[str, FilePlace] = msgspec.field(default_factory=dict)
    """Where the file first names each."""

    @property
    def minutes(self) -> int:
        """How many minutes there are."""
        return len(next(iter(self.requests.values())))

    @property
    def period(self) -> Period:
        """The minutes that it covers."""
        return Period(self.start, self.minutes, self.is_dated)

    @property
    def totals(self) -> tuple[Decimal, ...]:
        """The requests of all names together, minute by minute."""
        return tuple(sum(it, Decimal(0)) for it in zip(*self.requests.values(), strict=True))

    @property
    def peak(self) -> Decimal:
        """The most requests of all names together in a minute."""
        return max(self.totals)

    @property
    def hidden(self) -> str | None:
        """What such traffic cannot show, in words; None for numbers of single minutes.

        Fewer lines than one an hour are a pattern that somebody wrote.
        """
        if self.step == 1 or (self.step > HOUR and not self.is_sparse):
            return None
        return f"each number of the traffic is for {self.step} minutes: a busier one among them is not seen"

    def shown(self, minute: int) -> str:
        """A minute, counted from 0, as a reader names it: with its day unless there is only one."""
        time = self.start + minute * MINUTE
        if self.is_dated:
            return f"{time:%Y-%m-%d %H:%M}"
        return f"{time:%H:%M}" if self.minutes <= DAY else f"{time:%a %H:%M}"


def read_traffic(path: Path, period: int | None = None) -> Traffic:
    """Reads a traffic file. ``period`` is that of an export which does not say it, in seconds.

    Raises:
        SpecError: with everything that is wrong with the file.
    """
    points = Points(path.as_posix())
    text = read_text(path, points.stop, wanted=_WANTED, if_large=FIX_OF_LENGTH)
    if is_export := text.lstrip()[:1] in ("{", "["):
        step = points_of_export(text, path.stem, points, period)
    else:
        step = _points_of_csv(text, points)
    if points.problems:
        raise SpecError(points.problems)
    return traffic_of(points, step, is_export=is_export)


def together(traffics: Sequence[Traffic]) -> Traffic:
    """Traffic of several files as one.

    Raises:
        SpecError: when two have the same name, or do not cover the same time.
    """
    points = Points("")
    traffics = _as_long(traffics, points)
    first = traffics[0]
    requests: dict[str, tuple[Decimal, ...]] = {}
    named_at: dict[str, FilePlace] = {}
    for it in traffics:
        for name, of_model in it.requests.items():
            points.file = it.named_at[name].file
            if name in requests:
                points.fault(1, f"{shown(name)} is in {named_at[name].file}, too", "keep one of them")
            if (it.start, it.minutes, it.is_dated) != (first.start, first.minutes, first.is_dated):
                message = f"this file covers {_period(it)}, but the first one {_period(first)}"
                points.fault(1, message, "let all files cover the same time")
            requests[name], named_at[name] = of_model, it.named_at[name]
    if points.problems:
        raise SpecError(points.problems)
    step = max(it.step for it in traffics)
    return msgspec.structs.replace(first, requests=requests, named_at=named_at, step=step)


def _as_long(traffics: Sequence[Traffic], points: Points) -> Sequence[Traffic]:
    """Exports as long as all traffic that has dates: outside of their points, there were no requests."""
    dated = [it for it in traffics if it.is_dated]
    if not any(it.is_sparse for it in dated):
        return traffics
    start, end = min(it.start for it in dated), max(it.start + it.minutes * MINUTE for it in dated)
    if (end - start) // MINUTE > MINUTES_LONGEST:
        points.file = next(iter(dated[-1].named_at.values())).file
        raise points.stop("the files cover more than 31 days together", FIX_OF_LENGTH)
    return [_padded(it, start, end) if it.is_sparse else it for it in traffics]


def _padded(traffic: Traffic, start: datetime, end: datetime) -> Traffic:
    before, whole = (traffic.start - start) // MINUTE, (end - start) // MINUTE
    nothing = (Decimal(0),)
    requests = {
        name: (*nothing * before, *it, *nothing * (whole - before - len(it)))
        for name, it in traffic.requests.items()
    }
    return msgspec.structs.replace(traffic, requests=requests, start=start)


HOUR, DAY = 60, 24 * 60
"""Minutes of an hour, and of a day."""


def repeated(traffic: Traffic, days: int) -> Traffic:
    """A day of traffic so many times, one day after the other.

    Raises:
        SpecError: when it is not a day.
    """
    if days > 1 and traffic.minutes != DAY:
        points = Points(next(iter(traffic.named_at.values())).file)
        message = f"the file covers {_period(traffic)}, and only a whole day can be repeated"
        raise points.stop(message, "give a day, or leave out `--days`")
    return msgspec.structs.replace(
        traffic, requests={name: it * days for name, it in traffic.requests.items()}
    )


def _period(traffic: Traffic) -> str:
    return f"{counted(traffic.minutes, 'minute')} from {traffic.shown(0)}"


def traffic_of(points: Points, step: int, *, is_export: bool) -> Traffic:
    """The traffic of some points: requests per minute, or in an export, sums over ``step`` minutes."""
    first, last = points.covered
    times = [first + at * step * MINUTE for at in range((last - first) // MINUTE // step + 1)]
    nothing, of_each = Decimal(0), step if is_export else 1
    return Traffic(
        requests={
            name: tuple(it for time in times for it in (of_name.get(time, nothing) / of_each,) * step)
            for name, of_name in points.by_name.items()
        },
        start=first,
        is_dated=points.form == "dates",
        step=step,
        is_sparse=is_export,
        named_at=points.named_at,
    )


# ---------------------------------------------------------------- CSV


def _points_of_csv(text: str, points: Points) -> int:
    """Adds the points of a CSV file; the result is the minutes from one to the next."""
    lines = points.lines_of_csv(text)
    _, names = next(lines)
    _check_header(names, points)
    is_long = len(names) == 3 and names[1].lower() in _NAMES and names[2].lower() in _REQUESTS
    if not is_long:
        first_line = text.partition("\n")[0]
        places = (FilePlace(points.file, 1, first_line.find(name) + 1) for name in names[1:])
        points.named_at.update(zip(names[1:], places, strict=True))
    for line, cells in lines:
        if is_long:
            _add_long(cells, line, points)
        else:
            _add_wide(names, cells, line, points)
    return _checked_step(points)


def _check_header(names: list[str], points: Points) -> None:
    if not names or names[0].lower() not in _TIMES:
        shown_name = shown(names[0]) if names and names[0] else "empty"
        raise points.stop(f"the first column is {shown_name}, not `time`", _HEADER)
    if len(names) == 1:
        raise points.stop("the file names no model", _HEADER)
    for name in sorted({it for it in names if names.count(it) > 1}):
        message = f"the column {shown(name)} occurs twice" if name else "columns without names"
        points.fault(1, message, _HEADER)
    if "" in names and names.count("") == 1:
        points.fault(1, "a column has no name", _HEADER)
    if points.problems:
        raise SpecError(points.problems)


def _add_wide(names: list[str], cells: list[str], line: int, points: Points) -> None:
    time = points.time(cells[0], line)
    if time in points.lines:
        message = f"{points.shown(time)} occurs twice, first on line {points.lines[time]}"
        points.fault(line, message, points.fix_of_twice)
        return
    for name, cell in zip(names[1:], cells[1:], strict=True):
        requests = points.number(name, cell, line)
        if time is not None and requests is not None:
            points.add(name, time, requests, line)


def _add_long(cells: Sequence[str], line: int, points: Points) -> None:
    at, name, amount = cells
    time, requests = points.time(at, line), points.number("requests", amount, line)
    if not name:
        points.fault(line, "the name is empty", "write the name of the component or model")
    elif time is not None and requests is not None:
        points.named_at.setdefault(name, FilePlace(points.file, line))
        points.add(name, time, requests, line)


def _checked_step(points: Points) -> int:
    if not points.lines:
        if not points.problems:
            points.fault(1, "the file has no line with requests", "write one for each minute or hour")
        raise SpecError(points.problems)
    step = points.step()
    points.check_length(step)
    if not points.problems:
        points.check_gaps(step)
    return step


# ---------------------------------------------------------------- names


def name_problems(traffic: Traffic, required: Collection[str], known: Collection[str]) -> Iterator[Problem]:
    """What is in the traffic but in no spec, and the other way round: both would count as no requests."""
    options = list(dict.fromkeys([*required, *known]))
    for name, place in traffic.named_at.items():
        if name not in options:
            fix = did_you_mean(name, options, f"the specs have {listed(options, last='and')}")
            yield Problem(place, f"no spec has {shown(name)}", fix, OTHER_TRAFFIC)
    file = next(iter(traffic.named_at.values())).file
    for name in required:
        if name not in traffic.requests:
            message, fix = f"the traffic of `{name}` is missing", "add it, with 0 if there are no requests"
            yield Problem(FilePlace(file), message, fix, OTHER_TRAFFIC)


def requests_by_base(
    traffic: Traffic, names: Collection[str], adapters: Mapping[str, str]
) -> dict[str, tuple[Decimal, ...]]:
    """The requests of some components, with those of the adapters on them."""
    found = {name: traffic.requests[name] for name in names}
    for adapter, base in adapters.items():
        if adapter in traffic.requests and base in found:
            pairs = zip(found[base], traffic.requests[adapter], strict=True)
            found[base] = tuple(own + more for own, more in pairs)
    return found

"""Points in time with their requests, as the readers of traffic files find them, and what is wrong."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Literal

import msgspec

from inferstack.problems import FilePlace
from inferstack.problems.file_codes import UNREADABLE_TRAFFIC
from inferstack.sizing.data_files import DataFile, shown

UNDATED = datetime(2024, 1, 1, tzinfo=UTC)
"""Where traffic without dates begins: a Monday, at midnight."""
MINUTE = timedelta(minutes=1)

# More than any endpoint gets: beyond it, a number is a mistake.
_MOST_REQUESTS = Decimal(1_000_000_000)
MINUTES_LONGEST = 31 * 24 * 60
"""The longest traffic that is simulated minute by minute."""
FIX_OF_LENGTH = "take a day or a week that is typical"
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_FIX_OF_TIME = "write `HH:MM`, a number of minutes, or a time such as `2026-11-23T08:00:00Z`"

Form = Literal["minutes", "clock", "dates"]


class Period(msgspec.Struct, frozen=True):
    """The minutes of traffic. Without dates, those of actions are not compared with it."""

    start: datetime
    minutes: int
    is_dated: bool = False


class Points(DataFile):
    """The points of one file by name and time, and what is wrong with the file so far."""

    code = UNREADABLE_TRAFFIC
    usual_fix = "name a CSV file, or an export of CloudWatch's"
    fix_of_length = "write every value, with 0 if there were no requests"

    by_name: dict[str, dict[datetime, Decimal]] = msgspec.field(default_factory=dict)
    lines: dict[datetime, int] = msgspec.field(default_factory=dict)
    """The line of the first point at each time."""
    named_at: dict[str, FilePlace] = msgspec.field(default_factory=dict)
    form: Form | None = None
    window: tuple[datetime, datetime] | None = None
    """The first minute that was asked for, and the one after the last; None if the file does not say it."""
    _numbers: dict[str, Decimal] = msgspec.field(default_factory=dict)

    # ------------------------------------------------------------ values

    def time(self, text: str, line: int) -> datetime | None:
        """A point in time, in any of the three forms, but the same in the whole file."""
        found = _time(text)
        if found is None:
            self.fault(line, f"the time is {shown(text)}", _FIX_OF_TIME)
            return None
        form, time = found
        if self.form not in (None, form):
            self.fault(
                line, f"{shown(text)} is in another form than the times above", "write all in one form"
            )
            return None
        if time.second or time.microsecond:
            self.fault(line, f"{shown(text)} is not at a full minute", "count the requests of whole minutes")
            return None
        self.form = form
        return time

    def number(self, name: str, text: str, line: int) -> Decimal | None:
        """A number of requests."""
        known = self._numbers.get(text)
        if known is not None:
            return known
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or not 0 <= number <= _MOST_REQUESTS:
            fix = f"write requests per minute: a number from 0 to {_MOST_REQUESTS:,}"
            self.fault(line, f"{shown(name)} is {shown(text)}", fix)
            return None
        # The same few numbers occur again and again in a large file.
        self._numbers[text] = number
        return number

    def add(self, name: str, time: datetime, requests: Decimal, line: int) -> None:
        """Adds a point, unless there is one for the same name and time."""
        points = self.by_name.setdefault(name, {})
        if time in points:
            message = f"{shown(name)} has {self.shown(time)} twice, first on line {self.lines[time]}"
            self.fault(line, message, self.fix_of_twice)
            return
        points[time] = requests
        self.lines.setdefault(time, line)

    @property
    def fix_of_twice(self) -> str:
        """What to do about a time that occurs again."""
        fix = "keep one of them, or their sum"
        return f"{fix}; or write the offset, if the clock was put back" if self.form == "dates" else fix

    def shown(self, time: datetime) -> str:
        """A time in the form of the file."""
        match self.form:
            case "minutes":
                return f"minute {(time - UNDATED) // MINUTE}"
            case "clock":
                return f"{time:%H:%M}"
            case _:
                return f"{time:%Y-%m-%d %H:%M}"

    # ------------------------------------------------------------ steps

    @property
    def covered(self) -> tuple[datetime, datetime]:
        """The window, or without one the times of the first and of the last point."""
        return (min(self.lines), max(self.lines)) if self.window is None else self.window

    def step(self) -> int:
        """Minutes from each point to the next: the smallest distance, or a day if there is only one."""
        times = sorted(self.lines)
        if len(times) == 1:
            return 24 * 60
        return min((later - time) // MINUTE for time, later in pairwise(times))

    def check_length(self, step: int) -> None:
        """Notes a file that covers more than a month: the simulation is minute by minute."""
        first, last = self.covered
        if (last - first) // MINUTE + step > MINUTES_LONGEST:
            message = f"the file covers more than 31 days, from {self.shown(first)} to {self.shown(last)}"
            self.fault(self.lines.get(last, 1), message, FIX_OF_LENGTH)

    def check_gaps(self, step: int) -> None:
        """Notes times, and times of single names, that are missing."""
        apart = f"{step} minute{'s' if step > 1 else ''} apart"
        times = sorted(self.lines)
        for time, later in pairwise(times):
            if later - time != step * MINUTE:
                between = f"nothing between {self.shown(time)} and {self.shown(later)}"
                fix = "write each time, with 0 if there were no requests"
                if self.form == "dates":
                    fix += "; a time without offset is UTC, which has no summer time"
                self.fault(self.lines[later], f"{between}, though other times are {apart}", fix)
        for name, points in self.by_name.items():
            missing = [it for it in times if it not in points]
            if missing:
                more = f" and {len(missing) - 1} more times" if len(missing) > 1 else ""
                message = f"{shown(name)} has nothing at {self.shown(missing[0])}{more}"
                self.fault(self.named_at[name].line, message, "write 0 where there were no requests")


def _time(text: str) -> tuple[Form, datetime] | None:
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        return "clock", UNDATED.replace(hour=int(clock[1]), minute=int(clock[2]))
    if re.fullmatch("[0-9]{1,6}", text):
        return "minutes", UNDATED + int(text) * MINUTE
    try:
        time = datetime.fromisoformat(text)
        return "dates", time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None

"""Scheduled actions as minutes: when `cron(…)`, `rate(…)` and `at(…)` change the limits of scaling.

https://docs.aws.amazon.com/autoscaling/application/userguide/scheduled-scaling-using-cron-expressions.html
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from inferstack.format.autoscaling import ScheduledAction
from inferstack.sizing.sharing.scaling import Limits
from inferstack.sizing.traffic_points import MINUTE, Period

_BEFORE = 7 * 24 * 60
"""Minutes before the first for which actions are looked for: the last of them has set the first limits."""
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_UNITS = {"minute": 1, "hour": 60, "day": 24 * 60}
_RATE = re.compile(r"rate\(\s*([0-9]{1,6})\s+(minute|hour|day)s?\s*\)")
_AT = re.compile(r"at\(\s*([0-9T:\-]+)\s*\)")
_CRON = re.compile(r"cron\((.*)\)")


class NotUnderstoodError(ValueError):
    """A schedule in words of cron's that are not simulated, such as `L` for the last day of a month."""


class _CronField(msgspec.Struct, frozen=True):
    low: int
    high: int
    names: tuple[str, ...] = ()

    def values(self, text: str) -> frozenset[int]:
        """The values that a field of cron's stands for."""
        return frozenset(value for part in text.split(",") for value in self._of(part))

    def _of(self, part: str) -> range:
        whole, _, step = part.partition("/")
        first, _, last = whole.partition("-")
        every = self._number(step, 1) if step else 1
        if whole in ("*", "?"):
            return range(self.low, self.high + 1, every)
        begin = self._number(first, self.low)
        end = self._number(last, self.low) if last else self.high if step else begin
        if every < 1 or not self.low <= begin <= end <= self.high:
            raise NotUnderstoodError(part)
        return range(begin, end + 1, every)

    def _number(self, text: str, first: int) -> int:
        if text.upper() in self.names:
            return self.names.index(text.upper()) + first
        if not text.isascii() or not text.isdigit():
            raise NotUnderstoodError(text)
        return int(text)


_FIELDS = (
    _CronField(0, 59),
    _CronField(0, 23),
    _CronField(1, 31),
    _CronField(1, 12, _MONTHS),
    _CronField(1, 7, _DAYS),
    _CronField(1970, 2199),
)


def limits_over(
    actions: Sequence[ScheduledAction], limits: Limits, period: Period
) -> tuple[Limits, Mapping[int, Limits]]:
    """The limits of the first minute, and those that actions set later.

    Raises:
        NotUnderstoodError: for a schedule that is not simulated.
    """
    events = sorted(
        ((minute, action) for action in actions for minute in _minutes_of(action, period)),
        key=lambda it: it[0],
    )
    changes: dict[int, Limits] = {}
    first = limits
    for minute, action in events:
        limits = _changed(limits, action)
        if minute <= 0:
            first = limits
        else:
            changes[minute] = limits
    return first, changes


def _changed(limits: Limits, action: ScheduledAction) -> Limits:
    new = action.scalable_target_action
    low = limits.low if new.min_capacity is None else new.min_capacity
    return Limits(low, limits.high if new.max_capacity is None else new.max_capacity)


def _minutes_of(action: ScheduledAction, period: Period) -> Iterator[int]:
    """Minutes from the first one of the traffic, negative before it, at which an action applies."""
    schedule = action.schedule.strip()
    if rate := _RATE.fullmatch(schedule):
        yield from range(0, period.minutes, max(1, int(rate[1]) * _UNITS[rate[2]]))
    elif at := _AT.fullmatch(schedule):
        if not period.is_dated:
            raise NotUnderstoodError("a date, for traffic without dates")
        yield (_instant(at[1], _zone(action)) - period.start) // MINUTE
    elif cron := _CRON.fullmatch(schedule):
        yield from _of_cron(cron[1].split(), action, period)
    else:
        raise NotUnderstoodError(schedule)


def _of_cron(fields: Sequence[str], action: ScheduledAction, period: Period) -> Iterator[int]:
    if len(fields) != len(_FIELDS):
        raise NotUnderstoodError(" ".join(fields))
    minutes, hours, days, months, weekdays, years = (
        field.values(text) for field, text in zip(_FIELDS, fields, strict=True)
    )
    zone = _zone(action)
    for day in _days(period, zone):
        weekday = day.isoweekday() % 7 + 1
        if day.day in days and day.month in months and weekday in weekdays and day.year in years:
            for hour in sorted(hours):
                for minute in sorted(minutes):
                    time = day.replace(hour=hour, minute=minute).astimezone(UTC)
                    from_start = (time - period.start) // MINUTE
                    if -_BEFORE <= from_start < period.minutes and _is_between(time, action, period):
                        yield from_start


def _days(period: Period, zone: tzinfo) -> Iterator[datetime]:
    first = (period.start - _BEFORE * MINUTE).astimezone(zone).replace(hour=0, minute=0)
    for number in range((_BEFORE + period.minutes) // (24 * 60) + 3):
        yield first + timedelta(days=number)


def _is_between(time: datetime, action: ScheduledAction, period: Period) -> bool:
    if not period.is_dated:
        return True
    starts = action.start_time is None or _instant(action.start_time, UTC) <= time
    return starts and (action.end_time is None or time <= _instant(action.end_time, UTC))


def _instant(text: str, zone: tzinfo) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise NotUnderstoodError(text) from None
    return (time.replace(tzinfo=zone) if time.tzinfo is None else time).astimezone(UTC)


def _zone(action: ScheduledAction) -> tzinfo:
    if action.timezone is None:
        return UTC
    try:
        return ZoneInfo(action.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise NotUnderstoodError(action.timezone) from None

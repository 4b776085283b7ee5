"""Capacity that changes by the clock.

Cron expressions of AWS have six fields:
https://docs.aws.amazon.com/autoscaling/application/userguide/scheduled-scaling-using-cron-expressions.html
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from inferstack.catalog.metrics import INSTANCE_COUNT
from inferstack.check.rules.base import AWS, error, warning
from inferstack.facts.scaling import Scaled, scaled_parts
from inferstack.facts.walk import is_async
from inferstack.format.autoscaling import ScheduledAction
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque

_SCHEDULE = f"{AWS}/autoscaling/application/userguide/scheduled-scaling-using-cron-expressions.html"
_ACTION = f"{AWS}/autoscaling/application/APIReference/API_PutScheduledAction.html"
_LIMITS = f"{AWS}/autoscaling/application/userguide/scheduled-scaling-policy-overview.html"

# ---------------------------------------------------------------- cron expressions


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_STEP = r"(.+)/0*[1-9][0-9]{0,3}"


class _Field(msgspec.Struct, frozen=True):
    """``special`` are forms for days that move, such as the last one of a month."""

    what: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    special: str = "(?!)"


_FIELDS = (
    _Field("minutes", 0, 59),
    _Field("hours", 0, 23),
    _Field("days of the month", 1, 31, special=r"L(-[0-9]{1,2})?|LW|(0?[1-9]|[12][0-9]|3[01])W"),
    _Field("months", 1, 12, _MONTHS),
    _Field("days of the week", 1, 7, _DAYS, special=rf"L|([1-7]|{'|'.join(_DAYS)})(L|#[1-5])"),
    _Field("years", 1970, 2199),
)
_DAY_OF_MONTH, _DAY_OF_WEEK = 2, 4


def cron_problems(fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the six fields, and how to fix it."""
    days = (fields[_DAY_OF_MONTH], fields[_DAY_OF_WEEK])
    if days.count("?") != 1:
        message = f"`{days[0]}` and `{days[1]}` do not say whether days of the month or of the week count"
        yield message, "write `?` for exactly one of the two: the third or the fifth field"
    for index, (field, text) in enumerate(zip(_FIELDS, fields, strict=True)):
        may_be_open = index in (_DAY_OF_MONTH, _DAY_OF_WEEK) and text == "?"
        if not may_be_open and not all(_fits(field, part.upper()) for part in text.split(",")):
            names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
            message = f"`{text[:60]}` is not a valid value for {field.what}"
            yield (
                message,
                f"allowed: {field.least} to {field.most}{names}, `*`, and `-`, `,` or `/` between them",
            )


def _fits(field: _Field, part: str) -> bool:
    if re.fullmatch(field.special, part):
        return True
    step = re.fullmatch(_STEP, part)
    base = part if step is None else step[1]
    ends = base.split("-")
    return base == "*" or (len(ends) <= 2 and all(_is_value(field, end) for end in ends))


def _is_value(field: _Field, text: str) -> bool:
    if text in field.names:
        return True
    return re.fullmatch(r"[0-9]{1,4}", text) is not None and field.least <= int(text) <= field.most


# ---------------------------------------------------------------- scheduled actions


_FORM = r"cron\((\S+ +){5}\S+\)|rate\([1-9]\d* +(minute|hour|day)s?\)|at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)"
_INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?"


def _actions(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, ScheduledAction]]:
    for scaled in scaled_parts(spec):
        for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
            yield (*scaled.path, "scheduled_actions", index), scaled, action


def _instant(text: str) -> datetime | None:
    """The point in time that a text names, in UTC unless it says otherwise; None if there is none."""
    try:
        found = datetime.fromisoformat(text) if re.fullmatch(_INSTANT, text) else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo is not None else found.replace(tzinfo=UTC)


@error("IS540", _SCHEDULE)
def schedule_has_a_form(spec: ModelSpec) -> Iterator[Problem]:
    """A schedule must be `cron(…)`, `rate(…)` or `at(…)`.

    AWS's cron expressions have six fields, and the instant of `at` must exist.
    """
    for path, _, action in _actions(spec):
        text = action.schedule
        once = text.removeprefix("at(").removesuffix(")")
        fits = re.fullmatch(_FORM, text) and (not text.startswith("at(") or _instant(once))
        if not is_opaque(text) and not fits:
            fix = "write cron(0 8 ? * MON-FRI *), rate(1 day) or at(2026-12-24T08:00:00)"
            yield Problem((*path, "schedule"), f'"{text[:60]}" is not a valid schedule', fix)


@error("IS541", _ACTION)
def actions_have_names(spec: ModelSpec) -> Iterator[Problem]:
    """Scheduled actions of one target must have different names.

    An action replaces another one of the same name.
    """
    for scaled in scaled_parts(spec):
        seen: set[str] = set()
        for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
            if action.scheduled_action_name in seen:
                where = (*scaled.path, "scheduled_actions", index, "scheduled_action_name")
                message = f"the name `{action.scheduled_action_name}` is already used"
                yield Problem(where, message, "rename one of them")
            seen.add(action.scheduled_action_name)


@error("IS542", _ACTION)
def actions_set_limits(spec: ModelSpec) -> Iterator[Problem]:
    """A scheduled action must set at least one limit, and its limits must fit together.

    Nor may a limit be below what can run: one instance, or none where scaling goes down to 0.
    """
    for path, scaled, action in _actions(spec):
        least = 1 if scaled.dimension == INSTANCE_COUNT and not is_async(spec) else 0
        low, high = action.scalable_target_action.min_capacity, action.scalable_target_action.max_capacity
        where = (*path, "scalable_target_action")
        if low is None and high is None:
            message = "the action has no effect without limits"
            yield Problem(where, message, "add `min_capacity`, `max_capacity` or both")
        elif low is not None and high is not None and low > high:
            message = f"`min_capacity` is {low}, above the `max_capacity` of {high}"
            yield Problem(where, message, f"write at most {high}")
        elif low is not None and low < least:
            yield Problem((*where, "min_capacity"), f"`min_capacity` is {low}", f"write {least} or more")


@error("IS543", _ACTION)
def actions_have_times(spec: ModelSpec) -> Iterator[Problem]:
    """The times of a scheduled action must be valid, with the start before the end."""
    for path, _, action in _actions(spec):
        for key, text in (("start_time", action.start_time), ("end_time", action.end_time)):
            if text is not None and not is_opaque(text) and _instant(text) is None:
                message = f'"{text[:60]}" is not a valid time'
                yield Problem((*path, key), message, "write 2026-12-01T00:00:00Z")
        start = None if action.start_time is None else _instant(action.start_time)
        end = None if action.end_time is None else _instant(action.end_time)
        if start is not None and end is not None and start >= end:
            yield Problem((*path, "end_time"), "the action ends before it begins", "write a later `end_time`")


@warning("IS544", _SCHEDULE)
def time_zone_is_known(spec: ModelSpec) -> Iterator[Problem]:
    """The time zone of a schedule should be one that exists.

    Checked against this machine's database; if it has none, nothing is reported.
    """
    for path, _, action in _actions(spec):
        zone = action.timezone
        if zone is not None and not is_opaque(zone) and _is_zone("UTC") and not _is_zone(zone):
            fix = "write a name such as Europe/Berlin or America/New_York"
            yield Problem((*path, "timezone"), f'there is no time zone "{zone[:60]}"', fix)


def _is_zone(name: str) -> bool:
    # Few specs name a time zone, and all others start faster without this module.
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


@error("IS545", _SCHEDULE)
def cron_fields_are_possible(spec: ModelSpec) -> Iterator[Problem]:
    """The fields of a cron expression must have valid values.

    Minute 60, for example, never comes.
    """
    for path, _, action in _actions(spec):
        text = action.schedule
        if not is_opaque(text) and text.startswith("cron(") and re.fullmatch(_FORM, text):
            for message, fix in cron_problems(text[5:-1].split()):
                yield Problem((*path, "schedule"), message, fix)


@error("IS546", _LIMITS)
def limits_fit_the_target(spec: ModelSpec) -> Iterator[Problem]:
    """The limits of a scheduled action must fit those of its target.

    A limit that an action leaves out stays as the target or another action set it.
    """
    for scaled in scaled_parts(spec):
        mosts, leasts = list(_limits(scaled, "max_capacity")), list(_limits(scaled, "min_capacity"))
        if not any(map(is_opaque, (*mosts, *leasts))):
            yield from _beyond(scaled, max(mosts), min(leasts))


def _beyond(scaled: Scaled, most: int, least: int) -> Iterator[Problem]:
    """Limits that never fit: ``most`` and ``least`` are the extreme values that limits ever take."""
    for index, action in enumerate(scaled.scaling.scheduled_actions or ()):
        low, high = action.scalable_target_action.min_capacity, action.scalable_target_action.max_capacity
        where = (*scaled.path, "scheduled_actions", index, "scalable_target_action")
        if high is None and low is not None and low > most:
            message = f"`min_capacity` is {low}, but `max_capacity` is never above {most}"
            yield Problem((*where, "min_capacity"), message, f"write at most {most}, or add `max_capacity`")
        if low is None and high is not None and high < least:
            message = f"`max_capacity` is {high}, but `min_capacity` is never below {least}"
            yield Problem((*where, "max_capacity"), message, f"write {least} or more, or add `min_capacity`")


def _limits(scaled: Scaled, key: str) -> Iterator[int]:
    """Every value that a limit ever takes."""
    yield getattr(scaled.scaling, key)
    for action in scaled.scaling.scheduled_actions or ():
        limit = getattr(action.scalable_target_action, key)
        if limit is not None:
            yield limit

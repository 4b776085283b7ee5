"""The six fields of AWS's cron expressions, and what each may contain.

https://docs.aws.amazon.com/autoscaling/application/userguide/scheduled-scaling-using-cron-expressions.html
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

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

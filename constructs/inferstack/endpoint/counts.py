"""How many of something there are: instances, copies or concurrent requests, as few and as many as scaling
allows.

A number that only the deployment knows is None. It never counts as zero, and what is added to it is unknown,
too.
"""

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

Level = Literal["min", "start", "max"]
LEVELS: tuple[Level, ...] = get_args(Level)
UNKNOWN = "?"
"""How an unknown number is shown."""


class Counts(msgspec.Struct, frozen=True):
    """How many there are: the fewest and the most that scaling allows, and the number at the start. A number
    is absent if only the deployment knows it.
    """

    min: int | None
    """The minimum that scaling allows."""
    start: int | None
    """The number at the start."""
    max: int | None
    """The maximum that scaling allows."""

    @classmethod
    def fixed(cls, count: int | None) -> "Counts":
        """The same number at all times."""
        return cls(count, count, count)

    def at(self, level: Level) -> int | None:
        """The number at a level."""
        count: int | None = getattr(self, level)
        return count

    @property
    def is_known(self) -> bool:
        """Whether all three numbers are known."""
        return None not in (self.min, self.start, self.max)

    def __str__(self) -> str:
        shown = [UNKNOWN if count is None else str(count) for count in (self.min, self.start, self.max)]
        return shown[0] if len(set(shown)) == 1 else "-".join(shown)


NONE = Counts.fixed(0)


def total(counts: Iterable[Counts]) -> Counts:
    """The sum, level by level."""
    rows = [*counts]
    return Counts(*(added(row.at(level) for row in rows) for level in LEVELS))


def added(numbers: Iterable[int | None]) -> int | None:
    """The sum of numbers; unknown if one of them is."""
    known = [*numbers]
    return None if None in known else sum(number for number in known if number is not None)


def least(numbers: Iterable[int | None]) -> int | None:
    """The smallest number; unknown if one of them is, and without any."""
    known = [*numbers]
    return None if None in known or not known else min(number for number in known if number is not None)


def most(numbers: Iterable[int | None]) -> int | None:
    """The largest number; unknown if one of them is, and without any."""
    known = [*numbers]
    return None if None in known or not known else max(number for number in known if number is not None)


def counted(counts: Counts, one: str, many: str) -> str:
    """How many there are: `2 instances`, `2 to 8 instances`, or `0 to 8 instances (2 at the start)`."""
    if counts == Counts.fixed(None):
        return f"an unknown number of {many}"
    low, start, high = (
        UNKNOWN if count is None else str(count) for count in (counts.min, counts.start, counts.max)
    )
    if low == high:
        return f"{high} {one if counts.max == 1 else many}"
    return f"{low} to {high} {many}" + ("" if start == low else f" ({start} at the start)")


def between(low: int | None, high: int | None, unit: str) -> str:
    """The limits of scaling in words: `2 to 8 instances`, or `always 2 instances`."""
    first, last = (UNKNOWN if count is None else str(count) for count in (low, high))
    return f"always {first} {unit}" if first == last and low is not None else f"{first} to {last} {unit}"

"""Bars and rows of squares: how many instances a fleet has, and what an endpoint costs."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from typing import get_args

import msgspec

from inferstack.cli.review.html.boxes import named
from inferstack.endpoint.cost import Cost
from inferstack.endpoint.counts import Level
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.quota import CONCURRENCY
from inferstack.review import Quota, Reviewed
from inferstack.review.sums import while_updating

# ---------------------------------------------------------------- instances in a row

_IN_A_ROW = 18
_MOST_SQUARES = 108
_STEP = 15


class Square(msgspec.Struct, frozen=True):
    """One instance, or some of them."""

    x: int
    y: int
    what: str
    """`always`, `start`, `most` or `update`."""


class SquareRow(msgspec.Struct, frozen=True):
    """The instances of a fleet: those that are always there, those that may come, and those of an update."""

    squares: tuple[Square, ...]
    each: int
    """As many instances are a square."""
    width: int
    height: int


def row(fleet: Fleet, update: int | None) -> SquareRow | None:
    """The instances of a fleet as squares; None without instances, or if their number is not known."""
    counts = fleet.instances
    if counts is None or counts.min is None or counts.start is None or counts.max is None or update is None:
        return None
    if counts.max + update == 0:
        return None
    each = -(-(counts.max + update) // _MOST_SQUARES)
    kinds = {
        "always": counts.min,
        "start": counts.start - counts.min,
        "most": counts.max - max(counts.start, counts.min),
        "update": update,
    }
    whats = [what for what, many in kinds.items() for _ in range(-(-many // each))]
    squares = tuple(
        Square(index % _IN_A_ROW * _STEP, index // _IN_A_ROW * _STEP, what)
        for index, what in enumerate(whats)
    )
    across, down = min(len(whats), _IN_A_ROW), -(-len(whats) // _IN_A_ROW)
    return SquareRow(squares, each, across * _STEP, down * _STEP)


_LEGEND = {
    "always": "always there",
    "start": "there at the start",
    "most": "added when needed",
    "update": "beside the others while updating",
}


def legend(every: Sequence[Reviewed]) -> list[tuple[str, str]]:
    """What the squares stand for that are drawn: each kind, and what it means."""
    ends = [(it, it.before if it.after is None else it.after) for it in every]
    rows = [
        row(fleet, while_updating(it, fleet)) for it, end in ends if end is not None for fleet in end.fleets
    ]
    drawn = {square.what for it in rows if it is not None for square in it.squares}
    return [(what, said) for what, said in _LEGEND.items() if what in drawn]


def fleet_before(reviewed: Reviewed, fleet: Fleet) -> Fleet | None:
    """What a fleet was, if its instances were others."""
    if reviewed.before is None or reviewed.after is None:
        return None
    found = next((it for it in reviewed.before.fleets if it.name == fleet.name), None)
    if found is None or (found.instances, found.instance_types) == (fleet.instances, fleet.instance_types):
        return None
    return found


# ---------------------------------------------------------------- amounts as bars


INSTANCES = "instances"


class Amounts(msgspec.Struct, frozen=True):
    """What is paid, or counted where prices are not known, at each level."""

    unit: str
    """The currency, or :data:`INSTANCES`."""
    min: Decimal | int
    start: Decimal | int
    max: Decimal | int

    @property
    def is_constant(self) -> bool:
        """Whether it is the same at all levels."""
        return self.min == self.start == self.max


def amounts(cost: Cost | None) -> Amounts | None:
    """An hour's cost, or its instance hours."""
    if cost is None:
        return None
    money, counts = cost.per_hour, cost.instance_hours
    if money is None:
        if counts.min is None or counts.start is None or counts.max is None:
            return None
        return Amounts(INSTANCES, counts.min, counts.start, counts.max)
    return Amounts(cost.currency or "", money.min, money.start, money.max)


def instances(quota: Quota, amount: int | None) -> int:
    """What to draw of a quota: instances, as far as their number is known."""
    return 0 if amount is None or quota.name == CONCURRENCY else amount


def largest_first(quotas: Sequence[Quota]) -> list[Quota]:
    """The quotas, those that take most first: unknown numbers, then instances, then concurrency."""
    return sorted(
        quotas, key=lambda it: (it.while_updating is not None, -instances(it, it.while_updating), it.name)
    )


def most_needed(quotas: Sequence[Quota]) -> int:
    """The most instances that a quota has to allow: all bars are drawn on one scale."""
    return max((instances(it, it.while_updating) for it in quotas), default=0)


def scaled(amount: Decimal | int, most: Decimal | int, width: int) -> float:
    """The length of a bar; what is not zero can be seen."""
    return max(round(float(amount / most) * width, 1), 1.0) if amount and most else 0.0


def single(found: Amounts, level: Level) -> Amounts:
    """The amount at one level, as a bar of its own."""
    amount = getattr(found, level)
    return Amounts(found.unit, amount, amount, amount)


def levels_of(*found: Amounts | None) -> list[tuple[str, Level]]:
    """The levels to show: one if all amounts are the same at all of them."""
    levels: Sequence[Level] = get_args(Level)
    grouped = groupby(levels, key=lambda level: [it and getattr(it, level) for it in found])
    return [(named(those), those[-1]) for those in (list(group) for _, group in grouped)]

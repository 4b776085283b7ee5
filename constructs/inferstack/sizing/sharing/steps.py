"""Step policies: an alarm on requests, and how capacity changes when it goes off.

https://docs.aws.amazon.com/autoscaling/application/userguide/step-scaling-policy-overview.html
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Literal

import msgspec

REACTION = 2
"""Minutes from the last data point until capacity changes: the upper of AWS's "1-2 minutes"."""

Counted = Literal["per copy", "requests", "refused"]
"""What follows from traffic: requests by copy, all requests, and those that no copy was there for."""

_Compared = Callable[[Decimal, Decimal], bool]
_OPERATORS: Mapping[str, _Compared] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanOrEqualToThreshold": operator.le,
    "LessThanThreshold": operator.lt,
}
OPERATORS = frozenset(_OPERATORS)
"""How data points can be compared with a threshold here."""


class Adjustment(msgspec.Struct, frozen=True):
    """By how much capacity changes, for a metric within these distances from the threshold."""

    amount: int
    low: Decimal | None = None
    high: Decimal | None = None

    def applies(self, distance: Decimal) -> bool:
        """Whether it is for this distance. The bound nearer to the threshold belongs to it."""
        if distance >= 0:
            return (self.low is None or self.low <= distance) and (self.high is None or distance < self.high)
        return (self.low is None or self.low < distance) and (self.high is None or distance <= self.high)


class StepEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """How many data points an alarm looks at, and how many must breach its threshold."""

    period: int = 1
    """Minutes of a data point."""
    periods: int = 1
    to_alarm: int = 1
    missing_breaches: bool = False


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A step policy with its alarm; times are in minutes."""

    quantity: Counted
    statistic: Literal["Sum", "Maximum"]
    threshold: Decimal
    operator: str
    adjustment_type: str
    adjustments: tuple[Adjustment, ...]
    evaluation: StepEvaluation = StepEvaluation()
    cooldown: int = 5
    least_change: int = 1

    @property
    def memory(self) -> int:
        """How many minutes back what happened still counts."""
        return self.evaluation.period * self.evaluation.periods + self.cooldown

    def capacity(self, value: Decimal, current: int) -> int | None:
        """The capacity for a value of the metric; None if no step is for it."""
        distance = value - self.threshold
        amount = next((it.amount for it in self.adjustments if it.applies(distance)), None)
        if amount is None:
            return None
        match self.adjustment_type:
            case "ExactCapacity":
                return amount
            case "PercentChangeInCapacity":
                return current + self._percent(amount, current)
            case _:
                return current + amount

    def _percent(self, amount: int, current: int) -> int:
        """A share of the capacity: rounded towards 0, but never to less than the least change."""
        change = abs(amount) * current // 100
        return max(change, self.least_change) * (1 if amount > 0 else -1)


class Seen:
    """The data points of all minutes so far; None where a metric has no data."""

    def __init__(self) -> None:
        self._values: dict[Counted, list[Decimal | None]] = {"per copy": [], "requests": [], "refused": []}

    def add(self, asked: Decimal, serving: int) -> None:
        """Adds a minute."""
        self._values["requests"].append(asked)
        self._values["per copy"].append(asked / serving if serving else None)
        refused = asked.to_integral_value(ROUND_CEILING)
        self._values["refused"].append(refused if asked and not serving else None)

    def repeat(self, minutes: int) -> None:
        """Adds minutes that are like the last one."""
        for values in self._values.values():
            values.extend(values[-1:] * minutes)

    def periods(self, step: Step) -> list[Decimal | None]:
        """The last data points that an alarm looks at, the latest last."""
        values, period = self._values[step.quantity], step.evaluation.period
        starts = range(len(values) - period * step.evaluation.periods, len(values), period)
        return [_point(step, values[at : at + period]) for at in starts if at >= 0]


def _point(step: Step, values: Sequence[Decimal | None]) -> Decimal | None:
    """A data point: the sum of its minutes. Each refused request is sent as a 1, so the largest is 1."""
    found = [it for it in values if it is not None]
    if not found:
        return None
    return Decimal(1) if step.statistic == "Maximum" else sum(found, Decimal(0))


class StepState:
    """A step policy while time goes by: its cooldown, and what it has changed last."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._free_from = 0
        self._before = 0
        self.alarmed_at = -1
        """The last minute at the end of which its alarm was on."""

    def wanted(self, seen: Seen, minute: int, current: int) -> int | None:
        """The capacity that it asks for at the end of a minute; None while its alarm is off.

        During the cooldown after an addition, a larger one still comes, less what was added.
        """
        value = self._alarming(seen, minute)
        if value is None:
            return None
        self.alarmed_at = minute
        cooling = minute < self._free_from
        wanted = self._step.capacity(value, self._before if cooling else current)
        if wanted is None or wanted == current or (cooling and wanted < current):
            return None
        if not cooling:
            self._before = current
            self._free_from = minute + REACTION + self._step.cooldown
        return wanted

    def _alarming(self, seen: Seen, minute: int) -> Decimal | None:
        """The latest value, if the alarm is on."""
        step = self._step
        if (minute + 1) % step.evaluation.period:
            return None
        points = seen.periods(step)
        compare = _OPERATORS[step.operator]
        breaching = [
            step.evaluation.missing_breaches if it is None else compare(it, step.threshold) for it in points
        ]
        if sum(breaching) < step.evaluation.to_alarm:
            return None
        return next((it for it in reversed(points) if it is not None), step.threshold)

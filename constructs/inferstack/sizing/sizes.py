"""How many instances of which type, from measurements: counted, priced and ranked.

    N = ceil(demand / (safety factor x requests per minute per instance))
    target_value = floor(safety factor x requests per minute per instance)

The safety factor is that of AWS's formula for a scaling target: the share of what an instance can do that is
planned for. https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-loadtest.html
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.endpoint.cost import HOURS_A_MONTH, Prices
from inferstack.format.objective import Objective
from inferstack.sizing.measurements import Measurement

RISES = Decimal("1.05")
"""From this on, a rate is clearly higher than another; two runs of the same load differ by less."""
_MINUTES_AN_HOUR = 60


class PercentileLimit(msgspec.Struct, frozen=True):
    """A latency that requests may have at most, at a percentile such as 95."""

    percentile: Decimal
    milliseconds: Decimal


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint must do: requests per minute at its busiest and quietest, and how fast."""

    peak: Decimal
    lowest: Decimal | None = None
    latency_limit: PercentileLimit | None = None
    safety_factor: Decimal = Decimal(1)
    spare_instances: int = 0
    budget_per_hour: Decimal | None = None


def demand_of(objective: Objective, weight: Decimal = Decimal(1), weights: Decimal = Decimal(1)) -> Demand:
    """What an objective asks for, in exact numbers: of everything that gets requests, or of what has this
    ``weight`` out of all ``weights``. Its file of traffic has been read.
    """
    limit, lowest, budget = objective.latency, objective.lowest_requests_per_minute, objective.budget_per_hour
    if objective.requests_per_minute is None:
        raise ValueError("the file of traffic has not been read")
    return Demand(
        peak=_exact(objective.requests_per_minute) * weight / weights,
        lowest=None if lowest is None else _exact(lowest) * weight / weights,
        latency_limit=None
        if limit is None
        else PercentileLimit(
            Decimal(limit.percentile.removeprefix("P")), _exact(limit.value_in_milliseconds)
        ),
        safety_factor=_exact(objective.safety_factor),
        spare_instances=objective.spare_instances,
        budget_per_hour=None if budget is None else _exact(budget),
    )


def _exact(number: float) -> Decimal:
    return Decimal(str(number)).normalize()


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """What a measured configuration takes to meet the demand, or why it cannot."""

    measurement: Measurement
    title: str
    """How it differs from other measurements of its type: the configuration, and maybe how many users."""
    usable: Decimal
    """Requests per minute and instance that are planned for: the safety factor of what was measured."""
    target_value: int
    """The same as a whole number: a target of `SageMakerVariantInvocationsPerInstance`."""
    min_capacity: int
    count: int
    """Instances at the highest demand, spare ones included."""
    per_hour: Decimal | None
    """Cost of ``count`` instances; None without a price."""
    per_million: Decimal | None
    """Cost of a million requests while the demand is at its highest."""
    objections: tuple[str, ...] = ()
    """Why it does not meet the demand."""
    doubts: tuple[str, ...] = ()
    """Why its measurement may not mean what it seems to."""

    @property
    def per_month(self) -> Decimal | None:
        """Cost of ``count`` instances for 730 hours."""
        return None if self.per_hour is None else self.per_hour * HOURS_A_MONTH


def sizes(measurements: Iterable[Measurement], demand: Demand, prices: Prices) -> list[Size]:
    """What each measured configuration takes, the cheapest that meets the demand first.

    Those that do not meet it come last. Without prices, fewer instances come first.
    """
    found = list(measurements)
    alike: dict[tuple[str, str], list[Measurement]] = {}
    for it in found:
        alike.setdefault(_of(it), []).append(it)
    doubts = {of: _RateByUsers.of(those) for of, those in alike.items()}
    return sorted((_size(it, demand, prices, doubts[_of(it)]) for it in found), key=_rank)


def _of(measured: Measurement) -> tuple[str, str]:
    return measured.instance_type, measured.configuration


def _size(measured: Measurement, demand: Demand, prices: Prices, load: "_RateByUsers") -> Size:
    price = measured.price_per_hour
    if price is None:
        price = prices.of(measured.instance_type)
    usable = demand.safety_factor * measured.requests_per_minute
    count = _instances(demand.peak, usable) + demand.spare_instances
    low = demand.peak if demand.lowest is None else demand.lowest
    per_hour = None if price is None else count * price
    return Size(
        measurement=measured,
        title=load.title(measured),
        usable=usable,
        target_value=math.floor(usable),
        min_capacity=_instances(low, usable) + demand.spare_instances,
        count=count,
        per_hour=per_hour,
        per_million=None if per_hour is None else per_hour * 1_000_000 / (demand.peak * _MINUTES_AN_HOUR),
        objections=tuple(_objections(measured, demand, per_hour, usable)),
        doubts=tuple(load.doubts(measured)),
    )


def _instances(requests: Decimal, usable: Decimal) -> int:
    return max(1, math.ceil(requests / usable))


def _objections(
    measured: Measurement, demand: Demand, per_hour: Decimal | None, usable: Decimal
) -> Iterator[str]:
    if demand.latency_limit is not None and (slow := _too_slow(measured, demand.latency_limit)):
        yield slow
    if usable < 1:
        yield "less than one request a minute per instance"
    budget = demand.budget_per_hour
    if budget is not None and per_hour is not None and per_hour > budget:
        yield f"{per_hour:f} an hour is over the budget of {budget:f}"


def _too_slow(measured: Measurement, limit: PercentileLimit) -> str | None:
    """Why a latency is over the limit, or not known to be below it.

    A latency at a higher percentile is never lower: P99 below the limit is enough for P95, and P90 above it
    is too much.
    """
    below = [value for at, value in measured.latencies.items() if at >= limit.percentile]
    above = [value for at, value in measured.latencies.items() if at <= limit.percentile]
    if below and min(below) <= limit.milliseconds:
        return None
    shown = f"the limit of {limit.milliseconds:f} ms at P{limit.percentile:f}"
    if above and max(above) > limit.milliseconds:
        return f"{max(above):.6g} ms is over {shown}"
    return f"no measured latency shows whether it is below {shown}"


class _RateByUsers(msgspec.Struct, frozen=True):
    """How the rate of one configuration on one type of instance rises with the number of users.

    A user who waits for each answer sends no more than the instance answers, so that a single number of users
    does not show which of both is the limit. More users do: where the rate rises with them, they were it.
    """

    counts: tuple[int, ...]
    """Numbers of users, ascending."""
    above: Mapping[int, tuple[Decimal, int]]
    """The best rate with more users than these, and how many it takes."""
    before_last: Decimal
    """The best rate with fewer users than the most."""
    rates: Mapping[int | None, tuple[Decimal, Decimal]]
    """The lowest and the highest rate with each number of users, None if they were not counted."""

    @classmethod
    def of(cls, measured: Sequence[Measurement]) -> "_RateByUsers":
        """What some measurements of one configuration show."""
        rates: dict[int | None, tuple[Decimal, Decimal]] = {}
        for it in measured:
            low, high = rates.get(it.users, (it.requests_per_minute,) * 2)
            rates[it.users] = min(low, it.requests_per_minute), max(high, it.requests_per_minute)
        best = {users: high for users, (_, high) in rates.items() if users is not None}
        counts, above, highest = tuple(sorted(best)), {}, (Decimal(0), 0)
        for users in reversed(counts):
            above[users] = highest
            highest = highest if highest[0] > best[users] else (best[users], users)
        return cls(counts, above, max((best[it] for it in counts[:-1]), default=Decimal(0)), rates)

    def title(self, measured: Measurement) -> str:
        """The configuration, with its number of users if there are others."""
        users, name = measured.users, measured.configuration
        return name if users is None or len(self.counts) < 2 else f"{name}, {_counted(users)}"

    def doubts(self, measured: Measurement) -> Iterator[str]:
        """Why a measurement may be of the load rather than of the instance, or of something else."""
        users, rate = measured.users, measured.requests_per_minute
        low, high = self.rates[users]
        if high >= RISES * low:
            rates = f"from {low:.6g} to {high:.6g} requests a minute"
            yield f"it was measured more than once, {rates}: keep the row that is right"
        if users is None:
            return
        best_above, with_users = self.above[users]
        if best_above >= RISES * rate:
            more = f"with {_counted(with_users)} it did {best_above:.6g} requests a minute"
            yield f"{more}: at {_counted(users)}, the load was the limit, not the instance"
        elif len(self.counts) == 1 and measured.keeps_users_waiting:
            only = f"one number of users only ({users})"
            yield f"{only}: measure with more to see whether the rate still rises"
        elif len(self.counts) > 1 and users == self.counts[-1] and rate >= RISES * self.before_last:
            step = f"from {self.counts[-2]} to {_counted(users)}"
            yield f"the rate still rose with the last step, {step}: measure with more"


def _counted(users: int) -> str:
    return f"{users} user{'' if users == 1 else 's'}"


def _rank(size: Size) -> tuple[bool, bool, Decimal, int, Decimal, str, str]:
    measured = size.measurement
    return (
        bool(size.objections),
        size.per_hour is None,
        size.per_hour or Decimal(0),
        size.count,
        measured.usual_latency or Decimal(0),
        measured.instance_type,
        size.title,
    )


def best(ranked: Sequence[Size]) -> Size | None:
    """The first that meets the demand, if any does."""
    return next((it for it in ranked if not it.objections), None)

"""How many instances of which type, from measurements: counted, priced and ranked.

    N = ceil(demand / (safety factor x requests per minute per instance))
    target_value = floor(safety factor x requests per minute per instance)

With traffic, what that scaling makes of it is simulated minute by minute, and the cost is that of the
instances that run on average.

The safety factor is that of AWS's formula for a scaling target: the share of what an instance can do that is
planned for. https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-loadtest.html

An objective of a language model counts concurrent requests, or tokens per second. A configuration that was
measured with so many users, or wrote so many tokens, then takes as many instances as their quotient says, and
its target is in concurrent requests.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from inferstack.endpoint.cost import HOURS_A_MONTH, Prices
from inferstack.facts.scaling import OF_COPIES, PER_COPY, PER_INSTANCE, TRACKED, TRACKED_AT_ONCE
from inferstack.format.objective import LatencyLimit, Objective
from inferstack.problems.words import counted
from inferstack.sizing.measurement import Measurement, Percentiles
from inferstack.sizing.sharing.scaling import Copies, CopyScaling, Limits, Tracking, simulated

RISES = Decimal("1.05")
"""From this on, a rate is clearly higher than another; two runs of the same load differ by less."""
_OF_REQUESTS = PER_INSTANCE | PER_COPY
_AT_ONCE = frozenset({TRACKED_AT_ONCE, OF_COPIES[TRACKED_AT_ONCE]})
_MINUTES_AN_HOUR = 60
_CENT = Decimal("0.01")


class PercentileLimit(msgspec.Struct, frozen=True):
    """A latency that requests may have at most, at a percentile such as 95."""

    percentile: Decimal
    milliseconds: Decimal


class CountedIn(msgspec.Struct, frozen=True):
    """What is asked for in one unit, and what one instance or copy did of it."""

    most: Decimal
    lowest: Decimal | None
    each: Decimal
    unit: str
    metrics: frozenset[str | None]
    """What a policy whose target is in this unit follows, in the words of a spec."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint must do: requests per minute at its busiest and quietest, and how fast."""

    peak: Decimal
    """0 where it is only said in the two below."""
    lowest: Decimal | None = None
    concurrency: Decimal | None = None
    """Requests at the same time."""
    lowest_concurrency: Decimal | None = None
    tokens_per_second: Decimal | None = None
    traffic: tuple[Decimal, ...] = ()
    """Requests of each minute; empty if only the two numbers are known."""
    limits: Mapping[str, PercentileLimit] = {}
    """By the objective's keys."""
    safety_factor: Decimal = Decimal(1)
    spare_instances: int = 0
    budget_per_hour: Decimal | None = None

    @property
    def is_of_language_model(self) -> bool:
        """Whether it says something that only language models have."""
        own = (self.concurrency, self.tokens_per_second)
        return any(it is not None for it in own) or not self.limits.keys() <= {"latency"}

    @property
    def latency_limit(self) -> PercentileLimit | None:
        """That of whole answers."""
        return self.limits.get("latency")

    @property
    def in_words(self) -> str:
        """What is asked for at the busiest."""
        said = {"requests a minute": self.peak or None, "requests at once": self.concurrency}
        said["tokens a second"] = self.tokens_per_second
        return ", ".join(f"{number:,f} {of}" for of, number in said.items() if number is not None)

    def of(self, measured: Measurement) -> "Demand":
        """The same in requests per minute of a configuration, as far as its measurement allows."""
        rate = measured.requests_per_minute
        # Requests stay as they are: a quotient times its divisor may not be the same number.
        others = [it for it in self.needs(measured) if it.metrics != _OF_REQUESTS]
        lowest = [it.lowest / it.each * rate for it in others if it.lowest is not None]
        peak = max([self.peak, *(it.most / it.each * rate for it in others)])
        known = lowest if self.lowest is None else [self.lowest, *lowest]
        return replace(self, peak=peak, lowest=max(known, default=None))

    def needs(self, measured: Measurement) -> Iterator[CountedIn]:
        """What is asked for in each unit that was measured."""
        rate, users, tokens = measured.requests_per_minute, measured.users, measured.tokens_per_second
        if self.peak or self.lowest is not None:
            yield CountedIn(self.peak, self.lowest, rate, "requests a minute", _OF_REQUESTS)
        if self.concurrency is not None and users is not None:
            least = self.lowest_concurrency
            yield CountedIn(self.concurrency, least, Decimal(users), "requests at once", _AT_ONCE)
        if self.tokens_per_second is not None and tokens is not None:
            yield CountedIn(self.tokens_per_second, None, tokens, "tokens a second", frozenset())

    @property
    def usual(self) -> Decimal:
        """Requests of an average minute; of the busiest, if the others are not known."""
        return sum(self.traffic, Decimal(0)) / len(self.traffic) if self.traffic else self.peak


def demand_of(
    objective: Objective,
    traffic: Sequence[Decimal] = (),
    weight: Decimal = Decimal(1),
    weights: Decimal = Decimal(1),
) -> Demand:
    """What an objective asks for, in exact numbers: of everything that gets requests, or of what has this
    ``weight`` out of all ``weights``. Its file of traffic has been read; ``traffic`` are its minutes.
    """
    share = weight / weights
    asked = objective.asked
    if all(it is None for it in asked):
        raise ValueError("the file of traffic has not been read")
    requests, concurrency, tokens = (_part(it, share) for it in asked)
    budget = objective.budget_per_hour
    return Demand(
        peak=Decimal(0) if requests is None else requests,
        lowest=_part(objective.lowest_requests_per_minute, share),
        concurrency=concurrency,
        lowest_concurrency=_part(objective.lowest_concurrency, share),
        tokens_per_second=tokens,
        traffic=tuple(it * share for it in traffic),
        limits={key: _limit(it) for key in _LIMITED if (it := getattr(objective, key)) is not None},
        safety_factor=Decimal(1) if objective.safety_factor is None else exact(objective.safety_factor),
        spare_instances=objective.spare_instances,
        budget_per_hour=None if budget is None else exact(budget),
    )


def _part(number: float | None, share: Decimal) -> Decimal | None:
    return None if number is None else exact(number) * share


def _limit(limit: LatencyLimit) -> PercentileLimit:
    return PercentileLimit(Decimal(limit.percentile.removeprefix("P")), exact(limit.value_in_milliseconds))


def exact(number: float) -> Decimal:
    """A number of a spec without the digits that its binary form adds."""
    return Decimal(str(number)).normalize()


class CountedInstances(msgspec.Struct, frozen=True, kw_only=True):
    """Instances of one type for a demand, and their cost, or why they do not meet it."""

    min_capacity: int = 0
    is_counted: bool = True
    """Whether the measurement says what the objective counts in: if not, there is no number of instances,
    nor a cost.
    """
    count: int = 0
    """Instances at the highest demand, spare ones included."""
    average: Decimal = Decimal(0)
    """Instances that run on average over the traffic; without any, ``count``."""
    minutes_short: int = 0
    """Minutes with more requests than the instances that run can answer: scaling adds some with a delay."""
    price: Decimal | None
    """Price of an instance for an hour, if it is known."""
    per_million: Decimal | None = None
    """Cost of a million requests, on average over the traffic."""
    objections: tuple[str, ...] = ()
    """Why it does not meet the demand."""
    doubts: tuple[str, ...] = ()
    """Why its measurement may not mean what it seems to."""

    @property
    def rank(self) -> tuple[bool, bool, Decimal, Decimal]:
        """What it is ranked by, before anything else: those that meet the demand, the cheapest first."""
        per_hour = self.per_hour
        return bool(self.objections), per_hour is None, per_hour or Decimal(0), self.average

    @property
    def per_hour(self) -> Decimal | None:
        """Cost of an hour, on average over the traffic."""
        return None if self.price is None or not self.is_counted else self.average * self.price

    @property
    def peak_per_hour(self) -> Decimal | None:
        """Cost of an hour with all instances."""
        return None if self.price is None or not self.is_counted else self.count * self.price

    @property
    def per_month(self) -> Decimal | None:
        """Cost of 730 hours, on average over the traffic."""
        return None if self.per_hour is None else self.per_hour * HOURS_A_MONTH


Counted = TypeVar("Counted", bound=CountedInstances)


class Size(CountedInstances, frozen=True, kw_only=True):
    """What a measured configuration takes to meet the demand, or why it cannot."""

    measurement: Measurement
    title: str
    """How it differs from other measurements of its type: the configuration, and maybe how many users."""
    usable: Decimal
    """Requests per minute and instance that are planned for: the safety factor of what was measured."""
    target_value: int
    """The target of ``metric``: the same as a whole number, or the safety factor of the users."""
    metric: str
    """What a policy follows: requests, or concurrent requests, in the words of a spec."""


def sizes(measurements: Iterable[Measurement], demand: Demand, prices: Prices) -> list[Size]:
    """What each measured configuration takes, the cheapest that meets the demand first.

    Those that do not meet it come last. Without prices, fewer instances on average come first.
    """
    found = list(measurements)
    sound: dict[tuple[str, str], list[Measurement]] = {_of(it): [] for it in found}
    for it in found:
        if not any(it.faults):
            sound[_of(it)].append(it)
    loads = {of: _RateByUsers.of(those) for of, those in sound.items()}
    # A bad run says nothing about the others.
    bad = {id(it): _RateByUsers.of([*sound[_of(it)], it]) for it in found if any(it.faults)}
    ranked = (_size(it, demand, prices, bad.get(id(it), loads[_of(it)])) for it in found)
    return sorted(ranked, key=lambda it: (*it.rank, it.measurement.usual_latency or Decimal(0), _name(it)))


def _name(size: Size) -> tuple[str, str]:
    return size.measurement.instance_type, size.title


def _of(measured: Measurement) -> tuple[str, str]:
    return measured.instance_type, measured.configuration


def _size(measured: Measurement, demand: Demand, prices: Prices, load: "_RateByUsers") -> Size:
    price = measured.price_per_hour
    if price is None:
        price = prices.of(measured.instance_type)
    of_row, unknown = demand.of(measured), tuple(_unknown(measured, demand))
    usable = demand.safety_factor * measured.requests_per_minute
    count = _instances(of_row.peak, usable) + demand.spare_instances
    low = _instances(of_row.peak if of_row.lowest is None else of_row.lowest, usable) + demand.spare_instances
    running = _running(demand.traffic, low, count, math.floor(usable))
    average = Decimal(sum(running.held)) / len(running.held) if running.held else Decimal(count)
    per_hour = None if price is None or unknown else average * price
    served = zip(demand.traffic, running.serving, strict=True)
    at_once = measured.users if demand.is_of_language_model else None
    return Size(
        measurement=measured,
        title=load.title(measured),
        usable=usable,
        target_value=math.floor(usable if at_once is None else demand.safety_factor * at_once),
        metric=TRACKED if at_once is None else TRACKED_AT_ONCE,
        min_capacity=low,
        is_counted=not unknown,
        count=count,
        average=average,
        minutes_short=sum(asked > serving * measured.requests_per_minute for asked, serving in served),
        price=price,
        per_million=cost_of_a_million(per_hour, of_row.usual),
        objections=tuple(_objections(measured, demand, per_hour, usable, load)),
        doubts=(*measured.doubts, *load.doubts(measured)),
    )


def cost_of_a_million(per_hour: Decimal | None, usual: Decimal) -> Decimal | None:
    """What a million requests cost with so many in a usual minute."""
    return None if per_hour is None or not usual else per_hour * 1_000_000 / (usual * _MINUTES_AN_HOUR)


def _instances(requests: Decimal, usable: Decimal) -> int:
    return max(1, math.ceil(requests / usable))


def _running(traffic: Sequence[Decimal], low: int, high: int, target: int) -> Copies:
    """The instances that run minute by minute with the scaling that is written for a size."""
    tracking = (Tracking(target=Decimal(target)),) if target else ()
    return simulated(traffic, CopyScaling(limits=Limits(low, high), tracking=tracking))


def _objections(
    measured: Measurement, demand: Demand, per_hour: Decimal | None, usable: Decimal, load: "_RateByUsers"
) -> Iterator[str]:
    yield from measured.faults
    yield from load.contradicted(measured)
    yield from _unknown(measured, demand)
    runs = load.same_load(measured)
    for key, limit in demand.limits.items():
        field, words = _LIMITED[key]
        slow = (_too_slow(getattr(it, field), limit, words) for it in runs)
        yield from itertools.islice((it for it in slow if it is not None), 1)
    if usable < 1:
        yield f"less than one request a minute per {measured.unit}"
    if demand.is_of_language_model and measured.users and demand.safety_factor * measured.users < 1:
        users = counted(measured.users, "user")
        yield f"{demand.safety_factor:f} of {users} is less than one request at once"
    yield from over_budget(per_hour, demand.budget_per_hour, is_average=bool(demand.traffic))


def over_budget(per_hour: Decimal | None, budget: Decimal | None, *, is_average: bool) -> Iterator[str]:
    """Says so, if an hour costs more than it may."""
    if budget is not None and per_hour is not None and per_hour > budget:
        spent = per_hour.quantize(_CENT, ROUND_CEILING) if is_average else per_hour
        yield f"{spent:f} an hour is over the budget of {budget:f}"


def _unknown(measured: Measurement, demand: Demand) -> Iterator[str]:
    """What the objective counts in, but the measurement does not say."""
    if demand.concurrency is not None and measured.users is None:
        yield "its number of users is not known, so it cannot be counted by `concurrency`"
    if demand.tokens_per_second is not None and measured.tokens_per_second is None:
        yield "no tokens were measured, so it cannot be counted by `tokens_per_second`"


_LIMITED = {
    "latency": ("latencies", ""),
    "time_to_first_token": ("time_to_first_token", " until the first token"),
    "inter_token_latency": ("inter_token_latency", " between tokens"),
}
"""By the key of a limit: the field of a measurement that it is for, and what that is, in words."""


def _too_slow(measured: Percentiles, limit: PercentileLimit, what: str = "") -> str | None:
    """Why a latency is over the limit, or not known to be below it.

    A latency at a higher percentile is never lower: P99 below the limit is enough for P95, and P90 above it
    is too much.
    """
    below = [value for at, value in measured.items() if at >= limit.percentile]
    above = [value for at, value in measured.items() if at <= limit.percentile]
    if below and min(below) <= limit.milliseconds:
        return None
    shown = f"the limit of {limit.milliseconds:f} ms at P{limit.percentile:f}"
    if above and max(above) > limit.milliseconds:
        return f"{max(above):.6g} ms{what} is over {shown}"
    return f"no measured latency{what} shows whether it is below {shown}"


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
    runs: Mapping[int | None, Sequence[Measurement]]
    """All measurements with each number of users, None if they were not counted."""

    @classmethod
    def of(cls, measured: Sequence[Measurement]) -> "_RateByUsers":
        """What some measurements of one configuration show."""
        runs: dict[int | None, list[Measurement]] = {}
        for it in measured:
            runs.setdefault(it.users, []).append(it)
        best = {users: max(map(_rate, those)) for users, those in runs.items() if users is not None}
        counts, above, highest = tuple(sorted(best)), {}, (Decimal(0), 0)
        for users in reversed(counts):
            above[users] = highest
            highest = highest if highest[0] > best[users] else (best[users], users)
        return cls(counts, above, max((best[it] for it in counts[:-1]), default=Decimal(0)), runs)

    def title(self, measured: Measurement) -> str:
        """The configuration, with its number of users if there are others."""
        users, name = measured.users, measured.configuration
        return name if users is None or len(self.counts) < 2 else f"{name}, {counted(users, 'user')}"

    def same_load(self, measured: Measurement) -> Sequence[Measurement]:
        """All measurements of the same load, this one first; only this, where users were not counted."""
        runs = [] if measured.users is None else self.runs[measured.users]
        return [measured, *(it for it in runs if it is not measured)]

    def contradicted(self, measured: Measurement) -> Iterator[str]:
        """Why another measurement of the same load counts instead: the one with the lowest rate."""
        low = min(map(_rate, self.runs[measured.users]))
        if measured.requests_per_minute >= RISES * low:
            rates = f"{low:.6g} requests a minute, not {_rate(measured):.6g}"
            yield f"another measurement of the same load shows {rates}"

    def doubts(self, measured: Measurement) -> Iterator[str]:
        """Why a measurement may be of the load rather than of the instance, or of something else."""
        users, rate = measured.users, measured.requests_per_minute
        rates = [*map(_rate, self.runs[users])]
        if max(rates) >= RISES * min(rates):
            shown = f"from {min(rates):.6g} to {max(rates):.6g} requests a minute"
            yield f"it was measured more than once, {shown}: the lowest counts; keep the row that is right"
        if users is None:
            return
        best_above, with_users = self.above[users]
        if best_above >= RISES * rate:
            more = f"with {counted(with_users, 'user')} it did {best_above:.6g} requests a minute"
            yield f"{more}: at {counted(users, 'user')}, the load was the limit, not the {measured.unit}"
        elif len(self.counts) == 1 and measured.keeps_users_waiting:
            only = f"one number of users only ({users})"
            yield f"{only}: measure with more to see whether the rate still rises"
        elif len(self.counts) > 1 and users == self.counts[-1] and rate >= RISES * self.before_last:
            step = f"from {self.counts[-2]} to {counted(users, 'user')}"
            yield f"the rate still rose with the last step, {step}: measure with more"


def _rate(measured: Measurement) -> Decimal:
    return measured.requests_per_minute


def best(ranked: Sequence[Counted]) -> Counted | None:
    """The first that meets the demand, if any does."""
    return next((it for it in ranked if not it.objections), None)

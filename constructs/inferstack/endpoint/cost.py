"""What instances cost, at the fewest, the first and the most. Known amounts are summed up although others are
not.

Amounts are decimals, so that no digit is lost; they are rounded, half up, only where they are shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

import msgspec

from inferstack.endpoint.counts import NONE, Counts, total

HOURS_A_MONTH = 730
"""As on AWS's price pages: 365 days of 24 hours, divided by 12."""
_CENT = Decimal("0.01")


class Prices(msgspec.Struct, frozen=True):
    """The prices that apply to an endpoint, in one currency."""

    per_hour: Mapping[str, Decimal]
    currency: str = "USD"
    source: str = ""
    """Where they come from, in words: region, date and source."""

    def of(self, instance_type: str) -> Decimal | None:
        """The price of an instance for an hour; None if it is not known."""
        return self.per_hour.get(instance_type)


NO_PRICES = Prices({})


class Money(msgspec.Struct, frozen=True):
    """An amount at the fewest, the first and the most instances."""

    min: Decimal
    """With as few instances as scaling allows."""
    start: Decimal
    """With the instances at the start."""
    max: Decimal
    """With as many instances as scaling allows."""

    def times(self, factor: int) -> "Money":
        """The amounts for as many hours, say."""
        return Money(self.min * factor, self.start * factor, self.max * factor)

    def __add__(self, other: "Money") -> "Money":
        return Money(self.min + other.min, self.start + other.start, self.max + other.max)


NO_MONEY = Money(Decimal(0), Decimal(0), Decimal(0))


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What instances cost on demand; requests, storage, transfer and CloudWatch come on top."""

    instance_hours: Counts
    """Instance hours in an hour: the number of instances."""
    currency: str | None = None
    """Currency of the prices; none without prices."""
    per_hour: Money | None = None
    """Cost of an hour, as far as it is known; none if no price is known."""
    per_month: Money | None = None
    """Cost of 730 hours, as far as it is known; none if no price is known."""
    unpriced: tuple[str, ...] = ()
    """Instance types without a known price: they are missing in the sums. Of an instance pool, one may be the
    dearest.
    """
    uncounted: tuple[str, ...] = ()
    """Instance types of fleets whose size only the deployment knows: they are missing in the sums."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The instance types that are missing in the sums."""
        return tuple(dict.fromkeys((*self.unpriced, *self.uncounted)))


def of_fleet(counts: Counts | None, instance_types: Sequence[str], prices: Prices) -> Cost | None:
    """The cost of a variant's instances; None for a serverless variant.

    Those of an instance pool are of the preferred type, but at the most of the dearest: any of its types can
    run.
    """
    if counts is None:
        return None
    types = instance_types or ("unknown",)
    unpriced = tuple(name for name in types if prices.of(name) is None)
    preferred = prices.of(types[0])
    if preferred is None:
        return Cost(instance_hours=counts, unpriced=unpriced)
    if counts.min is None or counts.start is None or counts.max is None:
        return Cost(instance_hours=counts, unpriced=unpriced, uncounted=(types[0],))
    dearest = max(price for name in types if (price := prices.of(name)) is not None)
    per_hour = Money(preferred * counts.min, preferred * counts.start, dearest * counts.max)
    return _priced(counts, per_hour, prices.currency, unpriced=unpriced)


def _priced(
    counts: Counts,
    per_hour: Money,
    currency: str,
    *,
    unpriced: tuple[str, ...] = (),
    uncounted: tuple[str, ...] = (),
) -> Cost:
    return Cost(
        instance_hours=counts,
        currency=currency,
        per_hour=per_hour,
        per_month=per_hour.times(HOURS_A_MONTH),
        unpriced=unpriced,
        uncounted=uncounted,
    )


def together(costs: Iterable[Cost]) -> Cost:
    """The sum of costs as far as they are known; without amounts if they are in several currencies."""
    parts = [cost for cost in costs if cost.instance_hours != NONE or cost.per_hour is not None]
    whole = Cost(
        instance_hours=total(cost.instance_hours for cost in parts) if parts else NONE,
        unpriced=tuple(dict.fromkeys(name for cost in parts for name in cost.unpriced)),
        uncounted=tuple(dict.fromkeys(name for cost in parts for name in cost.uncounted)),
    )
    currencies = {cost.currency for cost in parts if cost.currency is not None}
    if len(currencies) != 1:
        return whole
    per_hour = sum((cost.per_hour for cost in parts if cost.per_hour is not None), NO_MONEY)
    return _priced(
        whole.instance_hours,
        per_hour,
        currencies.pop(),
        unpriced=whole.unpriced,
        uncounted=whole.uncounted,
    )


def by_currency(costs: Sequence[Cost]) -> Iterator[list[Cost]]:
    """The costs in groups of one currency each; those without a price are in the first."""
    known = dict.fromkeys(cost.currency for cost in costs if cost.currency is not None)
    currencies: list[str | None] = [*known] or [None]
    for index, currency in enumerate(currencies):
        yield [cost for cost in costs if cost.currency == currency or (index == 0 and cost.currency is None)]


def exact_text(amount: Decimal) -> str:
    """An amount with all its digits, as in ``0.736``."""
    return f"{amount.normalize():f}"


def amount_text(amount: Decimal) -> str:
    """An amount with two decimals, rounded half up: `1,234.50`."""
    return f"{amount.quantize(_CENT, ROUND_HALF_UP):,}"


def money_text(money: Money) -> str:
    """The least and the most: `1.40-5.60`, or one amount if both are the same."""
    low, high = amount_text(money.min), amount_text(money.max)
    return low if low == high else f"{low}-{high}"

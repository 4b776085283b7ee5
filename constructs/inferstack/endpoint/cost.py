"""What instances cost, at the fewest, the first and the most; and the quotas that they need."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.endpoint.counts import InstanceCounts
from inferstack.endpoint.data import Cost, Fleet, Money

HOURS_A_MONTH = 730
"""As on AWS's price pages: 365 days of 24 hours, divided by 12."""


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

NOTHING = InstanceCounts(0, 0, 0)
LEVELS = ("min", "start", "max")


def of_fleet(fleet: Fleet, prices: Prices) -> Cost | None:
    """The cost of a variant's instances, all of the preferred type; None for a serverless variant."""
    counts = fleet.instances
    if counts is None:
        return None
    preferred = fleet.instance_types[0] if fleet.instance_types else "unknown"
    price = prices.of(preferred)
    if price is None:
        return Cost(instance_hours=counts, unpriced=(preferred,))
    per_hour = Money(*(price * getattr(counts, level) for level in LEVELS))
    return _priced(counts, per_hour, prices.currency)


def _priced(counts: InstanceCounts, per_hour: Money, currency: str) -> Cost:
    month = per_hour.times(HOURS_A_MONTH)
    return Cost(instance_hours=counts, currency=currency, per_hour=per_hour, per_month=month)


def together(costs: Iterable[Cost]) -> Cost:
    """The sum of costs; without prices if one of them has none, or if they are in several currencies."""
    found = [it for it in costs if it.instance_hours != NOTHING or it.per_hour is not None]
    counts = InstanceCounts(*(sum(getattr(it.instance_hours, level) for it in found) for level in LEVELS))
    unpriced = tuple(dict.fromkeys(name for it in found for name in it.unpriced))
    currencies = {it.currency for it in found if it.currency is not None}
    amounts = [it.per_hour for it in found if it.per_hour is not None]
    if unpriced or len(currencies) != 1:
        return Cost(instance_hours=counts, unpriced=unpriced)
    per_hour = Money(*(sum((getattr(it, level) for it in amounts), Decimal(0)) for level in LEVELS))
    return _priced(counts, per_hour, currencies.pop())


def by_currency(costs: Sequence[Cost]) -> Iterator[list[Cost]]:
    """The costs in groups of one currency each; those without a price are in the first."""
    known = dict.fromkeys(it.currency for it in costs if it.currency is not None)
    currencies: list[str | None] = [*known] or [None]
    for index, currency in enumerate(currencies):
        yield [it for it in costs if it.currency == currency or (index == 0 and it.currency is None)]


def quota_name(instance_type: str) -> str:
    """The quota's name in Service Quotas."""
    return f"{instance_type} for endpoint usage"

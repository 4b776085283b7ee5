"""The price list of AWS as prices by instance type, with everything in it that is not one.

An offer file has the products of one service, in one region or in all, and apart from them their terms.
https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-services.html
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from inferstack.endpoint.cost import exact_text
from inferstack.problems.words import counted
from inferstack.sizing.prices import CURRENCY, PRICE

_FAMILY, _HOSTING = "ML Instance", "Hosting"
_HOUR = "Hrs"
# What a price file can hold.
_CURRENCY, _PRICE = re.compile(CURRENCY), re.compile(PRICE)


class _Attributes(msgspec.Struct, frozen=True, rename="camel"):
    instance_name: str = ""
    component: str | None = None
    region_code: str = ""


class _Product(msgspec.Struct, frozen=True, rename="camel"):
    attributes: _Attributes = _Attributes()
    product_family: str = ""

    @property
    def is_hosting(self) -> bool:
        return (self.product_family, self.attributes.component) == (_FAMILY, _HOSTING)

    @property
    def kind(self) -> str:
        """What is sold, in words."""
        return ": ".join(filter(None, (self.product_family or "no family", self.attributes.component)))


class _Price(msgspec.Struct, frozen=True, rename="camel"):
    unit: str = ""
    price_per_unit: dict[str, Any] = {}


class _Term(msgspec.Struct, frozen=True, rename="camel"):
    price_dimensions: dict[str, _Price] = {}


class _Terms(msgspec.Struct, frozen=True):
    on_demand: dict[str, dict[str, _Term]] = msgspec.field(default_factory=dict, name="OnDemand")


class _OfferFile(msgspec.Struct, frozen=True):
    products: dict[str, _Product] = {}
    terms: _Terms = _Terms()

    def prices(self, sku: str) -> list[_Price]:
        """The on-demand prices of a product."""
        terms = self.terms.on_demand.get(sku, {}).values()
        return [price for term in terms for price in term.price_dimensions.values()]


class Offer(msgspec.Struct, frozen=True):
    """The prices of one region, and what was left out."""

    currency: str
    hosting: dict[str, str]
    without_price: tuple[str, ...]
    """Instance types that are left out."""
    left_out: tuple[str, ...]
    """Whatever is left out, and why."""


def offer_of(content: bytes, region: str) -> Offer:
    """The prices of hosting in a region from an offer file; none if the file has no product of that region.

    Raises:
        ValueError: when it is not such a file.
    """
    try:
        offer = msgspec.json.decode(content, type=_OfferFile)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ValueError(str(error)) from None
    if not any(it.product_family == _FAMILY for it in offer.products.values()):
        raise ValueError(f"it has no products of the family `{_FAMILY}`")
    here = {sku: it for sku, it in offer.products.items() if it.attributes.region_code == region}
    sold = {sku: offer.prices(sku) for sku, it in here.items() if it.is_hosting}
    currency = _usual_currency(sold.values())
    prices_found: dict[str, Decimal] = {}
    left_out: dict[str, str] = {}
    for sku, dimensions in sold.items():
        price = _price(dimensions, currency)
        name = here[sku].attributes.instance_name
        if isinstance(price, str):
            left_out.setdefault(name, price)
        elif prices_found.setdefault(name, price) != price:
            left_out[name] = f"two prices, {exact_text(prices_found[name])} and {exact_text(price)}"
    prices = {name: exact_text(prices_found[name]) for name in sorted(prices_found) if name not in left_out}
    reasons = (f"{name or 'a line without instanceName'}: {why}" for name, why in sorted(left_out.items()))
    left_out_types = tuple(sorted(filter(None, left_out)))
    return Offer(currency, prices, left_out_types, (*reasons, *_others(here.values())))


def _usual_currency(prices: Iterable[list[_Price]]) -> str:
    """USD, or in China CNY: the currency of most prices."""
    said = (currency for several in prices for it in several for currency in it.price_per_unit)
    usual = Counter(it for it in said if _CURRENCY.fullmatch(it)).most_common(1)
    return usual[0][0] if usual else "USD"


def _price(prices: list[_Price], currency: str) -> Decimal | str:
    """The price of an hour, or why there is none."""
    if not prices:
        return "no on-demand price"
    if len(prices) > 1:
        return f"{len(prices)} prices by quantity"
    priced, unit = prices[0].price_per_unit, prices[0].unit
    if unit != _HOUR:
        return f"priced by {unit}, not by the hour"
    if currency not in priced:
        return f"priced in {', '.join(sorted(priced)) or 'no currency'}, not in {currency}"
    if not _PRICE.fullmatch(written := str(priced[currency])):
        return f"a price of {written[:40]}"
    price = Decimal(written)
    # Free lines are promotions: a price of nothing would make everything else look expensive.
    return price if price > 0 else "a price of 0"


def _others(products: Iterable[_Product]) -> Iterator[str]:
    """Serverless inference, savings plans and the rest, which are no price of an instance."""
    kinds = Counter(it.kind for it in products if not it.is_hosting)
    for kind, count in sorted(kinds.items()):
        yield f"{kind} ({counted(count, 'line')})"

"""The price list of AWS as prices by instance type, with everything in it that is not one.

A line is a product of ``AmazonSageMaker`` with its on-demand terms, as ``GetProducts`` and the public offer
file have it. https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, BinaryIO

import msgspec

from inferstack.sizing.prices import CURRENCY, PRICE

_FAMILY, _HOSTING = "ML Instance", "Hosting"
_HOUR = "Hrs"
# What a price file can hold.
_CURRENCY, _PRICE = re.compile(CURRENCY), re.compile(PRICE)


class Line(msgspec.Struct, frozen=True):
    """A product of the price list, and the dimensions of its on-demand price."""

    attributes: Mapping[str, Any]
    family: str
    dimensions: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, product: Mapping[str, Any], on_demand: Mapping[str, Any]) -> "Line":
        """A line from its two parts, as the price list has them.

        Raises:
            ValueError: when they do not have its form.
        """
        terms = (_in(_object(term), "priceDimensions") for term in _object(on_demand).values())
        dimensions = tuple(_object(it) for term in terms for it in term.values())
        for it in dimensions:
            _in(it, "pricePerUnit")
        return cls(_in(product, "attributes"), str(product.get("productFamily", "")), dimensions)

    @property
    def instance_type(self) -> str:
        """Such as `ml.g5.xlarge`."""
        return str(self.attributes.get("instanceName", ""))

    @property
    def kind(self) -> str:
        """What is sold, in words."""
        parts = self.family or "no family", str(self.attributes.get("component") or "")
        return ": ".join(it for it in parts if it)


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{str(value)[:40]!r} should be an object")
    return value


def _in(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return _object(whole.get(name, {}))


class Offer(msgspec.Struct, frozen=True):
    """The prices of one region, and what was left out."""

    currency: str
    hosting: dict[str, str]
    left_out: tuple[str, ...]


def offer_of(lines: Iterable[Line], region: str) -> Offer:
    """The prices of hosting in a region; none if the list has no line for it."""
    here = [it for it in lines if it.attributes.get("regionCode") == region]
    sold = [it for it in here if (it.family, it.attributes.get("component")) == (_FAMILY, _HOSTING)]
    currency = _usual_currency(sold)
    prices_found: dict[str, Decimal] = {}
    left_out: dict[str, str] = {}
    for line in sold:
        price = _price(line, currency)
        name = line.instance_type
        if isinstance(price, str):
            left_out.setdefault(name, price)
        elif prices_found.setdefault(name, price) != price:
            left_out[name] = f"two prices, {_text(prices_found[name])} and {_text(price)}"
    prices = {name: _text(prices_found[name]) for name in sorted(prices_found) if name not in left_out}
    reasons = (f"{name or 'a line without instanceName'}: {why}" for name, why in sorted(left_out.items()))
    return Offer(currency, prices, (*reasons, *_others(here)))


def _usual_currency(lines: Iterable[Line]) -> str:
    """USD, or in China CNY: the currency of most lines."""
    said = (currency for line in lines for it in line.dimensions for currency in it.get("pricePerUnit", {}))
    counted = Counter(it for it in said if _CURRENCY.fullmatch(it))
    return counted.most_common(1)[0][0] if counted else "USD"


def _price(line: Line, currency: str) -> Decimal | str:
    """The price of an hour, or why there is none."""
    match line.dimensions:
        case ():
            return "no on-demand price"
        case (only,):
            priced, unit = only.get("pricePerUnit", {}), only.get("unit")
        case several:
            return f"{len(several)} prices by quantity"
    if unit != _HOUR:
        return f"priced by {unit}, not by the hour"
    if currency not in priced:
        return f"priced in {', '.join(sorted(priced)) or 'no currency'}, not in {currency}"
    if not _PRICE.fullmatch(written := str(priced[currency])):
        return f"a price of {written[:40]}"
    price = Decimal(written)
    # Free lines are promotions: a price of nothing would make everything else look expensive.
    return price if price > 0 else "a price of 0"


def _others(lines: Iterable[Line]) -> Iterator[str]:
    """Serverless inference, savings plans and the rest, which are no price of an instance."""
    kinds = Counter(
        it.kind for it in lines if (it.family, it.attributes.get("component")) != (_FAMILY, _HOSTING)
    )
    for kind, count in sorted(kinds.items()):
        yield f"{kind} ({count} line{'' if count == 1 else 's'})"


def _text(price: Decimal) -> str:
    return f"{price.normalize():f}"


# ---------------------------------------------------------------- the two forms of the price list


def from_products(price_list: Iterable[str]) -> Iterator[Line]:
    """Lines of ``GetProducts``, each of which is a JSON text.

    https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
    """
    for text in price_list:
        entry = _object(msgspec.json.decode(text))
        yield Line.of(_in(entry, "product"), _in(_in(entry, "terms"), "OnDemand"))


def from_offer_file(file: BinaryIO) -> Iterator[Line]:
    """Lines of the public offer file, such as
    https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonSageMaker/current/index.json

    The file has hundreds of megabytes, and all products before all prices: it is read twice, and only the
    products of SageMaker's instances are kept. What else it sells comes without a price.

    Raises:
        ValueError: when it is not JSON, or not such a file.
    """
    import ijson  # noqa: PLC0415 - comes with an extra

    try:
        yield from _joined(ijson.kvitems(file, "products"), file)
    except (ijson.JSONError, AttributeError, TypeError, RecursionError) as error:
        raise ValueError(_first_line(error)) from None


def _first_line(error: Exception) -> str:
    """Below it, the parser draws an arrow at the character."""
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return text.strip().partition("\n")[0] or type(error).__name__


def _joined(found: Iterable[tuple[str, Any]], file: BinaryIO) -> Iterator[Line]:
    import ijson  # noqa: PLC0415 - comes with an extra

    products = {}
    for sku, product in found:
        if _object(product).get("productFamily") == _FAMILY:
            products[sku] = product
        else:
            yield Line.of(product, {})
    if not products:
        raise ValueError(f"it has no products of the family `{_FAMILY}`")
    file.seek(0)
    for sku, terms in ijson.kvitems(file, "terms.OnDemand"):
        if sku in products:
            yield Line.of(products.pop(sku), terms)
    yield from (Line.of(product, {}) for product in products.values())

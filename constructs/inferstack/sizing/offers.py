"""The price list of AWS as prices by instance type, with everything in it that is not one.

A line is a product of ``AmazonSageMaker`` with its on-demand terms, as ``GetProducts`` and the public offer
file have it. https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, BinaryIO

import msgspec

_FAMILY, _HOSTING = "ML Instance", "Hosting"
_HOUR = "Hrs"


class Line(msgspec.Struct, frozen=True):
    """A product of the price list, and the dimensions of its on-demand price."""

    attributes: Mapping[str, Any]
    family: str
    dimensions: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, product: Mapping[str, Any], on_demand: Mapping[str, Any]) -> "Line":
        """A line from its two parts, as the price list has them."""
        terms = (term.get("priceDimensions", {}) for term in on_demand.values())
        dimensions = tuple(it for term in terms for it in term.values())
        return cls(product.get("attributes", {}), str(product.get("productFamily", "")), dimensions)

    @property
    def instance_type(self) -> str:
        """Such as `ml.g5.xlarge`."""
        return str(self.attributes.get("instanceName", ""))

    @property
    def kind(self) -> str:
        """What is sold, in words."""
        component = str(self.attributes.get("component") or self.attributes.get("usagetype") or "")
        return f"{self.family or 'no family'}: {component or 'no component'}"


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
    found: dict[str, Decimal] = {}
    left_out: dict[str, str] = {}
    for line in sold:
        price = _price(line, currency)
        name = line.instance_type
        if isinstance(price, str):
            left_out.setdefault(name, price)
        elif found.setdefault(name, price) != price:
            left_out[name] = f"two prices, {_text(found[name])} and {_text(price)}"
    prices = {name: _text(found[name]) for name in sorted(found) if name not in left_out}
    said = (f"{name or 'a line without instanceName'}: {why}" for name, why in sorted(left_out.items()))
    return Offer(currency, prices, (*said, *_others(here)))


def _usual_currency(lines: Iterable[Line]) -> str:
    """USD, or in China CNY: the currency of most lines."""
    counted = Counter(
        currency for line in lines for it in line.dimensions for currency in it.get("pricePerUnit", {})
    )
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
    price = Decimal(priced[currency])
    # Free lines are promotions: a price of nothing would make everything else look dear.
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
        entry = msgspec.json.decode(text)
        yield Line.of(entry.get("product", {}), entry.get("terms", {}).get("OnDemand", {}))


def from_offer_file(file: BinaryIO) -> Iterator[Line]:
    """Lines of the public offer file, such as
    https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonSageMaker/current/index.json

    The file has hundreds of megabytes, and all products before all prices: it is read twice, and only the
    products of SageMaker's instances are kept.

    Raises:
        ValueError: when it is not JSON, or not such a file.
    """
    import ijson  # noqa: PLC0415 - comes with an extra

    try:
        yield from _joined(ijson.kvitems(file, "products"), file)
    except (ijson.JSONError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from None


def _joined(found: Iterable[tuple[str, Any]], file: BinaryIO) -> Iterator[Line]:
    import ijson  # noqa: PLC0415 - comes with an extra

    products = {sku: product for sku, product in found if product.get("productFamily") == _FAMILY}
    file.seek(0)
    for sku, terms in ijson.kvitems(file, "terms.OnDemand"):
        if sku in products:
            yield Line.of(products.pop(sku), terms)
    yield from (Line.of(product, {}) for product in products.values())

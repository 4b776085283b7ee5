"""The price list: what is taken from it, and what is said about the rest."""

import io
import json

import pytest

from inferstack.sizing.offers import from_offer_file, from_products, offer_of


def product(name, component="Hosting", family="ML Instance", region="eu-west-1"):
    return {
        "productFamily": family,
        "attributes": {
            "instanceName": name,
            "component": component,
            "regionCode": region,
            "usagetype": f"EU-Host:{name}",
        },
    }


def term(*prices, currency="USD", unit="Hrs"):
    dimensions = {
        f"rate-{at}": {"unit": unit, "pricePerUnit": {currency: it}} for at, it in enumerate(prices)
    }
    return {"term-1": {"priceDimensions": dimensions}}


LINES = [
    (product("ml.g5.xlarge"), term("1.5710000000")),
    (product("ml.g5.xlarge"), term("1.571")),
    (product("ml.m5.large"), term("0.129")),
    (product("ml.m5.large", region="us-east-1"), term("0.115")),
    (product("ml.m5.large", component="Training"), term("0.129")),
    (product("ml.p4d.24xlarge"), term("40", "35")),
    (product("ml.p5.48xlarge"), {}),
    (product("ml.c5.large"), term("0.1")),
    (product("ml.c5.large"), term("0.2")),
    (product("ml.inf1.xlarge"), term("0.0000000000")),
    (product("ml.r5.large"), term("1", currency="CNY")),
    (product("ml.t2.medium"), term("1", unit="GB-Seconds")),
    (
        product("", component="Serverless Inference", family="ML Serverless"),
        term("0.00002", unit="GB-Seconds"),
    ),
    *[(product("ml.m5.large", component="", family="Savings Plans"), term("0.1"))] * 2,
]


def as_products():
    return from_products(json.dumps({"product": it, "terms": {"OnDemand": terms}}) for it, terms in LINES)


def as_file():
    offer = {
        "formatVersion": "v1.0",
        "products": {f"sku{at}": it for at, (it, _) in enumerate(LINES)},
        "terms": {"OnDemand": {f"sku{at}": terms for at, (_, terms) in enumerate(LINES) if terms}},
    }
    return from_offer_file(io.BytesIO(json.dumps(offer).encode()))


@pytest.mark.parametrize("content", [b"", b"{", b"[1", b'{"products": {"a": 1}}', b'{"products": {"a": []}}'])
def test_a_file_that_is_no_price_list_is_a_value_error(content):
    with pytest.raises(ValueError, match=r"\w"):
        list(from_offer_file(io.BytesIO(content)))


@pytest.mark.parametrize("lines", [as_products, as_file])
def test_only_what_is_surely_the_price_of_an_instance_is_taken(lines):
    offer = offer_of(lines(), "eu-west-1")
    assert offer.hosting == {"ml.g5.xlarge": "1.571", "ml.m5.large": "0.129"}
    assert offer.currency == "USD"


@pytest.mark.parametrize("lines", [as_products, as_file])
def test_everything_that_is_left_out_is_said(lines):
    assert offer_of(lines(), "eu-west-1").left_out == (
        "ml.c5.large: two prices, 0.1 and 0.2",
        "ml.inf1.xlarge: a price of 0",
        "ml.p4d.24xlarge: 2 prices by quantity",
        "ml.p5.48xlarge: no on-demand price",
        "ml.r5.large: priced in CNY, not in USD",
        "ml.t2.medium: priced by GB-Seconds, not by the hour",
        "ML Instance: Training (1 line)",
        "ML Serverless: Serverless Inference (1 line)",
        "Savings Plans (2 lines)",
    )


def test_china_has_its_own_currency():
    lines = [(product("ml.m5.large", region="cn-north-1"), term("0.9", currency="CNY"))]
    texts = (json.dumps({"product": it, "terms": {"OnDemand": terms}}) for it, terms in lines)
    assert offer_of(from_products(texts), "cn-north-1").currency == "CNY"


def test_a_region_that_is_not_in_the_list_has_no_prices():
    assert offer_of(as_products(), "mars-east-1").hosting == {}


@pytest.mark.parametrize("price", ["NaN", "-1", "1e999999999", "1,5", "1234567890", "", None])
def test_a_price_that_no_file_can_hold_is_left_out(price):
    entry = {"product": product("ml.g5.xlarge"), "terms": {"OnDemand": term(price)}}
    found = offer_of(from_products([json.dumps(entry)]), "eu-west-1")
    assert (found.hosting, found.left_out) == ({}, (f"ml.g5.xlarge: a price of {price}",))


def test_a_currency_is_three_letters():
    entry = {"product": product("ml.g5.xlarge"), "terms": {"OnDemand": term("1", currency="dollars")}}
    found = offer_of(from_products([json.dumps(entry)]), "eu-west-1")
    assert (found.currency, found.left_out) == ("USD", ("ml.g5.xlarge: priced in dollars, not in USD",))


STRANGE = [
    {"products": {"a": []}, "terms": {"OnDemand": {}}},
    {"products": {"a": {"productFamily": "ML Instance", "attributes": []}}, "terms": {"OnDemand": {}}},
    {"products": {"a": product("ml.g5.xlarge")}, "terms": {"OnDemand": {"a": []}}},
    {"products": {"a": product("ml.g5.xlarge")}, "terms": {"OnDemand": {"a": {"b": 1}}}},
    {
        "products": {"a": product("ml.g5.xlarge")},
        "terms": {"OnDemand": {"a": {"b": {"priceDimensions": {"c": {"pricePerUnit": "1"}}}}}},
    },
]


@pytest.mark.parametrize("offer", STRANGE)
def test_a_file_of_another_form_is_no_price_list(offer):
    with pytest.raises(ValueError, match="should be an object"):
        offer_of(from_offer_file(io.BytesIO(json.dumps(offer).encode())), "eu-west-1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "parse error: premature EOF"),
        (b"<html>", "lexical error: invalid char in json text."),
        (b"\x1f\x8b\x08", "lexical error: invalid char in json text."),
        (b"{}", "it has no products of the family `ML Instance`"),
        (b'{"offers": {}}', "it has no products of the family `ML Instance`"),
    ],
)
def test_what_is_no_price_list_is_said_in_one_line(content, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        list(from_offer_file(io.BytesIO(content)))

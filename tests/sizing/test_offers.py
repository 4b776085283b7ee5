"""The price list: what is taken from it, and what is said about the rest."""

import json

import pytest

from inferstack.sizing.offers import offer_of


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


def offer(lines):
    return {
        "formatVersion": "v1.0",
        "products": {f"sku{at}": it for at, (it, _) in enumerate(lines)},
        "terms": {"OnDemand": {f"sku{at}": terms for at, (_, terms) in enumerate(lines) if terms}},
    }


def read(whole, region="eu-west-1"):
    return offer_of(json.dumps(whole).encode(), region)


@pytest.mark.parametrize("content", [b"", b"{", b"[1", b'{"products": {"a": 1}}', b'{"products": {"a": []}}'])
def test_a_file_that_is_no_price_list_is_a_value_error(content):
    with pytest.raises(ValueError, match=r"\w"):
        offer_of(content, "eu-west-1")


def test_only_what_is_surely_the_price_of_an_instance_is_taken():
    found = read(offer(LINES))
    assert found.hosting == {"ml.g5.xlarge": "1.571", "ml.m5.large": "0.129"}
    assert found.currency == "USD"


def test_everything_that_is_left_out_is_said():
    assert read(offer(LINES)).left_out == (
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
    assert read(offer(lines), "cn-north-1").currency == "CNY"


def test_a_region_that_is_not_in_the_list_has_no_prices():
    assert read(offer(LINES), "mars-east-1").hosting == {}


@pytest.mark.parametrize("price", ["NaN", "-1", "1e999999999", "1,5", "1234567890", "", None])
def test_a_price_that_no_file_can_hold_is_left_out(price):
    found = read(offer([(product("ml.g5.xlarge"), term(price))]))
    assert (found.hosting, found.left_out) == ({}, (f"ml.g5.xlarge: a price of {price}",))


def test_a_currency_is_three_letters():
    found = read(offer([(product("ml.g5.xlarge"), term("1", currency="dollars"))]))
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


@pytest.mark.parametrize("whole", STRANGE)
def test_a_file_of_another_form_is_no_price_list(whole):
    with pytest.raises(ValueError, match=r"^Expected `object`, got `\w+` - at `\$\.(products|terms)"):
        read(whole)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Input data was truncated"),
        (b'{"products": {"a": ', "Input data was truncated"),
        (b"<html>", r"JSON is malformed: invalid character \(byte 0\)"),
        (b"\x1f\x8b\x08", r"JSON is malformed: invalid character \(byte 0\)"),
        (b"{}", "it has no products of the family `ML Instance`"),
        (b'{"offers": {}}', "it has no products of the family `ML Instance`"),
    ],
)
def test_what_is_no_price_list_is_said_in_one_line(content, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        offer_of(content, "eu-west-1")

"""Where the price list is asked for, and what is said when it cannot be had."""

import json

import pytest
from support.stubbed import StubbedSession

from inferstack.account.connection import AccountError
from inferstack.account.price_list import price_list


@pytest.fixture
def session() -> StubbedSession:
    return StubbedSession()


@pytest.mark.parametrize(
    ("region", "asked"),
    [("eu-west-1", "us-east-1"), ("us-east-1", "us-east-1"), ("cn-north-1", "cn-northwest-1")],
)
def test_a_price_list_is_asked_for_where_its_partition_has_it(
    region: str, asked: str, session: StubbedSession
) -> None:
    wanted = {"productFamily": "ML Instance", "component": "Hosting", "regionCode": region}
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": it} for name, it in wanted.items()]
    product = {"productFamily": "ML Instance", "attributes": {"instanceName": "ml.m5.large"}}
    answer = {"PriceList": [json.dumps({"product": product, "terms": {"OnDemand": {}}})]}
    request = {"ServiceCode": "AmazonSageMaker", "FormatVersion": "aws_v1", "Filters": filters}
    session.stub("pricing").add_response("get_products", answer, request)
    assert len([*price_list(session.connection(region), region)]) == 1
    assert session.made == [("pricing", asked)]


def test_a_partition_without_a_price_list_is_named_with_a_way_out(session: StubbedSession) -> None:
    with pytest.raises(AccountError) as raised:
        [*price_list(session.connection("us-gov-west-1"), "us-gov-west-1")]
    assert str(raised.value) == (
        "the partition aws-us-gov of us-gov-west-1 has no price list; write the price file by hand, or use "
        "`--offer` with a price list from there"
    )
    assert session.made == []


def test_who_may_not_read_prices_is_told_the_right_that_it_takes(session: StubbedSession) -> None:
    session.stub("pricing").add_client_error("get_products", "AccessDeniedException", "Not you.", 400)
    with pytest.raises(AccountError) as raised:
        [*price_list(session.connection(), "us-east-1")]
    said = "the price list cannot be read: AWS answers AccessDeniedException: Not you"
    assert str(raised.value) == f"{said}; reading prices needs pricing:GetProducts"

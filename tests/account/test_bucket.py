"""Which bucket an S3 URL in a spec is in."""

import pytest
from support.s3 import ACCOUNT

from inferstack.account.bucket import S3Place, s3_place
from inferstack.account.connection import AccountError, Connection

HERE = Connection(ACCOUNT, "cn-north-1", None)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://b-1/one/model.tar.gz", S3Place("b-1", "one/model.tar.gz")),
        ("s3://b-1/many/", S3Place("b-1", "many/")),
        ("https://b-1.s3.eu-west-1.amazonaws.com/one.tar.gz", S3Place("b-1", "one.tar.gz")),
        ("https://s3.cn-north-1.${AWS::URLSuffix}/b-1/one.tar.gz", S3Place("b-1", "one.tar.gz")),
        ("s3://b-${AWS::AccountId}-${AWS::Region}/x.tar.gz", S3Place(f"b-{ACCOUNT}-cn-north-1", "x.tar.gz")),
        ("s3://b-${AWS::Partition}/x.tar.gz", S3Place("b-aws-cn", "x.tar.gz")),
        ("s3://b-1/${other}/x.tar.gz", S3Place("b-1", "${other}/x.tar.gz")),
    ],
)
def test_a_url_means_what_it_will_be_once_deployed(url: str, expected: S3Place) -> None:
    assert s3_place(url, HERE, account=ACCOUNT) == expected


def test_the_account_of_somebody_else_is_not_guessed() -> None:
    with pytest.raises(AccountError, match="use credentials for 111122223333"):
        s3_place("s3://b-${AWS::AccountId}/x.tar.gz", HERE, account="111122223333")


def test_a_bucket_by_name_may_be_somebody_elses() -> None:
    assert s3_place("s3://shared/x.tar.gz", HERE, account="111122223333") == S3Place("shared", "x.tar.gz")


def test_a_region_that_nobody_names_is_asked_for() -> None:
    with pytest.raises(AccountError, match="needs a region; set AWS_REGION"):
        s3_place("s3://b-${AWS::Region}/x.tar.gz", Connection(ACCOUNT, None, None), account=None)

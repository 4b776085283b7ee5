"""Which bucket an S3 URL in a spec is in, where that bucket is, and what is in it."""

import pytest
from support.s3 import ACCOUNT, BUCKET, Cloud, Faults

from inferstack.account.bucket import S3Place, archives_under, client_for, s3_place
from inferstack.account.connection import AccountError, Connection, connect

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
    url = "s3://b-${AWS::AccountId}/x.tar.gz"
    with pytest.raises(AccountError) as raised:
        s3_place(url, HERE, account="111122223333")
    said = f"{url} is in the account 111122223333, but the credentials are for {ACCOUNT}"
    assert str(raised.value) == f"{said}; use credentials for 111122223333"


def test_a_bucket_by_name_may_be_somebody_elses() -> None:
    assert s3_place("s3://shared/x.tar.gz", HERE, account="111122223333") == S3Place("shared", "x.tar.gz")


def test_a_region_that_nobody_names_is_asked_for() -> None:
    with pytest.raises(AccountError, match="needs a region; set AWS_REGION"):
        s3_place("s3://b-${AWS::Region}/x.tar.gz", Connection(ACCOUNT, None, None), account=None)


# ---------------------------------------------------------------- The bucket itself


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("region", [None, "us-east-1"])
def test_a_client_is_made_for_the_region_of_the_bucket(region: str | None) -> None:
    assert client_for(BUCKET, connect("eu-west-1"), region=region).meta.region_name == "us-east-1"


@pytest.mark.usefixtures("cloud")
def test_sagemaker_reads_no_models_from_another_region() -> None:
    said = "is in us-east-1, but the endpoint is in eu-west-1: SageMaker only reads models in its own region"
    with pytest.raises(AccountError, match=f"^the bucket {BUCKET} {said}; name a bucket there$"):
        client_for(BUCKET, connect(None), region="eu-west-1")


def test_who_may_not_look_at_a_bucket_may_still_upload_and_is_told_its_region(faults: Faults) -> None:
    faults.answers["HeadBucket"] = [(403, "", "")]
    # Without an answer about the region, it is taken for that of the credentials.
    assert client_for(BUCKET, connect("eu-west-1"), region="eu-west-1").meta.region_name == "eu-west-1"
    faults.headers_of_answers = {"x-amz-bucket-region": "eu-central-1"}
    assert client_for(BUCKET, connect("eu-west-1"), region=None).meta.region_name == "eu-central-1"
    with pytest.raises(AccountError, match="is in eu-central-1, but the endpoint is in eu-west-1"):
        client_for(BUCKET, connect("eu-west-1"), region="eu-west-1")


def test_a_bucket_that_cannot_be_asked_for_is_not_used(faults: Faults) -> None:
    faults.answers["HeadBucket"] = [(400, "", "")]
    with pytest.raises(AccountError, match=f"^the bucket {BUCKET} cannot be used: AWS answers 400"):
        client_for(BUCKET, connect(None), region=None)


def test_archives_are_found_directly_under_a_prefix(cloud: Cloud) -> None:
    for key in ("many/a.tar.gz", "many/b.tar.gz", "many/notes.txt", "many/deep/c.tar.gz", "more/d.tar.gz"):
        cloud.s3.put_object(Bucket=BUCKET, Key=key, Body=b"")
    client = connect(None).s3()
    assert archives_under(S3Place(BUCKET, "many/"), client) == ("a.tar.gz", "b.tar.gz")
    assert archives_under(S3Place(BUCKET, "none/"), client) == ()


def test_a_bucket_that_may_not_be_listed_is_named(faults: Faults) -> None:
    faults.answers["ListObjectsV2"] = [(403, "AccessDenied", "Access Denied")]
    with pytest.raises(AccountError, match=f"^the objects under s3://{BUCKET}/many/ cannot be listed: AWS "):
        archives_under(S3Place(BUCKET, "many/"), connect(None).s3())

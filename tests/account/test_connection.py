"""Problems of the surroundings are reported in one line, and not as errors of the program."""

import boto3
import pytest
from boto3.s3.transfer import TransferConfig
from msgspec.structs import replace
from support.s3 import ACCOUNT, Cloud

from inferstack.account.connection import AccountError, Connection, connect


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize(
    ("variables", "region"),
    [
        ({"AWS_REGION": ""}, None),
        ({"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({}, "us-east-1"),
    ],
)
def test_a_region_that_is_set_to_nothing_is_not_named(
    variables: dict[str, str], region: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = connect(None)
    assert (found.account, found.region) == (ACCOUNT, region)


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AWS_REGION", "nowhere", '"nowhere" is not an AWS region; correct AWS_REGION'),
        (
            "AWS_MAX_ATTEMPTS",
            "x",
            r"a boto3 setting is wrong: .*'x'; check the variables that begin with `AWS_`",
        ),
    ],
)
def test_a_setting_that_is_none_is_named(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(AccountError, match=f"^AWS cannot be asked: {said}"):
        connect(None)


def test_a_region_that_is_misspelt_is_named_where_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "testing")
    for name, value in {**keys, "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AccountError, match="us-eats-1 is not a known region; did you mean `us-east-1`"):
        connect("us-eats-1")
    with pytest.raises(AccountError, match="check the network"):
        connect("us-east-1")


# ---------------------------------------------------------------- Clients


@pytest.fixture
def here(cloud: Cloud) -> Connection:
    return connect("eu-west-1")


def test_a_client_is_for_the_region_that_is_named_else_for_that_of_the_connection(here: Connection) -> None:
    nowhere = replace(here, region=None)
    clients = [here.s3(), here.s3("us-west-2"), here.sagemaker("eu-central-1"), here.kms("ap-south-1")]
    assert [(it.meta.service_model.service_name, it.meta.region_name) for it in clients] == [
        ("s3", "eu-west-1"),
        ("s3", "us-west-2"),
        ("sagemaker", "eu-central-1"),
        ("kms", "ap-south-1"),
    ]
    # S3 says from there where a bucket is.
    assert nowhere.s3().meta.region_name == "us-east-1"


def test_each_user_of_an_endpoint_has_a_connection_and_sees_every_failure(here: Connection) -> None:
    client = here.runtime("eu-central-1", connections=37, seconds=2.5)
    config = client.meta.config
    assert (client.meta.service_model.service_name, client.meta.region_name) == (
        "sagemaker-runtime",
        "eu-central-1",
    )
    assert (config.max_pool_connections, config.read_timeout) == (37, 2.5)
    assert config.retries["total_max_attempts"] == 1


def test_what_is_asked_of_kms_is_optional_and_given_up_early(here: Connection) -> None:
    config = here.kms("eu-west-1").meta.config
    assert config.connect_timeout <= 5
    assert config.read_timeout <= 5
    assert config.retries["total_max_attempts"] <= 2


def test_a_long_upload_is_tried_more_often_than_botocore_does_by_itself(here: Connection) -> None:
    config = here.s3().meta.config
    assert config.retries == {"mode": "standard", "total_max_attempts": 8}


@pytest.mark.parametrize(
    ("variable", "value", "key"),
    [("AWS_MAX_ATTEMPTS", "2", "total_max_attempts"), ("AWS_RETRY_MODE", "adaptive", "mode")],
)
def test_who_sets_how_often_requests_are_tried_gets_that(
    variable: str, value: str, key: str, here: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    retries = replace(here, session=boto3.Session()).s3().meta.config.retries
    assert str(retries[key]) == value
    assert retries.get("total_max_attempts") != 8


def test_all_parts_that_move_at_once_have_a_connection(here: Connection) -> None:
    assert here.s3().meta.config.max_pool_connections >= TransferConfig().max_concurrency


def test_pseudo_parameters_are_filled_in_as_far_as_they_are_known(here: Connection) -> None:
    text = "${AWS::AccountId} ${AWS::Region} ${AWS::Partition} ${AWS::URLSuffix} ${AWS::StackName} ${mine}"
    assert here.filled(text) == f"{ACCOUNT} eu-west-1 aws amazonaws.com ${{AWS::StackName}} ${{mine}}"
    assert replace(here, region=None).filled(text) == text.replace("${AWS::AccountId}", ACCOUNT)

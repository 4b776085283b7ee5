"""Problems of the surroundings are reported in one line, and not as errors of the program."""

import pytest
from support.s3 import ACCOUNT

from inferstack.account.connection import AccountError, connect


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

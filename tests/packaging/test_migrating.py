"""The page for users who come from CloudFormation names only keys that exist."""

import re
from pathlib import Path

import pytest

import inferstack.constructs
from inferstack.check.load import parse_spec
from inferstack.constructs import InferenceEndpoint
from inferstack.format.schema import shipped_schema
from inferstack.problems import SpecError

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
OF_CLOUDFORMATION, _, OF_CDK = PAGE.read_text("utf-8").partition("**From CDK's `aws_sagemaker_alpha`.**")


def rows(text: str) -> list[list[str]]:
    """The rows of the table in a text, without its header."""
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]


ROWS = rows(OF_CLOUDFORMATION)
# CDK's own names for an image that is part of the app.
CDKS = {"repository_uri_for_tag", "DockerImageAsset"}
KEYS = {key for block in shipped_schema()["$defs"].values() for key in block.get("properties", {})}


def keys_of(said: str) -> list[str]:
    """Keys in `a.b` and in `a: {b: …}`."""
    return re.findall(r"([a-z_]+):", said) if ":" in said else said.split(".")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_ends_with_keys_of_a_spec(row: list[str]) -> None:
    keys = {key for said in re.findall(r"`([a-z][^`]+)`", row[-1]) for key in keys_of(said)}
    assert keys <= KEYS
    assert keys or "nothing" in row[-1] or "metric" in row[-1]


@pytest.mark.parametrize("row", rows(OF_CDK), ids=lambda row: row[0])
def test_a_row_about_cdk_ends_with_what_there_is(row: list[str]) -> None:
    here = row[0] if row[-1].startswith("the same") else row[-1]
    for said in re.findall("`([^`]+)`", here):
        name = re.findall(r"\w+", said)[0]
        assert name in KEYS | CDKS | set(inferstack.constructs.__all__) or hasattr(InferenceEndpoint, name), (
            said
        )


def test_there_are_many_rows() -> None:
    assert len(ROWS) > 15


SPEC = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
# Terraform's resources, words of CloudFormation that are not properties, and keys that a spec has itself.
NO_KEYS = re.compile(r"aws_\w+|Model|EndpointConfig|CloudWatch|Ref|Fn|Sub|Alarms|name|[Tt]ags|EndpointName")


def other_keys() -> list[str]:
    """CloudFormation's and Terraform's names for what a row is about."""
    said = re.findall("`([^`]+)`", " ".join(cell for row in ROWS for cell in row[:2]))
    words = dict.fromkeys(word for it in said for word in re.findall(r"\w+", it))
    return [word for word in words if NO_KEYS.fullmatch(word) is None]


@pytest.mark.parametrize("key", other_keys())
def test_who_writes_the_other_key_is_told_what_to_write(key: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_spec(SPEC | {key: {}})
    (fix,) = (it.fix for it in refused.value.problems if it.path == (key,))
    assert "allowed: " not in fix

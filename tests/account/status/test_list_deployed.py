"""``inferstack list --deployed``: which spec and stage each endpoint of an account belongs to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from account.status import conftest as w
from support.answers import CHURN, Answers, Refused, optional

from inferstack.cli import main

Listed = Callable[..., tuple[int, Any]]
STAGES = """\
stages:
  prod: {endpoint_name: 'churn-${AWS::Region}', env: {region: eu-west-1}}
  other:
    endpoint_name: elsewhere
    env: {account: "111122223333"}
    execution_role: arn:aws:iam::111122223333:role/hosting
"""
NO_STACK = Refused("ValidationError", "Stack for arn does not exist")
DENIED = Refused("AccessDeniedException", "User is not authorized to perform: sagemaker:ListEndpoints")


def summary(name: str, status: str = "InService") -> dict[str, Any]:
    return {
        "EndpointName": name,
        "EndpointArn": f"{w.ARN}:endpoint/{name.lower()}",
        "EndpointStatus": status,
        "CreationTime": w.BEGAN,
        "LastModifiedTime": w.BEGAN,
    }


def stack_of(params: dict[str, Any]) -> Any:
    arn = params["PhysicalResourceId"]
    if not arn.endswith("/churn"):
        return NO_STACK
    one = {
        "StackName": "churn",
        "LogicalResourceId": "Endpoint",
        "ResourceType": "AWS::SageMaker::Endpoint",
        "Timestamp": w.BEGAN,
        "ResourceStatus": "CREATE_COMPLETE",
    }
    return {"StackResources": [one]}


@pytest.fixture
def account(aws: Answers) -> Answers:
    """Two endpoints, on two pages; one of them belongs to a spec of three stages."""
    Path("churn.yaml").write_text(CHURN + STAGES)
    aws.given = {
        "GetCallerIdentity": {"Account": "123456789012"},
        "ListEndpoints": lambda params: (
            {"Endpoints": [summary("try-2", "Failed")]}
            if "NextToken" in params
            else {"Endpoints": [summary("Churn")], "NextToken": "more"}
        ),
        "DescribeStackResources": stack_of,
    }
    return aws


@pytest.fixture
def listed(account: Answers, capsys: pytest.CaptureFixture[str]) -> Listed:
    """Runs the command, with the exit status and what it prints."""

    def run(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        return main(["list", "--deployed", "churn.yaml", *words]), capsys.readouterr()

    return run


def test_each_endpoint_has_its_spec_and_each_spec_its_endpoint(account: Answers, listed: Listed) -> None:
    in_us_east_1 = account.given["ListEndpoints"]
    account.given["ListEndpoints"] = [{"Endpoints": []}, in_us_east_1]
    assert listed() == (
        0,
        (
            "ENDPOINT         STATUS        SPEC        STAGE  STACK  CREATED     REGION\n"
            "churn-eu-west-1  not deployed  churn.yaml  prod   -      -           eu-west-1\n"
            "Churn            InService     churn.yaml  -      churn  2026-11-01  us-east-1\n"
            "try-2            Failed        -           -      -      2026-11-01  us-east-1\n",
            "churn.yaml (other): not looked for: it is for the account 111122223333\n"
            "account 123456789012: 2 endpoints, 1 of them without a spec; 1 spec without an endpoint\n",
        ),
    )


def test_programs_get_json(listed: Listed) -> None:
    rows = json.loads(listed("--format", "json")[1].out)
    assert rows[-1] == {
        "endpoint": "try-2",
        "region": "us-east-1",
        "status": "Failed",
        "created": "2026-11-01T10:00:00Z",
        "stack": None,
        "spec": None,
        "stage": None,
    }


def test_a_region_without_specs_is_listed_on_demand(listed: Listed) -> None:
    assert {
        it["region"] for it in json.loads(listed("--region", "eu-north-1", "--format", "json")[1].out)
    } == {
        "eu-north-1",
        "eu-west-1",
        "us-east-1",
    }


REFUSALS = {
    "denied": (
        {"ListEndpoints": DENIED},
        "AccessDeniedException",
        "sagemaker:ListEndpoints and cloudformation:",
    ),
    "may not ask for stacks": (
        {"DescribeStackResources": Refused("AccessDenied", "not authorized")},
        "AccessDenied",
        "it needs sagemaker:ListEndpoints and cloudformation:DescribeStackResources",
    ),
    "throttled": (
        {"ListEndpoints": Refused("ThrottlingException", "Rate exceeded")},
        "Rate exceeded",
        "wait",
    ),
    "expired": ({"GetCallerIdentity": Refused("ExpiredToken", "is expired")}, "ExpiredToken", "log in again"),
    "of an account that no spec is for": (
        {"GetCallerIdentity": {"Account": "444455556666"}},
        "no spec is for the account 444455556666",
        "add --region",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(account: Answers, listed: Listed, name: str) -> None:
    changes, cause, fix = REFUSALS[name]
    account.given |= changes
    Path("churn.yaml").write_text(CHURN.replace("{region", '{account: "123456789012", region'))
    code, said = listed()
    assert (code, said.out) == (3, "")
    assert cause in said.err
    assert fix in said.err


def test_throttling_once_is_no_refusal(account: Answers, listed: Listed) -> None:
    throttled = Refused("ThrottlingException", "Rate exceeded")
    account.given["ListEndpoints"] = [throttled, {"Endpoints": [summary("churn")]}]
    assert listed()[0] == 0


def test_an_answer_without_what_is_needed_lists_nothing(account: Answers, listed: Listed) -> None:
    listed()
    for operation, params in dict(account.asked).items():
        given = account.given[operation]
        answer = given(params) if callable(given) else given
        for path in [] if isinstance(answer, Refused) else optional(account.shapes[operation], answer):
            account.left_out = operation, path
            code, said = listed()
            assert code == 0 or said.out == "", (operation, path, said)


def test_a_spec_with_errors_makes_no_orphan(account: Answers, listed: Listed) -> None:
    Path("churn.yaml").write_text(CHURN.replace("m5.xlarge", "m5.tiny"))
    code, said = listed()
    assert (code, said.out, account.asked) == (1, "", [])
    assert said.err.startswith("churn.yaml:")


def test_a_warning_may_say_why_a_spec_has_errors(listed: Listed) -> None:
    Path("churn.yaml").write_text(CHURN.replace("env: {region: us-east-1}\n", ""))
    code, said = listed("--region", "us-eats-1")
    assert code == 1
    assert "us-eats-1 is not a known region; did you mean `us-east-1`?" in said.err


def test_no_region_is_guessed(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    Path("churn.yaml").write_text(CHURN.replace("env: {region: us-east-1}\n", ""))
    assert "no region is known; add --region" in listed()[1].err


def test_a_stage_cannot_be_chosen(listed: Listed) -> None:
    with pytest.raises(SystemExit) as ended:
        listed("--stage", "prod")
    assert ended.value.code == 2

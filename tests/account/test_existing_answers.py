"""``inferstack drift`` and ``import`` by answers of AWS: what cannot be read is never "no drift", and never a spec."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support import answers
from support.answers import Answers, Refused
from support.existing_answers import ARN, by_hand, model

from inferstack.cli import main

aws = answers.aws
Ask = Callable[[str], tuple[int, str, str]]
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
COMMANDS = {"drift": ["drift", "ranker.yaml"], "import": ["import", "ranker", "--spec", "new.yaml"]}
UNKNOWN = {"drift": 3, "import": 1}
"""The exit status when AWS does not say what is there: a difference is another."""
DENIED = Refused("AccessDeniedException", "User: arn:aws:iam::123456789012:user/ci is not authorized", 400)


def endpoint(**more: Any) -> dict[str, Any]:
    return {**by_hand()["endpoint"], "LastModifiedTime": _NOW, **more}


def component(name: str) -> dict[str, Any]:
    """An entry of the list of components."""
    arn, of = f"{ARN}:inference-component/{name}", f"{ARN}:endpoint/ranker"
    return {
        **{"InferenceComponentName": name, "InferenceComponentArn": arn, "VariantName": "blue"},
        **{"EndpointName": "ranker", "EndpointArn": of, "CreationTime": _NOW, "LastModifiedTime": _NOW},
    }


@pytest.fixture
def existing(aws: Answers) -> Answers:
    """An account with an endpoint that somebody has made by hand."""
    fields = by_hand()
    models = {it["ModelName"]: it for it in [*fields["models"], model("llama")]}
    aws.given = {
        "GetCallerIdentity": {"Account": "123456789012"},
        "DescribeEndpoint": endpoint(),
        "DescribeEndpointConfig": fields["config"],
        "DescribeModel": lambda params: models[params["ModelName"]],
        "ListInferenceComponents": {"InferenceComponents": []},
        "DescribeScalableTargets": {"ScalableTargets": fields["targets"]},
        "DescribeScalingPolicies": {"ScalingPolicies": fields["policies"][:1]},
        "DescribeScheduledActions": {"ScheduledActions": []},
        "DescribeAlarms": {"MetricAlarms": [], "CompositeAlarms": []},
        "ListTags": {"Tags": []},
        # CloudWatch and Application Auto Scaling call it by the same name.
        "ListTagsForResource": lambda params: {"Tags": [] if "cloudwatch" in params["ResourceARN"] else {}},
        "DescribeStacks": Refused("ValidationError", "Stack with id ranker does not exist"),
        "ListStackResources": {"StackResourceSummaries": []},
    }
    assert main(["import", "ranker", "--spec", "ranker.yaml"]) == 0
    return aws


@pytest.fixture
def ask(existing: Answers, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a command, with its status and what it prints."""

    def run(command: str) -> tuple[int, str, str]:
        existing.asked.clear()
        capsys.readouterr()
        code = main(COMMANDS[command])
        return code, *capsys.readouterr()

    return run


def is_refused(asked: tuple[int, str, str], status: int) -> str:
    """The one line that is printed; nothing is said to be right, and no spec is written."""
    code, out, err = asked
    assert (code, out, err.count("\n")) == (status, "", 1), err
    assert not Path("new.yaml").exists()
    return err


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_there_is_read(ask: Ask, command: str) -> None:
    code, _, err = ask(command)
    assert code == 0
    assert ("no drift" if command == "drift" else "resolves to what is there") in err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "way", [DENIED, Refused("ThrottlingException", "Rate exceeded")], ids=["denied", "throttled"]
)
def test_no_refusal_is_taken_for_an_answer(existing: Answers, ask: Ask, command: str, way: Refused) -> None:
    ask(command)
    Path("new.yaml").unlink(missing_ok=True)
    for operation in dict.fromkeys(name for name, _ in existing.asked):
        before, existing.given[operation] = existing.given[operation], way
        assert f"AWS answers {way.code}" in is_refused(ask(command), UNKNOWN[command]), operation
        existing.given[operation] = before


ONLY = {"an endpoint that failed": ["drift"], "no connection to CloudFormation": ["drift"]}
"""Where the other command has no need to ask, or can do its work."""
NOTHING_RUNS = (
    "an endpoint that does not exist",
    "an endpoint that is being deleted",
    "an endpoint that failed",
)
EXPIRED = Refused("ExpiredTokenException", "The security token included in the request is expired", 403)
SITUATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "an expired token": ({"GetCallerIdentity": EXPIRED}, "ExpiredToken"),
    "a token that expires meanwhile": ({"DescribeAlarms": EXPIRED}, "ExpiredToken"),
    "an endpoint that does not exist": (
        {"DescribeEndpoint": Refused("ValidationException", 'Could not find endpoint "ranker".')},
        "there is no endpoint ranker in us-east-1",
    ),
    "an endpoint whose configuration is deleted": (
        {
            "DescribeEndpointConfig": Refused(
                "ValidationException", 'Could not find endpoint configuration "ranker-7".'
            )
        },
        "the endpoint ranker serves the configuration ranker-7, which is deleted; `inferstack status` says whether",
    ),
    "an endpoint that is being deleted": (
        {"DescribeEndpoint": endpoint(EndpointStatus="Deleting")},
        "the endpoint ranker is being deleted",
    ),
    "an endpoint that failed": (
        {"DescribeEndpoint": endpoint(EndpointStatus="Failed", FailureReason="did not start")},
        "the endpoint ranker is Failed, so nothing runs that could be compared; `inferstack status ranker.yaml`",
    ),
    "a component that is gone before it is described": (
        {
            "ListInferenceComponents": {"InferenceComponents": [component("a")]},
            "DescribeInferenceComponent": Refused(
                "ValidationException", "Could not find inference component"
            ),
        },
        "Could not find inference component",
    ),
    "no connection to CloudFormation": (
        {"DescribeStacks": Refused("ServiceUnavailable", "", 503)},
        "ServiceUnavailable",
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(existing: Answers, ask: Ask, command: str, name: str) -> None:
    given, said = SITUATIONS[name]
    existing.given |= given
    if command in ONLY.get(name, COMMANDS):
        assert said in is_refused(ask(command), 1 if name in NOTHING_RUNS else UNKNOWN[command])
    else:
        assert ask(command)[0] == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_all_pages_of_components_are_read(existing: Answers, ask: Ask, command: str) -> None:
    def page(params: dict[str, Any]) -> dict[str, Any]:
        if "NextToken" not in params:
            return {"InferenceComponents": [component("a")], "NextToken": "more"}
        return {"InferenceComponents": [component("b")]}

    def described(params: dict[str, Any]) -> dict[str, Any]:
        specification = {"ModelName": "llama", "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024}}
        return {**component(params["InferenceComponentName"]), "Specification": specification}

    existing.given |= {"ListInferenceComponents": page, "DescribeInferenceComponent": described}
    ask(command)
    asked = [
        it["InferenceComponentName"] for name, it in existing.asked if name == "DescribeInferenceComponent"
    ]
    assert asked == ["a", "b"]


def test_while_an_endpoint_is_updated_the_answer_is_of_now(existing: Answers, ask: Ask) -> None:
    existing.given["DescribeEndpoint"] = endpoint(EndpointStatus="Updating")
    assert "the endpoint is Updating: what is found now may change" in ask("drift")[2]


def test_a_rollback_without_a_word_is_drift(existing: Answers, ask: Ask) -> None:
    older = {**by_hand()["config"], "EndpointConfigName": "ranker-6"}
    older["ProductionVariants"] = [{**older["ProductionVariants"][0], "VolumeSizeInGB": 20}]
    existing.given |= {
        "DescribeEndpoint": endpoint(EndpointConfigName="ranker-6"),
        "DescribeEndpointConfig": older,
    }
    code, out, _ = ask("drift")
    assert code == 1
    assert "variant.volume_size_in_gb" in out

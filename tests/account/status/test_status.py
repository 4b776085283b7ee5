"""``inferstack status``: how a deployment stands, by answers of AWS in forms that botocore's models allow."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from account.status import conftest as w
from support.answers import CHURN, Answers, Refused, optional

Status = Callable[..., tuple[int, Any]]
Changes = dict[str, Any]
CREATING = {
    "DescribeStacks": w.stack("CREATE_IN_PROGRESS"),
    "DescribeStackEvents": {"StackEvents": [w.event("CREATE_IN_PROGRESS")]},
    "DescribeEndpoint": w.endpoint("Creating", there=0),
}
CRASHING = {
    "DescribeLogStreams": w.streams("AllTraffic/i-0123456789abcdef0"),
    "FilterLogEvents": w.CRASH,
}
ROLLED_BACK = "the endpoint serves Churn-1, and not churn-2 of the stack"
NO_ROOM = (
    "There is not enough hardware resources on the instances to create a copy for this inference component."
)
PING = "The primary container for production variant AllTraffic did not pass the ping health check."
QUOTA = (
    "The account-level service limit 'ml.g5.xlarge for endpoint usage' is 0 Instances, with current utilization"
    " of 0 Instances and a request delta of 2 Instances. Please use AWS Service Quotas to request an increase."
)


def operation(status: str, reason: str, *, at: float) -> dict[str, Any]:
    """An event as DescribeEvents gives it."""
    event = w.event(status, reason, of="AWS::SageMaker::Endpoint", at=at)
    del event["StackName"]
    return {**event, "EventType": "PROVISIONING_ERROR", "OperationId": "1"}


def hook(status: str, reason: str, mode: str, *, at: float) -> dict[str, Any]:
    """What a hook has said of the endpoint."""
    made = operation("", "", at=at) | {"EventType": "HOOK_INVOCATION_ERROR", "HookStatus": status}
    del made["ResourceStatus"]
    return made | {"HookStatusReason": reason, "HookFailureMode": mode}


DENIED = Refused("AccessDeniedException", "User is not authorized to perform: logs:DescribeLogStreams")
SITUATIONS: dict[str, tuple[Changes, int, str, str]] = {
    # What AWS says, the exit status, what sums it up, and what else is printed.
    "works": ({}, 0, "works: the endpoint serves what the stack has", "2 of 2 instances"),
    "is in maintenance": ({"DescribeEndpoint": w.endpoint("SystemUpdating")}, 0, "works", "SystemUpdating"),
    "is created": (CREATING, 3, "running: the stack is CREATE_IN_PROGRESS", "0 of 2 instances"),
    "crashes in minute two": (CREATING | CRASHING, 3, "running: ", "No module named 'lightgbm'"),
    "may not read the log": (
        CREATING | {"DescribeLogStreams": DENIED},
        3,
        "running: the stack is CREATE_IN_PROGRESS",
        "not read: the log /aws/sagemaker/Endpoints/churn cannot be read: AWS answers AccessDenied",
    ),
    "failed": (
        {
            "DescribeStacks": w.stack("CREATE_FAILED"),
            "DescribeEndpoint": w.endpoint("Failed", FailureReason="did not pass the ping health check"),
        },
        1,
        "failed: the stack is CREATE_FAILED",
        "/aws/sagemaker/Endpoints/churn does not exist",
    ),
    "failed, with a log": (
        {"DescribeStacks": w.stack("ROLLBACK_COMPLETE"), "DescribeEndpoint": w.NO_ENDPOINT} | CRASHING,
        1,
        "failed: the stack is ROLLBACK_COMPLETE",
        "No module named 'lightgbm'",
    ),
    "was rolled back without a word": (
        {"DescribeEndpoint": w.endpoint("InService", "Churn-1")},
        1,
        f"failed: {ROLLED_BACK}",
        "InService, serves Churn-1",
    ),
    "could not be rolled back": (
        {"DescribeEndpoint": w.endpoint("UpdateRollbackFailed")},
        1,
        "failed: the endpoint is UpdateRollbackFailed",
        "",
    ),
    "is scaled": (
        {"DescribeEndpoint": w.endpoint("Updating", there=1)},
        3,
        "running: the endpoint is Updating",
        "1 of 2 instances",
    ),
    "is rolled back by the stack": (
        {
            "DescribeStacks": w.stack("UPDATE_ROLLBACK_COMPLETE"),
            "DescribeStackEvents": {
                "StackEvents": [
                    w.event("UPDATE_ROLLBACK_COMPLETE", at=9),
                    w.event(
                        "UPDATE_FAILED",
                        QUOTA,
                        of="AWS::SageMaker::Endpoint",
                        at=2,
                    ),
                    w.event("UPDATE_FAILED", "Resource update cancelled", of="AWS::IAM::Role", at=1),
                    w.event("UPDATE_IN_PROGRESS"),
                    w.event("CREATE_FAILED", "No space left on device", of="AWS::IAM::Role", at=-9),
                ]
            },
        },
        1,
        "failed: the stack is UPDATE_ROLLBACK_COMPLETE",
        "stack churn: cause (certain): ",
    ),
    "is rolled back, and CloudFormation names why": (
        {
            "DescribeStacks": w.stack("UPDATE_ROLLBACK_COMPLETE"),
            "DescribeStackEvents": Refused("AccessDenied", "not authorized"),
            "DescribeEvents": {
                "OperationEvents": [
                    operation("UPDATE_FAILED", "Resource update cancelled", at=3),
                    operation("UPDATE_FAILED", QUOTA, at=2),
                    operation("CREATE_FAILED", "No space left on device", at=-9),
                ]
            },
        },
        1,
        "failed: the stack is UPDATE_ROLLBACK_COMPLETE",
        f"event     Endpoint    UPDATE_FAILED: {QUOTA}\n",
    ),
    "is stopped by a hook": (
        {
            "DescribeStacks": w.stack("ROLLBACK_COMPLETE"),
            "DescribeEvents": {
                "OperationEvents": [
                    hook("HOOK_COMPLETE_FAILED", "tags are wanted", "WARN", at=1),
                    hook("HOOK_COMPLETE_FAILED", "no public subnets", "FAIL", at=2),
                ]
            },
        },
        1,
        "failed: the stack is ROLLBACK_COMPLETE",
        "event     Endpoint    HOOK_COMPLETE_FAILED: no public subnets\n",
    ),
    "has a change set that was refused": (
        {
            "DescribeStacks": w.stack("REVIEW_IN_PROGRESS"),
            "DescribeEndpoint": w.NO_ENDPOINT,
            "DescribeEvents": {
                "OperationEvents": [
                    {
                        "EventId": "1",
                        "EventType": "VALIDATION_ERROR",
                        "LogicalResourceId": "Endpoint",
                        "Timestamp": w.later(1),
                        "ValidationStatus": "FAILED",
                        "ValidationFailureMode": "FAIL",
                        "ValidationStatusReason": "churn exists already",
                    }
                ]
            },
        },
        1,
        "failed: nothing is deployed: nobody has executed the stack's change set",
        "event  Endpoint  FAILED: churn exists already\n",
    ),
    "has no stack and no endpoint": (
        {"DescribeStacks": w.NO_STACK, "DescribeEndpoint": w.NO_ENDPOINT},
        1,
        "failed: nothing is deployed: there is no stack, and no endpoint churn in us-east-1 of the account "
        "123456789012; deploy it, or choose another region or other credentials\n",
        "",
    ),
    "has a stack without endpoint": (
        {"DescribeEndpoint": w.NO_ENDPOINT},
        1,
        "failed: the stack is there, but no endpoint",
        "",
    ),
    "has an endpoint without stack": (
        {"DescribeStacks": w.NO_STACK},
        0,
        "works: the endpoint serves; there is no stack to compare it with",
        "",
    ),
    "was rolled back without a stack": (
        {
            "DescribeStacks": w.NO_STACK,
            "DescribeEndpoint": w.endpoint("InService", "Churn-1", FailureReason="Unable to start"),
        },
        1,
        "failed: the last update was rolled back to Churn-1",
        "Unable to start",
    ),
    "has only a change set": (
        {"DescribeStacks": w.stack("REVIEW_IN_PROGRESS"), "DescribeEndpoint": w.NO_ENDPOINT},
        1,
        "failed: nothing is deployed: nobody has executed the stack's change set",
        "",
    ),
    "did not answer a ping, and has logged nothing": (
        {"DescribeEndpoint": w.endpoint("Failed", FailureReason=PING)},
        1,
        "failed: the endpoint is Failed",
        "  endpoint churn: cannot-tell: no container has logged anything since the deployment began",
    ),
    "did not answer a ping, and may not read the log": (
        {"DescribeEndpoint": w.endpoint("Failed", FailureReason=PING), "DescribeLogStreams": DENIED},
        1,
        "failed: the endpoint is Failed",
        "fix: read the container's log: `aws logs",
    ),
    "is in alarm": (
        {
            "DescribeAlarms": lambda params: {
                "MetricAlarms": [
                    {"AlarmName": it}
                    for it in params["AlarmNames"]
                    if (params["StateValue"], it) == ("ALARM", "churn-errors")
                ]
            }
        },
        0,
        "works",
        "alarm     churn-errors  ALARM",
    ),
    "may not read alarms": (
        {"DescribeAlarms": Refused("AccessDenied", "not authorized")},
        0,
        "works",
        "not read: alarms cannot be read: AWS answers AccessDenied: not authorized; status needs",
    ),
    "may not read the stack": (
        {"DescribeStacks": Refused("AccessDenied", "not authorized")},
        3,
        "unknown: the status of churn is not known: AWS answers AccessDenied",
        "",
    ),
    "has expired credentials": (
        {"DescribeStacks": Refused("ExpiredToken", "The security token is expired")},
        3,
        "unknown: the status of churn is not known: AWS answers ExpiredToken: The security token is expired",
        "log in again",
    ),
    "is throttled": (
        {"DescribeEndpoint": Refused("ThrottlingException", "Rate exceeded")},
        3,
        "unknown: the status of churn is not known: AWS answers ThrottlingException: Rate exceeded",
        "wait a moment",
    ),
    "is throttled once": (
        {"DescribeEndpoint": [Refused("ThrottlingException", "Rate exceeded"), w.endpoint("InService")]},
        0,
        "works",
        "",
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(deployed: Answers, status: Status, name: str) -> None:
    changes, code, summary, shown = SITUATIONS[name]
    deployed.given |= changes
    found, said = status()
    assert said.out.startswith(f"churn.yaml: {summary}")
    assert shown in said.out
    assert found == code


@pytest.mark.parametrize("name", ["has no stack and no endpoint", "has only a change set"])
def test_where_nothing_is_deployed_no_log_is_missed(deployed: Answers, status: Status, name: str) -> None:
    deployed.given |= SITUATIONS[name][0]
    assert "has logged" not in status()[1].out


def test_whatever_an_answer_lacks_is_never_taken_for_success(deployed: Answers, status: Status) -> None:
    """All that AWS's models do not require may be missing."""
    deployed.given |= SITUATIONS["was rolled back without a word"][0] | CRASHING
    w.with_components(deployed, w.component("chat", "InService"))
    assert status("--logs", "5")[0] == 1
    asked = dict(deployed.asked)
    for operation, params in asked.items():
        given = deployed.given[operation]
        answer = given(params) if callable(given) else given
        for path in optional(deployed.shapes[operation], answer):
            deployed.left_out = operation, path
            code, said = status("--logs", "5")
            assert code in (1, 3), (operation, path, said)


def test_the_failure_of_an_earlier_operation_does_not_count(deployed: Answers, status: Status) -> None:
    deployed.given |= SITUATIONS["is rolled back by the stack"][0]
    assert "No space left" not in status()[1].out
    assert f"event     Endpoint    UPDATE_FAILED: {QUOTA}\n" in status()[1].out


@pytest.mark.parametrize(
    ("chat", "code", "summary"),
    [
        (w.component("chat", "InService"), 0, "works"),
        (w.component("chat", "InService", 0), 3, "running: component chat is without all copies"),
        (w.component("chat", "Creating", 0), 3, "running: component chat is Creating"),
        (w.component("chat", "Failed", 0, FailureReason=NO_ROOM), 1, "failed: component chat is Failed"),
    ],
)
def test_components(deployed: Answers, status: Status, chat: Changes, code: int, summary: str) -> None:
    w.with_components(deployed, chat, w.component("embed", "InService"))
    found, said = status()
    assert (found, said.out.startswith(f"churn.yaml: {summary}")) == (code, True), said.out
    assert "component embed: " not in said.out
    assert (f"0 of 1 copies: {NO_ROOM}\n" in said.out) == ("FailureReason" in chat)


def test_a_component_that_somebody_has_deleted_is_missing(deployed: Answers, status: Status) -> None:
    w.with_components(deployed, w.component("chat", "InService"))
    deployed.given["ListInferenceComponents"] = {"InferenceComponents": []}
    assert status()[1].out.startswith("churn.yaml: failed: component chat is not there")


def test_all_pages_are_read(deployed: Answers, status: Status) -> None:
    def paged(operation: str, first: dict[str, Any], token: str) -> None:
        rest = deployed.given[operation]
        deployed.given[operation] = lambda params: rest if token in params else {**first, token: "more"}

    deployed.given |= {"DescribeStacks": w.stack("CREATE_FAILED")} | CRASHING
    paged("ListStackResources", {"StackResourceSummaries": []}, "NextToken")
    paged("DescribeStackEvents", {"StackEvents": [w.event("CREATE_FAILED", at=9)]}, "NextToken")
    paged("DescribeLogStreams", {"logStreams": []}, "nextToken")
    paged("FilterLogEvents", {"events": []}, "nextToken")
    assert "No module named 'lightgbm'" in status()[1].out
    asked = [dict(params) for operation, params in deployed.asked if operation == "FilterLogEvents"]
    assert asked[0]["startTime"] == int(w.BEGAN.timestamp() * 1000)


def test_instances_from_before_the_update_are_not_blamed(deployed: Answers, status: Status) -> None:
    deployed.given |= CREATING | CRASHING
    deployed.given["DescribeLogStreams"] = w.streams("AllTraffic/i-0123456789abcdef0", at=-60)
    assert "lightgbm" not in status()[1].out


def test_another_container_that_serves_hides_no_crash(deployed: Answers, status: Status) -> None:
    serves = w.lines("AllTraffic/i-2", "[INFO] Listening at: unix:/tmp/gunicorn.sock (15)")["events"]
    deployed.given |= CREATING | CRASHING
    deployed.given["DescribeLogStreams"] = w.streams("AllTraffic/i-0123456789abcdef0", "AllTraffic/i-2")
    deployed.given["FilterLogEvents"] = {"events": [*w.CRASH["events"], *serves]}
    assert "lightgbm" in status()[1].out


def test_json_has_the_same(deployed: Answers, status: Status) -> None:
    deployed.given |= CREATING | CRASHING
    code, said = status("--format", "json", "--logs", "1")
    [found] = json.loads(said.out)
    assert code == 3
    assert (found["state"], found["spec"], found["stage"]) == ("running", "churn.yaml", None)
    assert {"what": "stack", "name": "churn", "is": "CREATE_IN_PROGRESS"} in found["parts"]
    [reason] = found["reasons"]
    assert (reason["part"], reason["verdict"]) == ("endpoint churn", "cause")
    assert reason["from"] == f"{w.LOG} AllTraffic/i-0123456789abcdef0"
    assert found["logs"] == {
        "endpoint churn": ["AllTraffic/i-0123456789abcdef0: ModuleNotFoundError: No module named 'lightgbm'"]
    }


# ---------------------------------------------------------------- until the end


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of `--follow`, over which time goes by."""
    pauses: list[float] = []
    monkeypatch.setattr("inferstack.cli.status.sleep", pauses.append)
    monkeypatch.setattr("inferstack.cli.status.monotonic", lambda: sum(pauses))
    monkeypatch.setattr("inferstack.cli.status.strftime", lambda _: "10:00:00")
    return pauses


def test_each_change_is_one_line_and_the_cause_comes_early(
    deployed: Answers, status: Status, slept: list[float]
) -> None:
    deployed.given |= CREATING | {
        "DescribeStacks": [*[CREATING["DescribeStacks"]] * 4, w.stack("CREATE_COMPLETE")],
        "DescribeEndpoint": [*[CREATING["DescribeEndpoint"]] * 4, w.endpoint("Failed", there=0)],
        "DescribeLogStreams": [w.NO_LOG, CRASHING["DescribeLogStreams"]],
        "FilterLogEvents": w.CRASH,
    }
    code, said = status("--follow")
    assert code == 1
    changes = [line.removeprefix("10:00:00  churn.yaml  ") for line in said.err.splitlines()]
    assert changes == [
        "stack churn CREATE_IN_PROGRESS",
        "endpoint churn Creating, serves Churn-2",
        "variant AllTraffic 0 of 2 instances",
        "updated 2026-11-01 10:03:00 UTC",
        changes[4],
        "failed: the endpoint is Failed",
        "stack churn CREATE_COMPLETE",
        "endpoint churn Failed, serves Churn-2",
    ]
    assert changes[4].startswith("endpoint churn: cause: ")
    assert slept == [10, 10, 15, 22.5]


def test_a_silent_rollback_is_the_end(deployed: Answers, status: Status, slept: list[float]) -> None:
    deployed.given["DescribeStacks"] = [w.stack("UPDATE_IN_PROGRESS"), w.stack("UPDATE_COMPLETE")]
    deployed.given["DescribeEndpoint"] = [
        w.endpoint("Updating", "Churn-1"),
        w.endpoint("InService", "Churn-1"),
    ]
    code, said = status("--follow")
    assert (code, len(slept)) == (1, 1)
    assert ROLLED_BACK in said.err


def test_the_deadline_ends_what_goes_on(deployed: Answers, status: Status, slept: list[float]) -> None:
    deployed.given |= CREATING
    code, said = status("--follow", "--deadline", "5")
    assert code == 3
    assert 240 < sum(slept) <= 300
    assert said.out.startswith("churn.yaml: running: ")


@pytest.mark.parametrize(("refusals", "code", "pauses"), [(2, 0, 2), (9, 3, 2)], ids=["goes on", "gives up"])
def test_a_failure_to_ask_is_not_the_end(
    deployed: Answers, status: Status, slept: list[float], refusals: int, code: int, pauses: int
) -> None:
    refused = Refused("AccessDenied", "not authorized")
    deployed.given["DescribeStacks"] = [*[refused] * refusals, w.stack("UPDATE_COMPLETE")]
    assert status("--follow")[0] == code
    assert len(slept) == pauses


def test_expired_credentials_are_the_end(deployed: Answers, status: Status, slept: list[float]) -> None:
    expired = Refused("ExpiredToken", "The security token is expired")
    deployed.given |= CREATING | {"DescribeStacks": [w.stack("CREATE_IN_PROGRESS"), expired]}
    assert status("--follow")[0] == 3
    assert len(slept) == 1


def test_another_account_is_not_asked(deployed: Answers, status: Status) -> None:
    Path("churn.yaml").write_text(
        CHURN.replace("{region", '{account: "111122223333", region').replace("123456789012", "111122223333")
    )
    code, said = status("--follow")
    assert code == 3
    assert "unknown: the spec is for the account 111122223333, but the credentials are for" in said.out
    assert [it for it, _ in deployed.asked] == ["GetCallerIdentity"]


def test_a_deadline_without_follow_is_refused(status: Status) -> None:
    with pytest.raises(SystemExit) as ended:
        status("--deadline", "5")
    assert ended.value.code == 2

"""An account with one endpoint and its stack, whose answers a test changes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support import answers
from support.answers import CHURN, Answers, Refused

from inferstack.cli import main

aws = answers.aws

BEGAN = datetime(2026, 11, 1, 10, tzinfo=UTC)
STACK_ID = "arn:aws:cloudformation:us-east-1:123456789012:stack/churn/1"
ARN = "arn:aws:sagemaker:us-east-1:123456789012"
LOG = "/aws/sagemaker/Endpoints/churn"
NO_STACK = Refused("ValidationError", "Stack with id churn does not exist")
NO_ENDPOINT = Refused("ValidationException", 'Could not find endpoint "churn".')
NO_LOG = Refused("ResourceNotFoundException", "The specified log group does not exist.")


def later(minutes: float) -> datetime:
    return BEGAN + timedelta(minutes=minutes)


def resource(type_name: str, physical: str, status: str = "CREATE_COMPLETE") -> dict[str, Any]:
    return {
        "LogicalResourceId": type_name.rpartition("::")[2],
        "PhysicalResourceId": physical,
        "ResourceType": type_name,
        "ResourceStatus": status,
        "LastUpdatedTimestamp": BEGAN,
    }


def event(
    status: str, reason: str = "", *, of: str = "AWS::CloudFormation::Stack", at: float = 0
) -> dict[str, Any]:
    physical = STACK_ID if of.endswith("::Stack") else "x"
    return {
        "StackId": STACK_ID,
        "EventId": f"{of}-{status}-{at}",
        "StackName": "churn",
        "LogicalResourceId": of.rpartition("::")[2],
        "PhysicalResourceId": physical,
        "ResourceType": of,
        "Timestamp": later(at),
        "ResourceStatus": status,
        **({"ResourceStatusReason": reason} if reason else {}),
    }


def stack(status: str) -> dict[str, Any]:
    one = {"StackId": STACK_ID, "StackName": "churn", "CreationTime": BEGAN, "StackStatus": status}
    return {"Stacks": [one]}


def endpoint(status: str, config: str = "Churn-2", there: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "EndpointName": "churn",
        "EndpointArn": f"{ARN}:endpoint/churn",
        "EndpointConfigName": config,
        "EndpointStatus": status,
        "CreationTime": BEGAN,
        "LastModifiedTime": later(3),
        "ProductionVariants": [
            {"VariantName": "AllTraffic", "CurrentInstanceCount": there, "DesiredInstanceCount": 2}
        ],
        **more,
    }


def component(name: str, status: str, there: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "InferenceComponentName": name,
        "InferenceComponentArn": f"{ARN}:inference-component/{name}",
        "EndpointName": "churn",
        "EndpointArn": f"{ARN}:endpoint/churn",
        "CreationTime": BEGAN,
        "LastModifiedTime": BEGAN,
        "InferenceComponentStatus": status,
        "RuntimeConfig": {"DesiredCopyCount": 1, "CurrentCopyCount": there},
        **more,
    }


def streams(*names: str, at: float = 1) -> dict[str, Any]:
    created = int(later(at).timestamp() * 1000)
    return {"logStreams": [{"logStreamName": it, "creationTime": created} for it in names]}


def lines(stream: str, *texts: str) -> dict[str, Any]:
    start = int(later(2).timestamp() * 1000)
    return {
        "events": [
            {"logStreamName": stream, "timestamp": start + number, "message": it, "eventId": str(number)}
            for number, it in enumerate(texts)
        ]
    }


CRASH = lines(
    "AllTraffic/i-0123456789abcdef0",
    "Traceback (most recent call last):",
    '  File "/opt/ml/code/inference.py", line 3, in <module>',
    "    import lightgbm",
    "ModuleNotFoundError: No module named 'lightgbm'",
)


def with_components(aws: Answers, *found: dict[str, Any]) -> None:
    """Gives the endpoint inference components, which its stack has made."""
    named = {it["InferenceComponentName"]: it for it in found}
    aws.given["ListInferenceComponents"] = {
        "InferenceComponents": [
            {key: value for key, value in it.items() if key not in ("RuntimeConfig", "FailureReason")}
            | {"VariantName": "AllTraffic"}
            for it in found
        ]
    }
    aws.given["DescribeInferenceComponent"] = lambda params: named[params["InferenceComponentName"]]
    resources = aws.given["ListStackResources"]["StackResourceSummaries"]
    resources += [resource("AWS::SageMaker::InferenceComponent", it["InferenceComponentArn"]) for it in found]


@pytest.fixture
def deployed(aws: Answers) -> Answers:
    """An account in which the endpoint works."""
    Path("churn.yaml").write_text(CHURN)
    aws.given = {
        "GetCallerIdentity": {"Account": "123456789012"},
        "DescribeStacks": stack("UPDATE_COMPLETE"),
        "ListStackResources": {
            "StackResourceSummaries": [
                # SageMaker writes names in ARNs in small letters.
                resource("AWS::SageMaker::EndpointConfig", f"{ARN}:endpoint-config/churn-2"),
                resource("AWS::SageMaker::Endpoint", f"{ARN}:endpoint/churn"),
                resource("AWS::CloudWatch::Alarm", "churn-errors"),
            ]
        },
        "DescribeStackEvents": {
            "StackEvents": [event("UPDATE_COMPLETE", at=9), event("UPDATE_IN_PROGRESS", "User Initiated")]
        },
        "DescribeEvents": Refused("AccessDenied", "not authorized to perform: cloudformation:DescribeEvents"),
        "DescribeEndpoint": endpoint("InService"),
        "ListInferenceComponents": {"InferenceComponents": []},
        "DescribeAlarms": {"MetricAlarms": [], "CompositeAlarms": []},
        "DescribeLogStreams": NO_LOG,
        "FilterLogEvents": {"events": []},
    }
    return aws


Status = Callable[..., tuple[int, Any]]


@pytest.fixture
def status(deployed: Answers, capsys: pytest.CaptureFixture[str]) -> Status:
    """Runs the command, with the exit status and what it prints."""

    def run(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main(["status", "churn.yaml", *words])
        return code, capsys.readouterr()

    return run

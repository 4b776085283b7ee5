"""Every statement of the endpoint's role, and who may assume the roles that are made."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from support.damaged_specs import FILES
from support.resolving import Resolved, of_type, only

from inferstack.check.load import load_spec
from inferstack.facts.role import OurSid
from inferstack.resolve import resolve_template

SHAPES = sorted((Path(__file__).parents[1] / "shapes").glob("*.yaml"))
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createmodel-perms
# says which of them SageMaker needs.
ACTIONS: dict[str, str] = {
    "ReadModelFiles": "s3:GetObject",
    "ListModelFiles": "s3:ListBucket",
    "ReadRequests": "s3:GetObject",
    "WriteResults": "s3:PutObject s3:AbortMultipartUpload",
    "PullImage": "ecr:BatchCheckLayerAvailability ecr:BatchGetImage ecr:GetDownloadUrlForLayer",
    "LogInToRegistry": "ecr:GetAuthorizationToken",
    "UseKeys": "kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey",
    "UseKeysByAlias": "kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey",
    "GrantKeys": "kms:CreateGrant",
    "GrantKeysByAlias": "kms:CreateGrant",
    "DecryptFiles": "kms:Decrypt",
    "DecryptFilesByAlias": "kms:Decrypt",
    "JoinVpc": (
        "ec2:CreateNetworkInterface ec2:CreateNetworkInterfacePermission"
        " ec2:DeleteNetworkInterface ec2:DeleteNetworkInterfacePermission"
    ),
    "LookAtVpc": (
        "ec2:DescribeDhcpOptions ec2:DescribeNetworkInterfaces ec2:DescribeSecurityGroups"
        " ec2:DescribeSubnets ec2:DescribeVpcs"
    ),
    "NotifyTopics": "sns:Publish",
    "AskRegistryCredentials": "lambda:InvokeFunction",
    "ReadModelPackages": "sagemaker:DescribeModelPackage",
    "ReadHubContent": "sagemaker:DescribeHubContent",
    "LookAtRollbackAlarms": "cloudwatch:DescribeAlarms",
    "OpenSessions": (
        "ssmmessages:CreateControlChannel ssmmessages:CreateDataChannel"
        " ssmmessages:OpenControlChannel ssmmessages:OpenDataChannel"
    ),
    "WriteLogs": "logs:CreateLogGroup logs:CreateLogStream logs:DescribeLogStreams logs:PutLogEvents",
    "PublishMetrics": "cloudwatch:PutMetricData",
}
ASSUMED = {"Effect": "Allow", "Action": ["sts:AssumeRole"]}


def made(file: Path) -> Iterator[dict[str, Any]]:
    """The policies of the role that the stack of a spec makes."""
    loaded = load_spec(file)
    template = resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)
    policies = of_type(template, "AWS::IAM::ManagedPolicy").items()
    return (it["PolicyDocument"] for name, it in policies if name.startswith("ExecutionPolicy"))


@pytest.fixture(scope="module")
def statements() -> list[dict[str, Any]]:
    """Statements of all examples and shapes that have a name of ours."""
    documents = [document for file in (*FILES, *SHAPES) for document in made(file)]
    assert {it["Version"] for it in documents} == {"2012-10-17"}
    found = [it for document in documents for it in document["Statement"]]
    return [it for it in found if it.get("Sid") in get_args(OurSid)]


@pytest.mark.parametrize("sid", get_args(OurSid))
def test_a_statement_allows_these_actions_and_no_others(sid: str, statements: list[dict[str, Any]]) -> None:
    found = [it for it in statements if it["Sid"] == sid]
    assert {it["Effect"] for it in found} == {"Allow"}
    assert {" ".join(it["Action"]) for it in found} == {ACTIONS[sid]}


def test_metrics_are_published_for_sagemaker_alone(resolve: Resolved) -> None:
    document = only(resolve("single"), "AWS::IAM::ManagedPolicy")["PolicyDocument"]
    (publish,) = (it for it in document["Statement"] if it["Sid"] == "PublishMetrics")
    names = ["AWS/SageMaker", "/aws/sagemaker/*"]
    assert publish["Condition"] == {"StringLike": {"cloudwatch:namespace": names}}


def test_only_sagemaker_may_assume_the_role_of_an_endpoint(resolve: Resolved) -> None:
    assert only(resolve("single"), "AWS::IAM::Role")["AssumeRolePolicyDocument"] == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "AssumedBySageMaker",
                **ASSUMED,
                "Principal": {"Service": "sagemaker.amazonaws.com"},
            }
        ],
    }


@pytest.mark.parametrize(
    ("trusted", "principal"),
    [
        ("lambda.amazonaws.com", {"Service": ["lambda.amazonaws.com"]}),
        ("111122223333", {"AWS": [{"Fn::Sub": "arn:${AWS::Partition}:iam::111122223333:root"}]}),
        (
            "arn:aws:iam::111122223333:role/web",
            {"AWS": ["arn:aws:iam::111122223333:role/web"]},
        ),
    ],
)
def test_only_those_whom_the_spec_trusts_may_assume_the_role_of_invokers(
    trusted: str, principal: dict[str, Any], resolve: Resolved
) -> None:
    template = resolve("single", json.dumps({"invokers": {"role": {"trusted": [trusted]}}}))
    assert template["Resources"]["InvokerRole"]["Properties"]["AssumeRolePolicyDocument"] == {
        "Version": "2012-10-17",
        "Statement": [{"Sid": "AssumedByInvokers", **ASSUMED, "Principal": principal}],
    }

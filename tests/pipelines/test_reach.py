"""What the policies that users copy allow on what belongs to others in the account: nothing but what the page says.

Every action of every policy is tried on resources of others, of each type that IAM knows for the action, with each context
that somebody who writes templates can bring about.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session
from cfnlint.data import AdditionalSpecs
from cfnlint.helpers import load_resource
from support.iam import Context, Policy, allows, listed
from support.pipelines import DOCS

from inferstack.texts.arns import ACTION_KINDS

FOLDER = DOCS / "iam"
PAGE = " ".join((DOCS / "README.md").read_text("utf-8").split())
ACCOUNT = "111122223333"
# Names that others give to things, some of them much like ours.
NAMES = (
    "shop",
    "shop-asyncbucket-1",
    "ShopAsyncTopic",
    "/aws/sagemaker/Endpoints/shop:*",
    "inferstack",
    "shop/inferstack/x",
)
_SCALED = get_session().get_service_model("application-autoscaling").shape_for("ServiceNamespace").enum
FOREIGN = sorted({*_SCALED} - {"sagemaker"})
SCALING = [
    f"application-autoscaling:{name}"
    for name in (
        *("DeleteScalingPolicy", "DeleteScheduledAction", "DeregisterScalableTarget"),
        *("PutScalingPolicy", "PutScheduledAction", "RegisterScalableTarget"),
    )
]
"""The actions that know the service: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsapplicationautoscaling.html"""
TARGET = f"arn:aws:application-autoscaling:us-east-1:{ACCOUNT}:scalable-target/0ec5shop"
ALARM = f"arn:aws:cloudwatch:us-east-1:{ACCOUNT}:alarm:churn"


def document(name: str) -> Policy:
    found: Policy = json.loads((FOLDER / f"{name}-policy.json").read_text("utf-8"))
    return found


def granted(policy: Policy) -> set[str]:
    return {action for statement in policy["Statement"] for action in listed(statement["Action"])}


# ---------------------------------------------------------------- scaling of other services, actions of alarms


@pytest.mark.parametrize("service", FOREIGN)
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*-policy.json")), ids=lambda file: file.stem)
def test_the_scaling_of_another_service_is_not_reached(file: Path, service: str) -> None:
    policy, context = (
        json.loads(file.read_text("utf-8")),
        {"application-autoscaling:service-namespace": service},
    )
    assert [action for action in SCALING if allows(policy, action, TARGET, context)] == []


def test_the_scaling_of_endpoints_is_reached() -> None:
    context = {"application-autoscaling:service-namespace": "sagemaker"}
    assert [it for it in SCALING if not allows(document("execution"), it, TARGET, context)] == []


def put_alarm(*actions: str) -> bool:
    context = {"cloudwatch:AlarmActions": actions} if actions else {}
    return allows(document("execution"), "cloudwatch:PutMetricAlarm", ALARM, context)


def test_an_alarm_does_only_what_a_spec_can_say() -> None:
    every = [f"arn:aws:{service}:us-east-1:{ACCOUNT}:x" for service in ACTION_KINDS]
    assert put_alarm()
    assert all(map(put_alarm, every))
    assert put_alarm(*every)
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    for other in (
        "arn:aws:automate:us-east-1:ec2:terminate",
        f"arn:aws:swf:us-east-1:{ACCOUNT}:action/actions/AWS_EC2.InstanceId.Stop/1.0",
    ):
        assert not put_alarm(other)
        assert not put_alarm(every[0], other)


# ---------------------------------------------------------------- uploads


@pytest.mark.parametrize(
    ("request_", "may"),
    [
        ({"s3:if-none-match": "*", "s3:ObjectCreationOperation": "true"}, True),
        # Of an upload in parts, only the last request can have the condition.
        ({"s3:ObjectCreationOperation": "false"}, True),
        ({"s3:ObjectCreationOperation": "true"}, False),
    ],
    ids=["nothing-is-there", "a-part", "whatever-is-there"],
)
def test_an_upload_replaces_nothing(request_: Context, may: bool) -> None:
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes-enforce.html
    file = "arn:aws:s3:::acme-models/churn/model.tar.gz"
    assert allows(document("upload"), "s3:PutObject", file, request_) is may


# ---------------------------------------------------------------- everything else

# What a template can bring about: requests that SageMaker makes, roles with our boundary, and the like.
CONTEXTS: Sequence[Context] = (
    {},
    {"application-autoscaling:service-namespace": "sagemaker"},
    {"kms:ViaService": "sagemaker.us-east-1.amazonaws.com"},
    {"kms:ViaService": "s3.us-east-1.amazonaws.com"},
    {"kms:GrantIsForAWSResource": "true"},
    {"cloudwatch:namespace": "AWS/SageMaker"},
    {"cloudwatch:namespace": "AWS/EC2"},
    {
        "iam:PermissionsBoundary": f"arn:aws:iam::{ACCOUNT}:policy/inferstack-boundary",
        "iam:PolicyARN": f"arn:aws:iam::{ACCOUNT}:policy/inferstack/x",
        "iam:PassedToService": "sagemaker.amazonaws.com",
        "iam:AWSServiceName": "sagemaker.application-autoscaling.amazonaws.com",
    },
)
_ENDPOINTS = ["Endpoint", "EndpointConfig"]
_COMPONENTS = [f"sagemaker:{verb}InferenceComponent" for verb in ("Create", "Delete", "Describe", "Update")]

REACHED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "execution": {
        "all endpoints of the account, with their configurations, models and components": [
            *(
                f"sagemaker:{verb}{it}"
                for it in [*_ENDPOINTS, "Model"]
                for verb in ("Create", "Delete", "Describe")
            ),
            *("sagemaker:UpdateEndpoint", "sagemaker:UpdateEndpointWeightsAndCapacities"),
            *(*_COMPONENTS, "sagemaker:UpdateInferenceComponentRuntimeConfig"),
            *("sagemaker:AddTags", "sagemaker:DeleteTags", "sagemaker:ListTags"),
        ],
        "their scaling": SCALING,
        "all alarms and dashboards": [
            *("cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"),
            *("cloudwatch:DeleteDashboards", "cloudwatch:GetDashboard", "cloudwatch:PutDashboard"),
            *("cloudwatch:ListTagsForResource", "cloudwatch:TagResource", "cloudwatch:UntagResource"),
        ],
        "the tags of all scaling": [
            f"application-autoscaling:{verb}"
            for verb in ("ListTagsForResource", "TagResource", "UntagResource")
        ],
        "read all metrics, alarms and scaling": [
            *("cloudwatch:GetMetricData", "cloudwatch:DescribeAlarms"),
            *(
                f"application-autoscaling:Describe{what}"
                for what in ("ScalableTargets", "ScalingPolicies", "ScheduledActions")
            ),
        ],
        "have SageMaker use any key whose policy leaves that to IAM": ["kms:CreateGrant", "kms:DescribeKey"],
    },
    "execution-extras": {
        "all composite alarms": ["cloudwatch:PutCompositeAlarm", "cloudwatch:DescribeAlarms"],
        "every bucket with `asyncbucket` in its name: its policy, so who reads it, and what expires": [
            it for it in sorted(granted(document("execution-extras"))) if it.startswith("s3:")
        ],
        "every topic with `Async` and `Topic` in its name: its policy, so who subscribes": [
            it for it in sorted(granted(document("execution-extras"))) if it.startswith("sns:")
        ],
        "change and delete the log groups of all endpoints and components": [
            it for it in sorted(granted(document("execution-extras"))) if it.startswith("logs:")
        ],
    },
    "boundary": {
        "pull all images": [
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ],
        "publish to all topics": ["sns:Publish"],
        "make network interfaces in all subnets, with all security groups, and delete those of others": [
            f"ec2:{verb}NetworkInterface{what}"
            for verb in ("Create", "Delete")
            for what in ("", "Permission")
        ],
        "read model packages and hubs": ["sagemaker:DescribeHubContent", "sagemaker:DescribeModelPackage"],
        "write the logs and metrics of other endpoints": [
            "cloudwatch:PutMetricData",
            *("logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"),
        ],
        "look at alarms and VPCs": [
            *("cloudwatch:DescribeAlarms", "ecr:GetAuthorizationToken"),
            *(
                f"ec2:Describe{what}"
                for what in ("DhcpOptions", "NetworkInterfaces", "SecurityGroups", "Subnets", "Vpcs")
            ),
        ],
    },
    "recommend": {
        "start, read and stop all jobs of these kinds, and tag them": [
            *(
                f"sagemaker:{verb}InferenceRecommendationsJob{rest}"
                for verb, rest in (("Create", ""), ("Describe", ""), ("List", "Steps"), ("Stop", ""))
            ),
            "sagemaker:GetScalingConfigurationRecommendation",
            *(
                f"sagemaker:{verb}AI{what}Job"
                for what in ("Benchmark", "Recommendation")
                for verb in ("Create", "Describe", "Stop")
            ),
            *("sagemaker:CreateAIWorkloadConfig", "sagemaker:AddTags"),
        ],
        "look at all endpoints": [f"sagemaker:Describe{it}" for it in _ENDPOINTS],
    },
    "review": {
        "read the state, the events and the template of every stack": [
            *(f"cloudformation:Describe{it}" for it in ("Events", "StackEvents", "Stacks")),
            *("cloudformation:GetTemplate", "cloudformation:ListStackResources"),
        ],
        "see all endpoints, components and alarms": [
            *(f"sagemaker:Describe{it}" for it in ("Endpoint", "InferenceComponent")),
            *("sagemaker:ListInferenceComponents", "cloudwatch:DescribeAlarms"),
        ],
        "read the logs of all their containers, and what those log of requests": [
            *("logs:DescribeLogStreams", "logs:FilterLogEvents"),
        ],
    },
    "upload": {},
    "pipeline": {},
}
"""By policy: what the page says remains possible, and the actions that it is about."""


@cache
def _services() -> dict[str, Any]:
    """IAM's service authorization data, which cfn-lint ships."""
    found: dict[str, Any] = load_resource(AdditionalSpecs, "Policies.json")
    return found


_PLACE = {"Partition": "aws", "Region": "us-east-1", "Account": ACCOUNT}


def _of_others(action: str) -> Iterator[str]:
    """ARNs of things of others that an action is about; a star where IAM knows no resource for it."""
    service, _, name = action.partition(":")
    known = _services()[service]
    yield "*"
    for type_name in known["Actions"][name.lower()].get("Resources", ()):
        for form in known["Resources"].get(type_name.lower(), {}).get("ARNFormats", ()):
            arn = re.sub(r"\$\{(\w+)\}", lambda it: _PLACE[it[1]], form)
            yield from (arn.replace(".*", name) for name in NAMES)


def reached(policy: Policy) -> set[str]:
    """The actions that a policy allows on something of others."""
    return {
        action
        for action in granted(policy)
        if any(allows(policy, action, arn, it) for arn in _of_others(action) for it in CONTEXTS)
    }


def test_every_policy_is_tried() -> None:
    assert {file.name.removesuffix("-policy.json") for file in FOLDER.glob("*-policy.json")} == {*REACHED}


@pytest.mark.parametrize("name", REACHED)
def test_a_policy_reaches_what_the_page_says_and_nothing_else(name: str) -> None:
    assert reached(document(name)) == {action for actions in REACHED[name].values() for action in actions}
    assert [words for words in REACHED[name] if words not in PAGE] == []


def test_what_reaches_further_is_found() -> None:
    wide = {
        "Statement": [{"Effect": "Allow", "Action": ["s3:DeleteBucket", "iam:PassRole"], "Resource": "*"}]
    }
    assert reached(wide) == {"s3:DeleteBucket", "iam:PassRole"}
    named = {
        "Statement": [{**wide["Statement"][0], "Resource": f"arn:aws:iam::{ACCOUNT}:role/*inferstack/*"}]
    }
    assert reached(named) == {"iam:PassRole"}

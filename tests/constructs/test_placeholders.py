"""The deployment fills in `${AWS::…}` of a spec in whatever CDK's own constructs make of it, too."""

import pytest
import yaml
from aws_cdk import aws_ec2 as ec2, aws_s3 as s3
from support.cdk import endpoint, spec, stack, synthesised
from support.resolving import BASES, Template, only

from inferstack.constructs import InferenceEndpoint

NAMED = "shared-${AWS::Region}"
CHAT = yaml.safe_load(BASES["components"])["inference_components"]["chat"]
PLACED = {
    "endpoint_name": NAMED,
    "inference_components": {"chat": None, "Chat-${AWS::Region}": CHAT},
    "dashboard": False,
}
BY_PARTITION = "arn:${AWS::Partition}:iam::111122223333:role/ours"
IN_REGION = {"Fn::Join": ["", ["ours-", {"Ref": "AWS::Region"}]]}


def dimensions(alarm: Template) -> dict[str, object]:
    return {it["Name"]: it["Value"] for it in alarm["Dimensions"]}


@pytest.mark.parametrize(
    ("metric", "name", "value"),
    [
        ("MemoryUtilization", "EndpointName", NAMED),
        ("Invocations", "InferenceComponentName", "Chat-${AWS::Region}"),
    ],
)
def test_an_alarm_on_a_metric_watches_what_the_deployment_names(metric: str, name: str, value: str) -> None:
    made = endpoint("components", {**PLACED, "alarms": False})
    component = value if name.startswith("Inference") else None
    made.metric(metric, inference_component=component).create_alarm(
        made.stack, "Own", threshold=1, evaluation_periods=1
    )
    assert dimensions(only(synthesised(made), "AWS::CloudWatch::Alarm"))[name] == {"Fn::Sub": value}


def test_a_component_is_invoked_by_the_name_that_the_deployment_gives_it() -> None:
    made = endpoint("components", PLACED)
    found = made.stack.resolve(made.inference_component_name("Chat-${AWS::Region}"))
    assert found["Fn::Select"][1][0] == {"Fn::Sub": "Chat-${AWS::Region}"}


@pytest.mark.parametrize("region", ["us-east-1", None])
@pytest.mark.parametrize(
    ("arn", "name"),
    [
        ("arn:aws:iam::${AWS::AccountId}:role/ours", "ours"),
        ("arn:${AWS::Partition}:iam::${AWS::AccountId}:role/ml/serving/ours", "ours"),
        (BY_PARTITION, "ours"),
        ("arn:${AWS::Partition}:iam::111122223333:role/ml/serving/ours", "ours"),
        ("arn:aws:iam::${AWS::AccountId}:role/ml/ours-${AWS::Region}", IN_REGION),
        ("arn:aws:iam::111122223333:role/ml/ours-${AWS::Region}", IN_REGION),
    ],
)
def test_what_is_granted_to_a_named_role_is_granted(region: str | None, arn: str, name: object) -> None:
    here = stack(region)
    made = InferenceEndpoint(here, "Net", spec=spec("single", {"execution_role": arn}))
    s3.Bucket(here, "Bucket").grant_read(made)
    (role,) = only(synthesised(made), "AWS::IAM::Policy")["Roles"]
    assert role == name


def test_security_groups_are_those_that_the_deployment_names() -> None:
    group = "sg-${AWS::AccountId}"
    network = {"security_group_ids": [group], "subnets": ["subnet-0123456789abcdef0"]}
    made = endpoint("single", {"model": {"vpc_config": network}})
    made.connections.allow_from_any_ipv4(ec2.Port.tcp(443))
    assert only(synthesised(made), "AWS::EC2::SecurityGroupIngress")["GroupId"] == {"Fn::Sub": group}

"""What a stack needs and has, what is left without one, and what roles of the account may do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from emulator.account import account
from emulator.clients import ACCOUNT, EmulatedAws
from emulator.deploying import deploy
from support.iam import allows


def ids(aws: EmulatedAws, stack: str, type_name: str) -> list[str]:
    """What `Ref` returns for the resources of one type."""
    found = aws.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    return [it["PhysicalResourceId"] for it in found if it["ResourceType"] == type_name]


def endpoint_arn(aws: EmulatedAws, name: str) -> str:
    """The ARN of an endpoint in the account."""
    return f"arn:aws:sagemaker:{aws.region}:{ACCOUNT}:endpoint/{name}"


def policies(aws: EmulatedAws, role_arn: str) -> Iterator[Mapping[str, Any]]:
    """The documents of a role's policies."""
    iam, role = aws.client("iam"), role_arn.rpartition("/")[2]
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        yield iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    for it in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        version = iam.get_policy(PolicyArn=it["PolicyArn"])["Policy"]["DefaultVersionId"]
        found = iam.get_policy_version(PolicyArn=it["PolicyArn"], VersionId=version)
        yield found["PolicyVersion"]["Document"]


def may(aws: EmulatedAws, role_arn: str, action: str, resource: str) -> bool:
    """Whether a role may do something."""
    return any(allows(it, action, resource) for it in policies(aws, role_arn))


def give(
    aws: EmulatedAws,
    stack: str,
    exported: Mapping[str, str] = {},
    stored: Mapping[str, str] = {},
    models: Sequence[str] = (),
    roles: Sequence[str] = (),
) -> None:
    """What a spec takes from elsewhere: exports of another stack, parameters in the Parameter Store, models, roles."""
    for name in roles:
        aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    for name in models:
        image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/ranker:1"
        aws.client("sagemaker").create_model(ModelName=name, PrimaryContainer={"Image": image})
    for name, value in stored.items():
        kind = "StringList" if "," in value else "String"
        aws.client("ssm").put_parameter(Name=name, Value=value, Type=kind)
    if exported:
        outputs = {
            f"O{i}": {"Value": it[1], "Export": {"Name": it[0]}} for i, it in enumerate(exported.items())
        }
        topic = {"Topic": {"Type": "AWS::SNS::Topic"}}
        assert deploy(aws, stack, {"Resources": topic, "Outputs": outputs}) == "CREATE_COMPLETE"


def left_alone(aws: EmulatedAws, template: Mapping[str, Any], stack: str) -> None:
    """Deploys a template, and forgets the stack: what it has made is then anybody's."""
    assert deploy(aws, stack, template) == "CREATE_COMPLETE"
    stacks = account(ACCOUNT, aws.region).stacks
    stacks[:] = [it for it in stacks if it.name != stack]

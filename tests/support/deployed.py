"""What a deployed stack has, and what roles of the account may do."""

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.clients import ACCOUNT, EmulatedAws
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

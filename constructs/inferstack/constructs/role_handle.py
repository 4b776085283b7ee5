"""CDK's handle for a role of a template."""

import aws_cdk as cdk
from constructs import Construct

from inferstack.resolve.execution_role import ROLE
from inferstack.spec.blocks.execution_role import ExecutionRole


def role_handle(scope: Construct, made: cdk.CfnResource, block: ExecutionRole | None) -> cdk.aws_iam.IRole:
    """The role that a spec's block makes: what is granted to it becomes a policy below the handle."""
    # By name, since CDK cannot find the name of a role with a path in the role's ARN.
    return cdk.aws_iam.Role.from_role_name(scope, imported(ROLE), _path(block) + made.ref)


def imported(logical_id: str) -> str:
    """Id of CDK's handle for a resource of the template, which has the id itself."""
    return f"Imported{logical_id}"


def _path(role: ExecutionRole | None) -> str:
    return "" if role is None or role.path is None else role.path.removeprefix("/")

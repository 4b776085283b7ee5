"""AWS::IAM::Role: what the containers are allowed to do."""

from typing import Annotated, ClassVar

from inferstack.spec.blocks.base import Block, form

ROLE_ARN = r"^arn:aws[a-z\-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/\-]+$"
RoleArn = Annotated[str, form(ROLE_ARN)]
PolicyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/\-]+$")]
KeyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:kms:[a-z0-9\-]+:[0-9]{12}:(key|alias)/.+$")]


Action = Annotated[str, form(r"^(\*|[a-zA-Z0-9\-]+:[a-zA-Z0-9*?]+)$")]
ResourceArn = Annotated[str, form(r"^(\*|arn:[^:]+:[^:]+:[^:]*:([0-9]{12}|\*|aws)?:.+)$")]


class PolicyStatement(Block):
    """One more statement that allows something, written as in an IAM policy."""

    action: tuple[Action, ...]
    """Actions to allow, such as `dynamodb:GetItem`."""
    resource: tuple[ResourceArn, ...]
    """ARNs of the resources that the actions are allowed on."""
    condition: dict[str, dict[str, str | tuple[str, ...]]] | None = None
    """Conditions, as in IAM: operator, then condition key, then value."""
    sid: Annotated[str, form(r"^[A-Za-z0-9]+$")] | None = None
    """Name (Sid) of the statement."""


class ExecutionRole(Block):
    """Your additions to the role that the stack creates for the endpoint, which already allows exactly what
    the spec needs."""

    shapes: ClassVar = ("AWS::IAM::Role",)
    # The role's policies get the same path, and a policy's path allows fewer characters than a role's.
    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    statements: tuple[PolicyStatement, ...] = ()
    """Permissions that the code in the container needs."""
    managed_policy_arns: tuple[PolicyArn, ...] = ()
    """ARNs of further managed policies to attach to the role."""
    kms_key_arns: tuple[KeyArn, ...] = ()
    """ARNs of the KMS keys that encrypt the model files; the role may then read those files."""
    permissions_boundary: PolicyArn | None = None
    """ARN of the policy that caps what the role may do, if your organisation requires one."""
    path: str | None = None
    """IAM path of the role and of its policies."""

"""AWS::IAM::Role: what the containers may do."""

from typing import Annotated, ClassVar

from inferstack.spec.blocks.base import Block, form

ROLE_ARN = r"^arn:aws[a-z\-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/\-]+$"
RoleArn = Annotated[str, form(ROLE_ARN)]
PolicyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/\-]+$")]
KeyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:kms:[a-z0-9\-]+:[0-9]{12}:(key|alias)/.+$")]


Action = Annotated[str, form(r"^(\*|[a-zA-Z0-9\-]+:[a-zA-Z0-9*?]+)$")]
ResourceArn = Annotated[str, form(r"^(\*|arn:[^:]+:[^:]+:[^:]*:([0-9]{12}|\*|aws)?:.+)$")]


class PolicyStatement(Block):
    """A further permission, in IAM's own words."""

    action: tuple[Action, ...]
    """Actions to allow, such as `dynamodb:GetItem`."""
    resource: tuple[ResourceArn, ...]
    """ARNs that they are allowed on."""
    condition: dict[str, dict[str, str | tuple[str, ...]]] | None = None
    """Conditions: operator, then key, then value."""
    sid: Annotated[str, form(r"^[A-Za-z0-9]+$")] | None = None
    """Name of the statement."""


class ExecutionRole(Block):
    """The role that is made for the endpoint, with exactly what the spec needs, and your additions."""

    shapes: ClassVar = ("AWS::IAM::Role",)
    # The policies have it, too, and may not have all characters that a role may.
    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    statements: tuple[PolicyStatement, ...] = ()
    """Permissions that the container's own code needs."""
    managed_policy_arns: tuple[PolicyArn, ...] = ()
    """Managed policies to attach as well."""
    kms_key_arns: tuple[KeyArn, ...] = ()
    """KMS keys that encrypt the model files, so that they can be read."""
    permissions_boundary: PolicyArn | None = None
    """Policy that limits what the role may ever do, where your organisation asks for one."""
    path: str | None = None
    """IAM path of the role and of its policies."""

"""AWS::IAM::Role: what the containers may do."""

from typing import Annotated, ClassVar

from inferstack.spec.blocks.base import Block, form

RoleArn = Annotated[str, form(r"^arn:aws[a-z\-]*:iam::[0-9]{12}:role/[\w+=,.@/\-]+$")]
PolicyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:iam::([0-9]{12}|aws):policy/[\w+=,.@/\-]+$")]
KeyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:kms:[a-z0-9\-]+:[0-9]{12}:(key|alias)/.+$")]


class PolicyStatement(Block):
    """A further permission, in IAM's own words."""

    action: tuple[str, ...]
    """Actions to allow, such as `dynamodb:GetItem`."""
    resource: tuple[str, ...]
    """ARNs that they are allowed on."""
    condition: dict[str, dict[str, str | tuple[str, ...]]] | None = None
    """Conditions: operator, then key, then value."""
    sid: str | None = None
    """Name of the statement."""


class ExecutionRole(Block):
    """The role that is made for the endpoint, with exactly what the spec needs, and your additions."""

    shapes: ClassVar = ("AWS::IAM::Role",)

    statements: tuple[PolicyStatement, ...] = ()
    """Permissions that the container's own code needs."""
    managed_policy_arns: tuple[PolicyArn, ...] = ()
    """Managed policies to attach as well."""
    kms_key_arns: tuple[KeyArn, ...] = ()
    """KMS keys that encrypt the model files, so that they can be read."""
    permissions_boundary: PolicyArn | None = None
    """Policy that limits what the role may ever do, where your organisation asks for one."""
    path: Annotated[str, form(r"^/([!-~]+/)?$")] | None = None
    """IAM path of the role."""

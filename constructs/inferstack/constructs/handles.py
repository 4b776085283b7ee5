"""CDK's handles for the network and the role that a spec names or makes."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, cast

import aws_cdk as cdk
from constructs import Construct, IDependable

from inferstack.constructs.include import Include
from inferstack.constructs.names_taken import notes_on
from inferstack.constructs.tokens import for_cdk
from inferstack.format.base import ROLE_ARN
from inferstack.format.kinds import ExecutionRole
from inferstack.resolve.async_inference import ASYNC_BUCKET
from inferstack.resolve.execution_role import ROLE
from inferstack.resolve.images import key_arns
from inferstack.resolve.resource import parameter_id
from inferstack.texts.elsewhere import only_elsewhere
from inferstack.texts.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS, is_list_token, is_opaque, tokens

# ---------------------------------------------------------------- the network that a spec names


def security_group(scope: Construct, construct_id: str, group_id: str) -> cdk.aws_ec2.ISecurityGroup:
    """The group's own construct where the app makes it, so that its settings apply to rules."""
    made = _of_the_app(group_id)
    if isinstance(made, cdk.aws_ec2.SecurityGroup):
        return made
    # Whether it allows all outbound traffic is not known. If it does, a rule too many changes nothing; if it
    # does not, a missing rule would block traffic.
    return cdk.aws_ec2.SecurityGroup.from_security_group_id(
        scope, construct_id, group_id, allow_all_outbound=False
    )


def routes_of(subnet_id: str) -> IDependable | None:
    """The routes of a subnet that the app makes; None for any other subnet."""
    # Most are plain ids: no reason to load the module, or to ask Node.
    if not tokens(subnet_id) or is_list_token(subnet_id):
        return None
    made = _of_the_app(subnet_id)
    return made.internet_connectivity_established if isinstance(made, cdk.aws_ec2.Subnet) else None


def _of_the_app(attribute: str) -> Any:
    """The construct around the L1 that this is an attribute of; None if the app does not make it."""
    found = reference_in(attribute)
    return None if found is None else found.target.node.scope


def reference_in(attribute: str) -> Any:
    """CDK's reference to the L1 that this is an attribute of; None if the app does not make it."""
    found: Any = cdk.Tokenization.reverse_string(attribute)
    if found.length != 1 or not cdk.Reference.is_reference(found.first_token):
        return None
    return found.first_token


# ---------------------------------------------------------------- the bucket that a spec makes


def bucket_handle(scope: Construct, made: cdk.CfnResource, key: str | None) -> cdk.aws_s3.IBucket:
    """The bucket, whose grants include the use of its key, unless that is known by its alias alone.

    A grant on an alias gives no right to the key.
    """
    arns = [] if key is None else key_arns(key)
    arn = next((arn for arn, alias in arns if alias is None), None)
    encryption_key = None
    if arn is not None:
        name = f"{imported(ASYNC_BUCKET)}Key"
        encryption_key = cdk.aws_kms.Key.from_key_arn(scope, name, for_cdk(arn))
    return cdk.aws_s3.Bucket.from_bucket_attributes(
        scope,
        imported(ASYNC_BUCKET),
        bucket_arn=made.get_att("Arn").to_string(),
        bucket_name=made.ref,
        encryption_key=encryption_key,
    )


# ---------------------------------------------------------------- the role that a spec makes or names

_FORM = "arn:aws:iam::111122223333:role/name"
# Where `Role.customize_roles` remembers that it was called.
_CUSTOMIZED = "@aws-cdk/iam:customizeRoles"


def role_handle(scope: Construct, made: cdk.CfnResource, block: ExecutionRole | None) -> cdk.aws_iam.IRole:
    """The role that a spec's block makes: grants to it become a policy construct below the handle.

    Raises:
        ValueError: when the app makes no roles, so that CDK would drop grants to them.
    """
    if scope.node.try_get_context(_CUSTOMIZED) is not None:
        raise ValueError(
            "the app uses `Role.customize_roles`, with which CDK drops what is granted to a spec's role; "
            "give the endpoint an existing role: `role=aws_iam.Role.from_role_arn(…)`"
        )
    # By name, since CDK cannot find the name of a role with a path in the role's ARN.
    name = for_cdk(_path(block)) + made.ref
    handle = cdk.aws_iam.Role.from_role_name(scope, imported(ROLE), name)
    # CDK takes the role for another stack's, to which it would attach nothing, with no more than a warning.
    handle.add_managed_policy = partial(_attach, made)  # type: ignore[method-assign]
    notes_on(handle).made_of = block
    return handle


def made_of(role: cdk.aws_iam.IRole) -> ExecutionRole | None:
    """The `execution_role` that a role was made from; None where the spec has none, or did not make it."""
    return notes_on(role).made_of


def arn_of(role: cdk.aws_iam.IRole) -> str:
    """The ARN of a role that an app passes.

    Raises:
        TypeError: when it is something else, such as a text or an L1.
        ValueError: when the ARN is that of something else.
    """
    if isinstance(role, str):
        raise TypeError(f"`role` is the text {role!r}; pass a role: `aws_iam.Role.from_role_arn(…)`")
    arn: str | None = getattr(role, "role_arn", None)
    if arn is None:
        given = "its `attr_arn`" if hasattr(role, "attr_arn") else "the ARN of a role"
        fix = f"pass a role: `aws_iam.Role.from_role_arn(…)` with {given}"
        raise TypeError(f"`role` is a {type(role).__name__}, not a role; {fix}")
    if not is_opaque(arn) and re.fullmatch(ROLE_ARN, arn) is None:
        raise ValueError(f'`role` has the ARN "{arn}", which is not that of a role, such as {_FORM}')
    return arn


def _attach(made: cdk.CfnResource, policy: cdk.aws_iam.IManagedPolicy) -> None:
    role = cast("cdk.aws_iam.CfnRole", made)
    there = role.managed_policy_arns
    role.managed_policy_arns = [*(() if there is None else there), policy.managed_policy_arn]


def named_role(scope: Include, arn: str) -> cdk.aws_iam.IRole:
    """The role that a spec names by its ARN."""
    # Each placeholder on its own: out of one function CDK would cut the name, and take a path for it.
    found = PLACEHOLDER.sub(_as_a_token, from_elsewhere(scope, arn))
    return cdk.aws_iam.Role.from_role_arn(scope, imported(ROLE), found)


def _as_a_token(placeholder: re.Match[str]) -> str:
    """A pseudo parameter as CDK writes it; a CDK token stays as it is."""
    return cdk.Fn.ref(placeholder[1]) if placeholder[1] in PSEUDO_PARAMETERS else placeholder[0]


def from_elsewhere(scope: Include, text: str) -> str:
    """A text of a spec with CDK's tokens in place of values from elsewhere. The parameters that hold some are
    in ``scope``, where they may have other logical ids than in the plain template.
    """

    def token(found: re.Match[str]) -> str:
        value = only_elsewhere(found[0])
        if value is None:
            return found[0]
        if value.source == "import":
            return cdk.Fn.import_value(value.name)
        return cdk.Token.as_string(scope.get_parameter(parameter_id(value)).value)

    return PLACEHOLDER.sub(token, text)


def imported(logical_id: str) -> str:
    """Construct id of CDK's handle for a resource of the template: the plain id is the resource's own."""
    return f"Imported{logical_id}"


def _path(role: ExecutionRole | None) -> str:
    return "" if role is None or role.path is None else role.path.removeprefix("/")

"""Whether a role that the spec names is there and trusts SageMaker, and the policies of one that it makes.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
"""

from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import GET_POLICY, GET_ROLE
from inferstack.account.preflight.verdict import (
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    open_arn,
    problem,
)
from inferstack.endpoint.deployed import entries, mapping
from inferstack.facts.role import makes_role, needs_role
from inferstack.format.kinds import ExecutionRole
from inferstack.texts.arns import arn_fields
from inferstack.texts.placeholders import is_settled

_PATH = ("execution_role",)
_SAGEMAKER = "sagemaker.amazonaws.com"
_ASSUMES = frozenset({"sts:assumerole", "sts:*", "*"})
_TRUST = f"let {_SAGEMAKER} assume it (sts:AssumeRole) in its trust policy"


def roles(targets: Sequence[Target]) -> Iterator[Subject]:
    """The roles that specs name."""
    for target in targets:
        role = target.spec.execution_role
        if isinstance(role, str) and needs_role(target.spec):
            yield Subject(target, _PATH, target.filled(role))


def trusts_sagemaker(subject: Subject, asking: Asking) -> Checked:
    """Whether a role is there, and SageMaker may assume it."""
    arn: str = subject.what
    if not is_settled(arn):
        return only_deployment_knows(arn)
    account = arn_fields(arn)[4]
    if account != asking.connection.account:
        said = f"{arn} is in the account {account}, but the endpoint is in {asking.connection.account}"
        return problem(said, "name a role of the endpoint's account: IAM passes no other")
    found = asking.ask(GET_ROLE, RoleName=arn.rpartition("/")[2])
    if found is None:
        return problem(f"there is no role {arn}", "create it, or correct the ARN")
    role = found["Role"]
    if role["Arn"] != arn:
        return problem(f"the role is {role['Arn']}, not {arn}", f"write {role['Arn']}")
    trust = role["AssumeRolePolicyDocument"]
    return _of_trust(arn, trust)


def _of_trust(arn: str, trust: Any) -> Checked:
    statements = [mapping(it) for it in entries(mapping(trust).get("Statement"))]
    if not statements:
        return cannot_tell(f"the trust policy of {arn} cannot be read")
    about = [it for it in statements if _is_about_sagemaker(it)]
    if any(it.get("Effect") == "Deny" or "NotPrincipal" in it or "NotAction" in it for it in statements):
        return cannot_tell(f"the trust policy of {arn} excludes something, which was not judged")
    if not about:
        return problem(f"{arn} does not trust SageMaker", _TRUST)
    if all("Condition" in it for it in about):
        return cannot_tell(f"{arn} trusts SageMaker under a condition, which was not judged")
    return ok(f"{arn} trusts SageMaker")


def _is_about_sagemaker(statement: Any) -> bool:
    principal = statement.get("Principal")
    services = ["*"] if principal == "*" else entries(mapping(principal).get("Service"))
    acts = any(str(it).lower() in _ASSUMES for it in entries(statement.get("Action")))
    return acts and any(it in (_SAGEMAKER, "*") for it in services)


def role_rights(subject: Subject) -> Iterator[Right]:
    """Looking at the role."""
    yield GET_ROLE, open_arn(subject.what)


# ---------------------------------------------------------------- the policies of a role that the stack makes


def policies(targets: Sequence[Target]) -> Iterator[Subject]:
    """The policies that the role gets from elsewhere, and the one that caps it."""
    for target in targets:
        role = target.spec.execution_role
        if isinstance(role, ExecutionRole) and makes_role(target.spec):
            for index, arn in enumerate(role.managed_policy_arns):
                yield Subject(target, (*_PATH, "managed_policy_arns", index), target.filled(arn))
            if role.permissions_boundary is not None:
                yield Subject(
                    target, (*_PATH, "permissions_boundary"), target.filled(role.permissions_boundary)
                )


def is_policy(subject: Subject, asking: Asking) -> Checked:
    """Whether a policy is there."""
    arn: str = subject.what
    if not is_settled(arn):
        return only_deployment_knows(arn)
    found = asking.ask(GET_POLICY, PolicyArn=arn)
    if found is None:
        return problem(f"there is no policy {arn}", "create it, or correct the ARN")
    return ok(found["Policy"]["Arn"])


def policy_rights(subject: Subject) -> Iterator[Right]:
    """Looking at the policy."""
    yield GET_POLICY, open_arn(subject.what)

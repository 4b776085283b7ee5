"""What an update changes about the role's rights, and whether its new policies fit IAM's quota."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inferstack.catalog.resource_types import MANAGED_POLICY_TYPE, ROLE_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources, entries, mapping, shown
from inferstack.facts.role import MOST_POLICIES
from inferstack.format.logical_ids import INVOKER_POLICY, INVOKER_ROLE
from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.updates.rules import update_rule
from inferstack.updates.update import Update

_MOST_SHOWN = 3


@update_rule(
    "IS855",
    effect="doubtful",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html",
)
def policies_at_once(update: Update) -> Iterator[Problem]:
    """While the update runs, the role has more managed policies than AWS allows by default.

    CloudFormation attaches the new policies first and removes the old ones last.
    """
    made = [set(_policies(it)) for it in (update.before, update.after)]
    named = [set(_named(it)) for it in (update.before, update.after)]
    count = len(set.union(*made)) + len(set.union(*named))
    if made[0] != made[1] and count > MOST_POLICIES:
        message = (
            f"during the update the role has {count} managed policies, {len(made[1] - made[0])} of them new, "
            f"and {MOST_POLICIES} are the default"
        )
        fix = "change less at once, or request a higher quota"
        yield Problem(update.written(("execution_role",)), message, fix)


def _policies(resources: Resources) -> dict[str, deployed.Properties]:
    """The policies of the role, without the one of those who invoke the endpoint."""
    found = deployed.of_type(resources, MANAGED_POLICY_TYPE)
    return {logical_id: policy for logical_id, policy in found.items() if logical_id != INVOKER_POLICY}


def _named(resources: Resources) -> Iterator[str]:
    for logical_id, role in deployed.of_type(resources, ROLE_TYPE).items():
        if logical_id != INVOKER_ROLE:
            yield from map(shown, entries(role.get("ManagedPolicyArns")))


class _Right(NamedTuple):
    actions: tuple[str, ...]
    resource: str
    condition: str

    def __str__(self) -> str:
        first, *others = self.actions
        more = f" and {len(others)} more" if others else ""
        where = f" if {self.condition}" if self.condition else ""
        return f"{first}{more} on {self.resource}{where}"


def changed_rights(before: Resources, after: Resources) -> str:
    """What the role gains and loses, as text; empty if no policy is replaced."""
    if set(_policies(before)) == set(_policies(after)):
        return ""
    old, new = dict.fromkeys(_rights(before)), dict.fromkeys(_rights(after))
    moves = {"gains": [it for it in new if it not in old], "loses": [it for it in old if it not in new]}
    said = [f"{verb} {_few(rights)}" for verb, rights in moves.items() if rights]
    return f"the role {' and '.join(said)}" if said else "the role may do what it could"


def _few(rights: list[_Right]) -> str:
    first = [str(it) for it in rights[:_MOST_SHOWN]]
    rest = len(rights) - len(first)
    return listed([*first, *([f"{rest} more"] if rest else [])], last="and", quote="")


def _rights(resources: Resources) -> Iterator[_Right]:
    for policy in _policies(resources).values():
        for statement in map(mapping, entries(mapping(policy.get("PolicyDocument")).get("Statement"))):
            actions = tuple(map(shown, entries(statement.get("Action")))) or ("nothing",)
            for condition in _conditions(mapping(statement.get("Condition"))):
                for resource in entries(statement.get("Resource")):
                    yield _Right(actions, shown(resource), condition)


def _conditions(condition: Mapping[str, Any]) -> Iterator[str]:
    """The condition as text. Prefixes of a bucket are listed one by one, as they come and go one by one."""
    match condition:
        case {"StringLike": {"s3:prefix": [*prefixes], **others}} if not others:
            yield from (f"the prefix is {shown(it)}" for it in prefixes)
        case _:
            yield "" if not condition else shown(condition)

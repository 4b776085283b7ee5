"""What an update changes about the role's rights, and whether its new policies fit IAM's quota."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from inferstack.catalog.resource_types import MANAGED_POLICY_TYPE, ROLE_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources, entries, shown
from inferstack.endpoint.permissions import Right, attached, rights
from inferstack.endpoint.place import NOWHERE
from inferstack.endpoint.stack import Stack
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


def changed_rights(before: Resources, after: Resources) -> str:
    """What the role gains and loses, as text; empty if nothing about its policies changes."""
    stacks = [Stack(it, {}, lambda _, __: NOWHERE, None) for it in (before, after)]
    named = [attached(it) for it in stacks]
    if set(_policies(before)) == set(_policies(after)) and named[0] == named[1]:
        return ""
    old, new = (dict.fromkeys(it for it in rights(stack) if it.who == "role") for stack in stacks)
    moves = {
        "gains": [*_together(it for it in new if it not in old), *_policies_beyond(named[1], named[0])],
        "loses": [*_together(it for it in old if it not in new), *_policies_beyond(named[0], named[1])],
    }
    said = [f"{verb} {_few(texts)}" for verb, texts in moves.items() if texts]
    return f"the role {' and '.join(said)}" if said else "the role may do what it could"


def _policies_beyond(names: Iterable[str], others: Collection[str]) -> list[str]:
    return [f"all that {name} allows" for name in names if name not in others]


def _together(changed: Iterable[Right]) -> list[str]:
    """Rights as text: all actions on a resource under a condition as one."""
    groups: dict[tuple[str, str], list[str]] = {}
    for it in changed:
        groups.setdefault((it.resource, it.condition), []).append(it.action)
    return [
        f"{actions[0]}{f' and {len(actions) - 1} more' if actions[1:] else ''} on {resource}"
        f"{f' if {condition}' if condition else ''}"
        for (resource, condition), actions in groups.items()
    ]


def _few(texts: Sequence[str]) -> str:
    first, rest = texts[:_MOST_SHOWN], len(texts) - _MOST_SHOWN
    return listed([*first, *([f"{rest} more"] if rest > 0 else [])], last="and", quote="")

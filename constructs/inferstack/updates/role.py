"""What an update changes about the role's rights, whether policies fit IAM's quota, and which ones stay."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from inferstack.catalog.resource_types import COMPONENT_TYPE, MANAGED_POLICY_TYPE, ROLE_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources, entries, properties_of, references, shown, type_of
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


@update_rule(
    "IS898",
    effect="doubtful",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html",
)
def stays_behind(update: Update) -> Iterator[Problem]:
    """A policy of the role, or an inference component, leaves the stack and stays: it has a `DeletionPolicy`.

    Their content is in their logical ids, so every update that changes it leaves one behind.
    """
    policies = policies_left(update.before, update.after)
    components = deployed.of_type(_left(update.before, update.after), COMPONENT_TYPE)
    kinds = ((policies, "attached to the role, which keeps its rights"), (components, "on the instances"))
    for names, where in kinds:
        if names:
            one = len(names) == 1
            message = (
                f"{listed([*names], last='and')} {'leaves' if one else 'leave'} the stack and "
                f"{'stays' if one else 'stay'} {where}: `DeletionPolicy` says so"
            )
            fix = "remove that in a deployment before this one, or delete by hand what stays"
            yield Problem((), message, fix)


def _left(before: Resources, after: Resources) -> Resources:
    """What leaves the template, and CloudFormation does not delete."""
    gone = {it: one for it, one in before.items() if it not in after}
    return {it: one for it, one in gone.items() if str(one.get("DeletionPolicy")).startswith("Retain")}


def policies_left(before: Resources, after: Resources) -> Resources:
    """Policies that leave the template and stay attached to a role of the stack."""
    return {
        logical_id: one
        for logical_id, one in _left(before, after).items()
        if type_of(one) == MANAGED_POLICY_TYPE
        and not after.keys().isdisjoint(references(properties_of(one).get("Roles")))
    }


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
    after = {**after, **policies_left(before, after)}
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

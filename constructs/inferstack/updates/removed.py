"""Resources that the update removes or replaces, where no rule on what they are for says so already."""

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import NamedTuple

from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    BUCKET_POLICY_TYPE,
    BUCKET_TYPE,
    COMPONENT_TYPE,
    COMPOSITE_ALARM_TYPE,
    CONFIG_TYPE,
    DASHBOARD_TYPE,
    ENDPOINT_TYPE,
    LOG_GROUP_TYPE,
    MANAGED_POLICY_TYPE,
    ROLE_TYPE,
    SCALING_POLICY_TYPE,
    TARGET_TYPE,
    TOPIC_POLICY_TYPE,
    TOPIC_TYPE,
)
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Properties, Resources, entries, mapping, references
from inferstack.format.logical_ids import INVOKER_POLICY, SOURCE_METADATA
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed
from inferstack.updates import scaling
from inferstack.updates.known_by_name import kept_name, renamed_alarms
from inferstack.updates.renames import alarm_twins, new_names
from inferstack.updates.rules import REPLACEMENT, update_rule
from inferstack.updates.update import Change, Fate, Update

_OF_CDK = "AWS::CDK::Metadata"
"""Names the constructs of a stack; nothing runs there."""
_VERBS = {Fate.REMOVED: ("is removed", "are removed"), Fate.REPLACED: ("is replaced", "are replaced")}


REMOVED = "IS893"


@update_rule(REMOVED, effect="removed", source=REPLACEMENT)
def removed_or_replaced(update: Update) -> Iterator[Problem]:
    """A resource is removed or replaced that no other problem is about: an alarm, the dashboard, or something
    that no spec has made.
    """
    return (it.problem for it in what_goes(update))


class Gone(NamedTuple):
    """Resources of one type that go, and what is said about them."""

    fate: Fate
    type: str | None
    """None for resources that no spec has made."""
    logical_ids: tuple[str, ...]
    problem: Problem


def what_goes(update: Update) -> Iterator[Gone]:
    """What is removed or replaced and not told of elsewhere, by type."""
    for fate, verbs in _VERBS.items():
        gone = [it for it in update.changes.values() if it.fate is fate and not _is_said(update, it)]
        own = [it for it in gone if _is_ours(update.before, it)]
        for path, type_name in dict.fromkeys((_place(update, it), it.type) for it in own):
            names = [it.logical_id for it in own if (_place(update, it), it.type) == (path, type_name)]
            message = f"{listed(names, last='and')} ({type_name}) {verbs[len(names) > 1]}"
            fix = "make sure that nobody needs what is there now, or keep what the spec said about it"
            yield Gone(fate, type_name, tuple(names), Problem(path, message, fix))
        others = [f"`{it.logical_id}` ({it.type})" for it in gone if it not in own]
        if others:
            message = f"{listed(others, last='and', quote='')} {verbs[len(others) > 1]}: no spec has made it"
            fix = (
                "if an app adds it to the stack, compare with `cdk diff`; else move it to another stack first"
            )
            ids = tuple(it.logical_id for it in gone if it not in own)
            yield Gone(fate, None, ids, Problem((), message, fix))


def _is_ours(resources: Resources, change: Change) -> bool:
    """Whether a spec has made the resource, or makes it from now on."""
    return change.fate is Fate.REPLACED or _source(resources, change) is not None


def _source(resources: Resources, change: Change) -> str | None:
    return deployed.text(mapping(resources[change.logical_id].get("Metadata")).get(SOURCE_METADATA))


def _place(update: Update, change: Change) -> SpecPath:
    """The block that the resource came from, as far as the spec still has it; not the entry of a list, which
    may be another one now.
    """
    keys = (_source(update.before, change) or "").rpartition(": ")[2].split(".")
    block = [*takewhile(lambda key: not key.isdigit(), keys)]
    return update.written(tuple(block))


# ---------------------------------------------------------------- what other rules say, or what follows


def _is_said(update: Update, change: Change) -> bool:
    """Whether another rule reports this, or a change that it follows from."""
    moves = change.logical_id in update.other_ids
    if change.type == _OF_CDK or moves or kept_name(update, change) is not None:
        return True
    if not _is_ours(update.before, change):
        return False
    old = deployed.properties_of(update.before[change.logical_id])
    return _SAID.get(change.type, _is_followed)(update, change, old)


def _is_followed(update: Update, change: Change, _: Properties) -> bool:
    """Whether something else changes with it: a new model means a new configuration, which is reported."""
    if change.fate is Fate.REPLACED:
        return any(change.logical_id in it.follows for it in update.changes.values())
    return any(True for _ in _changing_users(update, change))


def _changing_users(update: Update, change: Change) -> Iterator[str]:
    """The types of what refers to a resource and changes as well."""
    for user, resource in update.before.items():
        changes = update.changes[user].fate is not Fate.UNCHANGED
        if changes and change.logical_id in references(deployed.properties_of(resource)):
            yield deployed.type_of(resource)


def _is_the_endpoint(update: Update, change: Change, _: Properties) -> bool:
    return change.fate is Fate.REPLACED and deployed.endpoint_name(update.before) is not None


def _is_the_config(update: Update, change: Change, old: Properties) -> bool:
    return change.fate is Fate.REPLACED or _is_followed(update, change, old)


def _is_a_component(_: Update, __: Change, ___: Properties) -> bool:
    return True


def _is_of_a_host(update: Update, _: Change, target: Properties) -> bool:
    """Whether the name of what a target scales is known: then its rules tell what becomes of it."""
    known = (deployed.scaled_variants(update.before), deployed.scaled_components(update.before))
    return any(target is it for targets in known for it in targets.values())


def _goes_with_its_target(update: Update, change: Change, policy: Properties) -> bool:
    """Whether a scaling policy goes with its target, or a rule says that another takes its place."""
    rules = (scaling.policy_renamed, scaling.policy_name_taken)
    renamed = any(True for rule in rules for _ in rule(update))
    return (
        renamed or _any_goes(update, policy.get("ScalingTargetId")) or _wakes_nothing(update, change, policy)
    )


def _wakes_nothing(update: Update, change: Change, policy: Properties) -> bool:
    """Whether a step that starts the first copy goes because there is always one from now on."""
    target = next(iter(references(policy.get("ScalingTargetId"))), "")
    after = deployed.properties_of(update.after.get(target, {}))
    return change.logical_id.endswith("WakeUp") and after.get("MinCapacity") not in (None, 0)


def _goes_with_its_role(update: Update, change: Change, policy: Properties) -> bool:
    """Whether a policy goes with its role, or another takes its place: its content is in its logical id."""
    added = any(it.type == change.type and it.fate is Fate.ADDED for it in update.changes.values())
    # No other takes the place of this one, whatever is added to the endpoint's own role.
    return (added and change.logical_id != INVOKER_POLICY) or _any_goes(update, policy.get("Roles"))


def _is_followed_by_more_than_its_policy(update: Update, change: Change, _: Properties) -> bool:
    """Whether what has the role changes with it: its policy goes with the role, without a word of its own."""
    return any(it != MANAGED_POLICY_TYPE for it in _changing_users(update, change))


def _is_renamed(update: Update, change: Change, _: Properties) -> bool:
    """Whether another alarm watches the same from now on."""
    return change.logical_id in renamed_alarms(update)


def _is_known_by_name(_: Update, __: Change, ___: Properties) -> bool:
    return True


def _goes_with_what_it_is_about(update: Update, _: Change, policy: Properties) -> bool:
    """Whether the policy of a bucket or of topics goes with them."""
    return _any_goes(update, [policy.get("Bucket"), policy.get("Topics")])


def _goes_with_what_it_watches(update: Update, change: Change, alarm: Properties) -> bool:
    """Whether an alarm goes with an endpoint, variant or component, or with the step policy that it calls; or
    whether it only gets another name, as what it watches may do.
    """
    if _is_renamed(update, change, alarm) or change.logical_id in alarm_twins(update.before, update.after):
        return True
    there = {
        "EndpointName": [update.endpoint_name],
        "VariantName": [*deployed.variants(update.after)],
        "InferenceComponentName": [*deployed.components(update.after)],
    }
    renamed = new_names(update.before, update.after)
    for it in map(mapping, entries(alarm.get("Dimensions"))):
        name, value = (deployed.text(it.get(key)) for key in ("Name", "Value"))
        is_there = name is None or value in there.get(name, [value]) or (name, value) in renamed
        if value is not None and not is_there:
            return True
    return _any_goes(update, alarm.get("AlarmActions"))


def _stays(_: Update, __: Change, ___: Properties) -> bool:
    """Whether what is removed outlives that: a log group stays until its logs have expired."""
    return True


def _gets_a_name(_: Update, change: Change, __: Properties) -> bool:
    """Whether a dashboard only gets another name: nothing in it is lost."""
    return change.fate is Fate.REPLACED


def _any_goes(update: Update, value: object) -> bool:
    """Whether one of the resources that a value refers to is removed or replaced."""
    found = (update.changes.get(it) for it in references(value))
    return any(it is not None and it.fate in _VERBS for it in found)


_SAID: dict[str, Callable[[Update, Change, Properties], bool]] = {
    ENDPOINT_TYPE: _is_the_endpoint,
    CONFIG_TYPE: _is_the_config,
    COMPONENT_TYPE: _is_a_component,
    TARGET_TYPE: _is_of_a_host,
    SCALING_POLICY_TYPE: _goes_with_its_target,
    ROLE_TYPE: _is_followed_by_more_than_its_policy,
    MANAGED_POLICY_TYPE: _goes_with_its_role,
    ALARM_TYPE: _goes_with_what_it_watches,
    COMPOSITE_ALARM_TYPE: _is_renamed,
    BUCKET_TYPE: _is_known_by_name,
    TOPIC_TYPE: _is_known_by_name,
    BUCKET_POLICY_TYPE: _goes_with_what_it_is_about,
    TOPIC_POLICY_TYPE: _goes_with_what_it_is_about,
    DASHBOARD_TYPE: _gets_a_name,
    LOG_GROUP_TYPE: _stays,
}
"""By type, what tells that the removal or replacement of a resource is reported; else it must be followed."""

"""Rules on what others know by its name or ARN: alarms, log groups, bucket and topics for asynchronous
requests.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.cloudformation import create_only, snake
from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    BUCKET_TYPE,
    COMPONENT_TYPE,
    COMPOSITE_ALARM_TYPE,
    CONFIG_TYPE,
    DASHBOARD_TYPE,
    ENDPOINT_TYPE,
    LOG_GROUP_TYPE,
    MANAGED_POLICY_TYPE,
    MODEL_TYPE,
    ROLE_TYPE,
    TOPIC_TYPE,
)
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed
from inferstack.updates.rules import REPLACEMENT, USER_GUIDE, update_rule
from inferstack.updates.update import Change, Fate, Update

_NAME: SpecPath = ("endpoint_name",)
_ASYNC: SpecPath = ("endpoint_config", "async_inference_config")
# What may differ between an alarm and the one that takes its place.
_BESIDE_WHAT_IT_WATCHES = frozenset({"AlarmName", "AlarmDescription", "Tags"})
_DELETE = "delete the old bucket once nobody needs what is in it"
_ALARM_TYPES = (ALARM_TYPE, COMPOSITE_ALARM_TYPE)


@update_rule("IS894", effect="replaced", source=REPLACEMENT)
def known_by_name(update: Update) -> Iterator[Problem]:
    """What others know by its name or ARN is replaced or removed: an alarm, or the bucket or a topic for
    asynchronous requests.
    """
    yield from _alarms_renamed(update)
    yield from _bucket_replaced(update)
    yield from _topic_replaced(update)


_NAMES = {
    BUCKET_TYPE: "BucketName",
    MANAGED_POLICY_TYPE: "ManagedPolicyName",
    ROLE_TYPE: "RoleName",
    TOPIC_TYPE: "TopicName",
}
"""The property with the name, by types that something else than a new name may replace."""


@update_rule("IS868", effect="refused", source=f"{USER_GUIDE}/aws-properties-name.html")
def replaced_under_its_name(update: Update) -> Iterator[Problem]:
    """A resource with a name is replaced, and keeps the name.

    CloudFormation makes the new one first, and the old one still has the name.
    """
    for change in update.changes.values():
        name = kept_name(update, change)
        if name is not None and change.logical_id not in update.other_ids:
            causes = [str(path[0]) for path in change.paths if path[0] in create_only(change.type)]
            message = (
                f"{listed(causes, last='and')} of `{change.logical_id}` ({change.type}) cannot change while "
                f"it is called `{name}`: CloudFormation would have to replace it under the same name"
            )
            key = _NAMES[change.type]
            path = update.place(change.logical_id, (key,))
            yield Problem(path, message, f"write another `{snake(key)}`, too")


_NAMES_OF_HOSTING = {
    ENDPOINT_TYPE: "EndpointName",
    CONFIG_TYPE: "EndpointConfigName",
    MODEL_TYPE: "ModelName",
    COMPONENT_TYPE: "InferenceComponentName",
}
_NAMES_ANYWHERE = {
    **_NAMES,
    ALARM_TYPE: "AlarmName",
    COMPOSITE_ALARM_TYPE: "AlarmName",
    DASHBOARD_TYPE: "DashboardName",
}
_OF_A_STACK = {**_NAMES_OF_HOSTING, **_NAMES_ANYWHERE, LOG_GROUP_TYPE: "LogGroupName"}
_OF_THE_ACCOUNT = (BUCKET_TYPE, MANAGED_POLICY_TYPE, ROLE_TYPE)
"""Types whose names other regions share. That of a bucket is taken in every account."""


@update_rule("IS858", effect="refused", source=f"{USER_GUIDE}/aws-properties-name.html")
def named_under_another_id(update: Update) -> Iterator[Problem]:
    """A resource of an app's own stack gets another logical id or another stack, and keeps its name.

    To CloudFormation it is another resource, which is made while the old one still has the name. CDK makes
    logical ids of the ids of a construct and of those around it. A nested stack is another stack, too.
    """
    kept = [
        (update.changes[it].type, deployed.shown(old), *ids)
        for it, ids in update.other_ids.items()
        if (key := _OF_A_STACK.get(update.changes[it].type)) is not None
        and (old := deployed.properties_of(update.before[it]).get(key)) is not None
        and old == deployed.properties_of(update.after[it]).get(key)
    ]
    if kept:
        (type_name, name, old, new), *others = sorted(kept, key=lambda it: it[0] != ENDPOINT_TYPE)
        what, rest = f"`{name}` ({type_name})", listed([it[1] for it in others], last="and")
        if update.other_stack is None:
            also = f", and so do those of {rest}" if others else ""
            message = (
                f"the logical id of {what} changes from `{old}` to `{new}`{also}: CloudFormation "
                "makes new ones first, while the old ones still have the names"
            )
            fix = (
                "keep the ids of the construct and of the constructs around it, or give each resource its "
                "old logical id: `override_logical_id`"
            )
        else:
            old, new = update.other_stack
            also = f" with {rest}" if others else ""
            message = (
                f"{what} moves from the stack `{old}` to `{new}`{also}: a new one cannot be made as long as "
                "the old stack has the name"
            )
            fix = (
                "keep the stack and its name (`stack_name`), retain and import what moves, remove it in a "
                "deployment before this one, or write another `endpoint_name`"
            )
        yield Problem(_NAME, message, fix)


@update_rule("IS869", effect="doubtful", source=f"{USER_GUIDE}/aws-properties-name.html")
def names_stay_taken(update: Update) -> Iterator[Problem]:
    """Names in the spec are taken as long as the old stack exists: a new stack with them cannot be made.

    An endpoint that is renamed or moves gets a new stack where stacks are named after endpoints.
    """
    types, path = tuple(_NAMES_ANYWHERE), ("endpoint_name",)
    if update.moves and update.old_place is not None:
        same_account = update.old_place.account in (None, update.account)
        types = _OF_THE_ACCOUNT if same_account else (BUCKET_TYPE,)
        path = ("env",)
    elif update.fate(ENDPOINT_TYPE) is not Fate.REPLACED or update.other_ids:
        return
    names = [
        name for it in types for name in _names_of(update.after, it) if name in _names_of(update.earlier, it)
    ]
    if names:
        verb = "is" if len(names) == 1 else "are"
        message = (
            f"{listed(names, last='and')} {verb} taken while the old stack exists: if the endpoint gets a "
            "new stack, that one cannot be made"
        )
        fix = "write other names, or delete the old stack first"
        yield Problem(update.written(path), message, fix)


_WRITERS = {ENDPOINT_TYPE: "EndpointName", COMPONENT_TYPE: "InferenceComponentName"}


@update_rule("IS896", effect="doubtful", source=f"{USER_GUIDE}/import-resources-automatically.html")
def log_group_exists(update: Update) -> Iterator[Problem]:
    """A log group is added for an endpoint or a component that runs already.

    SageMaker has made it together with the first line in it, and CloudFormation does not make it again. It
    takes it over when it is asked to import what exists.
    """
    running = {
        it.get(key)
        for type_, key in _WRITERS.items()
        for it in deployed.of_type(update.before, type_).values()
        if isinstance(it.get(key), str)
    }
    added = [
        name
        for change in update.changes.values()
        if change.type == LOG_GROUP_TYPE and change.fate is Fate.ADDED
        for name in (deployed.properties_of(update.after[change.logical_id]).get("LogGroupName"),)
        if isinstance(name, str) and name.rpartition("/")[2] in running
    ]
    if added:
        exist = "exists" if len(added) == 1 else "exist"
        message = f"{listed(added, last='and')} probably {exist} already, and then the deployment fails"
        fix = (
            "set the same retention there with `aws logs put-retention-policy`, "
            "then deploy once with `cdk deploy --import-existing-resources`"
        )
        yield Problem(update.written(("log_groups",)), message, fix)


def _names_of(resources: Resources, type_name: str) -> list[str]:
    found = (it.get(_NAMES_ANYWHERE[type_name]) for it in deployed.of_type(resources, type_name).values())
    return [it for it in found if isinstance(it, str)]


def kept_name(update: Update, change: Change) -> str | None:
    """The name that a resource keeps although it has to be replaced; None where all is well."""
    key = _NAMES.get(change.type)
    if key is None or change.fate is not Fate.REPLACED:
        return None
    both = (update.before, update.after)
    old, new = (deployed.properties_of(it[change.logical_id]).get(key) for it in both)
    return None if old is None or old != new else deployed.shown(old)


def _alarms_renamed(update: Update) -> Iterator[Problem]:
    """An alarm with another name is another alarm."""
    for gone, twin in renamed_alarms(update).items():
        old = deployed.properties_of(update.before[gone]).get("AlarmName")
        new = deployed.properties_of(update.after[twin]).get("AlarmName")
        yield _renamed(update, twin, str(old), new)


def renamed_alarms(update: Update) -> dict[str, str]:
    """The logical ids of alarms with a name that are gone, each with that of the new alarm that watches the
    same.
    """
    found: dict[str, str] = {}
    for type_name in _ALARM_TYPES:
        before, after = (deployed.of_type(it, type_name) for it in (update.before, update.after))
        new = {logical_id: it for logical_id, it in after.items() if logical_id not in before}
        for logical_id, gone in before.items():
            if logical_id not in after and gone.get("AlarmName") is not None:
                twin = next((it for it, other in new.items() if _watches_the_same(gone, other)), None)
                if twin is not None:
                    found[logical_id] = twin
                    del new[twin]
    return found


def _watches_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    keys = (one.keys() | other.keys()) - _BESIDE_WHAT_IT_WATCHES
    return all(one.get(key) == other.get(key) for key in keys)


def _renamed(update: Update, logical_id: str, old: str, new: object) -> Problem:
    becomes = "gets a name from CloudFormation" if new is None else f"becomes `{new}`"
    message = f"the alarm `{old}` {becomes}: the new one has no history, and the old one is deleted"
    fix = "change what names the old one: dashboards, composite alarms and roll-backs of other stacks"
    return Problem(update.place(logical_id, ("AlarmName",)), message, fix)


def _bucket_replaced(update: Update) -> Iterator[Problem]:
    """The bucket stays when it is replaced or left out of the template, with all that is in it."""
    for logical_id in deployed.of_type(update.before, BUCKET_TYPE):
        change = update.changes[logical_id]
        if change.fate is Fate.REPLACED:
            message = "requests and responses get another bucket; the old one stays, outside the stack"
            fix = f"tell the clients the new name, and {_DELETE}"
            path = update.place(logical_id, ("BucketName",))
            yield Problem(path, message, fix)
        elif change.fate is Fate.REMOVED:
            message = (
                "the stack gives up the bucket of requests and responses, which stays with what is in it"
            )
            yield Problem(update.written(_ASYNC), message, _DELETE)


def _topic_replaced(update: Update) -> Iterator[Problem]:
    """A topic goes with its subscriptions."""
    for logical_id, topic in deployed.of_type(update.before, TOPIC_TYPE).items():
        change = update.changes[logical_id]
        if change.fate not in (Fate.REPLACED, Fate.REMOVED):
            continue
        replaced = change.fate is Fate.REPLACED
        name = topic.get("TopicName", logical_id)
        message = f"the topic `{name}` is {change.fate} with all its subscriptions"
        fix = (
            "subscribe to the new topic again" if replaced else "make sure that nobody waits for its messages"
        )
        path = update.place(logical_id, ("TopicName",)) if replaced else update.written(_ASYNC)
        yield Problem(path, message, fix)

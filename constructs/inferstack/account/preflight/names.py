"""Whether the names of stack, endpoint and components are free, or taken by the stack itself.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackResources.html
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import (
    DESCRIBE_COMPONENT,
    DESCRIBE_ENDPOINT,
    DESCRIBE_STACK_RESOURCE,
    DESCRIBE_STACK_RESOURCES,
    DESCRIBE_STACKS,
    Call,
)
from inferstack.account.preflight.verdict import (
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    problem,
)
from inferstack.catalog.resource_types import ENDPOINT_TYPE
from inferstack.check.stack_names import stack_name
from inferstack.facts.walk import components
from inferstack.format.logical_ids import SOURCE_METADATA
from inferstack.texts.placeholders import is_settled

_ENDPOINT_NAME = ("endpoint_name",)

# ---------------------------------------------------------------- the stack

_STUCK = {
    **dict.fromkeys(
        ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"),
        "delete it: `aws cloudformation delete-stack --stack-name {}`",
    ),
    "UPDATE_ROLLBACK_FAILED": (
        "end its rollback: `aws cloudformation continue-update-rollback --stack-name {}`"
    ),
}
"""States that take no update, and what ends them."""
_TAKES_UPDATES = frozenset(
    {
        *("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_FAILED"),
        *("IMPORT_COMPLETE", "IMPORT_ROLLBACK_COMPLETE"),
    }
)
_EMPTY = "REVIEW_IN_PROGRESS"


def stacks(targets: Sequence[Target]) -> Iterator[Subject]:
    """The stack of each spec."""
    for target in targets:
        yield Subject(target, _ENDPOINT_NAME, stack_name(target.spec.endpoint_name))


def takes_update(subject: Subject, asking: Asking) -> Checked:
    """Whether there is no such stack, or one with this endpoint, that can be updated."""
    name: str = subject.what
    found = asking.ask(DESCRIBE_STACKS, StackName=name)
    if found is None:
        return ok(f"{name} does not exist yet")
    state = next((it["StackStatus"] for it in found["Stacks"] if it["StackName"] == name), None)
    if state == _EMPTY:
        return ok(f"{name} is empty")
    if state in _STUCK:
        return problem(f"{name} takes no update: it is {state}", _STUCK[state].format(name))
    if state is not None and state.endswith("_IN_PROGRESS"):
        return problem(f"{name} takes no update now: it is {state}", "wait until that has ended")
    if state not in _TAKES_UPDATES:
        return cannot_tell(f"the state of {name} is {state}")
    there = asking.ask(DESCRIBE_STACK_RESOURCES, StackName=name)
    types = [] if there is None else [it["ResourceType"] for it in there["StackResources"]]
    if ENDPOINT_TYPE in types:
        return ok(f"{name} is {state}")
    # An answer has at most the first hundred.
    return cannot_tell(
        f"{name} is {state}, but no endpoint is among its {len(types)} resources",
        "make sure that it is not the stack of something else, which the deployment would replace",
    )


def stack_rights(subject: Subject) -> Iterator[Right]:
    """Looking at the stack."""
    arn = subject.target.arn("cloudformation", f"stack/{subject.what}/*")
    yield from ((it, arn) for it in (DESCRIBE_STACKS, DESCRIBE_STACK_RESOURCES))


# ---------------------------------------------------------------- the endpoint and its components


class _Named(msgspec.Struct, frozen=True):
    """Something with a name of its own: how it is asked for, and how an answer calls it."""

    call: Call
    parameter: str
    arn: str
    what: str
    kind: str


_ENDPOINT = _Named(DESCRIBE_ENDPOINT, "EndpointName", "EndpointArn", "endpoint", "endpoint")
_COMPONENT = _Named(
    *(DESCRIBE_COMPONENT, "InferenceComponentName", "InferenceComponentArn"),
    *("inference component", "inference-component"),
)


def names(targets: Sequence[Target]) -> Iterator[Subject]:
    """The names of endpoints and inference components."""
    for target in targets:
        yield Subject(target, _ENDPOINT_NAME, (_ENDPOINT, target.name))
        for path, name, _ in components(target.spec):
            yield Subject(target, path, (_COMPONENT, target.filled(name)))


def are_free_or_ours(subject: Subject, asking: Asking) -> Checked:
    """Whether a name is free, or what has it belongs to the stack that the spec makes."""
    named, name = subject.what
    if not is_settled(name):
        return only_deployment_knows(name)
    found = asking.ask(named.call, **{named.parameter: name})
    if found is None:
        return ok(f"{name} is free")
    owners = asking.ask(DESCRIBE_STACK_RESOURCES, PhysicalResourceId=found[named.arn])
    owner = None if owners is None else _owner(owners, found[named.arn])
    fix = f"choose another name, delete that {named.what}, or take it over (docs/migrating.md)"
    if owners is None:
        return problem(f"the {named.what} {name} exists, and belongs to no stack", fix)
    if owner is None:
        return cannot_tell(f"the {named.what} {name} exists, but AWS does not say which stack it belongs to")
    stack = owner["StackName"]
    if stack == stack_name(subject.target.spec.endpoint_name):
        return ok(f"{name} belongs to the stack {stack}")
    if _is_of_spec(owner, subject, asking):
        return ok(f"{name} belongs to the stack {stack}, as this spec's")
    return problem(f"the {named.what} {name} exists, and belongs to the stack {stack}", fix)


def _owner(owners: Any, arn: str) -> Any | None:
    return next((it for it in owners["StackResources"] if it.get("PhysicalResourceId") == arn), None)


def _is_of_spec(owner: Any, subject: Subject, asking: Asking) -> bool:
    """Whether a resource of another stack, which an app may have named, says that this spec made it."""
    found = asking.ask(
        DESCRIBE_STACK_RESOURCE,
        StackName=owner["StackName"],
        LogicalResourceId=owner["LogicalResourceId"],
    )
    written = None if found is None else found["StackResourceDetail"].get("Metadata")
    try:
        metadata = msgspec.json.decode(written or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return False
    made_from = str(metadata.get(SOURCE_METADATA, "")).rpartition(": ")[0]
    return made_from == subject.target.loaded.document.shown_file


def name_rights(subject: Subject) -> Iterator[Right]:
    """Looking at what has the name, and at the stack that it belongs to, whichever that is."""
    named, name = subject.what
    yield named.call, subject.target.arn("sagemaker", f"{named.kind}/{name.lower()}")
    yield DESCRIBE_STACK_RESOURCES, "*"
    yield DESCRIBE_STACK_RESOURCE, subject.target.arn("cloudformation", "stack/*")

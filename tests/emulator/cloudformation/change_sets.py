"""CloudFormation's operations on change sets.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html
"""

from collections.abc import Container
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from emulator.account import Account
from emulator.answering import Operation, Refused, Request
from emulator.cloudformation.deployment import deploy
from emulator.cloudformation.imports import Identifier, refuse_import, take_over
from emulator.cloudformation.plan import Planned, is_no_change, plan
from emulator.cloudformation.refusals import invalid_template
from emulator.cloudformation.stack import Stack
from emulator.cloudformation.stacks import asked_for, find, is_there, new_stack, refuse_busy
from emulator.cloudformation.template import Parameter, Template

_NO_CHANGES = (
    "The submitted information didn't contain changes. Submit different information to create a change set."
)


@dataclass
class ChangeSet:
    """A deployment that waits to be executed."""

    name: str
    arn: str
    template: Template
    parameters: dict[str, Parameter]
    changes: list[Planned]
    empty: bool
    tags: list[dict[str, str]]
    description: str | None
    imports: dict[str, Identifier]
    """What it imports, by logical id; empty for other change sets."""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


def create_change_set(account: Account, request: Request) -> dict[str, Any]:
    name, kind = request["StackName"], request.get("ChangeSetType", "UPDATE")
    if kind in ("CREATE", "IMPORT") and not is_there(account, name.split("/")[-1]):
        stack = new_stack(account, request)
    elif kind == "CREATE" and find(account, name).status != "REVIEW_IN_PROGRESS":
        raise invalid_template(
            f"Stack [{name}] already exists and cannot be created again with the changeSet."
        )
    else:
        stack = find(account, name)
        refuse_busy(stack)
    made = _change_set(stack, request)
    if stack not in account.stacks:
        account.stacks.append(stack)
        stack.become("REVIEW_IN_PROGRESS", "User Initiated")
    stack.change_sets[made.name] = made
    return {"Id": made.arn, "StackId": stack.id}


def _change_set(stack: Stack, request: Request) -> ChangeSet:
    name = request["ChangeSetName"]
    if name in stack.change_sets:
        raise Refused("AlreadyExistsException", f"ChangeSet [{name}] already exists")
    template, parameters = asked_for(stack, request)
    is_import = request.get("ChangeSetType") == "IMPORT"
    imports = refuse_import(stack, template, request) if is_import else {}
    changes = plan(stack, template, parameters)
    return ChangeSet(
        name,
        stack.account.arn("cloudformation", f"changeSet/{name}/{uuid4()}"),
        template,
        parameters,
        changes,
        is_no_change(stack, template, changes),
        request.get("Tags", []),
        request.get("Description"),
        imports,
    )


def _found(account: Account, request: Request) -> tuple[Stack, ChangeSet]:
    wanted, of = request["ChangeSetName"], request.get("StackName")
    for stack in account.stacks:
        if stack.is_gone or of not in (None, stack.name, stack.id):
            continue
        for it in stack.change_sets.values():
            if wanted in (it.name, it.arn):
                return stack, it
    raise Refused("ChangeSetNotFound", f"ChangeSet [{wanted}] does not exist")


def describe_change_set(account: Account, request: Request) -> dict[str, Any]:
    stack, it = _found(account, request)
    reason = {"StatusReason": _NO_CHANGES} if it.empty else {}
    return {
        "ChangeSetName": it.name,
        "ChangeSetId": it.arn,
        "StackName": stack.name,
        "StackId": stack.id,
        "Description": it.description,
        "CreationTime": it.created,
        "Status": "FAILED" if it.empty else "CREATE_COMPLETE",
        "ExecutionStatus": "UNAVAILABLE" if it.empty else "AVAILABLE",
        "Changes": [
            {"Type": "Resource", "ResourceChange": _change(stack, change, it.imports)}
            for change in it.changes
        ],
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": value.given} for name, value in it.parameters.items()
        ],
        "Tags": it.tags,
        **reason,
    }


def _change(stack: Stack, change: Planned, imports: Container[str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "Action": "Import" if change.logical_id in imports else change.action,
        "LogicalResourceId": change.logical_id,
        "ResourceType": change.type,
        "Scope": list(change.scope),
        "Details": change.details,
    }
    if change.logical_id in stack.resources:
        told["PhysicalResourceId"] = stack.resources[change.logical_id].physical_id
    return told if change.replacement is None else {**told, "Replacement": change.replacement}


def delete_change_set(account: Account, request: Request) -> None:
    try:
        stack, it = _found(account, request)
    except Refused:
        # Deleting what does not exist is not an error.
        return
    del stack.change_sets[it.name]


def execute_change_set(account: Account, request: Request) -> None:
    stack, it = _found(account, request)
    refuse_busy(stack)
    if it.empty:
        told = f"ChangeSet [{it.arn}] cannot be executed in its current status of [FAILED]"
        raise Refused("InvalidChangeSetStatus", told)
    # Executing one change set deletes all change sets of a stack.
    stack.change_sets.clear()
    if it.imports:
        take_over(stack, it.template, it.parameters, it.imports)
        return
    stack.tags = it.tags
    deploy(stack, it.template, it.parameters)


def list_change_sets(account: Account, request: Request) -> dict[str, Any]:
    stack = find(account, request["StackName"])
    return {
        "Summaries": [
            {"ChangeSetName": it.name, "ChangeSetId": it.arn, "StackName": stack.name, "StackId": stack.id}
            for it in stack.change_sets.values()
        ]
    }


OPERATIONS: dict[str, Operation] = {
    "CreateChangeSet": create_change_set,
    "DescribeChangeSet": describe_change_set,
    "DeleteChangeSet": delete_change_set,
    "ExecuteChangeSet": execute_change_set,
    "ListChangeSets": list_change_sets,
}

"""CloudFormation's read-only operations.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
"""

from datetime import UTC, datetime
from typing import Any

from emulator.account import Account
from emulator.answering import Operation, Request
from emulator.cloudformation.refusals import invalid_template
from emulator.cloudformation.stack import Stack
from emulator.cloudformation.stacks import asked_for, find, new_stack
from emulator.cloudformation.template import Template


def describe_stacks(account: Account, request: Request) -> dict[str, Any]:
    if "StackName" in request:
        return {"Stacks": [_stack(find(account, request["StackName"]))]}
    return {"Stacks": [_stack(it) for it in account.stacks if not it.is_gone]}


def _stack(stack: Stack) -> dict[str, Any]:
    reason = {} if stack.reason is None else {"StackStatusReason": stack.reason}
    return {
        "StackName": stack.name,
        "StackId": stack.id,
        "CreationTime": stack.created,
        "StackStatus": stack.status,
        "Outputs": stack.outputs,
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": it.given, "ResolvedValue": it.text}
            for name, it in stack.parameters.items()
        ],
        "Tags": stack.tags,
        "EnableTerminationProtection": stack.protected,
        "DisableRollback": False,
        **reason,
    }


def _resources(account: Account, request: Request) -> list[dict[str, Any]]:
    stack = find(account, request["StackName"]) if "StackName" in request else _owner(account, request)
    only = request.get("LogicalResourceId")
    now = datetime.now(UTC)
    return [
        {
            "StackName": stack.name,
            "StackId": stack.id,
            "LogicalResourceId": name,
            "PhysicalResourceId": it.physical_id,
            "ResourceType": it.type,
            "ResourceStatus": "UPDATE_COMPLETE" if stack.status.startswith("UPDATE") else "CREATE_COMPLETE",
            "Timestamp": now,
            "LastUpdatedTimestamp": now,
        }
        for name, it in stack.resources.items()
        if only in (None, name)
    ]


def _owner(account: Account, request: Request) -> Stack:
    """The stack that a resource belongs to."""
    wanted = request["PhysicalResourceId"]
    for stack in account.stacks:
        if not stack.is_gone and wanted in [it.physical_id for it in stack.resources.values()]:
            return stack  # type: ignore[no-any-return]
    raise invalid_template(f"Stack for {wanted} does not exist")


def describe_stack_resource(account: Account, request: Request) -> dict[str, Any]:
    found = _resources(account, request)
    if not found:
        told = f"Resource {request['LogicalResourceId']} does not exist for stack {request['StackName']}"
        raise invalid_template(told)
    return {"StackResourceDetail": found[0]}


def describe_template(account: Account, request: Request) -> dict[str, Any]:
    """`ValidateTemplate` and `GetTemplateSummary`."""
    template = _asked(account, request)
    return {
        "Parameters": [
            {"ParameterKey": name, "ParameterType": it["Type"], "DefaultValue": it.get("Default")}
            for name, it in template.part("Parameters").items()
        ],
        "ResourceTypes": sorted({it["Type"] for it in template.resources.values()}),
        "Description": template.data.get("Description"),
    }


def _asked(account: Account, request: Request) -> Template:
    if "StackName" in request:
        return find(account, request["StackName"]).template
    every = {"StackName": "validated", "Capabilities": ["CAPABILITY_NAMED_IAM"]}
    stack = new_stack(account, every)
    return asked_for(stack, request | every)[0]


OPERATIONS: dict[str, Operation] = {
    "DescribeStacks": describe_stacks,
    "ListStacks": lambda account, _: {"StackSummaries": [_stack(it) for it in account.stacks]},
    "DescribeStackEvents": lambda account, request: {
        "StackEvents": find(account, request["StackName"]).events[::-1]
    },
    "ListStackResources": lambda account, request: {"StackResourceSummaries": _resources(account, request)},
    "DescribeStackResources": lambda account, request: {"StackResources": _resources(account, request)},
    "DescribeStackResource": describe_stack_resource,
    "GetTemplate": lambda account, request: {
        "TemplateBody": find(account, request["StackName"]).template.body
    },
    "GetTemplateSummary": describe_template,
    "ValidateTemplate": describe_template,
}

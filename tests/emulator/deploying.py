"""Deploying a template through CloudFormation's API, as `aws cloudformation deploy` does it."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError
from emulator.clients import EmulatedAws

_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"]


def deploy(aws: EmulatedAws, name: str, template: Mapping[str, Any]) -> str:
    """Creates or updates a stack; returns its status after that, or "NO CHANGES"."""
    cloudformation = aws.client("cloudformation")
    given = {"StackName": name, "TemplateBody": json.dumps(template), "Capabilities": _CAPABILITIES}
    if not is_there(aws, name):
        cloudformation.create_stack(**given)
        return status(aws, name)
    kept = template.get("Parameters", {}).keys() & parameters(aws, name)
    values = [{"ParameterKey": key, "UsePreviousValue": True} for key in sorted(kept)]
    try:
        cloudformation.update_stack(**given, Parameters=values)
    except ClientError as error:
        if "No updates are to be performed" in str(error):
            return "NO CHANGES"
        raise
    return status(aws, name)


def parameters(aws: EmulatedAws, name: str) -> set[str]:
    """The parameters that a stack has values for, which later deployments keep."""
    [stack] = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    return {it["ParameterKey"] for it in stack.get("Parameters", [])}


def is_there(aws: EmulatedAws, name: str) -> bool:
    """Whether there is a stack with that name."""
    return any(it["StackName"] == name for it in aws.client("cloudformation").describe_stacks()["Stacks"])


def status(aws: EmulatedAws, name: str) -> str:
    """The status of a stack."""
    [stack] = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    return str(stack["StackStatus"])


def events(aws: EmulatedAws, name: str) -> list[dict[str, Any]]:
    """What happened to a stack's resources, oldest first."""
    found: list[dict[str, Any]] = aws.client("cloudformation").describe_stack_events(StackName=name)[
        "StackEvents"
    ]
    return found[::-1]


def failures(aws: EmulatedAws, name: str) -> list[str]:
    """What went wrong in a stack, as ``logical id: reason``."""
    return [
        f"{it['LogicalResourceId']}: {it.get('ResourceStatusReason')}"
        for it in events(aws, name)
        if it["ResourceStatus"].endswith("_FAILED")
    ]


def destroy(aws: EmulatedAws, name: str) -> str:
    """Deletes a stack; returns its last status."""
    cloudformation = aws.client("cloudformation")
    [stack] = cloudformation.describe_stacks(StackName=name)["Stacks"]
    cloudformation.delete_stack(StackName=name)
    return status(aws, stack["StackId"])

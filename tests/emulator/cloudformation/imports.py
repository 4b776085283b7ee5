"""Imports: a stack takes over what exists, as it is.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
"""

from collections.abc import Callable, Mapping
from typing import Any

from emulator.account import Account
from emulator.answering import Request
from emulator.cloudformation.deployment import Deployment
from emulator.cloudformation.handlers.base import Made
from emulator.cloudformation.references import creation_order
from emulator.cloudformation.refusals import invalid_template
from emulator.cloudformation.registry import property_problems, registered
from emulator.cloudformation.stack import Provisioned, Stack
from emulator.cloudformation.template import Parameter, Template

Identifier = Mapping[str, str]
_NOT_IN_AN_IMPORT = {"RoleARN": "RoleArn", "Tags": "Tags"}
"""https://github.com/aws/aws-cdk has both in refused imports: "you cannot modify or add"."""


def refuse_import(stack: Stack, template: Template, request: Request) -> dict[str, Identifier]:
    """Refuses what an import cannot do; else the identifiers of what it imports, by logical id."""
    if wrong := [name for key, name in _NOT_IN_AN_IMPORT.items() if request.get(key)]:
        raise invalid_template(
            f"As part of the import operation, you cannot modify or add [{', '.join(wrong)}]"
        )
    if template.part("Outputs") != stack.template.part("Outputs"):
        raise invalid_template("As part of the import operation, you cannot modify or add [Outputs]")
    given = {it["LogicalResourceId"]: it for it in request.get("ResourcesToImport", ())}
    for name, resource in template.resources.items():
        if name in stack.resources:
            continue
        if name not in given:
            raise invalid_template(f"Resources [{name}] is missing from ResourceToImport list")
        if "DeletionPolicy" not in resource:
            raise invalid_template(f"Resources to import must have a DeletionPolicy: [{name}]")
        _refuse_identifier(name, given[name])
    return {name: it["ResourceIdentifier"] for name, it in given.items()}


def _refuse_identifier(name: str, given: Mapping[str, Any]) -> None:
    schema = registered(given["ResourceType"]) or {}
    wanted = {it.rpartition("/")[2] for it in schema.get("primaryIdentifier", ())}
    if "read" not in schema.get("handlers", {}):
        raise invalid_template(f"ResourceTypes [{given['ResourceType']}] are not supported for Import")
    if given["ResourceIdentifier"].keys() != wanted:
        raise invalid_template(f"Invalid resource identifiers for {name}: {sorted(wanted)} are required")


def take_over(
    stack: Stack, template: Template, parameters: dict[str, Parameter], identifiers: Mapping[str, Identifier]
) -> None:
    """Makes what exists part of the stack. A service's answer decides whether it exists."""
    stack.become("IMPORT_IN_PROGRESS", "User Initiated")
    deployment = Deployment(stack, template, parameters)
    for name in creation_order(deployment.wanted):
        if name in stack.resources:
            continue
        written = deployment.wanted[name]
        properties = deployment.values.value(written.get("Properties", {}))
        if problems := property_problems(written["Type"], properties):
            raise invalid_template(f"Properties validation failed for resource {name}: {'; '.join(problems)}")
        made = _FOUND[written["Type"]](stack.account, stack, identifiers[name])
        stack.resources[name] = Provisioned(written["Type"], written, properties, made)
        stack.event(name, written["Type"], made.physical_id, "IMPORT_COMPLETE")
    stack.template, stack.parameters = template, parameters
    stack.become("IMPORT_COMPLETE")


def _hosted(kind: str, collection: str) -> Callable[[Account, Stack, Identifier], Made]:
    def found(account: Account, _: Stack, identifier: Identifier) -> Made:
        arn = identifier[f"{kind}Arn"]
        for name, it in getattr(account, collection).items():
            if it[f"{kind}Arn"] == arn:
                return Made(arn, {f"{kind}Name": name, f"{kind}Arn": arn})
        raise invalid_template(f"{arn} does not exist")

    return found


def _target(account: Account, _: Stack, identifier: Identifier) -> Made:
    keys = ("ResourceId", "ScalableDimension", "ServiceNamespace")
    it = account.targets[identifier["ResourceId"], identifier["ScalableDimension"]]
    physical_id = "|".join(identifier[key] for key in keys)
    return Made(physical_id, {"Id": physical_id, "ARN": it["ScalableTargetARN"]})


def _policy(account: Account, _: Stack, identifier: Identifier) -> Made:
    arn = identifier["Arn"]
    if arn not in [it["PolicyARN"] for it in account.policies.values()]:
        raise invalid_template(f"{arn} does not exist")
    return Made(arn, {"Arn": arn})


def _alarm(_: Account, stack: Stack, identifier: Identifier) -> Made:
    name = identifier["AlarmName"]
    [found] = stack.place.client("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return Made(name, {"Arn": found["AlarmArn"]})


_FOUND: dict[str, Callable[[Account, Stack, Identifier], Made]] = {
    "AWS::SageMaker::Model": _hosted("Model", "models"),
    "AWS::SageMaker::EndpointConfig": _hosted("EndpointConfig", "endpoint_configs"),
    "AWS::SageMaker::Endpoint": _hosted("Endpoint", "endpoints"),
    "AWS::SageMaker::InferenceComponent": _hosted("InferenceComponent", "components"),
    "AWS::ApplicationAutoScaling::ScalableTarget": _target,
    "AWS::ApplicationAutoScaling::ScalingPolicy": _policy,
    "AWS::CloudWatch::Alarm": _alarm,
}

"""Creates or updates a stack, and cleans up after that; if anything fails, rolls everything back.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emulator.cloudformation.deletion import delete_all
from emulator.cloudformation.exports import refuse_outputs
from emulator.cloudformation.handlers import handler_of
from emulator.cloudformation.handlers.base import Made, physical_name
from emulator.cloudformation.references import creation_order
from emulator.cloudformation.refusals import ResourceFailedError, reason_of
from emulator.cloudformation.registry import create_only, property_problems
from emulator.cloudformation.rollback import roll_back
from emulator.cloudformation.stack import Provisioned, Stack
from emulator.cloudformation.template import Parameter, Template


@dataclass
class Deployment:
    """One creation or update of a stack while it runs."""

    stack: Stack
    template: Template
    parameters: dict[str, Parameter]
    before: dict[str, Provisioned] = field(init=False)
    superseded: dict[str, Provisioned] = field(default_factory=dict)
    """What was replaced and still exists."""

    def __post_init__(self) -> None:
        self.before = dict(self.stack.resources)
        self.values = self.stack.evaluation(self.template, self.parameters, self.stack.resource_value)
        self.wanted = {
            name: resource
            for name, resource in self.template.resources.items()
            if self.values.is_there(resource)
        }


def deploy(stack: Stack, template: Template, parameters: dict[str, Parameter]) -> None:
    """Creates or updates a stack. Its status and events show whether that failed."""
    verb = "CREATE" if stack.status in ("", "REVIEW_IN_PROGRESS") else "UPDATE"
    stack.become(f"{verb}_IN_PROGRESS", "User Initiated")
    deployment = Deployment(stack, template, parameters)
    try:
        for logical_id in creation_order(deployment.wanted):
            _provision(deployment, logical_id)
        outputs = _outputs(deployment)
        refuse_outputs(stack, outputs)
    except Exception as failure:
        roll_back(stack, deployment.before, verb, str(failure))
        return
    if verb == "UPDATE":
        stack.become("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        _clean_up(deployment)
    stack.template, stack.parameters, stack.outputs = template, parameters, outputs
    stack.become(f"{verb}_COMPLETE")


def _provision(deployment: Deployment, logical_id: str) -> None:
    stack, written = deployment.stack, deployment.wanted[logical_id]
    there, type_name = deployment.before.get(logical_id), written["Type"]
    try:
        properties = deployment.values.value(written.get("Properties", {}))
        if there is None:
            made = _create(stack, logical_id, type_name, properties, "CREATE")
        elif there.properties == properties:
            stack.resources[logical_id] = Provisioned(type_name, written, properties, there.made)
            return
        else:
            made = _change(deployment, logical_id, there, type_name, properties)
    except Exception as failure:
        verb = "CREATE" if there is None else "UPDATE"
        physical_id = "" if there is None else there.physical_id
        stack.event(logical_id, type_name, physical_id, f"{verb}_FAILED", reason_of(failure))
        raise
    stack.resources[logical_id] = Provisioned(type_name, written, properties, made)


def _create(stack: Stack, logical_id: str, type_name: str, properties: dict[str, Any], verb: str) -> Made:
    if problems := property_problems(type_name, properties):
        raise ResourceFailedError(
            f"Properties validation failed for resource {logical_id}: {'; '.join(problems)}"
        )
    if verb == "CREATE":
        stack.event(logical_id, type_name, "", "CREATE_IN_PROGRESS")
    handler = handler_of(type_name)
    name = properties.get(handler.name_property or "", physical_name(stack.name, logical_id))
    made = handler.create(stack.place, properties, str(name))
    stack.event(logical_id, type_name, made.physical_id, f"{verb}_COMPLETE", properties=properties)
    return made


def _change(
    deployment: Deployment, logical_id: str, there: Provisioned, type_name: str, properties: dict[str, Any]
) -> Made:
    stack = deployment.stack
    if there.type != type_name:
        raise ResourceFailedError(f"Update of resource type is not permitted: [{logical_id}]")
    if _changed(there.properties, properties) & create_only(type_name):
        _refuse_same_name(type_name, there.properties, properties)
        told = "Requested update requires the creation of a new physical resource; hence creating one."
        stack.event(logical_id, type_name, there.physical_id, "UPDATE_IN_PROGRESS", told)
        made = _create(stack, logical_id, type_name, properties, "UPDATE")
        deployment.superseded[logical_id] = there
        return made
    if problems := property_problems(type_name, properties):
        raise ResourceFailedError(
            f"Properties validation failed for resource {logical_id}: {'; '.join(problems)}"
        )
    stack.event(logical_id, type_name, there.physical_id, "UPDATE_IN_PROGRESS")
    handler = handler_of(type_name)
    made = handler.update(stack.place, there.made, there.properties, properties)
    stack.event(logical_id, type_name, made.physical_id, "UPDATE_COMPLETE")
    return made


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {key for key in {**before, **after} if before.get(key) != after.get(key)}


def _refuse_same_name(type_name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """See "custom name" in the user guide's page on resources that require replacement."""
    name = handler_of(type_name).name_property
    if name is not None and name in after and after[name] == before.get(name):
        raise ResourceFailedError(
            "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
            f"Rename {after[name]} and update the stack again."
        )


def _outputs(deployment: Deployment) -> list[dict[str, str]]:
    values, found = deployment.values, []
    for name, written in deployment.template.part("Outputs").items():
        if values.is_there(written):
            output = {"OutputKey": name, "OutputValue": str(values.value(written["Value"]))}
            if "Description" in written:
                output["Description"] = written["Description"]
            if "Export" in written:
                output["ExportName"] = str(values.value(written["Export"]["Name"]))
            found.append(output)
    return found


def _clean_up(deployment: Deployment) -> None:
    """Deletes what was replaced or left out. The update does not fail if something cannot be deleted."""
    stack = deployment.stack
    removed = {name: it for name, it in deployment.before.items() if name not in deployment.wanted}
    for name in removed:
        del stack.resources[name]
    delete_all(stack, deployment.superseded | removed, policy="UpdateReplacePolicy", lasting=removed.keys())

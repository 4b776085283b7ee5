"""Reads templates, and refuses wrong ones before anything is done.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emulator.cloudformation.handlers import is_handled
from emulator.cloudformation.references import creation_order, references
from emulator.cloudformation.refusals import invalid_template
from moto.cloudformation.models import Stack as MotoStack

_PSEUDO = {
    "AccountId",
    "Region",
    "StackId",
    "StackName",
    "URLSuffix",
    "Partition",
    "NoValue",
    "NotificationARNs",
}
_MOST_RESOURCES = 500
_FROM_SSM = "AWS::SSM::Parameter::Value"


@dataclass(frozen=True)
class Template:
    """A template that can be deployed, as far as it shows by itself."""

    body: str
    data: Mapping[str, Any]

    @property
    def resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Resources as written, by logical id."""
        found: Mapping[str, Mapping[str, Any]] = self.data["Resources"]
        return found

    def part(self, name: str) -> Mapping[str, Any]:
        """A section of the template, empty if it has none."""
        found: Mapping[str, Any] = self.data.get(name) or {}
        return found


NO_TEMPLATE = Template("", {"Resources": {}})


def read_template(body: str) -> Template:
    """Reads JSON or YAML; refuses what CloudFormation's own check refuses."""
    data = _parsed(body)
    if not isinstance(data, dict) or not data.get("Resources"):
        raise invalid_template("Template format error: At least one Resources member must be defined.")
    template = Template(body, data)
    if len(template.resources) > _MOST_RESOURCES:
        raise invalid_template(
            f"Template format error: Number of resources is greater than {_MOST_RESOURCES}"
        )
    unknown = sorted({it["Type"] for it in template.resources.values() if not is_handled(it["Type"])})
    if unknown:
        raise invalid_template(f"Template format error: Unrecognized resource types: [{', '.join(unknown)}]")
    _refuse_dangling(template)
    creation_order(template.resources)
    return template


def _parsed(body: str) -> Any:
    # JSON is YAML, too, but read as such it takes many times as long.
    try:
        return json.loads(body)
    except json.JSONDecodeError:
        return MotoStack.parse_template(body)


def _refuse_dangling(template: Template) -> None:
    known = {*template.resources, *template.part("Parameters"), *(f"AWS::{name}" for name in _PSEUDO)}
    dangling = sorted({*references([template.resources, template.part("Outputs")])} - known)
    if dangling:
        names = ", ".join(dangling)
        raise invalid_template(f"Template format error: Unresolved resource dependencies [{names}]")
    for name, resource in template.resources.items():
        written = resource.get("DependsOn", [])
        for other in [written] if isinstance(written, str) else written:
            if other not in template.resources:
                raise invalid_template(
                    f"Template format error: {name} depends on {other}, which is no resource"
                )


@dataclass(frozen=True)
class Parameter:
    """A parameter as it is given, and its value."""

    given: str
    value: str | list[str]

    @property
    def text(self) -> str:
        """The value as the API shows it."""
        return self.value if isinstance(self.value, str) else ",".join(self.value)


def parameter_values(template: Template, given: Mapping[str, str], ssm: Any) -> dict[str, Parameter]:
    """Values of all parameters: given or default; those of the parameter store are looked up there."""
    found = {}
    for name, declared in template.part("Parameters").items():
        text = given.get(name, declared.get("Default"))
        if text is None:
            raise invalid_template(f"Parameters: [{name}] must have values")
        found[name] = Parameter(str(text), _parameter_value(declared["Type"], str(text), ssm))
    if unknown := sorted(given.keys() - template.part("Parameters").keys()):
        raise invalid_template(f"Parameters: [{', '.join(unknown)}] do not exist in the template")
    return found


def _parameter_value(type_name: str, text: str, ssm: Any) -> str | list[str]:
    value = _stored(ssm, text) if type_name.startswith(_FROM_SSM) else text
    if "List" not in type_name:
        return value
    return [it.strip() for it in value.split(",")] if value else []


def _stored(ssm: Any, name: str) -> str:
    try:
        return str(ssm.get_parameter(Name=name)["Parameter"]["Value"])
    except ssm.exceptions.ParameterNotFound:
        told = f"Unable to fetch parameters [{name}] from parameter store for this account."
        raise invalid_template(told) from None

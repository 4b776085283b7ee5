"""What CloudFormation accepts for the resource types that our stacks consist of, and its dynamic references.

Shapes come from the CloudFormation registry, completed by the API's own model:
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SageMaker.html
Dynamic references (`{{resolve:service:…}}`) are filled in after functions:
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
"""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec

from inferstack.catalog import document

# ---------------------------------------------------------------- dynamic references

BEGINNING = r"\{\{resolve:"
"""How every reference begins."""
# A function may fill in part of a reference before that.
_HELD = r"\$\{[^{}]*\}"
REFERENCE = rf"{BEGINNING}(?:{_HELD}|[^{{}}])*\}}\}}"
"""A pattern for any reference, whatever it refers to."""
_NAME = rf"(?:{_HELD}|[^:{{}}\s])+"
_PART = rf"(?:{_HELD}|[^:{{}}])*"
FORMS: Mapping[str, str] = {
    "secretsmanager": (
        rf"(?:arn(?::{_PART}){{5}}:{_NAME}|{_NAME})(?::(?:SecretString)?(?::{_PART}){{0,3}})?"
    ),
    "ssm": rf"(?:{_HELD}|[A-Za-z0-9_.\-/])+(?::(?:{_HELD}|[0-9])+)?",
}
"""For each service that works in every resource: what follows its name in a reference."""
AS_WRITTEN: Mapping[str, str] = {
    "secretsmanager": "{{resolve:secretsmanager:NAME:SecretString:KEY}}",
    "ssm": "{{resolve:ssm:NAME}}",
}
"""A whole reference for each of these services."""


# ---------------------------------------------------------------- shapes of resources

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Property(msgspec.Struct, frozen=True):
    """One property of a resource or of a structure inside it.

    ``schema`` holds JSON Schema's constraint keywords (``type``, ``enum``, ``pattern``, bounds, ``items``;
    for a free-form map also ``propertyNames`` and ``additionalProperties``), or ``$ref`` with the bare name
    of a definition of the same resource type.
    """

    name: str
    schema: Mapping[str, Any]
    required: bool = False

    @property
    def definition(self) -> str | None:
        """The definition that the value, or each item of a list, must follow; None for plain values."""
        target = self.schema.get("$ref", self.schema.get("items", {}).get("$ref"))
        return None if target is None else str(target)


_OF_TEMPLATES = frozenset({"AWSTemplateFormatVersion", "Resources"})


def is_template(data: object) -> bool:
    """Whether data looks like a CloudFormation template: it has one's sections, and no `kind`."""
    return isinstance(data, dict) and "kind" not in data and not _OF_TEMPLATES.isdisjoint(data)


@cache
def snake(cfn_name: str) -> str:
    """A CloudFormation name as a key of a spec: ``VolumeSizeInGB`` is ``volume_size_in_gb``."""
    return _WORD_START.sub("_", cfn_name).lower()


@cache
def shape(type_name: str, definition: str = "") -> Mapping[str, Property]:
    """Properties by snake_case key, for the resource itself or for one of its definitions.

    They include read-only properties; see :func:`read_only`. KeyError for an unknown name.
    """
    found = _resources()[type_name]["definitions"][definition]
    required = frozenset(found["required"])
    return MappingProxyType(
        {
            snake(name): Property(name, schema, name in required)
            for name, schema in found["properties"].items()
        }
    )


def text_form(name: str) -> str:
    """The pattern of an id that the registry calls by a format, such as ``AWS::EC2::Subnet.Id``."""
    return str(document("text_forms.json")[name])


def definitions(type_name: str) -> tuple[str, ...]:
    """Names of the structures inside a resource type, sorted, without the resource itself (``""``)."""
    return tuple(name for name in _resources()[type_name]["definitions"] if name)


def is_taggable(type_name: str) -> bool:
    """Whether a resource of this type takes tags."""
    return bool(_resources()[type_name]["taggable"])


def create_only(type_name: str) -> frozenset[str]:
    """CloudFormation names of the properties that replace the resource when they change."""
    return frozenset(_resources()[type_name]["create_only"])


def read_only(type_name: str) -> frozenset[str]:
    """Properties that CloudFormation reports and a template may not set.

    They are paths such as ``RuntimeConfig/CurrentCopyCount``, in which ``*`` stands for each item of a list.
    """
    return frozenset(_resources()[type_name]["read_only"])


def api_only_values(type_name: str, definition: str, name: str) -> tuple[str, ...]:
    """Values of an enum that the API has but CloudFormation does not; ``name`` is CloudFormation's name."""
    found = _api_only(type_name)["enums"].get(f"{definition}.{name}".lstrip("."), ())
    return tuple(found)


def api_only_properties(type_name: str, definition: str = "") -> Mapping[str, str]:
    """Members that the API has but CloudFormation does not, as a mapping of snake_case key to API name."""
    return {snake(name): name for name in _api_only(type_name)["members"].get(definition, ())}


def _resources() -> Mapping[str, Any]:
    found: Mapping[str, Any] = document("cloudformation.json")
    return found


def _api_only(type_name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document("api_only.json")[type_name]
    return found

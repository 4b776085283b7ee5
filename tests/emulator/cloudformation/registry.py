"""What CloudFormation's registry says of a resource type: its properties, and which of them replace it.

The schemas are those that AWS publishes and cfn-lint ships.
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from tools.portable_pattern import portable


@cache
def registered(type_name: str) -> Mapping[str, Any] | None:
    """The schema of a type, None if the registry has none."""
    found = PROVIDER_SCHEMA_MANAGER.get_resource_schemas_by_regions(type_name, ["us-east-1"])
    return next((it.schema for _, it in found), None)


def create_only(type_name: str) -> frozenset[str]:
    """Properties that are only set on creation, so that changing them replaces the resource."""
    pointers = (registered(type_name) or {}).get("createOnlyProperties", ())
    return frozenset(pointer.split("/")[2] for pointer in pointers)


def property_problems(type_name: str, properties: Mapping[str, Any]) -> list[str]:
    """What the type's schema does not allow, in the words of CloudFormation's handlers."""
    schema = registered(type_name)
    if schema is None:
        return []
    return [
        f"#/{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
        for error in _validator(type_name).iter_errors(properties)
    ]


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
    common = portable(pattern)
    if isinstance(value, str) and common is not None and not re.search(common, value):
        yield ValidationError(f"{value!r} does not match {pattern}")


def _type(validator: Any, wanted: str | list[str], value: Any, schema: Any) -> Iterator[ValidationError]:
    """CloudFormation accepts ``"1"`` for 1 and vice versa: the API's own types are checked later."""
    names = {wanted} if isinstance(wanted, str) else {*wanted}
    scalars = {"string", "integer", "number", "boolean"}
    if not (names & scalars and isinstance(value, str | int | float | bool)):
        yield from Draft7Validator.VALIDATORS["type"](validator, wanted, value, schema)


@cache
def _validator(type_name: str) -> Draft7Validator:
    made: Draft7Validator = extend(Draft7Validator, {"pattern": _pattern, "type": _type})(
        registered(type_name)
    )
    return made

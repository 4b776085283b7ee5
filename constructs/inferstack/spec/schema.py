"""The JSON Schema of the format, as it ships with the package, and how to find definitions in it."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from inferstack.spec.blocks.kinds import KINDS

JsonSchema = dict[str, Any]

SCHEMA_FILE = "inferstack.schema.json"


def shipped_schema_text() -> str:
    """The text of the schema file that comes with the package."""
    return Path(__file__).with_name(SCHEMA_FILE).read_text("utf-8")


@cache
def shipped_schema() -> JsonSchema:
    """The schema that comes with the package."""
    schema: JsonSchema = msgspec.json.decode(shipped_schema_text())
    return schema


@cache
def kind_definitions() -> dict[str, str]:
    """The name of each kind's definition."""
    return {str(kind.__struct_config__.tag): kind.__name__ for kind in KINDS}


def resolved(branch: JsonSchema) -> JsonSchema:
    """The definition that a part of the schema refers to, or the part itself."""
    reference = branch.get("$ref")
    if reference is None:
        return branch
    definition: JsonSchema = shipped_schema()["$defs"][reference.rpartition("/")[2]]
    return definition

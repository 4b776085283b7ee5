"""The JSON Schema of the format, as shipped with the package, and how to find definitions and keys in it.

Two files are shipped: one that decides the structure of specs, and one that is published, for editors, which
says more (see `tools/schema_for_editors.py`).

A path of a spec leads to what the schema allows there, whether or not the spec has anything there.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from inferstack.format.kinds import KINDS
from inferstack.problems import SpecPath

JsonSchema = dict[str, Any]

STRUCTURE_FILE = "structure.schema.json"
PUBLISHED_FILE = "inferstack.schema.json"
LIST_OR_ELSEWHERE = ["array", "string"]
"""The type of a list that may come from elsewhere as a whole. A document has a list there, too, once it is
read: see :func:`inferstack.check.elsewhere.with_lists`."""


def shipped_schema_text() -> str:
    """The text of the schema that decides the structure."""
    return Path(__file__).with_name(STRUCTURE_FILE).read_text("utf-8")


def published_schema_text() -> str:
    """The text of the schema for editors and other tools."""
    return Path(__file__).with_name(PUBLISHED_FILE).read_text("utf-8")


@cache
def shipped_schema() -> JsonSchema:
    """The schema that decides the structure."""
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


def names_no_key(definition: str, paths: Iterable[SpecPath]) -> dict[SpecPath, JsonSchema]:
    """The paths whose last key the format does not have, each with the block that has no such key.

    A path that leads through such a key is left out, since it is wrong there already.
    """
    found = {}
    for path in paths:
        blocks = blocks_at(definition, path[:-1])
        if blocks and not any(_below(block, path[-1]) for block in blocks):
            found[path] = blocks[0]
    return found


def allowed_at(definition: str, path: SpecPath) -> list[JsonSchema]:
    """What is allowed at a path, as one schema for each form; empty if the format has no such key."""
    blocks = blocks_at(definition, path[:-1])
    return [it for block in blocks for it in _below(block, path[-1])]


def blocks_at(definition: str, path: SpecPath) -> list[JsonSchema]:
    """The blocks that the format has at a path, one for each form; empty if it has none."""
    blocks = [shipped_schema()["$defs"][definition]]
    for step in path:
        blocks = [it for block in blocks for it in _below(block, step) if it.get("type") == "object"]
    return blocks


def _below(block: JsonSchema, key: str | int) -> list[JsonSchema]:
    """What is allowed under a key of a block; empty if the block has no such key."""
    value = block.get("properties", {}).get(key, block.get("additionalProperties", {}))
    return [resolved(it) for it in value.get("anyOf", [value])] if isinstance(value, dict) else []

"""Whether the format has a key at a given path, whether or not the spec has it."""

from collections.abc import Iterable, Iterator

from inferstack.spec.problem import SpecPath
from inferstack.spec.schema import JsonSchema, resolved, shipped_schema


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
    return list(_branches(value)) if isinstance(value, dict) else []


def _branches(value: JsonSchema) -> Iterator[JsonSchema]:
    return map(resolved, value.get("anyOf", [value]))

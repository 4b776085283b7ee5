"""Keys that stand in a block which has no such key: where they belong.

In a block below, in another one of the same kind of spec, in another kind, or below a name.
"""

from collections import Counter
from collections.abc import Collection
from functools import cache
from typing import Any

from inferstack.spec.schema import JsonSchema, kind_definitions, resolved, shipped_schema

INSTEAD = {
    "inference_components": "write `model` for it",
    "model": (
        "write it under `models`, and its name there as `specification.model_name` of an inference component"
    ),
}
"""What another kind of spec has for a key that only some kinds have."""

_BY_NAME = {
    "models": ("model", "`models: {NAME: {image: …}}`"),
    "inference_components": ("component", "`inference_components: {NAME: {specification: …}}`"),
}
"""The mappings of blocks by name: what such a block is, and how to write one."""

_NESTED = 2


def homes(block: JsonSchema) -> dict[str, str]:
    """Keys of the blocks below this one, each with its block; the nearest, and none of two as near."""
    found_above: dict[str, str] = {}
    level = {"": block}
    for _ in range(_NESTED):
        level = {
            f"{where}.{name}".lstrip("."): resolved(branch)
            for where, each in level.items()
            for name, value in each.get("properties", {}).items()
            for branch in value.get("anyOf", [value])
        }
        found = [(key, where) for where, each in level.items() for key in each.get("properties", {})]
        times = Counter(key for key, _ in found)
        found_above = {key: where for key, where in found if times[key] == 1} | found_above
    return found_above


@cache
def homes_in_kind(kind: str) -> dict[str, str]:
    """The same of a whole spec of some kind; nothing if there is no such kind."""
    definition = kind_definitions().get(kind)
    return {} if definition is None else homes(shipped_schema()["$defs"][definition])


def kinds_having(key: str) -> tuple[str, ...]:
    """The kinds of spec that have the key at the top."""
    blocks = shipped_schema()["$defs"]
    return tuple(kind for kind, name in kind_definitions().items() if key in blocks[name]["properties"])


def how_to_name(key: str, definition: str) -> str:
    """How to write blocks by name in such a spec, which may have a shorter way for the only one."""
    what, written = _BY_NAME[key]
    if what in shipped_schema()["$defs"][definition]["properties"]:
        return f"for one {what} write `{what}:`; for several, write each under its name: {written}"
    return f"write them under the {what}'s name: {written}"


def blocks_without_names(
    data: dict[str, Any], definition: str, wrong: Collection[object]
) -> dict[str, list[str]]:
    """Mappings of blocks by name that hold what one block holds instead, each with the keys of it.

    Of those that are wrong in any way: a model may be called `image`.
    """
    properties = shipped_schema()["$defs"][definition].get("properties", {})
    mappings = [key for key in _BY_NAME if key in properties and key in wrong]
    found = {key: _keys_of_one(properties[key], data[key]) for key in mappings}
    return {key: keys for key, keys in found.items() if keys}


def _keys_of_one(by_name: JsonSchema, value: object) -> list[str]:
    """Of a mapping in which nothing looks like a block, all keys that such a block has."""
    known = resolved(by_name["additionalProperties"])["properties"].keys()
    if not isinstance(value, dict) or any(
        isinstance(it, dict) and known & it.keys() for it in value.values()
    ):
        return []
    return [key for key in value if key in known]

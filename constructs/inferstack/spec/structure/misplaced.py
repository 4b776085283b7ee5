"""Where keys belong that were written into a block without such a key.

That may be a block below it, another block in the same kind of spec, another kind, or a block under a name.
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
"""For a key that only some kinds of spec have: what to write instead in the others."""

_BY_NAME = {
    "models": ("model", "`models: {NAME: {image: …}}`"),
    "inference_components": ("component", "`inference_components: {NAME: {specification: …}}`"),
}
"""The mappings from names to blocks: what such a block is called, and how to write one."""

_NESTED = 2


def homes(block: JsonSchema) -> dict[str, str]:
    """Keys of the blocks below this one, each with its block.

    If several blocks have a key, it is the nearest one; if two are equally near, neither.
    """
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
    """The same for a whole spec of a kind; empty if there is no such kind."""
    definition = kind_definitions().get(kind)
    return {} if definition is None else homes(shipped_schema()["$defs"][definition])


def kinds_having(key: str) -> tuple[str, ...]:
    """The kinds of spec that have the key at the top level."""
    blocks = shipped_schema()["$defs"]
    return tuple(kind for kind, name in kind_definitions().items() if key in blocks[name]["properties"])


def how_to_name(key: str, definition: str) -> str:
    """How to write blocks under names in such a spec, or a single block, if there is a shorter way for it."""
    what, written = _BY_NAME[key]
    if what in shipped_schema()["$defs"][definition]["properties"]:
        return f"for one {what} write `{what}:`; for several, write each under its name: {written}"
    return f"write them under the {what}'s name: {written}"


def blocks_without_names(
    data: dict[str, Any], definition: str, wrong: Collection[object]
) -> dict[str, list[str]]:
    """Mappings from names to blocks that contain a single block's keys instead of names, with those keys.

    Only mappings in which something else is wrong count, since a model may be named `image`.
    """
    properties = shipped_schema()["$defs"][definition].get("properties", {})
    mappings = [key for key in _BY_NAME if key in properties and key in wrong]
    found = {key: _keys_of_one(properties[key], data[key]) for key in mappings}
    return {key: keys for key, keys in found.items() if keys}


def _keys_of_one(by_name: JsonSchema, value: object) -> list[str]:
    """The keys of a mapping that are keys of such a block; none if any of its values looks like a block."""
    known = resolved(by_name["additionalProperties"])["properties"].keys()
    if not isinstance(value, dict) or any(
        isinstance(it, dict) and known & it.keys() for it in value.values()
    ):
        return []
    return [key for key in value if key in known]

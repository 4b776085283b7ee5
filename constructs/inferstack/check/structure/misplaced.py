"""Keys of the wrong block: where they belong, and which of them only SageMaker's API has."""

from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from inferstack.catalog import cloudformation
from inferstack.format.base import Block, with_subclasses
from inferstack.format.schema import JsonSchema, kind_definitions, resolved, shipped_schema

# ----------------------------------------------------------------
# Where keys belong that were written into a block without such a key.
#
# That may be a block below it, another block in the same kind of spec, another kind, or a block under a
# name.


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


# ----------------------------------------------------------------
# What SageMaker's API has but CloudFormation does not: unknown here, but not the user's mistake.
#
# It is the difference between the API's service model and the CloudFormation registry.


NOT_YET = "SageMaker's API has it, but CloudFormation does not yet"
"""What to say of such a key or value."""
# Keys that CloudFormation will never get: what they configured is gone.
_DISCONTINUED = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/ei.html
    "accelerator_type": "AWS ended Elastic Inference in 2024",
}


def why_not(key: str) -> str:
    """Why a key that only the API has cannot be deployed."""
    return _DISCONTINUED.get(key, NOT_YET)


def is_api_only_key(block: str, key: str) -> bool:
    """Whether only the API has this key of a block; ``block`` is the name of the block's class."""
    return any(key in cloudformation.api_only_properties(*shape) for shape in _shapes().get(block, ()))


def is_api_only_value(key: str, value: object) -> bool:
    """Whether only the API has this value of a key, in any block with that key."""
    for shapes in _shapes().values():
        for type_name, definition in shapes:
            found = cloudformation.shape(type_name, definition).get(key)
            if found and value in cloudformation.api_only_values(type_name, definition, found.name):
                return True
    return False


@cache
def _shapes() -> dict[str, tuple[tuple[str, str], ...]]:
    """SageMaker's CloudFormation shapes of each block, as type and definition."""
    return {block.__name__: tuple(_sagemaker_shapes(block)) for block in with_subclasses(Block)}


def _sagemaker_shapes(block: type[Block]) -> Iterator[tuple[str, str]]:
    for shape in block.shapes:
        type_name, _, definition = shape.partition(".")
        if type_name.startswith("AWS::SageMaker::"):
            yield type_name, definition

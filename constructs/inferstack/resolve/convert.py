"""A block of the spec as CloudFormation properties.

Keys are CloudFormation's names in snake_case, so this only looks up the shape's own spelling. What needs a
decision is passed in by the caller.
"""

from collections.abc import Mapping
from functools import cache

from inferstack.catalog import cloudformation
from inferstack.format.base import Block
from inferstack.resolve.resource import Value


def properties(block: Block, *, leave_out: frozenset[str] = frozenset()) -> dict[str, Value]:
    """The block's fields that CloudFormation knows, under its names, without absent ones.

    Fields that only the spec format has, such as ``autoscaling`` of a variant, are skipped, and so are tags,
    which join those of the spec in the template; ``leave_out`` names fields that the caller fills in itself.
    """
    names = property_names(type(block))
    return {
        names[field]: plain(value)
        for field in block.__struct_fields__
        if field in names and field not in leave_out and (value := getattr(block, field)) is not None
    }


def plain(value: object) -> Value:
    """A value as a template has it: lists for a block's tuples, and properties for blocks."""
    match value:
        case Block():
            return properties(value)
        case tuple() | list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case _:
            return value


@cache
def property_names(block: type[Block]) -> Mapping[str, str]:
    """CloudFormation's names by key, also for keys that the block has no field for; not of tags."""
    names: dict[str, str] = {}
    for shape in reversed(block.shapes):
        names |= {key: property_.name for key, property_ in cloudformation.shape(*shape.split(".")).items()}
    # The template joins them to those of the spec.
    names.pop("tags", None)
    return names

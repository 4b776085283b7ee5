"""What every block of a spec has in common.

A block is a frozen struct whose fields are CloudFormation properties in snake_case. Its class names
the CloudFormation shapes that it describes; the enums, patterns and bounds of its fields come from those
shapes (see :mod:`inferstack.catalog.cloudformation`) and are not repeated here. The string under a field is
its documentation: it becomes the description in the JSON Schema and in the reference.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, dataclass_transform

import msgspec
from msgspec import Meta

from inferstack.texts.arns import KMS_KEY
from inferstack.texts.statistic import STATISTIC

Number = int | float

if TYPE_CHECKING:
    Item = TypeVar("Item")
    # No `Sequence`: that would also take a text for a list of texts.
    Items = list[Item] | tuple[Item, ...]
else:

    class Items:
        """A list of a spec: once it is checked, a tuple, so that a block cannot change."""

        def __class_getitem__(cls, item: object) -> object:
            """The type of a list of these items."""
            return tuple[item, ...]


def form(pattern: str | None = None, *, min_length: int | None = None, max_length: int | None = None) -> Meta:
    """The form of a string, checked by the schema only: a CDK token in its place does not have that form."""
    words = {"pattern": pattern, "minLength": min_length, "maxLength": max_length}
    return Meta(extra_json_schema={word: value for word, value in words.items() if value is not None})


# The name of a file: relative to the spec, so that it is the same on every machine.
FileBeside = Annotated[str, form(min_length=1)]

# CloudWatch's simple statistics, percentiles and trimmed statistics. AWS's own enum has only the simple ones.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html
Statistic = Annotated[str, form(STATISTIC)]


# AWS's own pattern accepts any text of the right characters. This one is stricter, because the role's policy
# must name the key in a form that IAM accepts as a resource.
KmsKey = Annotated[str, form(f"^{KMS_KEY}$")]

ROLE_ARN = r"^arn:aws[a-z\-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/\-]+$"
RoleArn = Annotated[str, form(ROLE_ARN)]

PolicyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/\-]+$")]


TagKey = Annotated[str, form(min_length=1, max_length=128)]
TagValue = Annotated[str, form(max_length=256)]
Tags = dict[TagKey, TagValue]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class BlockType(msgspec.StructMeta):
    """Makes every block frozen and keyword-only; with msgspec alone, each class would have to repeat that."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> type:
        """Creates the class of a block; ``config`` is msgspec's (``tag`` and ``tag_field`` of a kind)."""
        config |= {"frozen": True, "kw_only": True, "forbid_unknown_fields": True, "omit_defaults": True}
        return super().__new__(cls, name, bases, namespace, **config)


class Block(msgspec.Struct, metaclass=BlockType):
    """A mapping in the spec. ``None`` means that a field is absent; zero, false and empty are values."""

    shapes: ClassVar[tuple[str, ...]] = ()
    """CloudFormation shapes, as ``Type`` or ``Type.Definition``; the first one that has a property wins."""
    aws_keys: ClassVar[Mapping[str, tuple[str, str] | None]] = {}
    """Fields whose constraints stand elsewhere: the shape and the key there, which of a list may describe
    each item. ``None``: AWS's field of that name is another."""


def with_subclasses(block: type[Block]) -> Iterator[type[Block]]:
    """A class of blocks and all its subclasses, as far as their modules are imported."""
    yield block
    for child in block.__subclasses__():
        yield from with_subclasses(child)

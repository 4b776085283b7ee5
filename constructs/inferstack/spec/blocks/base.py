"""What every block of a spec has in common.

A block is a frozen struct whose fields are CloudFormation properties in snake_case. Its class names
the CloudFormation shapes it describes; enums, patterns and bounds of each field come from there
(see :mod:`inferstack.catalog.cloudformation`) and are not repeated here. The text under a field is
its documentation: it ends up in the JSON Schema and in the reference.
"""

from typing import ClassVar

import msgspec

Number = int | float


class Block(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping of the spec. A field that is ``None`` is absent; zero, false and empty are values."""

    shapes: ClassVar[tuple[str, ...]] = ()
    """CloudFormation shapes as ``Type`` or ``Type.Definition``; the first that has the property wins."""

"""A place in a file: of a spec, or of the template that is compared with."""

import msgspec


class Place(msgspec.Struct, frozen=True):
    """A place in a file: of a spec, or of the template that is compared with."""

    file: str
    """Name of the file, as it was given."""
    line: int = 0
    """Line, from 1; 0 where it is not known."""
    column: int = 0
    """Column, from 1; 0 where it is not known."""
    path: str = ""
    """Keys from the top of the spec, as in `variant.instance_type`."""


NOWHERE = Place("")
"""The place of what was read from a typed spec, which knows no lines."""

"""Pointers that Git LFS leaves in the place of large files until they are fetched.

https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

import re
from pathlib import Path

import msgspec

_LONGEST = 1024
_POINTER = rb"version https://git-lfs\.github\.com/spec/v1\n(?:.+\n)*?oid sha256:([0-9a-f]{64})\nsize (\d+)\n"


class Pointer(msgspec.Struct, frozen=True):
    """The file that a pointer stands for. ``size`` in bytes."""

    sha256: str
    size: int


def pointer_in(file: Path) -> Pointer | None:
    """What a file stands for; None for a file that stands for itself, or that cannot be read."""
    try:
        if file.stat().st_size >= _LONGEST:
            return None
        found = re.fullmatch(_POINTER, file.read_bytes())
    except OSError:
        return None
    return None if found is None else Pointer(found[1].decode(), int(found[2]))

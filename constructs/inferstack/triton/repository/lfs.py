"""Pointers that Git LFS leaves instead of large files until they are fetched.

https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

import re
from pathlib import Path

import msgspec

LONGEST = 1024
"""Bytes. Every pointer is shorter."""
FETCH = "fetch the files: `git lfs pull`"
"""How to get the files themselves."""
_POINTER = rb"version https://git-lfs\.github\.com/spec/v1\n(?:.+\n)*?oid sha256:([0-9a-f]{64})\nsize (\d+)\n"


class Pointer(msgspec.Struct, frozen=True):
    """The file that a pointer stands for. ``size`` in bytes."""

    sha256: str
    size: int


def pointer_of(content: bytes) -> Pointer | None:
    """The file that this content points to; None when it is no pointer."""
    found = re.fullmatch(_POINTER, content) if len(content) < LONGEST else None
    return None if found is None else Pointer(found[1].decode(), int(found[2]))


def pointer_in(file: Path) -> Pointer | None:
    """The file that a file points to; None for a file that is no pointer, or that cannot be read."""
    try:
        return pointer_of(file.read_bytes()) if file.stat().st_size < LONGEST else None
    except OSError:
        return None

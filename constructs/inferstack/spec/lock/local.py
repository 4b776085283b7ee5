"""Files of this machine beside what a lock says of them, without reading large ones.

Weights are often not there where a stack is made: that is no difference. Of a pointer that Git LFS left in
the place of a file it is known what it stands for.
"""

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path

from inferstack.spec.lock.file import LockedFile
from inferstack.triton.repository.junk import why_junk
from inferstack.triton.repository.lfs import Pointer, pointer_in

LARGEST_READ = 1 << 20
"""Bytes. Files up to this size are compared by content, larger ones by size: `package` reads them all."""


def files_at(name: str, local: Path) -> Iterator[tuple[str, Path]]:
    """Files that a path of the spec stands for, by their paths in the archive: none if it is not there."""
    if why_junk(name) is not None or local.is_symlink():
        return
    if not local.is_dir():
        if local.exists():
            yield name, local
        return
    for inner in sorted(local.iterdir()):
        yield from files_at(f"{name}/{inner.name}", inner)


def written_path(local: Path, base: Path) -> str:
    """A file as the spec names it: from the spec's folder on, with forward slashes."""
    return (local.relative_to(base) if local.is_relative_to(base) else local).as_posix()


def how_it_differs(local: Path, locked: LockedFile) -> str | None:
    """What tells a file from the one that was uploaded, in words; None when nothing does."""
    try:
        found = local.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size != locked.size:
            if pointer_in(local) == Pointer(locked.sha256, locked.size):
                return None
            return f"has {found.st_size:,} bytes, but {locked.size:,} were uploaded"
        if found.st_size <= LARGEST_READ and hashlib.sha256(local.read_bytes()).hexdigest() != locked.sha256:
            return "has different content than was uploaded"
    except OSError:
        # Whoever packs it says what is wrong.
        return None
    return None

"""Compares files on this machine with what a lock says about them, without reading large ones.

The machine that makes a stack often does not have the weights; a missing file does not count as a difference.
If Git LFS left a pointer in place of a file, the pointer tells what the file is.
"""

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path

from inferstack.spec.lock.file import LockedFile
from inferstack.triton.repository.junk import why_junk
from inferstack.triton.repository.lfs import Pointer, pointer_in

LARGEST_READ = 1 << 20
"""In bytes. Files up to this size are compared by content, larger ones by size; `package` reads them all."""


def files_at(name: str, local: Path) -> Iterator[tuple[str, Path]]:
    """The files that a path in the spec stands for, by their paths in the archive; none if it is missing."""
    if why_junk(name) is not None or local.is_symlink():
        return
    if not local.is_dir():
        if local.exists():
            yield name, local
        return
    for inner in sorted(local.iterdir()):
        yield from files_at(f"{name}/{inner.name}", inner)


def written_path(local: Path, base: Path) -> str:
    """A file's name as in the spec: relative to the spec's folder, with forward slashes."""
    return (local.relative_to(base) if local.is_relative_to(base) else local).as_posix()


def how_it_differs(local: Path, locked: LockedFile) -> str | None:
    """In words, how a file differs from the one that was uploaded; None if no difference is found."""
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
        # Packing the file will report what is wrong.
        return None
    return None

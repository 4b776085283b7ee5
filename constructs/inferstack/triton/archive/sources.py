"""Files and folders of this machine, looked at before they go into an archive.

Links are not followed. SageMaker does not unpack an archive that has links, and a link that is followed
brings in what the spec does not name.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inferstack.spec.words import nearest
from inferstack.triton.archive.codes import MISSING, NOT_A_FILE, OUTSIDE, POINTER, UNREADABLE
from inferstack.triton.archive.junk import why_junk
from inferstack.triton.archive.local_file import LocalFile
from inferstack.triton.lfs import pointer_in


@dataclass(frozen=True, slots=True)
class FoundFile:
    """What is there: a file, or without content a folder. ``name`` is its path in the archive."""

    name: str
    content: LocalFile | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is there and stays out of the archive, by its path there."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why something cannot go into an archive."""

    code: str
    message: str
    fix: str


Found = FoundFile | LeftOut | Unusable


def found_under(name: str, local: Path, allowed: Sequence[Path]) -> Iterator[Found]:
    """A local file, or a folder with all that is in it, to stand under ``name`` in the archive.

    ``allowed`` are resolved folders; everything has to lie in one of them.
    """
    junk = next(filter(None, map(why_junk, name.split("/"))), None)
    if junk is not None:
        yield LeftOut(name, junk)
        return
    try:
        found = local.lstat()
    except OSError as error:
        yield _missing(local, error)
        return
    wrong = _unusable(local, found, allowed)
    if wrong is not None:
        yield wrong
    elif stat.S_ISDIR(found.st_mode):
        yield from _folder(name, local, allowed)
    else:
        yield FoundFile(name, LocalFile.of(local, found))


def _folder(name: str, local: Path, allowed: Sequence[Path]) -> Iterator[Found]:
    try:
        inside = sorted(local.iterdir())
    except OSError as error:
        yield Unusable(UNREADABLE, f"{local} cannot be read: {error.strerror}", "see who may read it")
        return
    yield FoundFile(name, None)
    for inner in inside:
        yield from found_under(f"{name}/{inner.name}", inner, allowed)


def _unusable(local: Path, found: os.stat_result, allowed: Sequence[Path]) -> Unusable | None:
    if stat.S_ISLNK(found.st_mode):
        fix = "put the file itself in its place (cp -L follows links)"
        return Unusable(NOT_A_FILE, f"{local} is a symbolic link", fix)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return Unusable(NOT_A_FILE, f"{local} is neither a file nor a folder", "name a file")
    if not any(local.resolve().is_relative_to(folder) for folder in allowed):
        inside = ", ".join(map(str, allowed))
        fix = "move it there, or allow its folder with --allow DIR"
        return Unusable(OUTSIDE, f"{local} lies outside of {inside}", fix)
    if not os.access(local, os.R_OK):
        return Unusable(UNREADABLE, f"{local} may not be read", "give yourself the permission")
    return _pointer(local) if stat.S_ISREG(found.st_mode) else None


def _pointer(local: Path) -> Unusable | None:
    """Git has the name of a file, and the file itself was not fetched."""
    pointer = pointer_in(local)
    if pointer is None:
        return None
    message = f"{local} is a pointer of Git LFS to a file of {pointer.size:,} bytes"
    return Unusable(POINTER, message, "fetch the files: `git lfs pull`")


def _missing(local: Path, error: OSError) -> Unusable:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        return Unusable(UNREADABLE, f"{local} cannot be read: {error.strerror}", "name another file")
    close = nearest(local.name, _names_beside(local))
    fix = "" if close is None else f"did you mean `{close}`? "
    return Unusable(MISSING, f"{local} is not there", f"{fix}paths are relative to the spec's folder")


def _names_beside(local: Path) -> list[str]:
    try:
        return sorted(path.name for path in local.parent.iterdir())
    except OSError:
        return []

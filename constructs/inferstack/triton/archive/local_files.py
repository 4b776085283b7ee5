"""Files and folders of this machine, looked at before they go into an archive."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inferstack.problems import FilePlace, Problem, file_codes
from inferstack.problems.words import did_you_mean, did_you_mean_then
from inferstack.triton.archive.entries import MISSING, OUTSIDE, POINTER, UNREADABLE, LocalFile
from inferstack.triton.repository.files import FETCH, Unusable, lies_in, pointer_in, unfit_kind, why_junk

# ----------------------------------------------------------------
# Whether a path names a file that can be read, found out before it is opened.


def not_a_file(archive: Path) -> Problem | None:
    """Why a path names no regular file; None when it does, maybe by a link.

    Opening a pipe would wait for its other end, and a device need not have an end.
    """
    try:
        mode = archive.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _problem(archive, file_codes.NO_FILE, "there is no such file", _similar(archive))
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        return _problem(archive, file_codes.UNREADABLE, message, "check path and permissions")
    if stat.S_ISDIR(mode):
        return _problem(
            archive, file_codes.DIRECTORY, "this is a directory", "name an archive in it, or pack it first"
        )
    if not stat.S_ISREG(mode):
        return _problem(
            archive, file_codes.NOT_REGULAR, "this is not a regular file", "write the archive into a file"
        )
    return None


def _similar(archive: Path) -> str:
    try:
        names = sorted(path.name for path in archive.parent.iterdir())
    except OSError:
        return f"there is no directory {archive.parent.as_posix()} either"
    return did_you_mean(archive.name, names, "check the path")


def _problem(archive: Path, code: str, message: str, fix: str) -> Problem:
    return Problem(FilePlace(archive.as_posix()), message, fix, code)


# ----------------------------------------------------------------
# Files and folders of this machine, looked at before they go into an archive.


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


Found = FoundFile | LeftOut | Unusable


def found_under(name: str, local: Path, allowed: Sequence[Path]) -> Iterator[Found]:
    """A local file, or a folder with all that is in it, which is to be ``name`` in the archive.

    ``allowed`` are resolved folders; everything has to be in one of them.
    """
    junk = why_junk(name)
    if junk is not None:
        yield LeftOut(name, junk)
        return
    try:
        found = local.lstat()
    except OSError as error:
        yield _missing(local, error)
        return
    except ValueError:
        message = f"{local} cannot exist: a path has no null character"
        yield Unusable(MISSING, message, "name a file or a folder")
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
    unfit = unfit_kind(local, found.st_mode)
    if unfit is not None:
        return unfit
    if not lies_in(local, allowed):
        inside = ", ".join(map(str, allowed))
        fix = "move it there, or allow its folder with --allow DIR"
        return Unusable(OUTSIDE, f"{local} is outside {inside}", fix)
    if not os.access(local, os.R_OK):
        return Unusable(UNREADABLE, f"{local} cannot be read", "give yourself permission to read it")
    return _pointer(local) if stat.S_ISREG(found.st_mode) else None


def _pointer(local: Path) -> Unusable | None:
    """Refuses a pointer of Git LFS: the file itself was not fetched."""
    pointer = pointer_in(local)
    if pointer is None:
        return None
    message = f"{local} is a Git LFS pointer to a file of {pointer.size:,} bytes"
    return Unusable(POINTER, message, FETCH)


def _missing(local: Path, error: OSError) -> Unusable:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        return Unusable(UNREADABLE, f"{local} cannot be read: {error.strerror}", "name another file")
    fix = did_you_mean_then(local.name, _names_beside(local), "paths are relative to the spec's folder")
    return Unusable(MISSING, f"{local} does not exist", fix)


def _names_beside(local: Path) -> list[str]:
    try:
        return sorted(path.name for path in local.parent.iterdir())
    except OSError:
        return []

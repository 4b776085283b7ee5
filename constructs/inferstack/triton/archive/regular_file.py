"""Whether a path names a file that can be read, found out before it is opened."""

import stat
from pathlib import Path

from inferstack.spec.problem import Problem
from inferstack.spec.problem.file_codes import DIRECTORY, NO_FILE, NOT_REGULAR, UNREADABLE
from inferstack.spec.problem.words import did_you_mean


def not_a_file(archive: Path) -> Problem | None:
    """Why a path names no regular file; None when it does, maybe by a link.

    Opening a pipe would wait for its other end, and a device need not have an end.
    """
    try:
        mode = archive.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _problem(archive, NO_FILE, "there is no such file", _similar(archive))
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        return _problem(archive, UNREADABLE, message, "check path and permissions")
    if stat.S_ISDIR(mode):
        return _problem(archive, DIRECTORY, "this is a directory", "name an archive in it, or pack it first")
    if not stat.S_ISREG(mode):
        return _problem(archive, NOT_REGULAR, "this is not a regular file", "write the archive into a file")
    return None


def _similar(archive: Path) -> str:
    try:
        names = sorted(path.name for path in archive.parent.iterdir())
    except OSError:
        return f"there is no directory {archive.parent.as_posix()} either"
    return did_you_mean(archive.name, names, "check the path")


def _problem(archive: Path, code: str, message: str, fix: str) -> Problem:
    return Problem(archive.as_posix(), 1, 1, code, message, fix)

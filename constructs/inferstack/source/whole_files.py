"""Files that are written whole or not at all.

What is not whole yet is a hidden file beside the one that it will be. A process that is killed leaves it
behind, and the next that writes into the folder removes it.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:
    # Windows, where a file that somebody has open cannot be removed.
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".inferstack-*.part"
"""Names of files that inferstack is still writing, or that it was killed over."""


@contextmanager
def complete_or_absent(target: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing that takes the name ``target`` when the block ends without an exception.

    Until then it is a hidden file beside ``target``, which any exception removes, also an interruption; an
    older file of that name then stays as it was. At the end, content and name have reached the disk.

    Raises:
        OSError: when the file cannot be written, with the name of ``target``.
    """
    if not target.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(target))
    try:
        with _unfinished(target.parent) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()
            Path(file.name).replace(target)
    except OSError as error:
        # The name that the user knows, for the message.
        error.filename, error.filename2 = os.fspath(target), None
        raise
    _keep_name(target.parent)


def _keep_name(folder: Path) -> None:
    """Flushes the folder itself to disk, with the new name in it, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---------------------------------------------------------------- What killed processes leave
#
# While a file is written, its process has a lock on it. The system ends that with the process, however that
# ends; a process's number, by contrast, may be another's by then, or that of another machine.


@contextmanager
def _unfinished(folder: Path) -> Iterator[BinaryIO]:
    """A new hidden file, which is gone at the end unless it has another name by then."""
    _remove_abandoned(folder)
    path, file = _new(folder)
    try:
        with file:
            yield file
    finally:
        path.unlink(missing_ok=True)


def _new(folder: Path) -> tuple[Path, BinaryIO]:
    while True:
        path = folder / UNFINISHED.replace("*", os.urandom(6).hex())
        file = path.open("xb")
        # Before it was locked, another process may have taken it for abandoned.
        if _locked(file) is not False and path.exists():
            return path, file
        file.close()


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(UNFINISHED):
        with suppress(OSError):
            if fcntl is None:
                path.unlink()
            else:
                _remove_unless_in_use(path)


def _remove_unless_in_use(path: Path) -> None:
    with path.open("rb") as file:
        if _locked(file):
            path.unlink()


def _locked(file: BinaryIO) -> bool | None:
    """Locks a file for as long as it is open; False if somebody else has, None if that cannot be known."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network drives have no locks.
        return None
    return True

"""A file that has its name only once it is complete."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def complete_or_absent(target: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing that takes the name ``target`` when the block ends without an exception.

    Until then it is a hidden file beside ``target``, which any exception removes, also an interruption; an
    older file of that name then stays as it was. In the end content and name have reached the disk.

    Raises:
        OSError: when the file cannot be written, with the name of ``target``.
    """
    if not target.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(target))
    unfinished = target.with_name(f".inferstack-{secrets.token_hex(6)}.part")
    try:
        with unfinished.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
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

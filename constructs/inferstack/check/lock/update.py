"""Changing a lock, such that of several processes that do so at once none undoes what another did."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from inferstack.check.lock.file import Lock, lock_of, lock_path, written
from inferstack.source.whole_files import UNFINISHED, complete_or_absent

_LONGEST = 60
"""Seconds. Reading and writing a lock takes milliseconds."""


def update_lock(spec: Path, change: Callable[[Lock], Lock]) -> bool:
    """Changes the lock beside a spec; False if that leaves it as it is, and so unwritten.

    Raises:
        SpecError: when there is a lock that cannot be read. OSError: when it cannot be written.
    """
    path = lock_path(spec)
    with _alone(path):
        before = lock_of(spec)
        now = change(before)
        if now == before:
            return False
        with complete_or_absent(path) as file:
            file.write(written(now).encode())
    return True


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits until no other process changes the file; a process that is killed keeps nobody waiting."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - checking a spec changes no lock

    # One of the names that are removed when they are found abandoned, and never packed.
    beside = path.with_name(UNFINISHED.replace("*", path.name))
    waiting = FileLock(beside, timeout=_LONGEST)
    try:
        with waiting:
            yield
            # While it is held: a process that waits for it sees that it is gone, and makes a new one.
            with suppress(OSError):
                beside.unlink()
    except Timeout:
        message = f"another process has been changing it for {_LONGEST} seconds"
        raise OSError(errno.EBUSY, f"{message}; if there is none, remove {beside.name}", str(path)) from None

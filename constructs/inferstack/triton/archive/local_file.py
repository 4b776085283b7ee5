"""Files of this machine that go into an archive: looked at once, read later, the same both times."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# For larger pieces, the system would have to find new memory each time.
_CHUNK = 1 << 16
# A link or a pipe that takes the file's place after it was looked at is neither followed nor waited for.
# Flags that a system does not have are left out.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
_CHANGED = "it changed while it was packed"


class LocalFileError(Exception):
    """A file cannot be read, or is not what it was when it was looked at; says which."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A regular file and the state that it was found in. ``size`` in bytes."""

    path: Path
    size: int
    executable: bool
    identity: tuple[int, int, int]

    @classmethod
    def of(cls, path: Path, found: os.stat_result) -> "LocalFile":
        """The file as ``lstat`` found it."""
        return cls(path, found.st_size, bool(found.st_mode & stat.S_IXUSR), _identity(found))

    def chunks(self) -> Iterator[bytes]:
        """The content, at most 64 KiB at a time; exactly ``size`` bytes together.

        Raises:
            LocalFileError: when it cannot be read, is another file, or was written to since.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | _FLAGS)
        except OSError as error:
            raise LocalFileError(f"it cannot be read: {error.strerror}") from None
        try:
            yield from self._chunks(descriptor)
        finally:
            os.close(descriptor)

    def _chunks(self, descriptor: int) -> Iterator[bytes]:
        self._expect_same(descriptor)
        left = self.size
        while left:
            chunk = _read(descriptor, min(_CHUNK, left))
            left -= len(chunk)
            yield chunk
        self._expect_same(descriptor)

    def _expect_same(self, descriptor: int) -> None:
        now = os.fstat(descriptor)
        if not stat.S_ISREG(now.st_mode) or (now.st_size, _identity(now)) != (self.size, self.identity):
            raise LocalFileError(_CHANGED)


def _read(descriptor: int, size: int) -> bytes:
    try:
        chunk = os.read(descriptor, size)
    except OSError as error:
        raise LocalFileError(f"it cannot be read: {error.strerror}") from None
    if not chunk:
        raise LocalFileError(_CHANGED)
    return chunk


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return (found.st_dev, found.st_ino, found.st_mtime_ns)

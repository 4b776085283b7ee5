"""The content of a gzip file as a stream, with digests of both, and a limit for what swells without end."""

import gzip
import hashlib
import zlib
from collections.abc import Callable
from typing import BinaryIO

from inferstack.triton.archive.tar_reading import UnreadableError

_CHUNK = 1 << 20
# Deflate packs zeros 1032:1. Models come nowhere near that, and a small archive of zeros does no harm.
_HARMLESS = 1 << 30
_MOST_SWELLING = 100
_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip file, not a tar",
    b"PK\x05\x06": "a zip file, not a tar",
    b"BZh": "compressed with bzip2, not with gzip",
    b"\xfd7zXZ\x00": "compressed with xz, not with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard, not with gzip",
}


def not_gzip(start: bytes) -> str | None:
    """What a file with this first block is instead of a gzip file, in words; None when it is one."""
    if start.startswith(b"\x1f\x8b"):
        return None
    if not start:
        return "it is empty"
    if start[257:].startswith(b"ustar"):
        return "it is a tar that is not compressed"
    found = next((what for magic, what in _OTHER_FORMATS.items() if start.startswith(magic)), None)
    return "it is not a gzip file" if found is None else f"it is {found}"


class GzipContent:
    """Reads the content of a gzip file once, from start to end."""

    def __init__(self, file: BinaryIO, progress: Callable[[int], None]) -> None:
        self._file = _Hashed(file, progress)
        self._content = gzip.GzipFile(fileobj=self._file)  # type: ignore[call-overload]
        self._digest = hashlib.sha256()
        self._length = 0

    @property
    def digests(self) -> tuple[str, str]:
        """SHA-256 in hex of the content and of the file, as far as they were read."""
        return self._digest.hexdigest(), self._file.digest.hexdigest()

    def read(self, size: int, /) -> bytes:
        """The next bytes of the content; fewer than ``size`` only at its end.

        Raises:
            UnreadableError: when the file is damaged, or its content is out of all proportion.
        """
        try:
            data: bytes = self._content.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = "it ends too early" if isinstance(error, EOFError) else "it is damaged"
            raise UnreadableError(f"{what}: {error}") from None
        self._digest.update(data)
        self._length += len(data)
        if self._length > max(_HARMLESS, _MOST_SWELLING * self._file.length):
            fix = "leave out files that hold one thing over and over, such as zeros"
            raise UnreadableError(f"it unpacks to more than {_MOST_SWELLING} times its size", fix)
        return data

    def drain(self) -> None:
        """Reads on to the end, where the checksum stands."""
        while self.read(_CHUNK):
            pass


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO, progress: Callable[[int], None]) -> None:
        self._file = file
        self._progress = progress
        self.digest = hashlib.sha256()
        self.length = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        self.length += len(data)
        self._progress(len(data))
        return data

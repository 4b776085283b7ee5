"""A tar stream whose bytes depend on names, content and the executable bit, and on nothing else.

Owner, group, times and the rest of the mode only tell about the machine that packs, so they are constant.
Format: POSIX.1-2001 (``pax``), which any tar program reads and which has no limit of size.
https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html
"""

import hashlib
import tarfile
from collections.abc import Iterable

from inferstack.triton.archive.entry import ArchiveEntry
from inferstack.triton.archive.stored import Write

OPEN_MODE = 0o755
FILE_MODE = 0o644


class TarStream:
    """Writes entries one after the other; nothing is held."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._length = 0

    def add(self, entry: ArchiveEntry) -> str:
        """Writes an entry with its content, which is read meanwhile; returns the content's SHA-256 in hex."""
        digest = hashlib.sha256()
        self._put(_header(entry))
        for chunk in entry.chunks():
            digest.update(chunk)
            self._put(chunk)
        self._put(bytes(-entry.size % tarfile.BLOCKSIZE))
        return digest.hexdigest()

    def end(self) -> None:
        """Writes the two empty blocks that end a tar, and fills the last record."""
        self._put(bytes(2 * tarfile.BLOCKSIZE))
        self._put(bytes(-self._length % tarfile.RECORDSIZE))

    def _put(self, data: bytes) -> None:
        self._length += len(data)
        self._write(data)


def tar_size(entries: Iterable[ArchiveEntry]) -> int:
    """Bytes of the tar that holds these entries."""
    length = 2 * tarfile.BLOCKSIZE
    for entry in entries:
        length += len(_header(entry)) + entry.size + -entry.size % tarfile.BLOCKSIZE
    return length + -length % tarfile.RECORDSIZE


def _header(entry: ArchiveEntry) -> bytes:
    """A header block, after others for a name or size that does not fit. Fields that are not set are zero."""
    info = tarfile.TarInfo(entry.name)
    info.type = tarfile.DIRTYPE if entry.is_folder else tarfile.REGTYPE
    info.size = entry.size
    info.mode = OPEN_MODE if entry.is_folder or entry.executable else FILE_MODE
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")

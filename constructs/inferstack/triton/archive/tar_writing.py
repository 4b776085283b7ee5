"""A tar stream, stored in gzip, whose bytes depend on names, content and the executable bit, and on nothing
else.
"""

import hashlib
import struct
import tarfile
import zlib
from collections.abc import Callable, Iterable

from inferstack.triton.archive.entries import ArchiveEntry

# ----------------------------------------------------------------
# A gzip file whose content is stored, not compressed.
#
# Weights hardly compress, and a compressor's output differs between versions of zlib. Stored blocks are the
# same bytes on every machine, unpack at the speed of the disk, and make the size known beforehand. The
# format: https://www.rfc-editor.org/rfc/rfc1952 around https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4


Write = Callable[[bytes], object]
"""Takes bytes and passes them on."""

# Magic number, deflate; no name, no time, and no operating system that could differ.
_HEADER = b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff"
_BLOCK = 0xFFFF
_BLOCK_HEADER = struct.Struct("<BHH")
_TRAILER = struct.Struct("<II")


def _block_header(size: int, *, last: bool) -> bytes:
    return _BLOCK_HEADER.pack(int(last), size, size ^ _BLOCK)


_FULL_BLOCK = _block_header(_BLOCK, last=False)


def stored_size(content: int) -> int:
    """Bytes of the gzip file around this many bytes of content."""
    blocks = max(1, -(-content // _BLOCK))
    return len(_HEADER) + blocks * _BLOCK_HEADER.size + content + _TRAILER.size


class StoredGzip:
    """Wraps what is written. Where blocks end depends on the content alone, not on how it is written."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._held = bytearray()
        self._length = 0
        self._checksum = 0
        write(_HEADER)

    def write(self, data: bytes) -> None:
        """Adds to the content."""
        self._checksum = zlib.crc32(data, self._checksum)
        self._length += len(data)
        self._held += data
        # The last block is marked as the last, so one block is always held back.
        full = max(0, (len(self._held) - 1) // _BLOCK) * _BLOCK
        with memoryview(self._held) as held:
            for start in range(0, full, _BLOCK):
                # One by one: for many at once, the system would be asked for memory each time.
                self._write(b"".join((_FULL_BLOCK, held[start : start + _BLOCK])))
        del self._held[:full]

    def close(self) -> None:
        """Writes what is held, and the checksum."""
        self._write(_block_header(len(self._held), last=True) + self._held)
        self._write(_TRAILER.pack(self._checksum, self._length & 0xFFFFFFFF))


# ----------------------------------------------------------------
# A tar stream whose bytes depend on names, content and the executable bit, and on nothing else.
#
# Owner, group, times and the rest of the mode only tell about the machine that packs, so they are constant.
# Format: POSIX.1-2001 (``pax``), which any tar program reads and which has no limit of size.
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html


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

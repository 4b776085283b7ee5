"""Writing archives: streamed, in memory that does not grow with the files, complete or not at all.

The bytes depend on names, content and the executable bit, and on nothing else. Owner, group, times and the
rest of the mode only reflect the machine that packs, so they are constant.
"""

import hashlib
import struct
import tarfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from inferstack.problems import Problem, SpecError
from inferstack.source.whole_files import complete_or_absent
from inferstack.triton.archive.entries import UNREADABLE, ArchiveEntry, LocalFile, LocalFileError
from inferstack.triton.archive.plan import Plan

OPEN_MODE = 0o755
FILE_MODE = 0o644
_Write = Callable[[bytes], object]
Progress = Callable[[int], None]
"""Called with the number of bytes done since the last call."""
Watch = Callable[[str, int], AbstractContextManager[Progress]]
"""Makes a :data:`Progress` for work with a label and a total number of bytes."""


def silent(_: int) -> None:
    """Progress that is not shown."""


def unwatched(_: str, __: int) -> AbstractContextManager[Progress]:
    """A :data:`Watch` that shows nothing."""
    return nullcontext(silent)


class Packed(msgspec.Struct, frozen=True):
    """An archive on disk: its size in bytes, SHA-256 of the tar inside and of the file itself, in hex.

    The tar's digest identifies the content: it stays the same if the archive is compressed again.
    ``contents`` are the SHA-256 of the files in it, by their paths there; empty where they were not taken.
    """

    path: Path
    size: int
    tar_sha256: str
    file_sha256: str
    contents: Mapping[str, str] = msgspec.field(default_factory=dict)


# ---------------------------------------------------------------- gzip that stores and does not compress
#
# Weights hardly compress, and stored blocks unpack at the speed of the disk. ``zlib`` and ``gzip`` also
# store, at level 0, but where their blocks end differs between versions, and with the size of what they get.
# The format: https://www.rfc-editor.org/rfc/rfc1952 around https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4


# Magic number, deflate; no name, no time, and no operating system that could differ.
_HEADER = b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff"
_BLOCK = 0xFFFF
_BLOCK_HEADER = struct.Struct("<BHH")
_TRAILER = struct.Struct("<II")


def _block_header(size: int, *, last: bool) -> bytes:
    return _BLOCK_HEADER.pack(int(last), size, size ^ _BLOCK)


_FULL_BLOCK = _block_header(_BLOCK, last=False)


class StoredGzip:
    """Wraps what is written. Where blocks end depends on the content alone, not on how it is written."""

    def __init__(self, write: _Write) -> None:
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


# ---------------------------------------------------------------- tar
#
# POSIX.1-2001 (``pax``), which any tar program reads and which has no limit of size. The headers are those of
# ``tarfile``. Its ``addfile`` wants content as an open file; here it comes in pieces, checked for changes and
# hashed on the way, and an adapter is longer than the padding that it would save.
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html


class _TarStream:
    """Writes entries one after the other; nothing is held."""

    def __init__(self, write: _Write) -> None:
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


def _header(entry: ArchiveEntry) -> bytes:
    """A header block, after others for a name or size that does not fit. Fields that are not set are zero."""
    info = tarfile.TarInfo(entry.name)
    info.type = tarfile.DIRTYPE if entry.is_folder else tarfile.REGTYPE
    info.size = entry.size
    info.mode = OPEN_MODE if entry.is_folder or entry.executable else FILE_MODE
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


# ---------------------------------------------------------------- The archive


class _Meter:
    """Counts and hashes what passes."""

    def __init__(self, *targets: _Write) -> None:
        self._digest = hashlib.sha256()
        self._targets = targets
        self.size = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        self._digest.update(data)
        for target in self._targets:
            target(data)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def pack(plan: Plan, target: Path, progress: Progress = silent) -> Packed:
    """Writes the archive to ``target``, replacing a file that is there; its folder is made.

    Raises:
        SpecError: when a file cannot be read as the plan found it.
        OSError: when the archive cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with complete_or_absent(target) as out:
        file = _Meter(out.write)
        gzip = StoredGzip(file.write)
        content = _Meter(gzip.write, lambda data: progress(len(data)))
        tar = _TarStream(content.write)
        digests = {entry.name: _add(tar, entry) for entry in plan.entries}
        tar.end()
        gzip.close()
    contents = {entry.name: digests[entry.name] for entry in plan.entries if not entry.is_folder}
    return Packed(target, file.size, content.hexdigest(), file.hexdigest(), contents)


def _add(tar: _TarStream, entry: ArchiveEntry) -> str:
    try:
        return tar.add(entry)
    except LocalFileError as error:
        local = entry.content.path if isinstance(entry.content, LocalFile) else entry.name
        fix = "make sure that nothing writes to it, and run the command again"
        at = entry.at
        problem = Problem(at, f"{local}: {error}", fix, UNREADABLE)
        raise SpecError([problem]) from None


def unpacked_size(plan: Plan) -> int:
    """Bytes of the tar in an archive."""
    length = 2 * tarfile.BLOCKSIZE
    for entry in plan.entries:
        length += len(_header(entry)) + entry.size + -entry.size % tarfile.BLOCKSIZE
    return length + -length % tarfile.RECORDSIZE

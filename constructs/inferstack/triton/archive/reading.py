"""Reads tar archives from streams that are not trusted, and unpacks them as the hosting container does.

Nothing is kept, whatever takes memory has a limit, and links and devices are reported as what they are, never
followed. ``tarfile`` in its mode ``r|`` was tried: that of Python 3.11 accepts damaged extended headers and a
size of -5, and reads the map of a sparse file into memory whatever its length. So it only decodes single
header blocks here.
"""

import gzip
import hashlib
import stat
import tarfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from inferstack.triton.archive.entries import plain, unfit
from inferstack.triton.archive.packing import FILE_MODE, OPEN_MODE, Progress, silent

FILE = "file"
FOLDER = "folder"

_LONGEST_NAME = 1024
_LONGEST_NUMBER = 20
_MOST_EXTRA = 1 << 20
_CHUNK = 1 << 20

_KINDS = {
    tarfile.REGTYPE: FILE,
    tarfile.AREGTYPE: FILE,
    tarfile.CONTTYPE: FILE,
    tarfile.DIRTYPE: FOLDER,
    tarfile.LNKTYPE: "hard link",
    tarfile.SYMTYPE: "symbolic link",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
    tarfile.FIFOTYPE: "pipe",
}
_DAMAGED = "an extended header in it is damaged"
_SPARSE_KEYS = "GNU.sparse."
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
_ANEW = "pack it again, or copy it once more if it came from elsewhere"


class UnreadableError(Exception):
    """The archive cannot be read any further; says why, and what to do about it."""

    def __init__(self, why: str, fix: str = _ANEW) -> None:
        super().__init__(why)
        self.fix = fix


# ---------------------------------------------------------------- gzip, with digests and a limit


def not_gzip(start: bytes) -> str | None:
    """What a file with this first block is instead of a gzip file, as text; None if it is gzip."""
    if start.startswith(b"\x1f\x8b"):
        return None
    if not start:
        return "it is empty"
    if start[257:].startswith(b"ustar"):
        return "it is an uncompressed tar"
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
            UnreadableError: when the file is damaged, or unpacks to far more than its size.
        """
        try:
            data: bytes = self._content.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = "it ends too early" if isinstance(error, EOFError) else "it is damaged"
            raise UnreadableError(f"{what}: {error}") from None
        self._digest.update(data)
        self._length += len(data)
        if self._length > max(_HARMLESS, _MOST_SWELLING * self._file.length):
            fix = "leave out files that repeat the same content over and over, such as zeros"
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


# ---------------------------------------------------------------- The members of a tar


class Member(msgspec.Struct, frozen=True):
    """A member of a tar. ``name`` is as written; ``content`` is there if asked for; ``size`` is in bytes."""

    name: str
    kind: str
    size: int
    content: bytes | None = None
    executable: bool = False


def members(stream: GzipContent, wanted: Callable[[str, int], bool]) -> Iterator[Member]:
    """The members in the order of the archive. ``wanted(name, size)`` says whose content to keep.

    Raises:
        UnreadableError: when the stream is not a tar, ends early, or needs too much memory.
    """
    for found, chunks in entries(stream):
        if found.kind == FILE and wanted(found.name, found.size):
            yield replace(found, content=b"".join(chunks))
        else:
            yield found


def entries(stream: GzipContent) -> Iterator[tuple[Member, Iterator[bytes]]]:
    """The members in the order of the archive, each with its content in pieces of at most 1 MiB.

    Content that is not consumed before the next member is skipped.

    Raises:
        UnreadableError: when the stream is not a tar, or ends early.
    """
    while (found := _next_header(stream)) is not None:
        chunks = _chunks(stream, found.size)
        yield found, chunks
        deque(chunks, maxlen=0)
        _skip(stream, -found.size % tarfile.BLOCKSIZE)


def _next_header(stream: GzipContent) -> Member | None:
    """The next member without its content, or None at the end of the archive."""
    extra: dict[str, str] = {}
    while (info := _block(stream)) is not None:
        match info.type:
            case tarfile.XHDTYPE | tarfile.SOLARIS_XHDTYPE:
                extra |= _records(_extra(stream, info))
            case tarfile.GNUTYPE_LONGNAME:
                extra["path"] = _text(_extra(stream, info).rstrip(b"\0"))
            case tarfile.GNUTYPE_LONGLINK | tarfile.XGLTYPE:
                _extra(stream, info)
            case _:
                return _member(info, extra)
    if extra:
        raise UnreadableError("it ends between a member's headers")
    return None


def _member(info: tarfile.TarInfo, extra: Mapping[str, str]) -> Member:
    """A member from its header, and from extra headers, which override it."""
    name = extra.get("path", info.name)
    if len(name) > _LONGEST_NAME:
        raise UnreadableError(f"a name in it is longer than {_LONGEST_NAME} characters", "shorten it")
    if info.type == tarfile.GNUTYPE_SPARSE:
        raise UnreadableError(f'"{name}" is stored as a sparse file', "pack it without tar's --sparse")
    size = extra.get("size", str(info.size))
    if not (size.isascii() and size.isdigit() and len(size) < _LONGEST_NUMBER):
        raise UnreadableError(f'the size of "{name}" is not a number')
    sparse = any(key.startswith(_SPARSE_KEYS) for key in extra)
    kind = "sparse file" if sparse else _KINDS.get(info.type, "unknown kind of entry")
    # Links, folders and devices have no content, whatever their size says; an unknown kind may have some.
    empty = info.type in _KINDS and info.type not in tarfile.REGULAR_TYPES
    return Member(name, kind, 0 if empty else int(size), executable=bool(info.mode & stat.S_IXUSR))


def _block(stream: GzipContent) -> tarfile.TarInfo | None:
    """The next header block; None at the end of the archive, where a block is zero or nothing follows.

    Any tar program unpacks an archive without the zeros, and gzip's checksum shows if something is cut off.
    """
    block = stream.read(tarfile.BLOCKSIZE)
    if not block:
        return None
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        if not block.strip(b"\0"):
            return None
        raise UnreadableError(f"it does not hold a tar, or a damaged one ({error})") from None
    return info


def _extra(stream: GzipContent, info: tarfile.TarInfo) -> bytes:
    if not 0 <= info.size <= _MOST_EXTRA:
        raise UnreadableError(f"a header in it is {info.size} bytes long")
    content = _exactly(stream, info.size)
    _skip(stream, -info.size % tarfile.BLOCKSIZE)
    return content


def _records(content: bytes) -> dict[str, str]:
    """Records of an extended header: ``length key=value newline``, where the length counts all of it."""
    found: dict[str, str] = {}
    while content:
        length, space, _ = content.partition(b" ")
        if not (space and length.isdigit() and len(length) < _LONGEST_NUMBER):
            raise UnreadableError(_DAMAGED)
        if not len(length) + 1 < int(length) <= len(content):
            raise UnreadableError(_DAMAGED)
        key, _, value = content[len(length) + 1 : int(length)].removesuffix(b"\n").partition(b"=")
        found[_text(key)] = _text(value)
        content = content[int(length) :]
    return found


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _exactly(stream: GzipContent, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise UnreadableError("it ends in the middle of a member")
    return content


def _chunks(stream: GzipContent, size: int) -> Iterator[bytes]:
    while size:
        chunk = _exactly(stream, min(size, _CHUNK))
        size -= len(chunk)
        yield chunk


def _skip(stream: GzipContent, size: int) -> None:
    deque(_chunks(stream, size), maxlen=0)


# ---------------------------------------------------------------- Unpacking, streamed


def unpack(archive: Path, folder: Path, wanted: Callable[[str], bool], progress: Progress = silent) -> None:
    """Writes what an archive holds into an empty folder.

    A file that is not ``wanted``, by its path in the archive, gets its length but no content: weights that
    nobody will read take no space. Paths that lead out of the folder, and entries that are neither file nor
    folder, are refused; no link is ever made, so none can be followed. ``progress`` counts bytes of the
    archive.

    Raises:
        UnreadableError: when the archive is damaged, or holds what must not be unpacked.
        OSError: when the folder cannot be written.
    """
    with archive.open("rb") as file:
        content = GzipContent(file, progress)
        for member, chunks in entries(content):
            path = plain(member.name)
            if path:
                _check(member, path)
                _write(member, chunks if wanted(path) else None, folder / path)
        content.drain()


def _check(member: Member, path: str) -> None:
    why = unfit(path)
    if why is not None:
        raise UnreadableError(f"{path!r} cannot be unpacked: {why}")
    if member.kind not in (FILE, FOLDER):
        raise UnreadableError(f"{path!r} is a {member.kind}")


def _write(member: Member, chunks: Iterator[bytes] | None, target: Path) -> None:
    try:
        if member.kind == FOLDER:
            target.mkdir(parents=True, exist_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            if chunks is None:
                file.truncate(member.size)
            else:
                file.writelines(chunks)
    except (FileExistsError, NotADirectoryError):
        raise UnreadableError(f"it has {member.name!r} twice") from None
    target.chmod(OPEN_MODE if member.executable else FILE_MODE)

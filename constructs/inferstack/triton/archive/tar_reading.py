"""The members of a tar, one after the other, from a stream that is not trusted.

``tarfile`` would keep all members and accept names of any length; here nothing is kept, and whatever takes
memory has a limit. Links and devices are reported as what they are, never followed.
"""

import stat
import tarfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

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


_ANEW = "pack it again, or copy it once more if it came from elsewhere"


class UnreadableError(Exception):
    """The archive cannot be read any further; says why, in words for the user, and what to do about it."""

    def __init__(self, why: str, fix: str = _ANEW) -> None:
        super().__init__(why)
        self.fix = fix


class Stream(Protocol):
    """Bytes that come once. ``read`` returns fewer than asked for only at the end."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most ``size``."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a tar. ``name`` is as written; ``content`` is there if asked for; ``size`` is in bytes."""

    name: str
    kind: str
    size: int
    content: bytes | None = None
    executable: bool = False


def members(stream: Stream, wanted: Callable[[str, int], bool]) -> Iterator[Member]:
    """The members in the order of the archive. ``wanted(name, size)`` says whose content to keep.

    Raises:
        UnreadableError: when the stream is no tar, ends early, or asks for too much memory.
    """
    for found, chunks in entries(stream):
        if found.kind == FILE and wanted(found.name, found.size):
            yield replace(found, content=b"".join(chunks))
        else:
            yield found


def entries(stream: Stream) -> Iterator[tuple[Member, Iterator[bytes]]]:
    """The members in the order of the archive, each with its content in pieces of at most 1 MiB.

    Content that is not taken before the next member is asked for is passed over.

    Raises:
        UnreadableError: when the stream is no tar, or ends early.
    """
    while (found := _next_header(stream)) is not None:
        chunks = _chunks(stream, found.size)
        yield found, chunks
        deque(chunks, maxlen=0)
        _skip(stream, -found.size % tarfile.BLOCKSIZE)


def _next_header(stream: Stream) -> Member | None:
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


def _block(stream: Stream) -> tarfile.TarInfo | None:
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
        raise UnreadableError(f"it holds no tar, or a damaged one ({error})") from None
    return info


def _extra(stream: Stream, info: tarfile.TarInfo) -> bytes:
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


def _exactly(stream: Stream, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise UnreadableError("it ends in the middle of a member")
    return content


def _chunks(stream: Stream, size: int) -> Iterator[bytes]:
    while size:
        chunk = _exactly(stream, min(size, _CHUNK))
        size -= len(chunk)
        yield chunk


def _skip(stream: Stream, size: int) -> None:
    deque(_chunks(stream, size), maxlen=0)

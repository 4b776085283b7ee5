"""Writing archives: streamed, in memory that does not grow with the files, complete or not at all."""

import errno
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from inferstack.problems import Problem, SpecError, printable
from inferstack.triton.archive.entries import UNREADABLE, ArchiveEntry, LocalFile, LocalFileError
from inferstack.triton.archive.local_files import LeftOut
from inferstack.triton.archive.plan import Plan
from inferstack.triton.archive.tar_writing import StoredGzip, TarStream, Write

# ----------------------------------------------------------------
# A file that has its name only once it is complete.


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


# ----------------------------------------------------------------
# Writing archives: streamed, in memory that does not grow with the files, complete or not at all.


Progress = Callable[[int], None]
"""Called with the number of bytes done since the last call."""
Watch = Callable[[str, int], AbstractContextManager[Progress]]
"""Makes a :data:`Progress` for work with a label and a total number of bytes."""


def silent(_: int) -> None:
    """Progress that nobody watches."""


def unwatched(_: str, __: int) -> AbstractContextManager[Progress]:
    """A :data:`Watch` for work that nobody watches."""
    return nullcontext(silent)


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive on disk: its size in bytes, SHA-256 of the tar inside and of the file itself, in hex.

    The tar's digest identifies the content: it stays the same if the archive is compressed again.
    ``contents`` are the SHA-256 of the files in it, by their paths there; empty where they were not taken.
    """

    path: Path
    size: int
    tar_sha256: str
    file_sha256: str
    contents: Mapping[str, str] = field(default_factory=dict, compare=False)


class _Meter:
    """Counts and hashes what passes."""

    def __init__(self, *targets: Write) -> None:
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
        tar = TarStream(content.write)
        digests = {entry.name: _add(tar, entry) for entry in plan.entries}
        tar.end()
        gzip.close()
    contents = {entry.name: digests[entry.name] for entry in plan.entries if not entry.is_folder}
    return Packed(target, file.size, content.hexdigest(), file.hexdigest(), contents)


def _add(tar: TarStream, entry: ArchiveEntry) -> str:
    try:
        return tar.add(entry)
    except LocalFileError as error:
        local = entry.content.path if isinstance(entry.content, LocalFile) else entry.name
        fix = "make sure that nothing writes to it, and run the command again"
        at = entry.at
        problem = Problem(at, f"{local}: {error}", fix, UNREADABLE)
        raise SpecError([problem]) from None


# ----------------------------------------------------------------
# An archive in words: name, size, digests, and what is inside.


_MOST_SHOWN = 100
_UNITS = ("bytes", "kB", "MB", "GB", "TB")

Content = tuple[str, int | None]
"""A path and its size in bytes, None for a folder."""


def described(packed: Packed, contents: Sequence[Content], left_out: Iterable[LeftOut] = ()) -> str:
    """Several lines, each ended, about an archive. Folders are only shown when nothing is in them."""
    lines = [
        str(packed.path),
        f"  size     {_whole_size(packed.size)}",
        f"  sha256   {packed.file_sha256}",
        f"  content  {packed.tar_sha256}",
        "           (sha256 of the tar inside, which no compression changes)",
        *_inside(contents),
        *(f"  left out {left.name} ({left.reason})" for left in left_out),
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _inside(contents: Sequence[Content]) -> list[str]:
    full = _full_folders(name for name, _ in contents)
    shown = [(name, size) for name, size in contents if size is not None or name not in full]
    sizes = [_size(size) for _, size in shown[:_MOST_SHOWN]]
    width = max(map(len, sizes), default=0)
    lines = [f"    {size:>{width}}  {name}" for size, (name, _) in zip(sizes, shown, strict=False)]
    more = len(shown) - _MOST_SHOWN
    return ["  holds", *lines, *([f"    and {more} more"] if more > 0 else [])]


def _whole_size(size: int) -> str:
    exact, rounded = f"{size} bytes", _in_units(size)
    return exact if exact == rounded else f"{exact} ({rounded})"


def _size(size: int | None) -> str:
    return "empty folder" if size is None else _in_units(size)


def _full_folders(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _in_units(size: int) -> str:
    """Bytes as a person reads them: ``1.5 GB``, in powers of 1000."""
    value, unit = float(size), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"

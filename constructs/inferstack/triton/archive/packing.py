"""Writing archives: streamed, in memory that does not grow with the files, complete or not at all."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from inferstack.spec.problem import Problem, SpecError
from inferstack.triton.archive.atomic import complete_or_absent
from inferstack.triton.archive.codes import UNREADABLE
from inferstack.triton.archive.entry import ArchiveEntry
from inferstack.triton.archive.local_file import LocalFile, LocalFileError
from inferstack.triton.archive.plan import Plan
from inferstack.triton.archive.stored import StoredGzip, Write
from inferstack.triton.archive.tar_writing import TarStream

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
        problem = Problem(at.file, at.line, at.column, UNREADABLE, f"{local}: {error}", fix)
        raise SpecError([problem]) from None

"""What an archive consists of: entries, the local files behind them, and their paths; and the codes of what
can be wrong with any of it.
"""

import os
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec

from inferstack.problems import FilePlace, Problem, file_codes
from inferstack.problems.codes import CodeTable
from inferstack.problems.words import did_you_mean

# IS991 is a rule, since a check of a spec reports it as well: of an existing repository.


_AWS = "https://docs.aws.amazon.com/sagemaker/latest/dg"
_LAYOUT = f"{_AWS}/deploy-models-frameworks-triton.html"
_SERVE = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
_CONTAINER = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html"
_LFS = "https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"
_OWN = "inferstack's archives"


ARCHIVE_CODES = CodeTable()
"""What packing and looking into archives report, by code."""
_error, _warning = ARCHIVE_CODES.error, ARCHIVE_CODES.warning

POINTER = _error("IS989", "An archive must hold the files themselves, not Git LFS pointers to them.", _LFS)
MISSING = _error(
    "IS990", "Files that go into an archive must exist. `package` needs them, `validate` does not.", _OWN
)
OUTSIDE = _error(
    "IS992",
    "The files of an archive must come from the folder of the spec, or from one that is allowed.",
    _OWN,
)
UNFIT_NAME = _error("IS993", "Paths in an archive must stay inside it, and be valid on any system.", _OWN)
CLASH = _error(
    "IS994", "A path in an archive cannot occur twice, in another case, or as both a file and a folder.", _OWN
)
UNREADABLE = _error("IS995", "Files must be readable, and must not change while they are packed.", _OWN)
NOT_AN_ARCHIVE = _error(
    "IS996", "A model archive must be a tar compressed with gzip, complete and undamaged.", _CONTAINER
)
STRAY_FOLDER = _error(
    "IS997", "An archive cannot have folders that tools left next to those of the models.", _SERVE
)
JUNK_INSIDE = _warning("IS998", "An archive should not have files that tools left behind.", _LAYOUT)


# ---------------------------------------------------------------- Files of this machine


# For larger pieces, the system would have to find new memory each time.
_CHUNK = 1 << 16
# A link or a pipe that takes the file's place after it was looked at is neither followed nor waited for.
# Flags that a system does not have are left out.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
_CHANGED = "it changed while it was packed"


class LocalFileError(Exception):
    """A file cannot be read, or has changed since it was inspected; says which."""


class LocalFile(msgspec.Struct, frozen=True):
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
            LocalFileError: when it cannot be read, has been replaced, or has been written to.
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


def not_a_file(archive: Path) -> Problem | None:
    """Why a path does not name a regular file; None if it does, perhaps through a link.

    Opening a pipe would wait for its other end, and a device may have no end.
    """
    try:
        mode = archive.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _problem(archive, file_codes.NO_FILE, "there is no such file", _similar(archive))
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        return _problem(archive, file_codes.UNREADABLE, message, "check path and permissions")
    if stat.S_ISDIR(mode):
        return _problem(
            archive, file_codes.DIRECTORY, "this is a directory", "name an archive in it, or pack it first"
        )
    if not stat.S_ISREG(mode):
        return _problem(
            archive, file_codes.NOT_REGULAR, "this is not a regular file", "write the archive into a file"
        )
    return None


def _similar(archive: Path) -> str:
    try:
        names = sorted(path.name for path in archive.parent.iterdir())
    except OSError:
        return f"there is no directory {archive.parent.as_posix()} either"
    return did_you_mean(archive.name, names, "check the path")


def _problem(archive: Path, code: str, message: str, fix: str) -> Problem:
    return Problem(FilePlace(archive.as_posix()), message, fix, code)


# ---------------------------------------------------------------- Entries and their paths


class ArchiveEntry(msgspec.Struct, frozen=True):
    """A file or, without content, a folder.

    ``name`` is its path in the archive, without a slash at the end; ``at`` is where it is declared.
    """

    name: str
    content: LocalFile | bytes | None
    at: FilePlace

    @property
    def size(self) -> int:
        """Bytes of content."""
        match self.content:
            case LocalFile() as file:
                return file.size
            case bytes() as text:
                return len(text)
            case None:
                return 0

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder."""
        return self.content is None

    @property
    def executable(self) -> bool:
        """Whether a file may be run."""
        return isinstance(self.content, LocalFile) and self.content.executable

    def chunks(self) -> Iterator[bytes]:
        """The content, in pieces of at most 64 KiB.

        Raises:
            LocalFileError: when a file of this machine cannot be read as it was found.
        """
        match self.content:
            case LocalFile() as file:
                yield from file.chunks()
            case bytes() as text:
                yield text
            case None:
                return


_LONGEST_PART = 255
_DEEPEST = 64
# Spaces of other widths are allowed. Surrogates, for bytes that are not UTF-8, are not printable either.
_SPACE = "Zs"


def unfit(path: str) -> str | None:
    """Why a path cannot be in an archive, as text; None if it can. Forward slashes divide it."""
    if path.startswith("/"):
        return "it is absolute"
    if "\\" in path:
        return "it has a backslash"
    if not all(char.isprintable() or unicodedata.category(char) == _SPACE for char in path):
        return "it has characters that cannot be printed"
    if path.count("/") >= _DEEPEST:
        return f"it has more than {_DEEPEST} parts"
    return next(filter(None, map(_unfit_part, path.split("/"))), None)


def _unfit_part(part: str) -> str | None:
    match part:
        case "":
            return "it has an empty part"
        case "." | "..":
            return f"it has `{part}` in it"
        case _ if len(part.encode()) > _LONGEST_PART:
            return f"a part of it is longer than {_LONGEST_PART} bytes"
        case _:
            return None


def plain(name: str) -> str:
    """A member's path without what tar ignores: `.//net/./1/` is `net/1`. Empty for the top itself."""
    path = "/".join(part for part in name.split("/") if part not in ("", "."))
    return f"/{path}" if path and name.startswith("/") else path


def folded(path: str) -> str:
    """A path in a form that is the same for all paths that collide on some file system."""
    return unicodedata.normalize("NFC", path).casefold()


def parents(path: str) -> list[str]:
    """The folders above a path, from the top."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]

"""The files of a repository, in a folder or an archive, and which of them may go into an archive.

Checking models and packing them both ask here, so that neither accepts what the other refuses.
"""

import re
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from inferstack.problems import FilePlace, Problem
from inferstack.source.whole_files import UNFINISHED
from inferstack.triton.model import CONFIG_FILE, NOT_A_FILE


class Folder(msgspec.Struct, frozen=True):
    """A folder and its contents by name, without leftovers of tools.

    The ``path`` of a folder in an archive begins with the archive's. ``unfit`` is what is neither file nor
    folder; ``loose`` are the names of those that are not packed anyway, if they are beside models. ``fault``
    is why nothing in it was looked at.
    """

    path: Path
    folders: dict[str, "Folder"] = msgspec.field(default_factory=dict)
    files: dict[str, Path] = msgspec.field(default_factory=dict)
    unfit: dict[str, Problem] = msgspec.field(default_factory=dict)
    loose: set[str] = msgspec.field(default_factory=set)
    fault: Problem | None = None

    @property
    def config(self) -> Path:
        """Path of its configuration, if it has one."""
        return self.path / CONFIG_FILE

    @property
    def has_config(self) -> bool:
        """Whether it is, or is meant to be, the folder of a model."""
        return CONFIG_FILE in self.files or CONFIG_FILE in self.unfit

    @property
    def is_layer(self) -> bool:
        """Whether it holds models instead of being one."""
        return not self.has_config and any(inner.has_config for inner in self.folders.values())

    @property
    def in_place_of_models(self) -> dict[str, Problem]:
        """What is unfit where folders of models belong, and may be meant as one."""
        return {name: fault for name, fault in self.unfit.items() if name not in self.loose}

    def subfolders(self) -> Iterator["Folder"]:
        """The folders in it, sorted."""
        return (self.folders[name] for name in sorted(self.folders))

    def all_unfit(self) -> Iterator[Problem]:
        """What is neither file nor folder, also in the folders in it."""
        yield from self.unfit.values()
        for inner in self.subfolders():
            yield from inner.all_unfit()

    def all_files(self, prefix: str = "") -> Iterator[tuple[str, Path]]:
        """The files in it and in the folders in it, by their paths from here, with forward slashes."""
        yield from ((f"{prefix}{name}", file) for name, file in self.files.items())
        for name, inner in self.folders.items():
            yield from inner.all_files(f"{prefix}{name}/")


# ---------------------------------------------------------------- What tools leave behind

# Some only take space; a stray folder beside the model's keeps the container from starting.
JUNK = {
    ".ipynb_checkpoints": "copies that Jupyter keeps",
    "__MACOSX": "left by macOS's archiver",
    ".DS_Store": "a view of macOS's Finder",
    "Thumbs.db": "previews of Windows",
    "desktop.ini": "a view of Windows",
    "__pycache__": "bytecode of another Python",
    ".git": "version control",
    ".gitignore": "version control",
    ".gitattributes": "version control",
    ".gitkeep": "keeps an empty folder in git",
}
"""Names of files and folders, and what they are."""

_APPLE_DOUBLE = "._"


def why_junk(path: str) -> str | None:
    """Why a file or folder of this path does not belong in an archive; None when it may be there."""
    return next(filter(None, map(_why_junk, path.split("/"))), None)


def _why_junk(name: str) -> str | None:
    if name.startswith(_APPLE_DOUBLE):
        return "attributes that macOS keeps next to a file"
    if fnmatchcase(name, UNFINISHED):
        return "left by an inferstack that was killed"
    return JUNK.get(name)


# ---------------------------------------------------------------- What Git LFS leaves until files are fetched
#
# https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md


LONGEST = 1024
"""Bytes. Every pointer is shorter."""
FETCH = "fetch the files: `git lfs pull`"
"""How to get the files themselves."""
_POINTER = rb"version https://git-lfs\.github\.com/spec/v1\n(?:.+\n)*?oid sha256:([0-9a-f]{64})\nsize (\d+)\n"


class Pointer(msgspec.Struct, frozen=True):
    """The file that a pointer stands for. ``size`` in bytes."""

    sha256: str
    size: int


def pointer_of(content: bytes) -> Pointer | None:
    """The file that this content points to; None if it is not a pointer."""
    found = re.fullmatch(_POINTER, content) if len(content) < LONGEST else None
    return None if found is None else Pointer(found[1].decode(), int(found[2]))


def pointer_in(file: Path) -> Pointer | None:
    """The file that a file points to; None for a file that is not a pointer, or cannot be read."""
    try:
        return pointer_of(file.read_bytes()) if file.stat().st_size < LONGEST else None
    except OSError:
        return None


# ---------------------------------------------------------------- Kinds and places of files that are packed
#
# Links are not followed: SageMaker does not unpack an archive that has links, and a link that is followed
# brings in, or shows in a report, what the spec does not name.


def unfit_kind(local: Path, mode: int) -> Problem | None:
    """Why a file with this ``lstat`` result cannot be in an archive; None for a regular file or a folder."""
    at = FilePlace(local.as_posix())
    if stat.S_ISLNK(mode):
        fix = "put the file itself in its place (cp -L follows links)"
        return Problem(at, f"{local} is a symbolic link", fix, NOT_A_FILE)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return Problem(at, f"{local} is neither a file nor a folder", "name a file", NOT_A_FILE)
    return None


def lies_in(local: Path, folders: Iterable[Path]) -> bool:
    """Whether a path really is in one of these resolved folders, wherever links and ``..`` lead."""
    try:
        real = local.resolve()
    except ValueError:
        # No path has a null character in it.
        return False
    return any(real.is_relative_to(folder) for folder in folders)

"""A revision of git, read as git has it: its commit, and the files that checks of its specs read.

Nothing is checked out or packed. So no attribute, filter or hook leaves out or rewrites what is compared
with, and what Git LFS has elsewhere stays a pointer.
"""

import errno
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

import msgspec

from inferstack.check.lock.file import LARGEST
from inferstack.problems.words import did_you_mean

LARGEST_READ = LARGEST
"""In bytes. Of larger files no check reads more than the size; only of ONNX graphs it would say more."""
_MOST_WORDS = 300
_NO_REVISION = "fatal: Needed a single revision"
"""What git says about any name that it does not know."""


class GitError(Exception):
    """Says what git cannot do, in its own words; ``fix`` is what helps, where that is known."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class Commit(msgspec.Struct, frozen=True):
    """A commit by its full hash, and the top folder of the repository that has it."""

    id: str
    top: Path


def commit_of(revision: str) -> Commit:
    """Finds the commit that a revision names, in the repository around the working directory.

    Raises:
        GitError: when there is none.
    """
    try:
        top = Path(os.fsdecode(_git(Path.cwd(), "rev-parse", "--show-toplevel")).removesuffix("\n"))
    except _RefusedError as refused:
        fix = "run `git status` here and follow what it says"
        raise GitError(f"git reads no repository here: {refused}", fix) from None
    verify = ("rev-parse", "--verify", "--end-of-options")
    try:
        # In two steps, since `:x^{commit}` is also a file, which somebody may have added by that name.
        named = _git(top, *verify, revision).decode().strip()
        return Commit(_git(top, *verify, f"{named}^{{commit}}").decode().strip(), top)
    except _RefusedError as refused:
        if str(refused) != _NO_REVISION:
            raise GitError(f"git knows no such revision here: {refused}") from None
        names = _git(top, "for-each-ref", "--format=%(refname:short)").decode("utf-8", "replace").split()
        raise GitError("git knows no such revision here", did_you_mean(revision, names)) from None


@contextmanager
def files_of(commit: Commit) -> Iterator[Path]:
    """Writes the files of a commit into a temporary folder: specs name files of models beside them.

    Files above :data:`LARGEST_READ` get their size, but no content. Submodules are left out, and links that
    lead out of the folder.

    Raises:
        GitError: when not all of them can be read.
    """
    with TemporaryDirectory() as place:
        folder = Path(place).resolve() / "tree"
        folder.mkdir()
        try:
            _write(commit, folder)
        except _RefusedError as refused:
            raise GitError(f"git cannot read this revision: {refused}") from None
        except OSError as error:
            raise GitError(f"the files of this revision cannot be written: {error.strerror}") from None
        yield folder


# ---------------------------------------------------------------- git


class _RefusedError(Exception):
    """Says in git's words why it does not do something."""


def _git(
    folder: Path, *arguments: str, source: IO[bytes] | None = None, output: IO[bytes] | None = None
) -> bytes:
    """Runs git, and returns what it prints unless ``output`` gets that."""
    # In English, like everything else that is said.
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        ran = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL if source is None else source,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.PIPE,
            check=False,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise GitError(f"git cannot be run: {reason}") from None
    if ran.returncode:
        raise _RefusedError(_words(ran.stderr) or f"it ended with status {ran.returncode}")
    return b"" if output is not None else ran.stdout


def _words(printed: bytes) -> str:
    """What git says is wrong: its first line, unless that only warns."""
    lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
    wrong = [line for line in lines if not line.startswith(("warning:", "hint:"))]
    return (wrong or lines or [""])[0][:_MOST_WORDS]


# ---------------------------------------------------------------- a tree


class _TreeEntry(msgspec.Struct, frozen=True):
    """A file or link of a tree, as git calls it: what it is, its content's name, size and path."""

    mode: str
    id: str
    size: int
    path: str

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"

    @property
    def is_file(self) -> bool:
        return self.mode.startswith("100")

    @property
    def has_place(self) -> bool:
        """Whether its path stays in a folder. A tree can be made by hand, with any names in it."""
        parts = self.path.split("/")
        is_plain = Path(self.path).parts == tuple(parts) and ".." not in parts
        return is_plain and ".git" not in map(str.lower, parts)


def _entries(commit: Commit) -> Iterator[_TreeEntry]:
    for line in _git(commit.top, "ls-tree", "-r", "-z", "--long", "--full-tree", commit.id).split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, _, name, size = about.decode().split()
            # Without a size it is no blob, or one that is missing: reading it has git say so.
            yield _TreeEntry(mode, name, int(size) if size.isdigit() else 0, os.fsdecode(path))


def _write(commit: Commit, folder: Path) -> None:
    entries = [it for it in _entries(commit) if it.has_place]
    links: list[tuple[Path, str]] = []
    wanted = [it for it in entries if (it.is_file or it.is_link) and it.size <= LARGEST_READ]
    for entry, content in _contents(commit, wanted):
        if entry.is_link:
            links.append((folder / entry.path, os.fsdecode(content)))
        else:
            _put(folder, entry, content)
    for entry in entries:
        if entry.is_file and entry.size > LARGEST_READ:
            _put(folder, entry, None)
    _put_links(folder, links)


def _contents(commit: Commit, entries: Sequence[_TreeEntry]) -> Iterator[tuple[_TreeEntry, bytes]]:
    """What is in files and links. All of it may be more than fits into memory, so it comes one by one."""
    with TemporaryFile() as names, TemporaryFile() as contents:
        names.writelines(f"{it.id}\n".encode() for it in entries)
        names.seek(0)
        _git(commit.top, "cat-file", "--batch", source=names, output=contents)
        contents.seek(0)
        for entry in entries:
            head = contents.readline()
            if not head.endswith(b" blob %d\n" % entry.size):
                raise _RefusedError(_words(head))
            yield entry, contents.read(entry.size)
            contents.read(len("\n"))


# ---------------------------------------------------------------- files and links


def _put(folder: Path, entry: _TreeEntry, content: bytes | None) -> None:
    """Writes a file; without a content one that has only its size."""
    file = folder / entry.path
    with _skipped_where_impossible():
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as written:
            if content is None:
                written.truncate(entry.size)
            else:
                written.write(content)


def _put_links(folder: Path, links: Sequence[tuple[Path, str]]) -> None:
    """Makes links, once nothing can be written through them any more, and removes those that lead out."""
    for link, _ in links:
        with _skipped_where_impossible():
            link.parent.mkdir(parents=True, exist_ok=True)
    for link, target in links:
        with _skipped_where_impossible():
            if target:
                link.symlink_to(target)
    for link, _ in links:
        if link.is_symlink() and not _stays_in(folder, link):
            link.unlink()


def _stays_in(folder: Path, link: Path) -> bool:
    try:
        return link.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):
        # It leads to itself.
        return False


# What a tree may have that a file system cannot: names that are too long or differ only in case, or a file
# where a folder is. A work tree lacks them, too.
_IMPOSSIBLE = (errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


@contextmanager
def _skipped_where_impossible() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _IMPOSSIBLE:
            raise
    except ValueError:
        # No path has a null character in it.
        return

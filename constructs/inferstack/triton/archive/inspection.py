"""Inspects an archive from elsewhere: nothing is unpacked to disk, and nothing in it is trusted."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from inferstack.problems import FilePlace, Problem, Severity
from inferstack.problems.words import listed
from inferstack.texts.s3_urls import ARCHIVE_SUFFIX
from inferstack.triton.archive.entries import (
    CLASH,
    JUNK_INSIDE,
    NOT_AN_ARCHIVE,
    POINTER,
    STRAY_FOLDER,
    UNFIT_NAME,
    folded,
    not_a_file,
    plain,
    unfit,
)
from inferstack.triton.archive.packing import Packed, Progress, silent
from inferstack.triton.archive.reading import (
    FILE,
    FOLDER,
    GzipContent,
    Member,
    UnreadableError,
    members,
    not_gzip,
)
from inferstack.triton.folders import IN_ARCHIVE, LARGEST_CONFIG, found_in
from inferstack.triton.model import CONFIG_FILE, NOT_A_FILE, Repository, likely_default_model
from inferstack.triton.repository_files import FETCH, LONGEST, Folder, pointer_of, why_junk

# An archive is judged as an existing repository is.
_SOURCE = ("triton", "repository")
_MOST_MEMBERS = 100_000
_MOST_NAMES = 16 << 20
_MOST_CONFIGS = 64 << 20
_START = 512


class Inspection(msgspec.Struct, frozen=True):
    """What an archive is and holds. ``packed`` and ``repository`` are None where it cannot be read."""

    archive: Path
    packed: Packed | None
    members: tuple[Member, ...]
    repository: Repository | None
    problems: tuple[Problem, ...]


def inspect_archive(archive: Path, progress: Progress = silent, *, multi_model: bool) -> Inspection:
    """Reads an archive once, from start to end, and reports what it holds and what is wrong with its form.

    ``multi_model``: it is to be loaded as one of many. What is wrong with the models in it is left to the
    rules, which are given ``repository``. Never raises for what is wrong.
    """
    unfit_path = not_a_file(archive)
    if unfit_path is not None:
        return Inspection(archive, None, (), None, (unfit_path,))
    look = _Look(archive)
    try:
        packed = _read(archive, look, progress)
    except UnreadableError as error:
        message = f"the archive cannot be used: {error}"
        problem = Problem(FilePlace(archive.as_posix()), message, error.fix, NOT_AN_ARCHIVE)
        return Inspection(archive, None, tuple(look.members), None, (problem,))
    repository = _repository_in(look, multi_model=multi_model)
    return Inspection(archive, packed, tuple(look.members), repository, tuple(_problems(look)))


def _read(archive: Path, look: "_Look", progress: Progress) -> Packed:
    try:
        with archive.open("rb") as file:
            return _read_file(archive, file, look, progress)
    except OSError as error:
        raise UnreadableError(f"it cannot be read: {error.strerror}") from None


def _read_file(archive: Path, file: BinaryIO, look: "_Look", progress: Progress) -> Packed:
    why = not_gzip(file.read(_START))
    if why is not None:
        raise UnreadableError(why)
    file.seek(0)
    content = GzipContent(file, progress)
    for member in members(content, look.wants):
        look.add(member)
    content.drain()
    return Packed(archive, file.tell(), *content.digests)


class _Look(msgspec.Struct):
    """What has been found so far, by path in the archive."""

    archive: Path
    files: set[str] = msgspec.field(default_factory=set)
    folders: set[str] = msgspec.field(default_factory=set)
    odd: dict[str, str] = msgspec.field(default_factory=dict)
    """Kinds of what is neither file nor folder."""
    configs: dict[Path, bytes | None] = msgspec.field(default_factory=dict)
    """The ``config.pbtxt`` files that a container may look for; None if too large."""
    members: list[Member] = msgspec.field(default_factory=list)
    unfit: dict[str, str] = msgspec.field(default_factory=dict)
    junk: list[str] = msgspec.field(default_factory=list)
    pointers: list[str] = msgspec.field(default_factory=list)
    twice: list[str] = msgspec.field(default_factory=list)
    alike: dict[str, str] = msgspec.field(default_factory=dict)
    """By path, an earlier one that differs from it only in case, or in how an accent is written."""
    mixed: list[str] = msgspec.field(default_factory=list)
    """Paths that need a file to be a folder, too: of the file, or of what is under it."""
    _paths: dict[str, str] = msgspec.field(default_factory=dict)
    _name_bytes: int = 0
    _config_bytes: int = 0

    def wants(self, name: str, size: int) -> bool:
        """Whether to keep a file's content: a configuration, or what may be a pointer of Git LFS."""
        if not _is_config(plain(name)):
            return size < LONGEST
        if size > LARGEST_CONFIG:
            return False
        self._config_bytes += size
        if self._config_bytes > _MOST_CONFIGS:
            why = f"its {CONFIG_FILE} files are larger than {_MOST_CONFIGS} bytes together"
            raise UnreadableError(why, "leave out what is not a configuration")
        return True

    def add(self, member: Member) -> None:
        """Adds a member."""
        path = plain(member.name)
        if not path:
            return
        self._count(replace(member, name=path, content=None))
        why = unfit(path)
        if why is not None:
            self.unfit[path] = why
            return
        self._note_folders(path if member.kind == FOLDER else path.rpartition("/")[0], path)
        if member.kind in (FILE, FOLDER):
            self._add_fit(path, member)
        else:
            self.odd[path] = member.kind

    def _count(self, member: Member) -> None:
        self.members.append(member)
        self._name_bytes += len(member.name)
        entries = max(len(self.members), len(self.folders))
        if entries > _MOST_MEMBERS or self._name_bytes > _MOST_NAMES:
            why = f"it has more than {_MOST_MEMBERS} entries, or endlessly long names"
            raise UnreadableError(why, "leave out what no model loads, or combine small files")

    def _add_fit(self, path: str, member: Member) -> None:
        other = self._paths.setdefault(folded(path), path)
        if path in self.files:
            self.twice.append(path)
        elif other != path:
            self.alike[path] = other
        if why_junk(path) is not None:
            self.junk.append(path)
        elif member.kind == FILE:
            self._look_into(path, member.content)
        if member.kind == FILE:
            self.files.add(path)
            if path in self.folders:
                self.mixed.append(path)

    def _look_into(self, path: str, content: bytes | None) -> None:
        if _is_config(path):
            self.configs[self.archive / path] = content
        elif content is not None and pointer_of(content) is not None:
            self.pointers.append(path)

    def _note_folders(self, folder: str, path: str) -> None:
        """Notes a folder and all that it is in, of which none may be a file."""
        # A folder that is noted was looked at before, and so was everything above it.
        while folder and folder not in self.folders:
            self.folders.add(folder)
            if folder in self.files:
                self.mixed.append(path)
            folder = folder.rpartition("/")[0]


def _is_config(path: str) -> bool:
    """Whether a container looks for a configuration there."""
    folder, _, last = path.rpartition("/")
    return last == CONFIG_FILE and "/" not in folder


def _problems(look: _Look) -> Iterator[Problem]:
    """What is wrong with the form of an archive that could be read to its end."""
    here = FilePlace(look.archive.as_posix())
    if look.unfit:
        path, why = next(iter(look.unfit.items()))
        message = f"paths that an archive must not have: {_named(look.unfit)}; {path!r}: {why}"
        fix = "pack with relative paths, from the folder that holds the models' folders"
        yield Problem(here, message, fix, UNFIT_NAME)
    if look.pointers:
        message = f"Git LFS pointers instead of files: {_named(look.pointers)}"
        yield Problem(here, message, f"{FETCH}, and pack again", POINTER)
    if look.twice:
        message = f"paths that occur more than once: {_named(look.twice)}"
        yield Problem(here, message, "keep one of each", CLASH)
    if look.alike:
        # The container's file system tells them apart; one that it is unpacked on elsewhere may not.
        pairs = _named(f"{path} ({other})" for path, other in look.alike.items())
        message = f"paths that collide on file systems that ignore case or accent encoding: {pairs}"
        yield Problem(here, message, "rename one of each", CLASH, Severity.WARNING)
    if look.mixed:
        message = f"paths that would be a file and a folder at once: {_named(look.mixed)}"
        yield Problem(here, message, "keep the file or the folder; no tool can unpack both", CLASH)
    yield from _junk_problems(here, look)


def _junk_problems(here: FilePlace, look: _Look) -> Iterator[Problem]:
    tops = {path.split("/")[0] for path in look.junk}
    folders = {top for top in tops if why_junk(top) is not None and top in look.folders}
    stray = sorted(folders)
    if stray:
        message = f"{_named(stray)} next to the models: the container takes a folder for a model"
        fix = f"leave it out: tar --exclude={stray[0]}"
        yield Problem(here, message, fix, STRAY_FOLDER)
    rest = [path for path in look.junk if path.split("/")[0] not in folders]
    if rest:
        message = f"files that tools left behind: {_named(rest)}"
        fix = "leave them out with tar --exclude"
        yield Problem(here, message, fix, JUNK_INSIDE, Severity.WARNING)


def _named(paths: Iterable[str]) -> str:
    return listed(list(paths), last="and")


# ---------------------------------------------------------------- The models in it
#
# They are found by the names in the archive and by its ``config.pbtxt`` files.


def _repository_in(look: _Look, *, multi_model: bool) -> Repository:
    """The models of an archive that a container loads, with what keeps it from finding them.

    The default is the only model or the only ensemble, which has to be named when the archive is deployed.
    """
    odd = dict.fromkeys(look.odd, _odd_fault(look))
    name = look.archive.name.removesuffix(ARCHIVE_SUFFIX)
    models, faults = found_in(
        _tree(look, odd), name, IN_ARCHIVE, look.configs.__getitem__, multi_model=multi_model
    )
    # Where these are does not matter: no part of an archive with a link in it is unpacked.
    every = tuple(dict.fromkeys((*odd.values(), *faults)))
    served = likely_default_model(models)
    return Repository(look.archive.name, models, served, _SOURCE, every, multi_model=multi_model)


def _odd_fault(look: _Look) -> Problem:
    """One problem for all odd entries: an archive may have any number of links."""
    what = listed(sorted(set(look.odd.values())), last="and", quote="")
    links = any(kind.endswith(" link") for kind in look.odd.values())
    # With the first option alone, a symbolic link to a file that is packed, too, becomes a hard link.
    fix = "put in the files themselves" + (" (GNU tar -h --hard-dereference)" if links else ", or nothing")
    message = f"{what} in the archive: {listed(list(look.odd), last='and')}"
    return Problem(FilePlace(look.archive.as_posix()), message, fix, NOT_A_FILE)


def _tree(look: _Look, odd: dict[str, Problem]) -> Folder:
    tree = {"": Folder(look.archive)}
    # Sorted, so that a folder comes before those in it.
    for path, above, name in _divided(sorted(look.folders)):
        tree[path] = tree[above].folders[name] = Folder(look.archive / path)
    for path, above, name in _divided(look.files):
        tree[above].files[name] = look.archive / path
    for path, above, name in _divided(odd):
        tree[above].unfit[name] = odd[path]
    return tree[""]


def _divided(paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Paths, each with the folder that it is in and its name there, without leftovers of tools."""
    for path in paths:
        above, _, name = path.rpartition("/")
        if why_junk(path) is None:
            yield path, above, name

"""What goes into the archive of a repository: decided, and every file looked at, before a byte is written.

The layout is the same for every kind of endpoint, a folder for each model: a multi-model endpoint can load
such an archive, too, and an ensemble needs it.
https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from inferstack.problems import FilePlace, Place, Problem, SpecError
from inferstack.problems.words import did_you_mean_then
from inferstack.triton.archive.entries import (
    CLASH,
    MISSING,
    OUTSIDE,
    POINTER,
    UNFIT_NAME,
    UNREADABLE,
    ArchiveEntry,
    LocalFile,
    folded,
    parents,
    unfit,
)
from inferstack.triton.config import print_text
from inferstack.triton.model import CONFIG_FILE, MISSING_FOLDER, Repository, TritonModel
from inferstack.triton.repository_files import FETCH, lies_in, pointer_in, unfit_kind, why_junk

Locate = Callable[[Place], FilePlace]
"""Turns a place in the spec into one in its file."""


class LeftOut(msgspec.Struct, frozen=True):
    """What is in the repository but left out of the archive, by its path."""

    name: str
    reason: str


class Plan(msgspec.Struct, frozen=True):
    """A planned archive: its file name, its entries in order, and what was left out."""

    archive: str
    entries: tuple[ArchiveEntry, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def local_files(self) -> tuple[LocalFile, ...]:
        """The files of this machine that go into it."""
        return tuple(entry.content for entry in self.entries if isinstance(entry.content, LocalFile))


def plan_archives(
    repositories: Iterable[Repository], allowed: Sequence[Path], locate: Locate
) -> tuple[Plan, ...]:
    """The plans for the archives of some repositories; files may only come from the folders in ``allowed``.

    Raises:
        SpecError: with everything that prevents any of them, such as all missing files.
    """
    plans: dict[str, Plan] = {}
    problems: list[Problem] = []
    for repository in repositories:
        try:
            plan = plan_archive(repository, allowed, locate)
        except SpecError as error:
            problems += error.problems
            continue
        other = plans.setdefault(folded(plan.archive), plan)
        if other is not plan:
            at = locate(repository.source)
            message = f"{plan.archive} and {other.archive} would be the same file"
            problems.append(Problem(at, message, "rename one of them", CLASH))
    if problems:
        raise SpecError(problems)
    return tuple(plans.values())


def plan_archive(repository: Repository, allowed: Sequence[Path], locate: Locate) -> Plan:
    """The plan for one repository's archive.

    Raises:
        SpecError: with everything that prevents it.
    """
    planner = _Planner(tuple(folder.resolve() for folder in allowed), locate)
    why = unfit(repository.archive)
    if why is not None:
        message = f'"{repository.archive}" is not a valid archive name: {why}'
        planner.refuse(locate(repository.source), UNFIT_NAME, message, "write a name such as resnet.tar.gz")
    for fault in repository.faults:
        code, fix = fault.code, fault.fix
        # To a check of the spec a missing folder is only a warning, and may be ignored.
        if code == MISSING_FOLDER:
            code, fix = MISSING, "paths are relative to the folder of the spec file"
        planner.refuse(locate(fault.place), code, fault.message, fix)
    for model in repository.models:
        planner.add_model(model)
    if planner.problems:
        raise SpecError(planner.problems)
    entries = sorted(planner.entries.values(), key=lambda entry: entry.name.split("/"))
    left_out = (*planner.left_out, *_beside_models(repository))
    return Plan(repository.archive, tuple(entries), tuple(sorted(set(left_out), key=lambda left: left.name)))


class _Planner:
    """Collects entries, what is left out and what is wrong, so that everything is reported at once."""

    def __init__(self, allowed: Sequence[Path], locate: Locate) -> None:
        self.entries: dict[str, ArchiveEntry] = {}
        self.left_out: list[LeftOut] = []
        self.problems: list[Problem] = []
        self._allowed = allowed
        self._locate = locate

    def refuse(self, at: FilePlace, code: str, message: str, fix: str) -> None:
        self.problems.append(Problem(at, message, fix, code))

    def add_model(self, model: TritonModel) -> None:
        if model.folder is not None:
            self._add_local(model.name, model.folder, self._locate(model.where(())), listed=False)
            return
        self._add_declared(model)

    def _add_declared(self, model: TritonModel) -> None:
        at = self._locate(model.where(()))
        self._add(ArchiveEntry(f"{model.name}/{CONFIG_FILE}", print_text(model.config).encode(), at))
        for path, local in model.files.items():
            self._add_local(f"{model.name}/{path}", local, self._locate(model.where(("files", path))))
        # An ensemble has no file in its version, but Triton requires the folder all the same.
        for version in model.versions:
            self._add(ArchiveEntry(f"{model.name}/{version}", None, at))

    def _add_local(self, name: str, local: Path, at: FilePlace, *, listed: bool = True) -> None:
        """Adds what is there. In a folder that the spec does not list, problems are reported at the files."""
        for found in _found_under(name, local, self._allowed):
            match found:
                case ArchiveEntry():
                    self._add(found if not (listed or found.is_folder) else replace(found, at=at))
                case LeftOut():
                    self.left_out.append(found)
                case _:
                    self.refuse(at, found.code, found.message, found.fix)

    def _add(self, entry: ArchiveEntry) -> None:
        why = unfit(entry.name)
        if why is not None:
            fix = "write a path within the model's folder, such as 1/model.onnx"
            self.refuse(entry.at, UNFIT_NAME, f'"{entry.name}" cannot be in an archive: {why}', fix)
            return
        for folder in parents(entry.name):
            self._put(ArchiveEntry(folder, None, entry.at))
        self._put(entry)

    def _put(self, entry: ArchiveEntry) -> None:
        """Adds an entry unless another has its path, or one that collides with it on some file system."""
        other = self.entries.setdefault(folded(entry.name), entry)
        if other is entry:
            return
        if other.name != entry.name:
            message = f"{_both(entry.name, other.name)} are the same"
            self.refuse(entry.at, CLASH, message, "give one of them another name")
        elif not (other.is_folder and entry.is_folder):
            message = f'"{entry.name}" would be in the archive twice'
            own = _is_config(entry)
            fix = f"remove it: {CONFIG_FILE} is written from the spec" if own else "keep one of them"
            self.refuse(entry.at, CLASH, message, fix)


def _both(name: str, other: str) -> str:
    """Two paths that collide, and on which file systems."""
    if name.casefold() != other.casefold():
        # They look the same, so they are shown escaped.
        return f"{name!a} and {other!a} collide on file systems where two ways to write an accent"
    return f'"{name}" and "{other}" collide on file systems where upper and lower case'


def _is_config(entry: ArchiveEntry) -> bool:
    return entry.name.count("/") == 1 and entry.name.endswith(f"/{CONFIG_FILE}")


def _beside_models(repository: Repository) -> Iterator[LeftOut]:
    """What an existing repository holds beside its models, which is left out."""
    if repository.multi_model and len(repository.models) == 1:
        # It may be the archive itself. What is beside it then belongs to no archive, or to others.
        return
    names = {model.name for model in repository.models}
    folders = [model.folder for model in repository.models if model.folder is not None]
    for top in {folder.parent for folder in folders}:
        for name in sorted(path.name for path in top.iterdir()):
            junk = why_junk(name)
            if junk is not None or (not repository.multi_model and name not in names):
                yield LeftOut(name, "no model" if junk is None else junk)


# ---------------------------------------------------------------- What is there, on this machine


_Found = ArchiveEntry | LeftOut | Problem


def _found_under(name: str, local: Path, allowed: Sequence[Path]) -> Iterator[_Found]:
    """A local file, or a folder with all that is in it, which is to be ``name`` in the archive.

    ``allowed`` are resolved folders; everything has to be in one of them.
    """
    junk = why_junk(name)
    if junk is not None:
        yield LeftOut(name, junk)
        return
    try:
        found = local.lstat()
    except OSError as error:
        yield _missing(local, error)
        return
    except ValueError:
        message = f"{local} cannot exist: a path cannot have a null character"
        yield _problem(local, message, "name a file or a folder", MISSING)
        return
    wrong = _unusable(local, found, allowed)
    if wrong is not None:
        yield wrong
    elif stat.S_ISDIR(found.st_mode):
        yield from _folder(name, local, allowed)
    else:
        yield ArchiveEntry(name, LocalFile.of(local, found), FilePlace(local.as_posix()))


def _folder(name: str, local: Path, allowed: Sequence[Path]) -> Iterator[_Found]:
    try:
        inside = sorted(local.iterdir())
    except OSError as error:
        yield _problem(local, f"{local} cannot be read: {error.strerror}", "check permissions", UNREADABLE)
        return
    yield ArchiveEntry(name, None, FilePlace(local.as_posix()))
    for inner in inside:
        yield from _found_under(f"{name}/{inner.name}", inner, allowed)


def _unusable(local: Path, found: os.stat_result, allowed: Sequence[Path]) -> Problem | None:
    unfit = unfit_kind(local, found.st_mode)
    if unfit is not None:
        return unfit
    if not lies_in(local, allowed):
        inside = ", ".join(map(str, allowed))
        fix = "move it there, or allow its folder with --allow DIR"
        return _problem(local, f"{local} is outside {inside}", fix, OUTSIDE)
    if not os.access(local, os.R_OK):
        return _problem(local, f"{local} cannot be read", "make it readable", UNREADABLE)
    return _pointer(local) if stat.S_ISREG(found.st_mode) else None


def _pointer(local: Path) -> Problem | None:
    """Refuses a pointer of Git LFS: the file itself was not fetched."""
    pointer = pointer_in(local)
    if pointer is None:
        return None
    message = f"{local} is a Git LFS pointer to a file of {pointer.size:,} bytes"
    return _problem(local, message, FETCH, POINTER)


def _missing(local: Path, error: OSError) -> Problem:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        return _problem(local, f"{local} cannot be read: {error.strerror}", "name another file", UNREADABLE)
    fix = did_you_mean_then(local.name, _names_beside(local), "paths are relative to the spec's folder")
    return _problem(local, f"{local} does not exist", fix, MISSING)


def _names_beside(local: Path) -> list[str]:
    try:
        return sorted(path.name for path in local.parent.iterdir())
    except OSError:
        return []


def _problem(local: Path, message: str, fix: str, code: str) -> Problem:
    return Problem(FilePlace(local.as_posix()), message, fix, code)

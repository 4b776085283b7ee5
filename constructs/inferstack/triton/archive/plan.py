"""What goes into the archive of a repository: decided, and every file looked at, before a byte is written.

The layout is the same for every kind of endpoint, a folder for each model: a multi-model endpoint can load
such an archive, too, and an ensemble needs it.
https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inferstack.problems import FilePlace, Place, Problem, SpecError
from inferstack.triton.archive.entries import (
    CLASH,
    MISSING,
    UNFIT_NAME,
    ArchiveEntry,
    LocalFile,
    folded,
    parents,
    unfit,
)
from inferstack.triton.archive.local_files import FoundFile, LeftOut, found_under
from inferstack.triton.archive.tar_writing import stored_size, tar_size
from inferstack.triton.model import CONFIG_FILE, MISSING_FOLDER, Repository, TritonModel
from inferstack.triton.repository.config import print_text
from inferstack.triton.repository.files import why_junk

Locate = Callable[[Place], FilePlace]
"""Turns a place in the spec into one in its file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An archive to be: its file name, its entries in order, and what was left out of it."""

    archive: str
    entries: tuple[ArchiveEntry, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def local_files(self) -> tuple[LocalFile, ...]:
        """The files of this machine that go into it."""
        return tuple(entry.content for entry in self.entries if isinstance(entry.content, LocalFile))

    @property
    def unpacked_size(self) -> int:
        """Bytes of the tar inside."""
        return tar_size(self.entries)

    @property
    def size(self) -> int:
        """Bytes that the archive will have."""
        return stored_size(self.unpacked_size)


def plan_archives(
    repositories: Iterable[Repository], allowed: Sequence[Path], locate: Locate
) -> tuple[Plan, ...]:
    """The plans for the archives of some repositories; files may only come from the folders in ``allowed``.

    Raises:
        SpecError: with everything that stands in the way of any, such as all files that are missing.
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
            message = f"{plan.archive} and {other.archive} would be one file"
            problems.append(Problem(at, message, "rename one of them", CLASH))
    if problems:
        raise SpecError(problems)
    return tuple(plans.values())


def plan_archive(repository: Repository, allowed: Sequence[Path], locate: Locate) -> Plan:
    """The plan for one repository's archive.

    Raises:
        SpecError: with everything that stands in its way.
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
        for found in found_under(name, local, self._allowed):
            match found:
                case FoundFile():
                    local_file = None if listed else found.content
                    place = at if local_file is None else FilePlace(local_file.path.as_posix())
                    self._add(ArchiveEntry(found.name, found.content, place))
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
        """Adds an entry unless another has its path, or one that some file system takes for the same."""
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
    """Two paths that some file system takes for one, and where."""
    if name.casefold() != other.casefold():
        # They look the same, so they are shown escaped.
        return f"{name!a} and {other!a} are one where two ways to write an accent"
    return f'"{name}" and "{other}" are one where upper and lower case'


def _is_config(entry: ArchiveEntry) -> bool:
    return entry.name.count("/") == 1 and entry.name.endswith(f"/{CONFIG_FILE}")


def _beside_models(repository: Repository) -> Iterator[LeftOut]:
    """What is in an existing repository beside its models, and is left out."""
    names = {model.name for model in repository.models}
    folders = [model.folder for model in repository.models if model.folder is not None]
    for top in {folder.parent for folder in folders}:
        for name in sorted(path.name for path in top.iterdir()):
            junk = why_junk(name)
            if junk is not None or (not repository.multi_model and name not in names):
                yield LeftOut(name, "no model" if junk is None else junk)

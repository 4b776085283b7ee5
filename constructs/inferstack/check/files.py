"""Several spec files at once: the files at a path, and what is wrong with each and with all together."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from inferstack.check.load import LoadedSpec, check_document, load_spec
from inferstack.check.project_file import read_spec
from inferstack.check.unique_names import TakenNames, names_taken_twice, names_that_clash, taken_names
from inferstack.problems import FilePlace, Problem, SpecError, in_file_order
from inferstack.problems.file_codes import NO_SPECS
from inferstack.problems.words import listed
from inferstack.source.spec_file import PIPED, SUFFIXES, is_project_file, relative_to_cwd
from inferstack.source.stages import stage_names, uses_stage

# ---------------------------------------------------------------- files and folders

USUAL_FOLDER = "model_specs"
"""Where specs are looked for unless another path is given."""


def spec_files(path: Path | str) -> tuple[Path, ...]:
    """The spec files that a path stands for: itself, or the ``*.yaml`` and ``*.yml`` of a folder, sorted.

    Subfolders and hidden files are left out.

    Raises:
        SpecError: when a folder holds none, or cannot be read.
    """
    folder = Path(path)
    if not is_folder(folder):
        return (folder,)
    try:
        found = sorted(file for file in folder.iterdir() if _is_spec(file))
    except OSError as error:
        raise SpecError([_no_specs(folder, f"the folder cannot be read: {error.strerror}")]) from None
    if not found:
        raise SpecError([_no_specs(folder, "the folder holds no spec file")])
    return tuple(found)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder of spec files."""
    try:
        return path.is_dir()
    except OSError:
        # Reading it as a file will find out what is wrong, and report it.
        return False


def is_gone(path: Path) -> bool:
    """Whether nothing is at a path: not even a link that leads nowhere, or what nobody may read."""
    if str(path) == PIPED:
        return False
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _is_spec(file: Path) -> bool:
    is_named_so = file.suffix in SUFFIXES and not file.name.startswith(".") and not is_project_file(file)
    return is_named_so and not file.is_dir()


def _no_specs(folder: Path, message: str) -> Problem:
    usual = folder / USUAL_FOLDER
    fix = (
        f"did you mean `{usual.as_posix()}`?"
        if is_folder(usual)
        else "put a *.yaml or *.yml file directly into it, or name another path"
    )
    return Problem(FilePlace(folder.as_posix()), message, fix, NO_SPECS)


def load_specs(
    path: Path | str, *, stage: str | None = None, region: str | None = None
) -> tuple[LoadedSpec, ...]:
    """All specs of a folder, or the one of a file, for one stage. ``region`` is for specs that name none.

    Raises:
        SpecError: with every problem of every file, when there is an error in any.
    """
    loaded: list[LoadedSpec] = []
    problems: list[Problem] = []
    for file in spec_files(path):
        try:
            loaded.append(load_spec(relative_to_cwd(str(file)), stage=stage, region=region))
        except SpecError as error:
            problems += error.problems
    problems += names_taken_twice(map(taken_names, loaded))
    if problems:
        raise SpecError([*problems, *warnings_of(loaded)])
    return tuple(loaded)


def warnings_of(loaded: Iterable[LoadedSpec]) -> Iterator[Problem]:
    """The warnings of several specs."""
    return (warning for one in loaded for warning in one.warnings)


class CheckedFile(msgspec.Struct, frozen=True):
    """What is wrong with a file on its own, and which names it takes at each stage that can be deployed."""

    problems: tuple[Problem, ...]
    taken: tuple[TakenNames, ...] = ()


def check_files(
    files: Iterable[Path],
    *,
    stage: str | None = None,
    region: str | None = None,
    model_config: Path | None = None,
) -> list[Problem]:
    """Everything wrong with some spec files, each on its own and all of them together.

    Without a stage, a file is checked as it stands and at each of its stages, and names are compared between
    all of them.
    """
    checked = {
        str(file): checked_file(file, stage=stage, region=region, model_config=model_config) for file in files
    }
    problems = [*_with_their_specs({file: one.problems for file, one in checked.items()})]
    problems += names_that_clash(taken for one in checked.values() for taken in one.taken)
    return list(in_file_order(problems))


def _with_their_specs(found: Mapping[str, Iterable[Problem]]) -> Iterator[Problem]:
    """The problems of several specs. What stands in the project's file and not all specs have, such as a
    default that does not fit one of them, names those that have it.
    """
    having: dict[Problem, tuple[Problem, list[str]]] = {}
    for file, problems in found.items():
        for problem in problems:
            having.setdefault(problem.as_read, (problem, []))[1].append(file)
    for problem, files in having.values():
        if len(files) < len(found) and is_project_file(Path(problem.file)):
            message = f"{problem.message} (in {listed(files, last='and')})"
            yield msgspec.structs.replace(problem, message=message)
        else:
            yield problem


def checked_file(
    file: Path, *, stage: str | None = None, region: str | None = None, model_config: Path | None = None
) -> CheckedFile:
    """Checks one file of several."""
    try:
        specs, problems = check_document(
            read_spec(file), stage=stage, region=region, model_config=model_config
        )
    except SpecError as error:
        return CheckedFile(error.problems)
    return CheckedFile(tuple(problems), tuple(map(taken_names, specs)))


def idle_stage(files: Iterable[Path | str], stage: str | None) -> str | None:
    """A message about a chosen stage if no file has stages, since the choice may be a mistake."""
    if stage is None or any(map(_knows_stages, files)):
        return None
    fix = f"write `stages: {{{stage}: …}}` into one, or choose none"
    return f"the stage `{stage}` has no effect because no spec has `stages`; {fix}"


def _knows_stages(file: Path | str) -> bool:
    try:
        document = read_spec(file)
    except SpecError:
        # It is not known, and what is wrong with the file has been reported.
        return True
    return bool(stage_names(document)) or uses_stage(document)

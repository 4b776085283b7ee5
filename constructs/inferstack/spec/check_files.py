"""Several spec files at once: which files a path stands for, and what is wrong with them and between them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from inferstack.spec.check import check_document
from inferstack.spec.document import read_document
from inferstack.spec.document.stages import stage_names, uses_stage
from inferstack.spec.names_across_files import TakenNames, names_taken_twice, taken_names
from inferstack.spec.problem import Problem, SpecError, in_file_order
from inferstack.spec.problem.codes import by_code, error
from inferstack.spec.texts.file_names import SUFFIXES

USUAL_FOLDER = "model_specs"
"""Where specs are looked for unless another path is given."""

NO_SPECS = "IS040"
FOLDER_CODES = by_code(error(NO_SPECS, "The folder holds no spec file, or cannot be read."))
"""Everything that this module reports."""


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


def _is_spec(file: Path) -> bool:
    return file.suffix in SUFFIXES and not file.name.startswith(".") and not file.is_dir()


def _no_specs(folder: Path, message: str) -> Problem:
    usual = folder / USUAL_FOLDER
    fix = (
        f"did you mean `{usual.as_posix()}`?"
        if is_folder(usual)
        else "put a *.yaml or *.yml file directly into it, or name another path"
    )
    return Problem(folder.as_posix(), 1, 1, NO_SPECS, message, fix)


class CheckedFile(msgspec.Struct, frozen=True):
    """What is wrong with a file on its own, and which names it takes at each stage that can be deployed."""

    problems: tuple[Problem, ...]
    taken: tuple[TakenNames, ...] = ()


EachFile = Callable[[Callable[[Path], CheckedFile], Iterable[Path]], Iterable[CheckedFile]]
"""How a function is applied to files: as ``map`` does it, or in several processes."""


def check_files(
    files: Iterable[Path], *, stage: str | None = None, region: str | None = None, each: EachFile = map
) -> list[Problem]:
    """Everything wrong with some spec files, each on its own and all of them together.

    Without a stage, a file is checked as it stands and at each of its stages. Names are compared between
    files at the same stage; a file without ``stages`` is compared at every stage.
    """
    checked = list(each(partial(checked_file, stage=stage, region=region), files))
    problems = [problem for one in checked for problem in one.problems]
    for together in _deployed_together([taken for one in checked for taken in one.taken]):
        problems += names_taken_twice(together)
    return list(in_file_order(problems))


def checked_file(file: Path, *, stage: str | None = None, region: str | None = None) -> CheckedFile:
    """Checks one file of several."""
    try:
        specs, problems = check_document(read_document(file), stage=stage, region=region)
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
        document = read_document(file)
    except SpecError:
        # It cannot be told, and what is wrong with the file has been said.
        return True
    return bool(stage_names(document)) or uses_stage(document)


def _deployed_together(specs: list[TakenNames]) -> Iterator[list[TakenNames]]:
    staged = {one.file for one in specs if one.stage is not None}
    for stage in dict.fromkeys(one.stage for one in specs):
        yield [one for one in specs if one.stage == stage or (one.stage is None and one.file not in staged)]

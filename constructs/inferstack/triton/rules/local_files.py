"""The local files that a spec names, as far as they are on this machine."""

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath

from inferstack.problems import Place, Problem
from inferstack.problems.words import ask, by_length, listed, slips_among
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.repository_files import FETCH, pointer_in, unfit_kind
from inferstack.triton.rules.base import Context, at, warning

# A folder with more names than this is full of data, where many names differ in one letter.
_SEARCHED = 1000


@warning("IS987", "inferstack's archives")
def local_paths_have_no_slip(repository: Repository, context: Context) -> Iterator[Problem]:
    """The path of a local file should not have a typo.

    Weights are often not on this machine, so a missing file means nothing by itself.
    """
    models = [model for model in repository.models if model.folder is None]
    uploaded = {str(path) for name in repository.uploaded for path in _with_parents(name)}
    # What was uploaded need not be here.
    wanted = [
        (model, inner, local)
        for model in models
        for inner, local in model.files.items()
        if not os.path.lexists(local) and f"{model.name}/{inner}" not in uploaded
    ]
    if not wanted:
        return
    named = frozenset(local for model in models for local in model.files.values())
    present = _present(models)
    for model, inner, local in wanted:
        fix = _fix(local, named, present.get(_kind(model, local), []))
        if fix is not None:
            message, fix = f"{local.as_posix()} does not exist", f"{fix} if it is elsewhere, ignore IS987"
            yield Problem(at(model, "files", inner), message, fix)


@warning("IS765", "inferstack's archives")
def local_files_can_be_packed(repository: Repository, context: Context) -> Iterator[Problem]:
    """Local files should be the files themselves, and readable.

    Packing refuses links, what is neither a file nor a folder, and pointers of Git LFS.
    """
    for model in repository.models:
        for inner, local in model.files.items() if model.folder is None else ():
            if f"{model.name}/{inner}" not in repository.uploaded:
                yield from _unpackable(local, at(model, "files", inner))


def _unpackable(local: Path, place: Place) -> Iterator[Problem]:
    try:
        mode = local.lstat().st_mode
    except (OSError, ValueError):
        # It may be on another machine.
        return
    unfit = unfit_kind(local, mode)
    pointer = pointer_in(local) if unfit is None and stat.S_ISREG(mode) else None
    if unfit is not None:
        yield Problem(place, f"{unfit.message}, which cannot be packed", unfit.fix)
    elif pointer is not None:
        message = f"{local.as_posix()} is a Git LFS pointer to a file of {pointer.size:,} bytes"
        yield Problem(place, message, FETCH)
    elif not os.access(local, os.R_OK):
        yield Problem(place, f"{local.as_posix()} cannot be read", "make it readable for packing")


def _with_parents(name: str) -> Iterator[PurePosixPath]:
    yield PurePosixPath(name)
    yield from PurePosixPath(name).parents


FileKind = tuple[str, Path, str]
"""Model, folder and ending of a file."""


def _kind(model: TritonModel, local: Path) -> FileKind:
    return model.name, local.parent, local.suffix


def _present(models: Iterable[TritonModel]) -> Mapping[FileKind, list[str]]:
    """Names of the files on this machine, by kind."""
    found: dict[FileKind, list[str]] = defaultdict(list)
    for model in models:
        for local in filter(os.path.lexists, model.files.values()):
            found[_kind(model, local)].append(local.name)
    return found


def _fix(local: Path, named: Set[Path], alike: list[str]) -> str | None:
    """What was probably meant. A checkout has code but often no weights, so without a similar name only
    another file of the same kind is a hint.
    """
    meant = list(_meant(local, named))
    if meant:
        return ask(meant)
    return f"{listed(alike, last='and')} of the same model does, so check the name;" if alike else None


def _meant(local: Path, named: Set[Path]) -> Iterator[str]:
    """Names that are almost the first missing part of the path, and under which the rest of it exists.

    Not if the spec names that path, too, or if only numbers differ: both names may then be meant.
    """
    folder, missing = _gap(local)
    for name in slips_among(missing, _names_in(folder or os.curdir)):
        other = Path(folder, name) / local.relative_to(Path(folder, missing))
        if other not in named and _differ_in_letters(missing, name) and os.path.lexists(other):
            yield name


def _gap(local: Path) -> tuple[str, str]:
    """Where a path breaks off: the last folder that is there, and the name that is missing in it."""
    folder, missing = os.path.split(local)
    while not os.path.lexists(folder or os.curdir):
        above, name = os.path.split(folder)
        if not name:
            # There is not even a drive of this name.
            break
        folder, missing = above, name
    return folder, missing


def _differ_in_letters(one: str, other: str) -> bool:
    return re.sub(r"\d", "", one) != re.sub(r"\d", "", other)


def _names_in(folder: str) -> Mapping[int, list[str]]:
    try:
        # Not by `Path`, which takes longer than the system call itself.
        return _listed(folder, os.stat(folder).st_mtime_ns)  # noqa: PTH116
    except OSError:
        return {}


# Cached, as specs in one folder miss their files in the same places.
@lru_cache(maxsize=16)
def _listed(folder: str, changed: int) -> Mapping[int, list[str]]:
    """The names in a folder by their length, cached until the folder changes."""
    with os.scandir(folder) as entries:
        return by_length(sorted(entry.name for entry in islice(entries, _SEARCHED)))

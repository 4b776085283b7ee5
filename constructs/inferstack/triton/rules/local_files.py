"""The local files that a spec names, as far as they are on this machine."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath

import msgspec

from inferstack.problems import Problem
from inferstack.problems.words import ask, by_length, listed, slips_among
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rules.base import Context, at, warning

# A folder with more names than this is full of data, where many names differ in one letter.
_SEARCHED = 1000


@warning("IS987", "inferstack's archives")
def local_paths_have_no_slip(repository: Repository, context: Context) -> Iterator[Problem]:
    """The path of a local file should not have a typo.

    Weights are often not on this machine, so that a missing file means nothing by itself.
    """
    around = _Around(tuple(model for model in repository.models if model.folder is None))
    uploaded = {str(path) for name in repository.uploaded for path in _with_parents(name)}
    for model in around.models:
        missing = {inner: local for inner, local in model.files.items() if not os.path.lexists(local)}
        # What was uploaded need not be here.
        wanted = [inner for inner in missing if f"{model.name}/{inner}" not in uploaded]
        if not wanted:
            continue
        present = _by_kind(local for inner, local in model.files.items() if inner not in missing)
        for inner in wanted:
            local = missing[inner]
            fix = _fix(local, around, present)
            if fix is not None:
                message, fix = f"{local.as_posix()} does not exist", f"{fix} if it is elsewhere, ignore IS987"
                yield Problem(at(model, "files", inner), message, fix)


def _with_parents(name: str) -> Iterator[PurePosixPath]:
    yield PurePosixPath(name)
    yield from PurePosixPath(name).parents


FileKind = tuple[Path, str]
"""Folder and ending of a file."""


def _by_kind(files: Iterable[Path]) -> Mapping[FileKind, list[str]]:
    found: dict[FileKind, list[str]] = defaultdict(list)
    for local in files:
        found[local.parent, local.suffix].append(local.name)
    return found


class _Around(msgspec.Struct, frozen=True, dict=True):
    """What is on this machine around the files of some models, as far as it was asked for."""

    models: tuple[TritonModel, ...]
    gaps: dict[str, "Gap | None"] = msgspec.field(default_factory=dict)

    @cached_property
    def named(self) -> frozenset[Path]:
        """All files that the models name."""
        return frozenset(local for model in self.models for local in model.files.values())

    def gap(self, local: Path) -> "Gap | None":
        """Where the path of a file that is not there breaks off."""
        folder, name = os.path.split(local)
        if folder not in self.gaps:
            self.gaps[folder] = _gap(folder)
        return self.gaps[folder] or (folder, name)


Gap = tuple[str, str]
"""A folder that is there, and the name that is missing in it."""


def _gap(folder: str) -> Gap | None:
    """Where a path of folders breaks off, if it does."""
    found, missing = folder, ""
    while not os.path.lexists(found or os.curdir):
        found, missing = os.path.split(found)
        if not missing:
            # There is not even a drive of this name.
            return None
    return (found, missing) if missing else None


def _fix(local: Path, around: _Around, present: Mapping[FileKind, list[str]]) -> str | None:
    meant = list(_meant(local, around))
    if meant:
        return ask(meant)
    # Code is in a checkout where weights are not, so that only another file of the same kind tells something.
    alike = present.get((local.parent, local.suffix), []) if present else []
    return f"{listed(alike, last='and')} of the same model does, so check the name;" if alike else None


def _meant(local: Path, around: _Around) -> Iterator[str]:
    """Names that are almost the first missing part of the path, and under which the rest of it exists.

    Not if the spec names that path, too, or if only numbers differ: both names may then be meant.
    """
    gap = around.gap(local)
    if gap is None:
        return
    folder, missing = gap
    for name in slips_among(missing, _names_in(folder or os.curdir)):
        other = Path(folder, name) / local.relative_to(Path(folder, missing))
        if other not in around.named and _differ_in_letters(missing, name) and os.path.lexists(other):
            yield name


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
    """The names in a folder by their length, as they are since it was last changed."""
    with os.scandir(folder) as entries:
        return by_length(sorted(entry.name for entry in islice(entries, _SEARCHED)))

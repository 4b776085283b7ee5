"""IS987: the local files that a spec names, as far as they are on this machine."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath

import msgspec

from inferstack.spec.words import by_length, listed, slips_among
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rules.base import Context, Finding, at, warning

# A folder with more names than this is one of data, in which many differ in a letter.
_SEARCHED = 1000


@warning("IS987", "The path of a local file has no slip of the keys.", "inferstack's archives")
def local_paths_have_no_slip(repository: Repository, context: Context) -> Iterator[Finding]:
    """Weights are often not on this machine, so that a file which is not there says nothing by itself."""
    declared = [model for model in repository.models if model.text is None]
    named = {local for model in declared for local in model.files.values()}
    here = _Here({local for local in named if os.path.lexists(local)})
    uploaded = {str(path) for name in repository.uploaded for path in _with_parents(name)}
    for model in declared:
        for inner, local in model.files.items():
            # What was uploaded need not be here.
            missing = local not in here.files and f"{model.name}/{inner}" not in uploaded
            fix = _fix(local, model, named, here) if missing else None
            if fix is not None:
                message, fix = f"{local.as_posix()} is not there", f"{fix} if it is elsewhere, ignore IS987"
                yield Finding(at(model, "files", inner), message, fix)


class _Here(msgspec.Struct):
    """What there is of the files, and of the folders around them, as far as somebody asked."""

    files: set[Path]
    folders: dict[Path, Path | None] = msgspec.field(default_factory=dict)

    def around(self, local: Path) -> Path | None:
        """The innermost folder around a file that is there."""
        if local.parent not in self.folders:
            found = next((above for above in local.parents if os.path.lexists(above)), None)
            self.folders[local.parent] = found
        return self.folders[local.parent]


def _with_parents(name: str) -> Iterator[PurePosixPath]:
    yield PurePosixPath(name)
    yield from PurePosixPath(name).parents


def _fix(local: Path, model: TritonModel, named: set[Path], here: _Here) -> str | None:
    meant = list(_meant(local, named, here))
    if meant:
        return f"did you mean {listed(meant)}?"
    # Code comes with the repository where weights do not, so that only a file of the same kind tells.
    beside = (other for other in model.files.values() if other in here.files)
    alike = [it.name for it in beside if (it.parent, it.suffix) == (local.parent, local.suffix)]
    return f"{listed(alike, last='and')} of the same model is, so check the name;" if alike else None


def _meant(local: Path, named: set[Path], here: _Here) -> Iterator[str]:
    """What is called almost like the first part of the path that is not there, and leads to something.

    Not what the spec names itself, nor another number: then both names may be meant.
    """
    folder = here.around(local)
    if folder is None:
        return
    first, *rest = local.relative_to(folder).parts
    for name in slips_among(first, _names_in(folder)):
        other = folder.joinpath(name, *rest)
        if other not in named and _differ_in_letters(first, name) and os.path.lexists(other):
            yield name


def _differ_in_letters(one: str, other: str) -> bool:
    return re.sub(r"\d", "", one) != re.sub(r"\d", "", other)


def _names_in(folder: Path) -> Mapping[int, list[str]]:
    try:
        return _listed(folder, folder.stat().st_mtime_ns)
    except OSError:
        return {}


# Specs in one folder miss their files in the same places.
@lru_cache(maxsize=16)
def _listed(folder: Path, changed: int) -> Mapping[int, list[str]]:
    """The names in a folder, as they are since it was changed."""
    return by_length(sorted(path.name for path in islice(folder.iterdir(), _SEARCHED)))

"""IS987: the local files that a spec names, as far as they are on this machine."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath

from inferstack.spec.words import listed, slips_of
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rules.base import Context, Finding, at, warning

# A folder with more names than this is one of data, in which many differ in a letter.
_SEARCHED = 1000


@warning("IS987", "The path of a local file has no slip of the keys.", "inferstack's archives")
def local_paths_have_no_slip(repository: Repository, context: Context) -> Iterator[Finding]:
    """Weights are often not on this machine, so that a file which is not there says nothing by itself."""
    declared = [model for model in repository.models if model.text is None]
    named = {local for model in declared for local in model.files.values()}
    uploaded = {str(path) for name in repository.uploaded for path in _with_parents(name)}
    for model in declared:
        present = _present(model)
        for inner, local in model.files.items():
            missing = _is_missing(f"{model.name}/{inner}", local, uploaded)
            fix = _fix(local, named, present) if missing else None
            if fix is not None:
                message, fix = f"{local.as_posix()} is not there", f"{fix} if it is elsewhere, ignore IS987"
                yield Finding(at(model, "files", inner), message, fix)


def _with_parents(name: str) -> Iterator[PurePosixPath]:
    yield PurePosixPath(name)
    yield from PurePosixPath(name).parents


def _is_missing(packed: str, local: Path, uploaded: set[str]) -> bool:
    """Not so what was uploaded, which need not be here."""
    return packed not in uploaded and not os.path.lexists(local)


Kind = tuple[Path, str]
"""Folder and ending of a file."""


def _present(model: TritonModel) -> Mapping[Kind, list[str]]:
    found: dict[Kind, list[str]] = defaultdict(list)
    for local in model.files.values():
        if os.path.lexists(local):
            found[local.parent, local.suffix].append(local.name)
    return found


def _fix(local: Path, named: set[Path], present: Mapping[Kind, list[str]]) -> str | None:
    meant = list(_meant(local, named))
    if meant:
        return f"did you mean {listed(meant)}?"
    # Code comes with the repository where weights do not, so that only a file of the same kind tells.
    alike = present.get((local.parent, local.suffix), [])
    return f"{listed(alike, last='and')} of the same model is, so check the name;" if alike else None


def _meant(local: Path, named: set[Path]) -> Iterator[str]:
    """What is called almost like the first part of the path that is not there, and leads to something.

    Not what the spec names itself, nor another number: then both names may be meant.
    """
    folder = next((above for above in local.parents if os.path.lexists(above)), None)
    if folder is None:
        return
    first, *rest = local.relative_to(folder).parts
    for name in slips_of(first, _names_in(folder)):
        other = folder.joinpath(name, *rest)
        if other not in named and _differ_in_letters(first, name) and os.path.lexists(other):
            yield name


def _differ_in_letters(one: str, other: str) -> bool:
    return re.sub(r"\d", "", one) != re.sub(r"\d", "", other)


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in islice(folder.iterdir(), _SEARCHED))
    except OSError:
        return []

"""The models in an archive that somebody made, from the names in it and its ``config.pbtxt`` files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from inferstack.spec.problem.words import listed
from inferstack.spec.texts.file_names import ARCHIVE_SUFFIX
from inferstack.triton.model import (
    NOT_A_FILE,
    Fault,
    FilePlace,
    Repository,
    likely_default_model,
)
from inferstack.triton.repository.junk import why_junk
from inferstack.triton.repository.layout import IN_ARCHIVE, found_in
from inferstack.triton.repository.tree import Folder

# An archive is judged as an existing repository is.
_SOURCE = ("triton", "repository")


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in an archive, by path: files and folders, and kinds of what is neither.

    ``configs`` has the ``config.pbtxt`` files that a container may look for, by path; None if too large.
    """

    archive: Path
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    odd: dict[str, str] = field(default_factory=dict)
    configs: dict[Path, bytes | None] = field(default_factory=dict)


def repository_in(contents: Contents, *, multi_model: bool) -> Repository:
    """The models of an archive that a container loads, with what keeps it from finding them.

    The default is the only model or the only ensemble, which has to be named when the archive is deployed.
    """
    odd = dict.fromkeys(contents.odd, _odd_fault(contents))
    name = contents.archive.name.removesuffix(ARCHIVE_SUFFIX)
    models, faults = found_in(
        _tree(contents, odd), name, IN_ARCHIVE, contents.configs.__getitem__, multi_model=multi_model
    )
    # Where these are does not matter: no part of an archive with a link in it is unpacked.
    every = tuple(dict.fromkeys((*odd.values(), *faults)))
    served = likely_default_model(models)
    return Repository(contents.archive.name, models, served, _SOURCE, every, multi_model=multi_model)


def _odd_fault(contents: Contents) -> Fault:
    """One fault for all: an archive may have any number of links."""
    what = listed(sorted(set(contents.odd.values())), last="and", quote="")
    links = any(kind.endswith(" link") for kind in contents.odd.values())
    # With the first option alone, a symbolic link to a file that is packed, too, becomes a hard link.
    fix = "put the files themselves in" + (" (GNU tar -h --hard-dereference)" if links else ", or nothing")
    message = f"{what} in the archive: {listed(list(contents.odd), last='and')}"
    return Fault(NOT_A_FILE, FilePlace(contents.archive.as_posix()), message, fix)


def _tree(contents: Contents, odd: dict[str, Fault]) -> Folder:
    tree = {"": Folder(contents.archive)}
    # Sorted, so that a folder comes before those in it.
    for path, above, name in _divided(sorted(contents.folders)):
        tree[path] = tree[above].folders[name] = Folder(contents.archive / path)
    for path, above, name in _divided(contents.files):
        tree[above].files[name] = contents.archive / path
    for path, above, name in _divided(odd):
        tree[above].unfit[name] = odd[path]
    return tree[""]


def _divided(paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Paths, each with the folder that it is in and its name there, without leftovers of tools."""
    for path in paths:
        above, _, name = path.rpartition("/")
        if why_junk(path) is None:
            yield path, above, name

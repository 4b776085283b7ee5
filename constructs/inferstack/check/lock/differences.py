"""Compares what a spec declares, and the files on this machine, with what a lock says was uploaded.

The machine that makes a stack often does not have the weights, so a missing file is not a difference.
Large files are not read. If Git LFS left a pointer in place of a file, the pointer says what the file is.
"""

import hashlib
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from inferstack.check.lock.destinations import Destination
from inferstack.check.lock.file import LockedArchive, LockedFile
from inferstack.problems import Place
from inferstack.triton.archive.entries import ArchiveEntry, LocalFile
from inferstack.triton.config import print_text
from inferstack.triton.folders import Endless, Look
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel
from inferstack.triton.repositories import repositories_at
from inferstack.triton.repository_files import Pointer, pointer_in, why_junk

if TYPE_CHECKING:
    # Packing takes 12 ms to import, and a comparison does not pack.
    from inferstack.triton.archive.packing import Packed
    from inferstack.triton.archive.plan import Plan

LARGEST_READ = 1 << 20
"""In bytes. Files up to this size are compared by content, larger ones by size; `package` reads them all."""


def files_at(name: str, local: Path, look: Look, depth: int = 0) -> Iterator[tuple[str, Path]]:
    """The files that a path in the spec stands for, by their paths in the archive; none if it is missing.

    Raises:
        Endless: when there are more than anyone packs.
    """
    if why_junk(name) is not None or local.is_symlink():
        return
    if not local.is_dir():
        if local.exists():
            yield name, local
        return
    for inner in look.entries(local, depth):
        yield from files_at(f"{name}/{inner.name}", inner, look, depth + 1)


def written_path(local: Path, base: Path) -> str:
    """A file's name as in the spec: relative to the spec's folder, with forward slashes."""
    return (local.relative_to(base) if local.is_relative_to(base) else local).as_posix()


def how_it_differs(local: Path, locked: LockedFile) -> str | None:
    """How a file differs from the one that was uploaded, as text; None if no difference is found."""
    try:
        found = local.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size != locked.size:
            if pointer_in(local) == Pointer(locked.sha256, locked.size):
                return None
            return f"has {found.st_size:,} bytes, but {locked.size:,} were uploaded"
        if found.st_size <= LARGEST_READ and hashlib.sha256(local.read_bytes()).hexdigest() != locked.sha256:
            return "has different content than was uploaded"
    except OSError:
        # Packing the file will report what is wrong.
        return None
    return None


class Difference(msgspec.Struct, frozen=True):
    """One thing that was uploaded differently, or not at all, and where it is in the spec."""

    place: Place
    message: str


def repositories_for(destination: Destination, base: Path) -> dict[str, Repository]:
    """The repositories whose archives belong to a destination, by the archives' names there."""
    found: dict[str, Repository] = {}
    for block in destination.blocks:
        for repository in repositories_at(block, base):
            # Repositories that share an archive have the same models, so the first one will do.
            found.setdefault(destination.name_of(repository.archive), repository)
    return found


def differences(
    destination: Destination, uploaded: Mapping[str, LockedArchive], base: Path
) -> Iterator[Difference]:
    """The first difference of each archive. ``base`` is the folder of the spec.

    Without the local files, the spec itself is compared: names, configurations, and which file goes where.
    """
    declared = repositories_for(destination, base)
    for name, repository in declared.items():
        if name not in uploaded:
            yield Difference(repository.source, f"{name} was not uploaded")
        elif not repository.faults:
            yield from _first(_of_archive(repository, uploaded[name].files, base))
    # If the folder of a repository is missing, it is unknown which archives there should be.
    if not any(repository.faults for repository in declared.values()):
        place = (*destination.blocks[0].path, "archives")
        for name in sorted(uploaded.keys() - declared):
            yield Difference(place, f"{name} was uploaded, but the spec no longer has it")


def _first(found: Iterator[Difference]) -> Iterator[Difference]:
    for difference in found:
        more = sum(1 for _ in found)
        rest = f"; {more} more in this archive" if more else ""
        yield Difference(difference.place, f"{difference.message}{rest}")


def _of_archive(repository: Repository, files: Mapping[str, LockedFile], base: Path) -> Iterator[Difference]:
    known: set[str] = set()
    for model in repository.models:
        yield from _of_model(model, files, base, known)
    folders = {model.name for model in repository.models if model.folder is not None}
    for path in files:
        # A local copy of an existing repository need not have all of the files, but it has all models.
        if path not in known and path.partition("/")[0] not in folders:
            yield Difference(repository.source, f"{path} was uploaded, but the spec no longer has it")


def _of_model(
    model: TritonModel, files: Mapping[str, LockedFile], base: Path, known: set[str]
) -> Iterator[Difference]:
    if model.folder is None:
        yield from _of_config(model, files, known)
    else:
        config = model.folder / CONFIG_FILE
        yield from _of_file(model.where(()), f"{model.name}/{CONFIG_FILE}", config, files, base, known)
    for inner, local in model.files.items():
        place = model.where(("files", inner) if model.folder is None else ())
        yield from _of_file(place, f"{model.name}/{inner}", local, files, base, known)


def _of_config(model: TritonModel, files: Mapping[str, LockedFile], known: set[str]) -> Iterator[Difference]:
    path = f"{model.name}/{CONFIG_FILE}"
    known.add(path)
    content = print_text(model.config).encode()
    if path not in files:
        yield Difference(model.where(()), f"the model `{model.name}` was not uploaded")
    elif files[path].sha256 != hashlib.sha256(content).hexdigest():
        yield Difference(model.where(()), f"`{model.name}` was uploaded with another configuration")


def _of_file(
    place: Place,
    name: str,
    local: Path,
    files: Mapping[str, LockedFile],
    base: Path,
    known: set[str],
) -> Iterator[Difference]:
    """The differences of a file that the spec names, or of all files in a folder that it names."""
    uploaded = [path for path in files if path == name or path.startswith(f"{name}/")]
    known.update(uploaded)
    try:
        here = dict(files_at(name, local, Look(len(uploaded))))
    except Endless as endless:
        message = f"{written_path(local, base)} has {endless}, but {len(uploaded):,} files were uploaded"
        yield Difference(place, message)
        return
    if not uploaded and (here or not local.exists()):
        yield Difference(place, f"{name} was not uploaded")
        return
    for path in uploaded:
        source = f"{written_path(local, base)}{path.removeprefix(name)}"
        if files[path].source not in (source, None):
            yield Difference(place, f"{path} was uploaded from {files[path].source}, not from {source}")
    for path, file in here.items():
        if path not in files:
            yield Difference(place, f"{written_path(file, base)} was not uploaded")
        elif (how := how_it_differs(file, files[path])) is not None:
            yield Difference(place, f"{written_path(file, base)} {how}")


# ---------------------------------------------------------------- What was packed


def locked_archive(plan: "Plan", packed: "Packed", base: Path) -> LockedArchive:
    """The lock's entry for an archive. ``base`` is the folder of the spec."""
    files = {
        entry.name: _locked_file(entry, packed.contents[entry.name], base)
        for entry in plan.entries
        if not entry.is_folder
    }
    return LockedArchive(packed.size, packed.file_sha256, files)


def _locked_file(entry: ArchiveEntry, sha256: str, base: Path) -> LockedFile:
    local = entry.content.path if isinstance(entry.content, LocalFile) else None
    return LockedFile(entry.size, sha256, None if local is None else written_path(local, base))

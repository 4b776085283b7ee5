"""Existing model repositories: folders of models with their own ``config.pbtxt``."""

import stat
from pathlib import Path

from inferstack.problems import FilePlace, Problem, SpecPath
from inferstack.triton.model import (
    CONFIG_FILE,
    NO_REPOSITORY,
    Repository,
    TritonModel,
    likely_default_model,
    only_model,
)
from inferstack.triton.repository.files import Folder, unfit_kind, why_junk
from inferstack.triton.repository.layout import (
    IN_FOLDER,
    IN_REPOSITORY,
    LARGEST_CONFIG,
    config_at_the_top,
    found_in,
    is_version_beside,
)


def read_repository(folder: Path, *, archive: str = "model.tar.gz", source: SpecPath = ()) -> Repository:
    """The models in the folders of ``folder``, sorted by name, as one archive of a single-model endpoint.

    Never raises for what is wrong in it: that is in ``faults``.
    """
    models, faults = found_in(_tree(folder), folder.name, IN_REPOSITORY, _read, multi_model=False)
    return Repository(archive, models, only_model(models), source, faults)


def read_archive_folders(folder: Path, *, source: SpecPath = ()) -> tuple[Repository, ...]:
    """For a multi-model endpoint: each folder in ``folder`` is what goes into one archive.

    A folder with a ``config.pbtxt`` is a model, and its archive has that one model; else the folders in it
    are the models, as an ensemble needs them.
    """
    top = _tree(folder)
    misplaced = [_archive(folder, source, faults=(fault,)) for fault in config_at_the_top(top, IN_REPOSITORY)]
    linked = [_archive(folder / it, source, faults=(fault,)) for it, fault in top.in_place_of_models.items()]
    inside = [_archive_of(it, source) for it in top.subfolders() if not is_version_beside(it, top)]
    if misplaced or linked or inside:
        return (*misplaced, *linked, *inside)
    fix = f"put what goes into each archive into a folder: NAME/{CONFIG_FILE}, or NAME/MODEL/{CONFIG_FILE}"
    fault = Problem(FilePlace(folder.as_posix()), "the repository has no folder", fix, NO_REPOSITORY)
    return (_archive(folder, source, faults=(fault,)),)


def _archive_of(folder: Folder, source: SpecPath) -> Repository:
    found = found_in(folder, folder.path.name, IN_FOLDER, _read, multi_model=True)
    return _archive(folder.path, source, *found)


def _archive(
    folder: Path, source: SpecPath, models: tuple[TritonModel, ...] = (), faults: tuple[Problem, ...] = ()
) -> Repository:
    served = likely_default_model(models)
    return Repository(f"{folder.name}.tar.gz", models, served, source, faults, multi_model=True)


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.stat().st_size <= LARGEST_CONFIG else None


def _tree(path: Path) -> Folder:
    """A folder of this machine, without what is never packed."""
    folder = Folder(path)
    for found in _entries(path):
        if why_junk(found.name) is None:
            _add(folder, found, _mode(found))
    return folder


def _add(folder: Folder, found: Path, mode: int) -> None:
    wrong = unfit_kind(found, mode)
    if wrong is not None:
        fault = Problem(FilePlace(found.as_posix()), wrong.message, wrong.fix, wrong.code)
        folder.unfit[found.name] = fault
        # Beside models only folders are packed, and a link to a file cannot be meant as one.
        if not stat.S_ISLNK(mode) or _leads_to_a_file(found):
            folder.loose.add(found.name)
    elif stat.S_ISDIR(mode):
        folder.folders[found.name] = _tree(found)
    else:
        folder.files[found.name] = found


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        # The packer reads every file and reports what it cannot read; a check reports what it can see.
        return []


def _mode(path: Path) -> int:
    """The mode of the file itself, not of what a link leads to; that of a plain file if it cannot be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return stat.S_IFREG


def _leads_to_a_file(link: Path) -> bool:
    try:
        return stat.S_ISREG(link.stat().st_mode)
    except OSError:
        return False

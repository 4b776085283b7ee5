"""Existing model repositories: folders of models with their own ``config.pbtxt``."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from inferstack.spec.problem import SpecPath
from inferstack.triton.config.messages import ConfigError, model_config_class, parse_text
from inferstack.triton.config.positions import Position, field_positions
from inferstack.triton.model import (
    CONFIG_FILE,
    NO_REPOSITORY,
    UNREADABLE,
    Fault,
    FieldPath,
    FilePlace,
    Place,
    Repository,
    TritonModel,
    sole,
    the_one,
)
from inferstack.triton.repository.admission import unfit_kind
from inferstack.triton.repository.junk import why_junk
from inferstack.triton.versions import version_folders

_LARGEST = 1024 * 1024


def read_repository(folder: Path, *, archive: str = "model.tar.gz", source: SpecPath = ()) -> Repository:
    """The models in the folders of ``folder``, sorted by name, as one archive of a single-model endpoint.

    Never raises for what is wrong in it: that stands in ``faults``.
    """
    models, faults = _read_models(_model_folders(folder))
    faults = (*_layout_faults(folder), *_links(folder).values(), *faults)
    return Repository(archive, models, sole(models), "single", source, faults)


def read_archive_folders(folder: Path, *, source: SpecPath = ()) -> tuple[Repository, ...]:
    """For a multi-model endpoint: each folder in ``folder`` is what goes into one archive.

    A folder with a ``config.pbtxt`` is a model and its archive has that one model; else the folders in it
    are the models, as an ensemble needs it.
    """
    linked = [_archive(found, source, faults=(fault,)) for found, fault in _links(folder).items()]
    archives = (*linked, *(_archive_of(found, source) for found in _subfolders(folder)))
    if archives:
        return archives
    fix = f"put what goes into each archive into a folder: NAME/{CONFIG_FILE}, or NAME/MODEL/{CONFIG_FILE}"
    fault = Fault(NO_REPOSITORY, FilePlace(folder.as_posix()), "the repository has no folder", fix)
    return (_archive(folder, source, faults=(fault,)),)


def _archive_of(folder: Path, source: SpecPath) -> Repository:
    if _has_config(folder):
        return _archive(folder, source, *_read_models([folder]))
    found = read_repository(folder, source=source)
    return _archive(folder, source, found.models, found.faults)


def _archive(
    folder: Path, source: SpecPath, models: tuple[TritonModel, ...] = (), faults: tuple[Fault, ...] = ()
) -> Repository:
    served = the_one(models)
    return Repository(f"{folder.name}.tar.gz", models, served, "multi-model", source, faults)


def model_from_text(
    folder: Path, text: str | None, files: Mapping[str, Path], folders: tuple[str, ...], name: str = ""
) -> TritonModel:
    """A model of which ``config.pbtxt``, its files and its folders are known; without the text it is empty.
    It is called like its folder unless a name is given.

    Raises:
        ConfigError: when the text is no ``ModelConfig``.
    """
    config = model_config_class()() if text is None else parse_text(text)
    versions = version_folders(folders)
    where = _places((folder / CONFIG_FILE).as_posix(), text or "")
    return TritonModel(name or folder.name, config, files, versions, where, text, folders, folder)


def _places(file: str, text: str) -> Any:
    @cache
    def positions() -> Mapping[FieldPath, Position]:
        return field_positions(text)

    def where(path: FieldPath) -> Place:
        for length in range(len(path), 0, -1):
            if path[:length] in positions():
                return FilePlace(file, *positions()[path[:length]])
        return FilePlace(file)

    return where


def _read_models(folders: Iterable[Path]) -> tuple[tuple[TritonModel, ...], tuple[Fault, ...]]:
    """The models of some folders, and why others are none that can be read."""
    models: list[TritonModel] = []
    faults: list[Fault] = []
    for folder in folders:
        contents = list(_contents(folder))
        unfit = [fault for _, found, mode in contents if (fault := _unfit(found, mode)) is not None]
        if unfit:
            # What a link leads to is no part of the model, so that there is nothing whole to judge.
            faults += unfit
            continue
        try:
            models.append(_read_model(folder, {path: found for path, found, _ in contents}))
        except ConfigError as error:
            place = FilePlace((folder / CONFIG_FILE).as_posix(), error.line, error.column)
            fix = "correct the file; Triton refuses all of it"
            faults.append(Fault(UNREADABLE, place, f"{CONFIG_FILE} cannot be read: {error.message}", fix))
    return tuple(models), tuple(faults)


def _read_model(folder: Path, contents: Mapping[str, Path]) -> TritonModel:
    text = _read_text(folder / CONFIG_FILE) if CONFIG_FILE in contents else None
    files = {path: file for path, file in contents.items() if path != CONFIG_FILE}
    folders = tuple(found.name for found in _subfolders(folder))
    return model_from_text(folder, text, files, folders)


def _read_text(file: Path) -> str:
    try:
        content = file.read_bytes() if file.stat().st_size <= _LARGEST else None
    except OSError as error:
        raise ConfigError(f"{error.strerror}") from None
    if content is None:
        raise ConfigError(f"it is larger than {_LARGEST} bytes")
    return decode(content)


def decode(content: bytes) -> str:
    """The text of a ``config.pbtxt``.

    Raises:
        ConfigError: when it is not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError("it is not UTF-8", line) from None


def _contents(folder: Path, prefix: str = "") -> Iterator[tuple[str, Path, int]]:
    """What is packed of a folder but the folders in it, by its path there, with what kind of file it is."""
    for found in _entries(folder):
        path, mode = f"{prefix}{found.name}", _mode(found)
        if why_junk(found.name) is not None:
            continue
        if stat.S_ISDIR(mode):
            yield from _contents(found, f"{path}/")
        else:
            yield path, found, mode


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        # The packer reads every file and says what it cannot; a check tells what it can see.
        return []


def _mode(path: Path) -> int:
    """What kind of file it is itself, not what a link leads to; a plain one where that cannot be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return stat.S_IFREG


def _has_config(folder: Path) -> bool:
    config = folder / CONFIG_FILE
    return os.path.lexists(config) and not stat.S_ISDIR(_mode(config))


def _subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, without those that the packer leaves out."""
    return [it for it in _entries(folder) if stat.S_ISDIR(_mode(it)) and why_junk(it.name) is None]


def _links(folder: Path) -> Mapping[Path, Fault]:
    """Links in the place of models. One to a file lies beside the models, where nothing is packed."""
    links = [it for it in _entries(folder) if stat.S_ISLNK(_mode(it)) and why_junk(it.name) is None]
    found = {link: _unfit(link, _mode(link)) for link in links if not _leads_to_a_file(link)}
    return {link: fault for link, fault in found.items() if fault is not None}


def _leads_to_a_file(link: Path) -> bool:
    try:
        return stat.S_ISREG(link.stat().st_mode)
    except OSError:
        return False


def _unfit(found: Path, mode: int) -> Fault | None:
    wrong = unfit_kind(found, mode)
    if wrong is None:
        return None
    return Fault(wrong.code, FilePlace(found.as_posix()), wrong.message, wrong.fix)


def _model_folders(folder: Path) -> list[Path]:
    return [found for found in _subfolders(folder) if not _is_layer(found)]


def _is_layer(folder: Path) -> bool:
    """Whether the folder holds models instead of being one."""
    return not _has_config(folder) and any(_has_config(inner) for inner in _subfolders(folder))


def _layout_faults(folder: Path) -> Iterator[Fault]:
    if _has_config(folder):
        message = f"{CONFIG_FILE} lies at the top of the repository, where the folders of models belong"
        place = FilePlace((folder / CONFIG_FILE).as_posix())
        yield Fault(NO_REPOSITORY, place, message, "name the folder above, or put the model into a folder")
    elif not _subfolders(folder) and not _links(folder):
        place = FilePlace(folder.as_posix())
        fix = f"put each model into a folder of its own: NAME/{CONFIG_FILE}, NAME/1/…"
        yield Fault(NO_REPOSITORY, place, "the repository has no model", fix)
    for found in _subfolders(folder):
        if _is_layer(found):
            message = f"{found.name} holds models instead of being one: there is a folder too many"
            fix = f"name {found.as_posix()} as the repository"
            yield Fault(NO_REPOSITORY, FilePlace(found.as_posix()), message, fix)

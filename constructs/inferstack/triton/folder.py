"""Existing model repositories: folders of models with their own ``config.pbtxt``."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from inferstack.spec.problem import SpecPath
from inferstack.triton.archive.junk import why_junk
from inferstack.triton.messages import ConfigError, model_config_class, parse_text
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
)
from inferstack.triton.positions import Position, field_positions
from inferstack.triton.versions import version_folders

__all__ = [
    "NO_REPOSITORY",
    "UNREADABLE",
    "decode",
    "model_from_text",
    "read_archive_folders",
    "read_repository",
    "served_by_multi_model",
]

_LARGEST = 1024 * 1024


def read_repository(folder: Path, *, archive: str = "model.tar.gz", source: SpecPath = ()) -> Repository:
    """The models in the folders of ``folder``, sorted by name, as one archive of a single-model endpoint.

    Never raises for what is wrong in it: that stands in ``faults``.
    """
    models: list[TritonModel] = []
    faults = list(_layout_faults(folder))
    for found in _model_folders(folder):
        try:
            models.append(_read_model(found))
        except ConfigError as error:
            place = FilePlace((found / CONFIG_FILE).as_posix(), error.line, error.column)
            fix = "correct the file; Triton refuses all of it"
            faults.append(Fault(UNREADABLE, place, f"{CONFIG_FILE} cannot be read: {error.message}", fix))
    return Repository(archive, tuple(models), _default(models), "single", source, tuple(faults))


def read_archive_folders(folder: Path, *, source: SpecPath = ()) -> tuple[Repository, ...]:
    """For a multi-model endpoint: each folder in ``folder`` is what goes into one archive.

    A folder with a ``config.pbtxt`` is a model and its archive has that one model; else the folders in it
    are the models, as an ensemble needs it.
    """
    return tuple(_archive_of(found, source) for found in _subfolders(folder))


def _archive_of(folder: Path, source: SpecPath) -> Repository:
    alone = (folder / CONFIG_FILE).is_file()
    found = read_repository(folder, source=source) if not alone else _one_model(folder, source)
    served = served_by_multi_model(found.models)
    return Repository(f"{folder.name}.tar.gz", found.models, served, "multi-model", source, found.faults)


def _one_model(folder: Path, source: SpecPath) -> Repository:
    """A repository of one of the folders beside it."""
    try:
        model = _read_model(folder)
    except ConfigError as error:
        place = FilePlace((folder / CONFIG_FILE).as_posix(), error.line, error.column)
        fault = Fault(UNREADABLE, place, f"{CONFIG_FILE} cannot be read: {error.message}", "correct the file")
        return Repository("", (), None, "multi-model", source, (fault,))
    return Repository("", (model,), model.name, "multi-model", source)


def served_by_multi_model(models: tuple[TritonModel, ...]) -> str | None:
    """The model of a multi-model archive that answers: the ensemble, or the only one; else None."""
    if len(models) == 1:
        return models[0].name
    ensembles = [model.name for model in models if model.config.HasField("ensemble_scheduling")]
    return ensembles[0] if len(ensembles) == 1 else None


def _default(models: list[TritonModel]) -> str | None:
    return models[0].name if len(models) == 1 else None


def model_from_text(
    name: str, text: str | None, file: str, files: Mapping[str, Path], folders: tuple[str, ...]
) -> TritonModel:
    """A model of which ``config.pbtxt``, its files and its folders are known; without the text it is empty.

    Raises:
        ConfigError: when the text is no ``ModelConfig``.
    """
    config = model_config_class()() if text is None else parse_text(text)
    versions = version_folders(folders)
    where = _places(file, text or "")
    return TritonModel(name, config, files, versions, where, text, folders, complete=text is not None)


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


def _read_model(folder: Path) -> TritonModel:
    config = folder / CONFIG_FILE
    # Packing refuses links; read, one could show a part of a foreign file in a report.
    for found in (folder, config):
        if found.is_symlink():
            raise ConfigError(f"{found.name} is a link, which may lead out of the repository")
    text = _read_text(config) if config.is_file() else None
    files = {path: file for path, file in _files(folder) if path != CONFIG_FILE}
    folders = tuple(found.name for found in _subfolders(folder))
    return model_from_text(folder.name, text, config.as_posix(), files, folders)


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


def _files(folder: Path, prefix: str = "") -> Iterator[tuple[str, Path]]:
    for found in _entries(folder):
        path = f"{prefix}{found.name}"
        # A link is a file here: whoever packs it decides what becomes of it, and it may lead in a circle.
        if found.is_dir() and not found.is_symlink():
            yield from _files(found, f"{path}/")
        else:
            yield path, found


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        # The packer reads every file and says what it cannot; a check tells what it can see.
        return []


def _subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, without those that the packer leaves out."""
    return [found for found in _entries(folder) if found.is_dir() and why_junk(found.name) is None]


def _model_folders(folder: Path) -> list[Path]:
    return [found for found in _subfolders(folder) if not _is_layer(found)]


def _is_layer(folder: Path) -> bool:
    """Whether the folder holds models instead of being one."""
    return not (folder / CONFIG_FILE).is_file() and any(
        (inner / CONFIG_FILE).is_file() for inner in _subfolders(folder)
    )


def _layout_faults(folder: Path) -> Iterator[Fault]:
    if (folder / CONFIG_FILE).is_file():
        message = f"{CONFIG_FILE} lies at the top of the repository, where the folders of models belong"
        place = FilePlace((folder / CONFIG_FILE).as_posix())
        yield Fault(NO_REPOSITORY, place, message, "name the folder above, or put the model into a folder")
    elif not _subfolders(folder):
        place = FilePlace(folder.as_posix())
        fix = f"put each model into a folder of its own: NAME/{CONFIG_FILE}, NAME/1/…"
        yield Fault(NO_REPOSITORY, place, "the repository has no model", fix)
    for found in _subfolders(folder):
        if _is_layer(found):
            message = f"{found.name} holds models instead of being one: there is a folder too many"
            fix = f"name {found.as_posix()} as the repository"
            yield Fault(NO_REPOSITORY, FilePlace(found.as_posix()), message, fix)

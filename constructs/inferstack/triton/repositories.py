"""The model repositories of a spec: what is in its ``triton`` block, or where that block points to."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inferstack.catalog.triton_container import DEFAULT_MODEL, set_variable
from inferstack.facts.triton import PlacedTriton, default_model, triton_blocks
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import TritonArchive
from inferstack.problems import Place, Problem, SpecPath
from inferstack.triton.config import ConfigError, config_from_spec
from inferstack.triton.folders import read_archive_folder, read_archive_folders, read_repository
from inferstack.triton.model import (
    MISSING_FOLDER,
    NO_REPOSITORY,
    UNREADABLE,
    FieldPath,
    Repository,
    TritonModel,
    likely_default_model,
    version_folders,
)
from inferstack.triton.repository_files import lies_in


def repositories_of(spec: ModelSpec, base_dir: Path) -> tuple[Repository, ...]:
    """The archives that a spec declares: one for each repository, or as many as a multi-model one names.

    Local files are relative to ``base_dir``, the folder of the spec file. What cannot be read is in
    ``faults``, and so is an existing repository whose folder is not there.
    """
    return tuple(one for placed in triton_blocks(spec) for one in repositories_at(placed, base_dir))


def repositories_at(placed: PlacedTriton, base_dir: Path) -> tuple[Repository, ...]:
    """The archives of one ``triton`` block: see :func:`repositories_of`."""
    triton = placed.block
    if triton.repository is not None:
        return tuple(_existing(placed, triton.repository, base_dir))
    if triton.archives is not None:
        return tuple(_archives(placed, triton.archives, base_dir))
    if triton.models is None or placed.multi_model:
        return ()
    by_environment = any(set_variable(it.environment, DEFAULT_MODEL) for it in placed.loaders)
    default = None if triton.default_model is None and by_environment else default_model(triton)
    return (_declared(placed.archive, triton.models, placed.path, base_dir, default=default),)


def _existing(placed: PlacedTriton, repository: str, base_dir: Path) -> Iterator[Repository]:
    """The archives of a repository in a folder."""
    source: SpecPath = (*placed.path, "repository")
    folder = base_dir / repository
    named = placed.block.default_model
    fault = _no_folder(folder, source)
    outside = not lies_in(folder, [base_dir.resolve()])
    if fault is not None:
        yield Repository(placed.archive, (), named, source, (fault,), outside=outside)
    elif placed.multi_model:
        for archive in read_archive_folders(folder, source=source):
            yield replace(archive, outside=outside)
    else:
        found = read_repository(folder, archive=placed.archive, source=source)
        default = found.default_model if named is None else named
        yield replace(found, default_model=default, outside=outside)


def _archives(
    placed: PlacedTriton, declared: Mapping[str, TritonArchive], base_dir: Path
) -> Iterator[Repository]:
    """The archives of a multi-model endpoint that are declared one by one."""
    for name, archive in declared.items():
        source: SpecPath = (*placed.path, "archives", name)
        if archive.repository is None:
            yield _declared(name, archive.models or {}, source, base_dir, multi_model=True)
            continue
        source, folder = (*source, "repository"), base_dir / archive.repository
        fault = _no_folder(folder, source)
        if fault is not None:
            found = Repository(name, (), None, source, (fault,), multi_model=True)
        else:
            found = read_archive_folder(folder, archive=name, source=source)
        yield replace(found, outside=not lies_in(folder, [base_dir.resolve()]))


def _no_folder(folder: Path, source: SpecPath) -> Problem | None:
    """Why there is no folder to read models from; None if there is one."""
    if folder.is_file():
        message = f"{folder.as_posix()} is a file, not a folder"
        return Problem(source, message, "name the folder that holds those of the models", NO_REPOSITORY)
    if folder.is_dir():
        return None
    message = f"{folder.as_posix()} does not exist, so its models cannot be checked"
    fix = "paths are relative to the folder of the spec file; ignore IS902 if it is only on other machines"
    return Problem(source, message, fix, MISSING_FOLDER)


def _declared(
    archive: str,
    declared: Mapping[str, Mapping[str, Any]],
    source: SpecPath,
    base_dir: Path,
    *,
    default: str | None = None,
    multi_model: bool = False,
) -> Repository:
    models: list[TritonModel] = []
    faults: list[Problem] = []
    for name, mapping in declared.items():
        path = (*source, "models", name)
        try:
            models.append(_model(name, mapping, path, base_dir))
        except ConfigError as error:
            fix = "correct the value; Triton's own definition of its configuration refuses it"
            faults.append(Problem(path, error.message, fix, UNREADABLE))
    if multi_model:
        default = likely_default_model(models)
    found = Repository(archive, tuple(models), default, source, tuple(faults), multi_model=multi_model)
    return replace(found, strangers=_strangers(models, base_dir.resolve()))


def _strangers(models: Iterable[TritonModel], base_dir: Path) -> frozenset[Path]:
    """The local files of models that are not in the folder of the spec."""
    files = {local for model in models for local in model.files.values()}
    return frozenset(local for local in files if not lies_in(local, [base_dir]))


def _model(name: str, mapping: Mapping[str, Any], path: SpecPath, base_dir: Path) -> TritonModel:
    def where(field: FieldPath) -> Place:
        return (*path, *field)

    files = {inner: base_dir / local for inner, local in mapping.get("files", {}).items()}
    folders = tuple(dict.fromkeys(path.partition("/")[0] for path in files if "/" in path))
    versions = version_folders(folders) or ("1",)
    return TritonModel(name, config_from_spec(mapping), files, versions, where, None, folders)

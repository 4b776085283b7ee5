"""The model repositories of a spec: what is in its ``triton`` block, or where that block points to."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inferstack.catalog.triton_container import DEFAULT_MODEL, set_variable
from inferstack.facts.triton import PlacedTriton, default_model, triton_blocks
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Place, Problem, SpecPath
from inferstack.triton.config import ConfigError, config_from_spec
from inferstack.triton.folders import read_archive_folders, read_repository
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
        folder = base_dir / triton.repository
        outside = not lies_in(folder, [base_dir.resolve()])
        return tuple(replace(found, outside=outside) for found in _existing(placed, folder))
    if triton.archives is not None:
        source = (*placed.path, "archives")
        return tuple(
            _declared(name, archive.models, (*source, name), base_dir, multi_model=True)
            for name, archive in triton.archives.items()
        )
    if triton.models is None or placed.multi_model:
        return ()
    default = default_model(triton)
    if triton.default_model is None and _chosen_by_environment(placed):
        default = None
    return (_declared(placed.archive, triton.models, placed.path, base_dir, default=default),)


def _chosen_by_environment(placed: PlacedTriton) -> bool:
    return any(set_variable(it.environment, DEFAULT_MODEL) for it in placed.loaders)


def _existing(placed: PlacedTriton, folder: Path) -> tuple[Repository, ...]:
    source: SpecPath = (*placed.path, "repository")
    named = placed.block.default_model
    if folder.is_file():
        message = f"{folder.as_posix()} is a file, not a folder"
        fault = Problem(source, message, "name the folder that holds those of the models", NO_REPOSITORY)
        return (Repository(placed.archive, (), named, source, (fault,)),)
    if not folder.is_dir():
        message = f"{folder.as_posix()} does not exist, so its models cannot be checked"
        fix = (
            "paths are relative to the folder of the spec file; ignore IS902 if it is only on other machines"
        )
        fault = Problem(source, message, fix, MISSING_FOLDER)
        return (Repository(placed.archive, (), named, source, (fault,)),)
    if placed.multi_model:
        return read_archive_folders(folder, source=source)
    found = read_repository(folder, archive=placed.archive, source=source)
    return (replace(found, default_model=found.default_model if named is None else named),)


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
    return Repository(archive, tuple(models), default, source, tuple(faults), multi_model=multi_model)


def _model(name: str, mapping: Mapping[str, Any], path: SpecPath, base_dir: Path) -> TritonModel:
    def where(field: FieldPath) -> Place:
        return (*path, *field)

    files = {inner: base_dir / local for inner, local in mapping.get("files", {}).items()}
    folders = tuple(dict.fromkeys(_folders(files)))
    versions = version_folders(folders) or ("1",)
    return TritonModel(name, config_from_spec(mapping), files, versions, where, None, folders)


def _folders(files: Mapping[str, Path]) -> Iterator[str]:
    for path in files:
        if "/" in path:
            yield path.partition("/")[0]

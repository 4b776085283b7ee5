"""The model repositories of a spec: what is in its ``triton`` block, or where that block points to."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from inferstack.spec.blocks.kinds import (
    InferenceComponentsSpec,
    ModelBackedSpec,
    ModelSpec,
    MultiModelSpec,
)
from inferstack.spec.blocks.triton import Triton
from inferstack.spec.problem import SpecPath
from inferstack.triton.config import config_from_spec
from inferstack.triton.folder import (
    model_from_text,
    read_archive_folders,
    read_repository,
    served_by_multi_model,
)
from inferstack.triton.messages import ConfigError
from inferstack.triton.model import (
    CONFIG_FILE,
    MISSING_FOLDER,
    UNREADABLE,
    Fault,
    FieldPath,
    FilePlace,
    Place,
    Repository,
    TritonModel,
)
from inferstack.triton.versions import version_folders

__all__ = [
    "CONFIG_FILE",
    "Fault",
    "FieldPath",
    "FilePlace",
    "Place",
    "Repository",
    "TritonModel",
    "missing_folder",
    "model_from_text",
    "read_repository",
    "repositories_of",
    "triton_block",
]

ARCHIVE = "model.tar.gz"
"""Name of the archive where the endpoint has one."""


def triton_block(spec: ModelSpec) -> Triton | None:
    """The ``triton`` block of a spec, if its kind has one and it is there."""
    return spec.triton if isinstance(spec, ModelBackedSpec | InferenceComponentsSpec) else None


def repositories_of(spec: ModelSpec, base_dir: Path) -> tuple[Repository, ...]:
    """The archives that a spec declares: one, or for a multi-model endpoint as many as it names.

    Local files are relative to ``base_dir``, the folder of the spec file. What cannot be read, also an
    existing repository whose folder is not there, stands in ``faults``.
    """
    triton = triton_block(spec)
    if triton is None:
        return ()
    if triton.repository is not None:
        return _existing(spec, triton, base_dir / triton.repository)
    if triton.archives is not None:
        return tuple(
            _declared(name, archive.models, ("triton", "archives", name), base_dir, "multi-model", None)
            for name, archive in triton.archives.items()
        )
    if triton.models is None or isinstance(spec, MultiModelSpec):
        return ()
    return (_declared(ARCHIVE, triton.models, ("triton",), base_dir, "single", triton.default_model),)


def missing_folder(spec: ModelSpec, base_dir: Path) -> Path | None:
    """The folder that ``triton.repository`` names, if it is not there."""
    triton = triton_block(spec)
    if triton is None or triton.repository is None or (base_dir / triton.repository).is_dir():
        return None
    return base_dir / triton.repository


def _existing(spec: ModelSpec, triton: Triton, folder: Path) -> tuple[Repository, ...]:
    source: SpecPath = ("triton", "repository")
    if not folder.is_dir():
        message = f"{folder.as_posix()} is not there, so that its models cannot be checked"
        fix = "paths count from the folder of the spec file; ignore IS902 where only others have it"
        fault = Fault(MISSING_FOLDER, source, message, fix)
        return (Repository(ARCHIVE, (), triton.default_model, "single", source, (fault,)),)
    if isinstance(spec, MultiModelSpec):
        return read_archive_folders(folder, source=source)
    found = read_repository(folder, archive=ARCHIVE, source=source)
    default = found.default_model if triton.default_model is None else triton.default_model
    return (Repository(ARCHIVE, found.models, default, "single", source, found.faults),)


def _declared(
    archive: str,
    declared: Mapping[str, Mapping[str, Any]],
    source: SpecPath,
    base_dir: Path,
    kind: Literal["single", "multi-model"],
    default: str | None,
) -> Repository:
    models: list[TritonModel] = []
    faults: list[Fault] = []
    for name, mapping in declared.items():
        path = (*source, "models", name)
        try:
            models.append(_model(name, mapping, path, base_dir))
        except ConfigError as error:
            fix = "correct the value; Triton's own definition of its configuration refuses it"
            faults.append(Fault(UNREADABLE, path, error.message, fix))
    if kind == "multi-model":
        default = served_by_multi_model(tuple(models))
    elif default is None and len(models) == 1:
        default = models[0].name
    return Repository(archive, tuple(models), default, kind, source, tuple(faults))


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

"""The models in an archive that somebody made, from the names in it and its ``config.pbtxt`` files.

How the container looks for them: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
and, for one archive of a multi-model endpoint, src/sagemaker_server.cc beside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inferstack.triton.config.messages import ConfigError
from inferstack.triton.model import (
    CONFIG_FILE,
    NO_REPOSITORY,
    UNREADABLE,
    Fault,
    FilePlace,
    Repository,
    RepositoryKind,
    TritonModel,
    the_one,
)
from inferstack.triton.repository.folder import decode, model_from_text
from inferstack.triton.repository.junk import why_junk

LARGEST_CONFIG = 1 << 20
"""Bytes of a ``config.pbtxt`` that are looked at."""
MOST_MODELS = 1_000
"""Folders of models that are looked at. No container serves as many, and rules compare them."""
_SUFFIX = ".tar.gz"
# An archive is judged as an existing repository is.
_SOURCE = ("triton", "repository")


@dataclass(frozen=True, slots=True)
class Contents:
    """Files of an archive by path, with the bytes of a ``config.pbtxt`` (None if too many), and folders.

    Only the two upper layers of folders are kept: models, and the versions in them.
    """

    archive: Path
    files: dict[str, bytes | None] = field(default_factory=dict)
    _folders: dict[str, set[str]] = field(default_factory=dict)
    _files_of: dict[str, list[str]] = field(default_factory=dict)

    def add_file(self, path: str, content: bytes | None) -> None:
        """Adds a file and the folders that it lies in."""
        self.files[path] = content
        folder, _, _ = path.rpartition("/")
        if folder:
            self.add_folder(folder)
            self._files_of.setdefault(path.split("/", 1)[0], []).append(path)

    def add_folder(self, path: str) -> None:
        """Adds a folder and those that it lies in."""
        top, *below = path.split("/", 2)
        self._folders.setdefault(top, set()).update(below[:1])

    def has_folder(self, top: str) -> bool:
        """Whether there is a folder of this name at the top."""
        return top in self._folders

    def folders_in(self, folder: str) -> list[str]:
        """Names of the folders at the top (``""``) or in one there, sorted, without leftovers of tools."""
        names = self._folders.get(folder, set()) if folder else self._folders
        return sorted(name for name in names if why_junk(name) is None)

    def files_under(self, folder: str) -> Mapping[str, Path]:
        """Paths below, without ``config.pbtxt``; what they map to is in no folder of this machine."""
        found = self._files_of.get(folder, []) if folder else self.files
        below = (path.removeprefix(_prefix(folder)) for path in sorted(found))
        return {path: self.archive / _prefix(folder) / path for path in below if path != CONFIG_FILE}


def _prefix(folder: str) -> str:
    return f"{folder}/" if folder else ""


def repository_in(contents: Contents, kind: RepositoryKind) -> Repository:
    """The models of an archive that a container of this kind loads, with what keeps it from finding them.

    The default is the only model or the only ensemble, as whoever deploys it will have to say.
    """
    if kind == "multi-model" and CONFIG_FILE in contents.files:
        return _model_at_the_top(contents)
    models: list[TritonModel] = []
    faults = list(_layout_faults(contents))
    folders = _model_folders(contents)
    if len(folders) > MOST_MODELS:
        faults.append(_too_many_models(contents, len(folders)))
    for folder in folders[:MOST_MODELS]:
        _read(contents, folder, folder, models, faults)
    default = the_one(models)
    return Repository(contents.archive.name, tuple(models), default, kind, _SOURCE, tuple(faults))


def _model_folders(contents: Contents) -> list[str]:
    """Folders of models. Beside a configuration at the top, a folder without its own is only a version."""
    if CONFIG_FILE in contents.files:
        return []
    return [folder for folder in contents.folders_in("") if not _is_layer(contents, folder)]


def _model_at_the_top(contents: Contents) -> Repository:
    """The archive is the model itself, as a multi-model endpoint allows; its name is the archive's."""
    models: list[TritonModel] = []
    faults: list[Fault] = []
    name = contents.archive.name.removesuffix(_SUFFIX)
    _read(contents, "", name, models, faults)
    return Repository(contents.archive.name, tuple(models), name, "multi-model", _SOURCE, tuple(faults))


def _read(contents: Contents, folder: str, name: str, models: list[TritonModel], faults: list[Fault]) -> None:
    file = f"{_prefix(folder)}{CONFIG_FILE}"
    place = f"{contents.archive.as_posix()}/{file}"
    try:
        text = _text(contents, file)
        files = contents.files_under(folder)
        folders = tuple(contents.folders_in(folder))
        models.append(model_from_text(contents.archive / folder, text, files, folders, name))
    except ConfigError as error:
        where = FilePlace(place, error.line, error.column)
        fix = "correct the file; Triton refuses all of it"
        faults.append(Fault(UNREADABLE, where, f"{CONFIG_FILE} cannot be read: {error.message}", fix))


def _text(contents: Contents, file: str) -> str | None:
    content = contents.files.get(file)
    if content is None and file in contents.files:
        raise ConfigError(f"it is larger than {LARGEST_CONFIG} bytes")
    return None if content is None else decode(content)


def _layout_faults(contents: Contents) -> Iterator[Fault]:
    archive = FilePlace(contents.archive.as_posix())
    if CONFIG_FILE in contents.files:
        message = f"{CONFIG_FILE} lies at the top of the archive, where the folders of models belong"
        fix = "pack the folder of the model, not what is in it"
        yield Fault(NO_REPOSITORY, archive, message, fix)
    elif not contents.folders_in(""):
        fix = f"put each model into a folder of its own: NAME/{CONFIG_FILE}, NAME/1/…"
        yield Fault(NO_REPOSITORY, archive, "the archive has no model", fix)
    for folder in contents.folders_in(""):
        if _is_layer(contents, folder):
            message = f"{folder} holds models instead of being one: there is a folder too many"
            yield Fault(NO_REPOSITORY, archive, message, f"pack from inside it: tar -C {folder} -czf …")


def _too_many_models(contents: Contents, count: int) -> Fault:
    message = f"the archive has {count:,} folders of models; the first {MOST_MODELS:,} were looked at"
    fix = "put models that are not called together into archives of their own"
    return Fault(NO_REPOSITORY, FilePlace(contents.archive.as_posix()), message, fix)


def _is_layer(contents: Contents, folder: str) -> bool:
    """Whether a folder holds models instead of being one."""
    inner = (f"{folder}/{name}/{CONFIG_FILE}" for name in contents.folders_in(folder))
    return f"{folder}/{CONFIG_FILE}" not in contents.files and any(file in contents.files for file in inner)

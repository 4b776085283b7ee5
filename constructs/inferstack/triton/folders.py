"""Which folders of a repository are models, and what keeps a container from finding them: in a folder of
this machine as in an archive.

How a container looks for them: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
and, for one archive of a multi-model endpoint, src/sagemaker_server.cc beside it.

Leftovers of tools, pointers of Git LFS and names that clash are reported by each source: an archive has
them, while of a folder the packer leaves them out or refuses them, once all files have to be there.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from inferstack.problems import FilePlace, Place, Problem, SpecPath
from inferstack.triton.config import ConfigError, Position, field_positions, model_config_class, parse_text
from inferstack.triton.model import (
    CONFIG_FILE,
    NO_REPOSITORY,
    UNREADABLE,
    FieldPath,
    Repository,
    TritonModel,
    likely_default_model,
    only_model,
    version_folders,
)
from inferstack.triton.repository_files import FETCH, Folder, pointer_of, unfit_kind, why_junk

LARGEST_CONFIG = 1 << 20
"""Bytes of the largest ``config.pbtxt`` that is read."""
MOST_MODELS = 1_000
"""Folders of models that are looked at. No container serves as many, and rules compare them."""
MOST_FILES = 100_000
"""Files and folders of a repository that are looked at: a Python environment has a third of that."""
MOST_CONFIGURATION = 16 << 20
"""Bytes of all ``config.pbtxt`` of a repository that are read. One has a few kilobytes."""
DEEPEST = 64
"""Folders in one another. Python's stack ends at a thousand."""
_IS_POINTER = "it is a Git LFS pointer"

Read = Callable[[Path], bytes | None]
"""The content of a ``config.pbtxt``, None if it is too large. Raises ``OSError`` when it cannot be read."""


class Words(msgspec.Struct, frozen=True):
    """What messages call the place where models are looked for, and the fixes of two mistakes there."""

    what: str
    config_at_the_top: str
    folder_too_many: str


IN_REPOSITORY = Words(
    "repository", "name the folder above, or put the model into a folder", "name {path} as the repository"
)
IN_FOLDER = replace(IN_REPOSITORY, what="folder", folder_too_many="move what is in it to {above}")
IN_ARCHIVE = Words(
    "archive", "pack the folder of the model, not what is in it", "pack from inside it: tar -C {name} -czf …"
)

Found = tuple[tuple[TritonModel, ...], tuple[Problem, ...]]
"""Models that could be read, and why others could not."""


def found_in(top: Folder, name: str, words: Words, read: Read, *, multi_model: bool) -> Found:
    """The models of an archive with the contents of ``top`` at its top, sorted by name.

    On a multi-model endpoint the archive may be the model itself, which is then called ``name``.
    """
    if top.fault is not None:
        return (), (top.fault,)
    if multi_model and top.has_config:
        return _read_all({name: top}, read)
    folders = {it.path.name: it for it in top.subfolders() if not (it.is_layer or is_version_beside(it, top))}
    models, faults = _read_all(dict(islice(folders.items(), MOST_MODELS)), read)
    return models, (*_layout_faults(top, len(folders), words), *top.in_place_of_models.values(), *faults)


def config_at_the_top(top: Folder, words: Words) -> Iterator[Problem]:
    """The problem of a folder that should hold models, or archives with some, but is a model itself."""
    if top.has_config:
        message = f"{CONFIG_FILE} is at the top of the {words.what}, where the folders of models belong"
        yield Problem(FilePlace(top.config.as_posix()), message, words.config_at_the_top, NO_REPOSITORY)


def is_version_beside(folder: Folder, top: Folder) -> bool:
    """Whether a folder without models, beside a configuration at the top, is only a version of that model."""
    return top.has_config and not (folder.has_config or folder.is_layer)


def _layout_faults(top: Folder, models: int, words: Words) -> Iterator[Problem]:
    here = FilePlace(top.path.as_posix())
    yield from config_at_the_top(top, words)
    if not (top.has_config or top.folders or top.in_place_of_models):
        fix = f"put each model into a folder of its own: NAME/{CONFIG_FILE}, NAME/1/…"
        yield Problem(here, f"the {words.what} has no model", fix, NO_REPOSITORY)
    for layer in (it for it in top.subfolders() if it.is_layer):
        path, name = layer.path.as_posix(), layer.path.name
        message = f"{name} holds models instead of being one: there is one folder level too many"
        fix = words.folder_too_many.format(path=path, name=name, above=here.file)
        yield Problem(FilePlace(path), message, fix, NO_REPOSITORY)
    if models > MOST_MODELS:
        count = f"{models:,} folders of models; the first {MOST_MODELS:,} were looked at"
        fix = "put models that are not called together into archives of their own"
        yield Problem(here, f"the {words.what} has {count}", fix, NO_REPOSITORY)


def _read_all(folders: Mapping[str, Folder], read: Read) -> Found:
    models: list[TritonModel] = []
    faults: list[Problem] = []
    for name, folder in folders.items():
        unfit = list(folder.all_unfit())
        if unfit:
            # A link's target is not part of the model, so the rest is incomplete and is not checked.
            faults += unfit
            continue
        try:
            models.append(_model(name, folder, read))
        except ConfigError as error:
            place = FilePlace(folder.config.as_posix(), error.line, error.column)
            fix = FETCH if error.message == _IS_POINTER else "correct the file; Triton refuses it as a whole"
            faults.append(Problem(place, f"{CONFIG_FILE} cannot be read: {error.message}", fix, UNREADABLE))
    return tuple(models), tuple(faults)


def _model(name: str, folder: Folder, read: Read) -> TritonModel:
    """The model in a folder; without a ``config.pbtxt`` its configuration is empty."""
    text = _text(folder.config, read) if CONFIG_FILE in folder.files else None
    config = model_config_class()() if text is None else parse_text(text)
    files = {path: file for path, file in sorted(folder.all_files()) if path != CONFIG_FILE}
    folders = tuple(sorted(folder.folders))
    where = _places(folder.config.as_posix(), text or "")
    return TritonModel(name, config, files, version_folders(folders), where, text, folders, folder.path)


def _text(file: Path, read: Read) -> str:
    try:
        content = read(file)
    except OSError as error:
        raise ConfigError(f"{error.strerror}") from None
    if content is None:
        raise ConfigError(f"it is larger than {LARGEST_CONFIG} bytes")
    if pointer_of(content) is not None:
        raise ConfigError(_IS_POINTER)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError("it is not UTF-8", line) from None


def _places(file: str, text: str) -> Callable[[FieldPath], Place]:
    @cache
    def positions() -> Mapping[FieldPath, Position]:
        return field_positions(text)

    def where(path: FieldPath) -> Place:
        for length in range(len(path), 0, -1):
            if path[:length] in positions():
                return FilePlace(file, *positions()[path[:length]])
        return FilePlace(file)

    return where


# ---------------------------------------------------------------- Repositories in folders of this machine


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
    if top.fault is not None:
        return (_archive(folder, source, faults=(top.fault,)),)
    misplaced = [_archive(folder, source, faults=(fault,)) for fault in config_at_the_top(top, IN_REPOSITORY)]
    linked = [_archive(folder / it, source, faults=(fault,)) for it, fault in top.in_place_of_models.items()]
    inside = [_archive_of(it, source) for it in top.subfolders() if not is_version_beside(it, top)]
    if misplaced or linked or inside:
        return (*misplaced, *linked, *inside)
    fix = f"put what goes into each archive into a folder: NAME/{CONFIG_FILE}, or NAME/MODEL/{CONFIG_FILE}"
    fault = Problem(FilePlace(folder.as_posix()), "the repository has no folder", fix, NO_REPOSITORY)
    return (_archive(folder, source, faults=(fault,)),)


def read_archive_folder(folder: Path, *, archive: str, source: SpecPath = ()) -> Repository:
    """For a multi-model endpoint: what goes into the archive of this name, a model or a folder of models."""
    return replace(_archive_of(_tree(folder), source), archive=archive)


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


class Endless(Exception):  # noqa: N818 - it ends a search
    """Says what there is too much of for a repository."""


class Look:
    """Counts what was looked at in a repository: its path may by mistake be that of a whole machine.

    ``known`` files of it are known, and may be looked at in addition to :data:`MOST_FILES`.
    """

    def __init__(self, known: int = 0) -> None:
        self._most = self._left = MOST_FILES + known
        self._bytes_left = MOST_CONFIGURATION

    def entries(self, folder: Path, depth: int) -> list[Path]:
        """What is in a folder, by name.

        Raises:
            Endless: when that is more than may still be looked at, or the folder is too deep in others.
        """
        if depth > DEEPEST:
            raise Endless(f"folders in one another more than {DEEPEST} deep")
        try:
            with os.scandir(folder) as inside:
                names = [it.name for it in islice(inside, self._left + 1)]
        except OSError:
            # The packer reads every file and reports what it cannot read; a check reports what it can see.
            return []
        self._left -= len(names)
        if self._left < 0:
            raise Endless(f"more than {self._most:,} files and folders")
        return [folder / name for name in sorted(names)]

    def configuration(self, file: Path) -> None:
        """Counts the bytes of a configuration that is going to be read."""
        with suppress(OSError):
            self._bytes_left -= min(file.lstat().st_size, LARGEST_CONFIG)
        if self._bytes_left < 0:
            raise Endless(f"more than {MOST_CONFIGURATION:,} bytes of {CONFIG_FILE}")


def _tree(path: Path) -> Folder:
    """A folder of this machine, without what is never packed."""
    try:
        return _looked_at(path, Look(), 0)
    except Endless as endless:
        message = f"{path.as_posix()} has {endless}, and no more are looked at"
        fix = "name the folder that holds those of the models, and keep what they do not need out of it"
        return Folder(path, fault=Problem(FilePlace(path.as_posix()), message, fix, NO_REPOSITORY))


def _looked_at(path: Path, look: Look, depth: int) -> Folder:
    folder = Folder(path)
    for found in look.entries(path, depth):
        if why_junk(found.name) is None:
            _add(folder, found, look, depth)
    return folder


def _add(folder: Folder, found: Path, look: Look, depth: int) -> None:
    mode = _mode(found)
    wrong = unfit_kind(found, mode)
    if wrong is not None:
        folder.unfit[found.name] = wrong
        # Beside models only folders are packed, and a link to a file cannot be meant as one.
        if not stat.S_ISLNK(mode) or _leads_to_a_file(found):
            folder.loose.add(found.name)
    elif stat.S_ISDIR(mode):
        folder.folders[found.name] = _looked_at(found, look, depth + 1)
    else:
        folder.files[found.name] = found
        if found.name == CONFIG_FILE:
            look.configuration(found)


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

"""Which folders are models, and what keeps a container from finding them: in a folder as in an archive.

How it looks for them: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
and, for one archive of a multi-model endpoint, src/sagemaker_server.cc beside it.

Leftovers of tools, pointers of Git LFS and names that clash are for each source to tell: an archive
has them, while of a folder the packer leaves them out or refuses them, once all files have to be there.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from inferstack.problems import FilePlace, Place, Problem
from inferstack.triton.model import (
    CONFIG_FILE,
    NO_REPOSITORY,
    UNREADABLE,
    FieldPath,
    TritonModel,
    version_folders,
)
from inferstack.triton.repository.config import ConfigError, model_config_class, parse_text
from inferstack.triton.repository.files import FETCH, Folder, pointer_of
from inferstack.triton.repository.positions import Position, field_positions

LARGEST_CONFIG = 1 << 20
"""Bytes of the largest ``config.pbtxt`` that is read."""
MOST_MODELS = 1_000
"""Folders of models that are looked at. No container serves as many, and rules compare them."""
_IS_POINTER = "it is a Git LFS pointer"

Read = Callable[[Path], bytes | None]
"""The content of a ``config.pbtxt``, None if it is too large. Raises ``OSError`` when it cannot be read."""


class Words(msgspec.Struct, frozen=True):
    """What messages call the place in which models are looked for, and the fixes of two mistakes there."""

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
    if multi_model and top.has_config:
        return _read_all({name: top}, read)
    folders = {it.path.name: it for it in top.subfolders() if not (it.is_layer or is_version_beside(it, top))}
    models, faults = _read_all(dict(islice(folders.items(), MOST_MODELS)), read)
    return models, (*_layout_faults(top, len(folders), words), *top.in_place_of_models.values(), *faults)


def config_at_the_top(top: Folder, words: Words) -> Iterator[Problem]:
    """The fault of a folder that should hold models, or archives with some, but is a model itself."""
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
        message = f"{name} holds models instead of being one: there is a folder too many"
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
            # What a link leads to is no part of the model, so that the rest is incomplete and is not judged.
            faults += unfit
            continue
        try:
            models.append(_model(name, folder, read))
        except ConfigError as error:
            place = FilePlace(folder.config.as_posix(), error.line, error.column)
            fix = FETCH if error.message == _IS_POINTER else "correct the file; Triton refuses all of it"
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

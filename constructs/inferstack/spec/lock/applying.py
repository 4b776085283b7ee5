"""A spec with the URLs of what was uploaded for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from inferstack.spec.blocks.base import Block
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.document import IN_PYTHON, Document
from inferstack.spec.lock.codes import STALE
from inferstack.spec.lock.destinations import Destination, destination_of
from inferstack.spec.lock.file import Upload, lock_path
from inferstack.spec.lock.reading import line_of, read_lock
from inferstack.spec.problem import Problem, SpecError, SpecPath
from inferstack.spec.triton_blocks import triton_blocks
from inferstack.triton.model import FilePlace, Place


def apply_lock(spec: ModelSpec, document: Document, stage: str | None) -> tuple[ModelSpec, list[Problem]]:
    """The spec as the lock beside its file has it deployed, and what keeps that from being known.

    Without a lock, or with problems, the spec as it is. A spec that was made in Python has no lock.
    """
    if document.file == IN_PYTHON:
        return spec, []
    path = lock_path(document.file)
    try:
        lock = read_lock(path)
        if lock is None:
            return spec, []
        if not any(triton_blocks(spec)):
            return spec, [] if lock.own(stage) is None else [_without_triton(path, lock.own(stage))]
        destination = destination_of(spec, document)
    except SpecError as error:
        return spec, list(error.problems)
    upload = lock.of(stage)
    problems = list(_problems(spec, document, stage, destination, upload))
    if problems or upload is None:
        return spec, problems
    return pointed(spec, destination, upload.url), []


def pointed(spec: ModelSpec, destination: Destination, url: str) -> ModelSpec:
    """The spec with another URL wherever it names the destination."""
    changed: ModelSpec = spec
    for path in destination.paths:
        changed = _with(changed, path, url)
    return changed


def has_only_stages(document: Document) -> bool:
    """Whether there is a lock that knows stages and nothing without one: then only stages are deployed."""
    if document.file == IN_PYTHON:
        return False
    try:
        lock = read_lock(lock_path(document.file))
    except SpecError:
        return False
    return lock is not None and lock.own(None) is None and bool(lock.stages)


def _with(value: Any, path: SpecPath, new: str) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    match value:
        case Block():
            name = str(step)
            return msgspec.structs.replace(value, **{name: _with(getattr(value, name), rest, new)})
        case dict():
            return {**value, step: _with(value[step], rest, new)}
        case _:
            return tuple(_with(it, rest, new) if at == step else it for at, it in enumerate(value))


def _without_triton(path: Path, upload: Upload | None) -> Problem:
    location = "" if upload is None else upload.location
    message = f"archives were uploaded for {location}, and the spec has no `triton` block"
    at = line_of(f'"{location}"', path.read_text(encoding="utf-8"))
    fix = "delete the lock, and name the model's files in the spec"
    return Problem(path.as_posix(), at, 1, STALE, message, fix)


def _problems(
    spec: ModelSpec,
    document: Document,
    stage: str | None,
    destination: Destination,
    upload: Upload | None,
) -> Iterator[Problem]:
    chosen = "" if stage is None else f" --stage {stage}"
    lock = lock_path(document.file).name
    fix = f"run `inferstack package {document.file}{chosen} --upload`, and commit {lock}"
    for place, message in _found(spec, document, stage, destination, upload):
        at = place if isinstance(place, FilePlace) else FilePlace(document.file, *document.position(place))
        path = () if isinstance(place, FilePlace) else place
        yield Problem(at.file, at.line, at.column, STALE, message, fix, path=path)


def _found(
    spec: ModelSpec,
    document: Document,
    stage: str | None,
    destination: Destination,
    upload: Upload | None,
) -> Iterator[tuple[Place, str]]:
    # Both bring protobuf, which a spec without a lock need not pay for.
    from inferstack.spec.lock.differences import differences  # noqa: PLC0415
    from inferstack.triton.repository import repositories_of  # noqa: PLC0415

    if upload is None or upload.location != destination.location:
        where = "" if stage is None else f" for the stage `{stage}`"
        other = "" if upload is None else f", only for {upload.location}"
        yield destination.paths[0], f"nothing was uploaded for {destination.location}{where}{other}"
        return
    base = Path(document.file).parent
    for difference in differences(repositories_of(spec, base), upload.archives, base):
        yield difference.place, difference.message

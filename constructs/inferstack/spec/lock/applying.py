"""A spec with the URLs of what was uploaded for it."""

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import msgspec

from inferstack.spec.blocks.base import Block
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.document import IN_PYTHON, Document
from inferstack.spec.lock.codes import STALE
from inferstack.spec.lock.destinations import Destination, destinations_of
from inferstack.spec.lock.file import Lock, Uploads, lock_path
from inferstack.spec.lock.reading import keys_of, line_of_key, read_lock
from inferstack.spec.problem import Problem, SpecError, SpecPath
from inferstack.triton.model import FilePlace, Place

_WITHOUT = "delete the lock, and name the model's files in the spec"


def apply_lock(spec: ModelSpec, document: Document, stage: str | None) -> tuple[ModelSpec, list[Problem]]:
    """The spec as the lock beside its file has it deployed, and what keeps that from being known.

    Without a lock, or with problems, the spec as it is. A spec that was made in Python has no lock.
    """
    if document.file == IN_PYTHON:
        return spec, []
    try:
        lock = read_lock(lock_path(document.file))
        if lock is None:
            return spec, []
        destinations = destinations_of(spec, document)
    except SpecError as error:
        return spec, list(error.problems)
    problems = list(_problems(destinations, lock, document, stage))
    if problems:
        return spec, problems
    deployed = spec
    for destination in destinations:
        deployed = pointed(deployed, destination, lock.of(stage)[destination.location].url)
    return deployed, []


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
    return lock is not None and not lock.uploads and bool(lock.stages)


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


def _problems(
    destinations: Sequence[Destination], lock: Lock, document: Document, stage: str | None
) -> Iterator[Problem]:
    uploads = lock.of(stage)
    declared = {destination.location for destination in destinations}
    fix = _what_to_run(document, stage)
    for destination in destinations:
        for place, message in _found(destination, uploads, declared, Path(document.file).parent, stage):
            path = () if isinstance(place, FilePlace) else place
            at = place if isinstance(place, FilePlace) else FilePlace(document.file, *document.position(path))
            yield Problem(at.file, at.line, at.column, STALE, message, fix, path=path)
    if declared <= uploads.keys():
        # Else they were moved, and that was said.
        yield from _left_over(lock, declared, document, stage, fix if destinations else _WITHOUT)


def _what_to_run(document: Document, stage: str | None) -> str:
    chosen = "" if stage is None else f" --stage {stage}"
    lock = lock_path(document.file).name
    return f"run `inferstack package {document.file}{chosen} --upload`, and commit {lock}"


def _left_over(
    lock: Lock, declared: Set[str], document: Document, stage: str | None, fix: str
) -> Iterator[Problem]:
    path = lock_path(document.file)
    for location in lock.own(stage):
        if location not in declared:
            message = f"archives were uploaded for {location}, and the spec has no `triton` block for it"
            at = line_of_key((*keys_of(stage), location), path.read_text(encoding="utf-8"))
            yield Problem(path.as_posix(), at, 1, STALE, message, fix)


def _found(
    destination: Destination, uploads: Uploads, declared: Set[str], base: Path, stage: str | None
) -> Iterator[tuple[Place, str]]:
    # It brings protobuf, which a spec without a lock need not pay for.
    from inferstack.spec.lock.differences import differences  # noqa: PLC0415

    upload = uploads.get(destination.location)
    if upload is None:
        where = "" if stage is None else f" for the stage `{stage}`"
        others = [it for it in uploads if it not in declared]
        only = f", only for {', '.join(others)}" if others else ""
        yield destination.paths[0], f"nothing was uploaded for {destination.location}{where}{only}"
        return
    for difference in differences(destination, upload.archives, base):
        yield difference.place, difference.message

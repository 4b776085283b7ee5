"""Puts the URLs of what was uploaded for a spec into the spec."""

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import msgspec

from inferstack.check.lock import SHARED, STALE
from inferstack.check.lock.destinations import Destination, destinations_of, uploaded_archives
from inferstack.check.lock.file import (
    FoundLock,
    Lock,
    LockedArchive,
    Uploads,
    keys_of,
    line_of_key,
    lock_path,
)
from inferstack.facts.triton import triton_blocks
from inferstack.format.base import Block
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Place, Problem, SpecError, SpecPath
from inferstack.source.document import IN_PYTHON, Document
from inferstack.source.spec_file import SUFFIXES

_WITHOUT = "delete the lock, and name the model's files in the spec"


class Applied(msgspec.Struct, frozen=True):
    """A spec with the URLs from its lock; if there are problems, these and the spec unchanged.

    ``uploaded`` are the archives in the lock, by the names of the archives that are packed from the spec.
    """

    spec: ModelSpec
    # No proxy, which could not be copied into another process.
    uploaded: Mapping[str, LockedArchive] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def apply_lock(spec: ModelSpec, document: Document, stage: str | None, found: FoundLock) -> Applied:
    """The spec with the URLs of what was uploaded for it according to its lock; unchanged without a lock."""
    lock = found.lock
    shared = tuple(_shared(spec, document, found))
    if lock is None or shared:
        return Applied(spec, problems=(*found.problems, *shared))
    try:
        destinations = destinations_of(spec, document)
    except SpecError as error:
        return Applied(spec, problems=error.problems)
    uploads = lock.of(stage)
    uploaded = uploaded_archives(destinations, uploads)
    problems = tuple(_problems(destinations, lock, document, stage))
    if problems:
        return Applied(spec, uploaded, problems)
    deployed = spec
    for destination in destinations:
        for path in destination.paths:
            deployed = with_value_at(deployed, path, uploads[destination.location].url)
    return Applied(deployed, uploaded)


def _shared(spec: ModelSpec, document: Document, found: FoundLock) -> Iterator[Problem]:
    """Reports a spec of the same name beside the file, if one of the two has or will have a lock."""
    block = next(iter(triton_blocks(spec)), None)
    if document.file == IN_PYTHON or (block is None and found.lock is None and not found.problems):
        return
    stem = document.file.removesuffix(Path(document.file).suffix)
    for other in (stem + suffix for suffix in SUFFIXES):
        # This runs for every spec with Triton models, and `Path` would take longer than the system call.
        if other != document.file and os.path.isfile(other):  # noqa: PTH113
            path = () if block is None else block.path
            lock = lock_path(document.file).name
            message = f"{other} exists as well, and {lock} would be the lock of both"
            fix = "rename one of them, or delete it if it is a copy"
            yield document.problem(path, SHARED, message, fix)


def with_value_at(value: Any, path: SpecPath, new: Any) -> Any:
    """A block, mapping or list with another value at the path in it."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    match value:
        case Block():
            name = str(step)
            return msgspec.structs.replace(value, **{name: with_value_at(getattr(value, name), rest, new)})
        case dict():
            return {**value, step: with_value_at(value[step], rest, new)}
        case _:
            return tuple(with_value_at(it, rest, new) if at == step else it for at, it in enumerate(value))


def _problems(
    destinations: Sequence[Destination], lock: Lock, document: Document, stage: str | None
) -> Iterator[Problem]:
    uploads = lock.of(stage)
    declared = {destination.location for destination in destinations}
    fix = _what_to_run(document, stage)
    for destination in destinations:
        for place, message in _what_is_stale(
            destination, uploads, declared, Path(document.file).parent, stage
        ):
            path = () if isinstance(place, FilePlace) else place
            at = place if isinstance(place, FilePlace) else document.place(path)
            yield Problem(path, message, fix, STALE, at=at)
    if declared <= uploads.keys():
        # Otherwise the archives have been moved in the spec, which has been reported already.
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
            message = f"archives were uploaded for {location}, but the spec has no `triton` block for it"
            at = line_of_key((*keys_of(stage), location), path.read_text(encoding="utf-8"))
            yield Problem(FilePlace(path.as_posix(), at, 1), message, fix, STALE)


def _what_is_stale(
    destination: Destination, uploads: Uploads, declared: Set[str], base: Path, stage: str | None
) -> Iterator[tuple[Place, str]]:
    # This imports protobuf, which would cost time for specs without a lock.
    from inferstack.check.lock.differences import differences  # noqa: PLC0415

    upload = uploads.get(destination.location)
    if upload is None:
        where = "" if stage is None else f" for the stage `{stage}`"
        others = [it for it in uploads if it not in declared]
        only = f", only for {', '.join(others)}" if others else ""
        yield destination.paths[0], f"nothing was uploaded for {destination.location}{where}{only}"
        return
    for difference in differences(destination, upload.archives, base):
        yield difference.place, difference.message

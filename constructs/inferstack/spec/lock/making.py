"""A lock of what was packed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from inferstack.spec.lock.file import VERSION, Lock, LockedArchive, LockedFile, Upload, set_digest
from inferstack.spec.lock.local import written_path
from inferstack.spec.lock.urls import uploaded_url
from inferstack.triton.archive.entry import Entry
from inferstack.triton.archive.local_file import LocalFile
from inferstack.triton.archive.packing import Packed
from inferstack.triton.archive.plan import Plan

EMPTY = Lock(version=VERSION)
"""The lock of a spec of which nothing was uploaded."""


def locked_archive(plan: Plan, packed: Packed, base: Path) -> LockedArchive:
    """An archive as the lock names it. ``base`` is the folder of the spec."""
    files = {
        entry.name: _locked_file(entry, packed.contents[entry.name], base)
        for entry in plan.entries
        if not entry.is_folder
    }
    return LockedArchive(packed.size, packed.file_sha256, files)


def _locked_file(entry: Entry, sha256: str, base: Path) -> LockedFile:
    local = entry.content.path if isinstance(entry.content, LocalFile) else None
    return LockedFile(entry.size, sha256, None if local is None else written_path(local, base))


def upload_of(location: str, archives: dict[str, LockedArchive]) -> Upload:
    """What is uploaded for a URL of the spec, now."""
    url = uploaded_url(location, set_digest(location, archives))
    archives = {name: archives[name] for name in sorted(archives)}
    return Upload(location, url, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), archives)


def with_upload(lock: Lock, upload: Upload, *, stage: str | None, stages: Sequence[str]) -> Lock:
    """The lock once this is uploaded for a stage, or without one.

    What was uploaded before keeps its time, and stages that the spec has no longer go; a spec that lists no
    ``stages`` may be deployed for any.
    """
    before = lock.own(stage)
    if before is not None and before.url == upload.url:
        upload = msgspec.structs.replace(upload, uploaded=before.uploaded)
    kept = {name: it for name, it in lock.stages.items() if not stages or name in stages}
    if stage is None:
        return Lock(VERSION, upload, kept)
    kept[stage] = upload
    return Lock(VERSION, lock.upload, {name: kept[name] for name in sorted(kept)})

"""Makes a lock from what was packed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from inferstack.check.lock.differences import written_path
from inferstack.check.lock.file import VERSION, Lock, LockedArchive, LockedFile, Upload, Uploads, set_digest
from inferstack.texts.s3_urls import uploaded_url
from inferstack.triton.archive.entries import ArchiveEntry, LocalFile
from inferstack.triton.archive.packing import Packed
from inferstack.triton.archive.plan import Plan

EMPTY = Lock(version=VERSION)
"""The lock of a spec for which nothing has been uploaded."""


def locked_archive(plan: Plan, packed: Packed, base: Path) -> LockedArchive:
    """The lock's entry for an archive. ``base`` is the folder of the spec."""
    files = {
        entry.name: _locked_file(entry, packed.contents[entry.name], base)
        for entry in plan.entries
        if not entry.is_folder
    }
    return LockedArchive(packed.size, packed.file_sha256, files)


def _locked_file(entry: ArchiveEntry, sha256: str, base: Path) -> LockedFile:
    local = entry.content.path if isinstance(entry.content, LocalFile) else None
    return LockedFile(entry.size, sha256, None if local is None else written_path(local, base))


def upload_of(location: str, archives: Mapping[str, LockedArchive]) -> Upload:
    """The lock's entry for an upload for a URL of the spec, dated now; archives by their names there."""
    url = uploaded_url(location, set_digest(location, archives))
    in_order = {name: archives[name] for name in sorted(archives)}
    return Upload(url, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), in_order)


def with_uploads(lock: Lock, uploads: Uploads, *, stage: str | None, stages: Sequence[str]) -> Lock:
    """The lock after exactly these uploads for a stage, or without one.

    What had been uploaded before keeps its time. Stages that the spec no longer has are removed; if it lists
    no ``stages``, all are kept, since it may be deployed for any stage.
    """
    before = lock.own(stage)
    now = {location: _dated_as(before.get(location), uploads[location]) for location in sorted(uploads)}
    kept = {name: it for name, it in lock.stages.items() if not stages or name in stages}
    if stage is None:
        return Lock(VERSION, now, kept)
    kept[stage] = now
    return Lock(VERSION, lock.uploads, {name: kept[name] for name in sorted(kept)})


def _dated_as(before: Upload | None, now: Upload) -> Upload:
    if before is None or before.url != now.url:
        return now
    return msgspec.structs.replace(now, uploaded=before.uploaded)

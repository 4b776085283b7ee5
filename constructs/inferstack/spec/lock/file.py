"""The content of a lock file, and how it is written."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Annotated

import msgspec
from msgspec import Meta

from inferstack.spec.texts.file_names import LOCK_SUFFIX

VERSION = 1

Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Size = Annotated[int, Meta(ge=0)]
Time = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


class LockedFile(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename={"source": "from"}
):
    """A file in an archive. ``source`` is the path it came from, as the spec names it; None for a
    ``config.pbtxt`` that is generated from the spec."""

    size: Size
    sha256: Sha256
    source: str | None = None


class LockedArchive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An archive, and the files in it by their paths in the archive."""

    size: Size
    sha256: Sha256
    files: dict[str, LockedFile]


class Upload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was uploaded for a URL in the spec: the actual URL, the time, and the archives by their names."""

    url: str
    uploaded: Time
    archives: Annotated[dict[str, LockedArchive], Meta(min_length=1)]

    def url_of(self, name: str) -> str:
        """The URL of one of the archives."""
        return f"{self.url}{name}" if self.url.endswith("/") else self.url


Uploads = dict[str, Upload]
"""Uploads by location, which is the URL as the spec writes it."""


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Uploads for the spec without a stage, and for stages that have uploads of their own."""

    version: Annotated[int, Meta(ge=1)]
    uploads: Uploads = msgspec.field(default_factory=dict)
    stages: dict[str, Annotated[Uploads, Meta(min_length=1)]] = msgspec.field(default_factory=dict)

    @property
    def has_only_stages(self) -> bool:
        """Whether it has uploads for stages only, which means that only stages are deployed."""
        return not self.uploads and bool(self.stages)

    def own(self, stage: str | None) -> Uploads:
        """What was uploaded for exactly this stage (None: without a stage)."""
        return self.uploads if stage is None else self.stages.get(stage, {})

    def of(self, stage: str | None) -> Uploads:
        """What a stage is deployed with: its own uploads if it has any, otherwise those without a stage."""
        return self.stages.get(stage, self.uploads) if stage is not None else self.uploads


def lock_path(spec: PurePath | str) -> Path:
    """The lock of a spec file: `ranker.lock.json` beside `ranker.yaml`."""
    return Path(spec).with_suffix(LOCK_SUFFIX)


def set_digest(location: str, archives: Mapping[str, LockedArchive]) -> str:
    """The digest in the URL: that of the one archive, or for a prefix, of all archives' names and digests."""
    if not location.endswith("/"):
        (only,) = archives.values()
        return only.sha256
    import hashlib  # noqa: PLC0415 - OpenSSL takes 2 ms, and few specs have a lock

    lines = "".join(f"{name} {archive.sha256}\n" for name, archive in sorted(archives.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def written(lock: Lock) -> str:
    """The text of a lock file, with a separate line for everything that can change."""
    import json  # noqa: PLC0415 - few commands write one

    return json.dumps(msgspec.to_builtins(lock), indent=1, ensure_ascii=False) + "\n"

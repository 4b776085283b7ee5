"""The lock file: what it holds, how uploads are added to it, and how it is written and read."""

import json
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from inferstack.check.lock import MALFORMED, NEWER, UNREADABLE, WRONG_URL
from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.source.document import IN_PYTHON, Document
from inferstack.source.spec_file import LOCK_SUFFIX, STANDARD_INPUT
from inferstack.texts.s3_urls import uploaded_url

VERSION, WITH_PINS = 1, 2
"""Versions of the format: a lock without pins is written as before there were any."""

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


class PinnedContainer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A container of a model package: where its image and files are, with the image's digest and the ETag
    that the files had when they were registered, as far as the registry knows."""

    image: str
    image_digest: str | None = None
    model_data_url: str | None = None
    model_data_etag: str | None = None


class Pin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The version that a `model_package` of the spec stands for, as the registry described it then."""

    arn: str
    version: Annotated[int, Meta(ge=1)]
    approval: str
    pinned: Time
    containers: tuple[PinnedContainer, ...]


Pins = dict[str, Pin]
"""Pins by what the spec writes: the group, a slash and the version."""


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Uploads and pins for the spec without a stage, and for stages that have some of their own."""

    version: Annotated[int, Meta(ge=1)]
    uploads: Uploads = msgspec.field(default_factory=dict)
    stages: dict[str, Annotated[Uploads, Meta(min_length=1)]] = msgspec.field(default_factory=dict)
    pins: Pins = msgspec.field(default_factory=dict)
    pins_of_stages: dict[str, Annotated[Pins, Meta(min_length=1)]] = msgspec.field(default_factory=dict)

    @property
    def has_only_stages(self) -> bool:
        """Whether all it has is for stages, which means that only stages are deployed."""
        return not (self.uploads or self.pins) and bool(self.stages or self.pins_of_stages)

    def own(self, stage: str | None) -> Uploads:
        """What was uploaded for exactly this stage (None: without a stage)."""
        return self.uploads if stage is None else self.stages.get(stage, {})

    def of(self, stage: str | None) -> Uploads:
        """What a stage is deployed with: its own uploads if it has any, otherwise those without a stage."""
        return self.stages.get(stage, self.uploads) if stage is not None else self.uploads

    def pins_of(self, stage: str | None) -> Pins:
        """The pins that a stage is deployed with: its own if it has any, otherwise those without a stage."""
        return self.pins_of_stages.get(stage, self.pins) if stage is not None else self.pins


EMPTY = Lock(version=VERSION)
"""The lock of a spec for which nothing has been uploaded."""


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
    return json.dumps(msgspec.to_builtins(lock), indent=1, ensure_ascii=False) + "\n"


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
        return msgspec.structs.replace(lock, uploads=now, stages=kept)
    kept[stage] = now
    return msgspec.structs.replace(lock, stages={name: kept[name] for name in sorted(kept)})


def with_pins(lock: Lock, pins: Pins, *, stage: str | None, stages: Sequence[str]) -> Lock:
    """The lock after exactly these pins for a stage, or without one; see :func:`with_uploads`."""
    before = lock.pins if stage is None else lock.pins_of_stages.get(stage, {})
    now = {key: _pinned_as(before.get(key), pins[key]) for key in sorted(pins)}
    kept = {name: it for name, it in lock.pins_of_stages.items() if not stages or name in stages}
    if stage is None:
        return msgspec.structs.replace(lock, version=WITH_PINS, pins=now, pins_of_stages=kept)
    kept[stage] = now
    in_order = {name: kept[name] for name in sorted(kept)}
    return msgspec.structs.replace(lock, version=WITH_PINS, pins_of_stages=in_order)


def _dated_as(before: Upload | None, now: Upload) -> Upload:
    if before is None or before.url != now.url:
        return now
    return msgspec.structs.replace(now, uploaded=before.uploaded)


def _pinned_as(before: Pin | None, now: Pin) -> Pin:
    same = before is not None and msgspec.structs.replace(before, pinned=now.pinned) == now
    return before if before is not None and same else now


# ---------------------------------------------------------------- Reading
#
# All of a lock is read and checked before any of it is used.


LARGEST = 32 << 20
"""In bytes. Each file of an archive takes about 200 of them."""

_CONFLICT = "<<<<<<< "
# Escapes for half a surrogate pair: two are a character, one alone cannot be written, hashed or compared.
_MAY_BE_HALF = r"\\u[dD][89a-fA-F]"
_RESTORE = "restore it from version control"


class FoundLock(msgspec.Struct, frozen=True):
    """The lock beside a spec's file, or the problems that prevent its use; neither if there is no lock, or if
    it is ``ignored``, which leaves a spec as it is written."""

    lock: Lock | None = None
    problems: tuple[Problem, ...] = ()
    ignored: bool = False


NO_LOCK = FoundLock()
AS_WRITTEN = FoundLock(ignored=True)
"""In place of a lock, for callers that want the spec as it is written."""


def lock_beside(document: Document) -> FoundLock:
    """The lock beside a spec's file. A spec that was made in Python or piped in has none."""
    if document.file in (IN_PYTHON, STANDARD_INPUT):
        return NO_LOCK
    try:
        lock = read_lock(lock_path(document.file))
    except SpecError as error:
        return FoundLock(problems=error.problems)
    return NO_LOCK if lock is None else FoundLock(lock)


def read_lock(path: Path) -> Lock | None:
    """The lock in a file; None if there is no such file.

    Raises:
        SpecError: when it cannot be read, or cannot have been written by :func:`written`.
    """
    file = path.as_posix()
    text = _text(path, file)
    if text is None:
        return None
    lock = _lock(text, file)
    found = (
        _url_problem(location, upload, line_of_key((*keys_of(stage), location, "url"), text), file)
        for stage in (None, *lock.stages)
        for location, upload in lock.own(stage).items()
    )
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise SpecError(problems)
    return lock


def lock_of(spec: Path) -> Lock:
    """The lock beside a spec, to be changed: an empty one if there is none.

    Raises:
        SpecError: as :func:`read_lock` does.
    """
    lock = read_lock(lock_path(spec))
    return EMPTY if lock is None else lock


def _text(path: Path, file: str) -> str | None:
    try:
        content = _content(path)
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        message, fix = "the lock is not UTF-8", _RESTORE
    except OSError as error:
        message = f"the lock cannot be read: {error.strerror or error}"
        fix = "check what it is, and its permissions"
    raise _refusal(UNREADABLE, file, message, fix)


def _content(path: Path) -> bytes | None:
    try:
        # Checked first, since opening a pipe would wait for its other end.
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("it is not a regular file")
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(content) > LARGEST:
        raise OSError(f"it is larger than {LARGEST:,} bytes")
    return content


def _lock(text: str, file: str) -> Lock:
    data = _data(text, file)
    version = data.get("version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > WITH_PINS:
        message = f"the lock has version {version}, but this inferstack knows {WITH_PINS}"
        at = line_of_key(["version"], text)
        raise _refusal(NEWER, file, message, "install the inferstack that wrote it", at)
    try:
        lock = msgspec.convert(data, Lock)
    except msgspec.ValidationError as error:
        raise _refusal(MALFORMED, file, f"this is not a lock: {error}") from None
    return lock


def _data(text: str, file: str) -> Any:
    if _CONFLICT in text:
        message = "the lock has merge conflict markers"
        fix = "take the side whose spec you keep, then run `inferstack package SPEC --upload`"
        raise _refusal(MALFORMED, file, message, fix, _line_of(_CONFLICT, text))
    try:
        data = json.loads(text, object_pairs_hook=_unique)
        if re.search(_MAY_BE_HALF, text):
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        message = f"the lock is not JSON: {error.msg}"
        raise _refusal(MALFORMED, file, message, _RESTORE, error.lineno, error.colno) from None
    except _TwiceError as error:
        at = _line_of(json.dumps(str(error), ensure_ascii=False), text, last=True)
        message = f'the lock says "{error}" twice in one place'
        raise _refusal(MALFORMED, file, message, _RESTORE, at) from None
    except (RecursionError, ValueError):
        message = "the lock holds what no lock can: endless nesting, endless numbers, or half a character"
        raise _refusal(MALFORMED, file, message) from None
    return data


class _TwiceError(Exception):
    """A key occurs twice in a mapping, for example after a careless merge."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise _TwiceError(key)
        data[key] = value
    return data


def _url_problem(location: str, upload: Upload, at: int, file: str) -> Problem | None:
    if not location.endswith("/") and len(upload.archives) != 1:
        message = f"{location} is one archive, but the lock has {len(upload.archives)} for it"
        return Problem(FilePlace(file, at), message, _RESTORE, MALFORMED)
    expected = uploaded_url(location, set_digest(location, upload.archives))
    if upload.url == expected:
        return None
    message = f"{upload.url} is not where these archives are: {expected}"
    return Problem(FilePlace(file, at), message, f"{_RESTORE}; URLs are never edited by hand", WRONG_URL)


def _refusal(
    code: str, file: str, message: str, fix: str = _RESTORE, line: int = 1, column: int = 1
) -> SpecError:
    return SpecError([Problem(FilePlace(file, line, column), message, fix, code)])


def keys_of(stage: str | None) -> tuple[str, ...]:
    """The keys under which a lock has the uploads for a stage (None: without a stage)."""
    return ("uploads",) if stage is None else ("stages", stage)


def line_of_key(keys: Iterable[str], text: str) -> int:
    """The line, from 1, with the last of these keys; each key is in the mapping under the one before it."""
    at = 0
    for key in keys:
        at = max(text.find(f"{json.dumps(key, ensure_ascii=False)}:", at), at)
    return text.count("\n", 0, at) + 1


def _line_of(needle: str, text: str, *, last: bool = False) -> int:
    """The line, from 1, on which a file contains a text; 1 if it does not contain it."""
    found = text.rfind(needle) if last else text.find(needle)
    return text.count("\n", 0, max(found, 0)) + 1

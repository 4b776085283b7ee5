"""What has become of the files since `inferstack init` wrote them, by a record of digests in the project.

A file that is as it was written is replaced by an update; a file that the user has changed or removed is not.
"""

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from inferstack.project.answers import Answers
from inferstack.project.files import is_start

RECORD = ".inferstack-init.json"
"""The record, next to the files that it is about."""


class Record(msgspec.Struct, frozen=True):
    """The answers, and the digest of each file as it was written last."""

    answers: Answers
    files: dict[str, str]

    def text(self) -> str:
        """The record as a file."""
        written = msgspec.json.format(msgspec.json.encode(self), indent=2)
        return f"{written.decode()}\n"


class FileState(StrEnum):
    """What a file is, compared with what would be written and what was written."""

    NEW = "new"
    SAME = "same"
    OUTDATED = "outdated"
    """As it was written, but something else would be written today."""
    OWN = "own"
    """Changed by the user, or there before; what would be written is what was written."""
    BOTH = "both"
    """Changed by the user, and something else would be written, too."""
    REMOVED = "removed"
    """By the user: it was written."""
    DROPPED = "dropped"
    """It was written, and belongs to other answers than today's."""


WRITABLE = frozenset({FileState.NEW, FileState.OUTDATED})
"""What an update writes."""


def read_record(folder: Path) -> Record | None:
    """The record of a project; None where there is none.

    Raises:
        OSError: when it cannot be read.
        ValueError: when it is no record.
    """
    try:
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=Record)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from None


def states(folder: Path, wanted: Mapping[str, str], record: Record | None) -> dict[str, FileState]:
    """The state of every file that would be written or was written, except those to start from, once they
    are written.
    """
    written = {} if record is None else record.files
    states_of_wanted = {
        path: _state(folder / path, text, written.get(path))
        for path, text in wanted.items()
        if path not in written or not is_start(path)
    }
    dropped = (it for it in written if it not in wanted and not is_start(it) and (folder / it).exists())
    return states_of_wanted | dict.fromkeys(dropped, FileState.DROPPED)


def _state(file: Path, text: str, written: str | None) -> FileState:
    if not file.exists() and not file.is_symlink():
        return FileState.NEW if written is None else FileState.REMOVED
    there, wanted = _digest_of(file), digest(text.encode())
    if there == wanted:
        return FileState.SAME
    if there is not None and there == written:
        return FileState.OUTDATED
    return FileState.BOTH if written is not None and written != wanted else FileState.OWN


def _digest_of(file: Path) -> str | None:
    """The digest of a regular file; None for anything else, which is the user's."""
    try:
        return digest(file.read_bytes()) if file.is_file() and not file.is_symlink() else None
    except OSError:
        return None


def digest(content: bytes) -> str:
    """Distinguishes contents; git may have changed the line ends when it checked the file out."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def record_of(answers: Answers, wanted: Mapping[str, str], seen: Iterable[str] = ()) -> Record:
    """The record once the wanted files are written. ``seen`` are paths of earlier ones, which stay known as
    the user's.
    """
    digests = {path: digest(text.encode()) for path, text in wanted.items()}
    return Record(answers, dict(sorted((dict.fromkeys(seen, "") | digests).items())))

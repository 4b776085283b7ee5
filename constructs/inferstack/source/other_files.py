"""Text files that a spec names, and that other programs wrote: of numbers, or of a model."""

import stat
from collections.abc import Callable
from pathlib import Path

from inferstack.problems import SpecError

MOST_BYTES = 16 * 1024 * 1024
"""Of one file. A larger one is not what it is taken for."""
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b")

Stop = Callable[[str, str], SpecError]
"""Makes the error about a whole file, of what is wrong and of the fix."""


def read_text(path: Path, stop: Stop, *, wanted: str, if_large: str) -> str:
    """The text of a file, without byte order mark.

    ``wanted`` says what kind of file to name instead, ``if_large`` what to do about one of more than 16 MiB.

    Raises:
        SpecError: as ``stop`` makes it, when it is not a readable regular file of UTF-8.
    """
    fix = f"name {wanted}"
    try:
        _require_file(path, stop, fix)
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise stop(f"the file cannot be read: {reason}", fix) from None
    if len(content) > MOST_BYTES:
        raise stop("the file is larger than 16 MiB", if_large)
    text = _decoded(content, stop, fix)
    if not text or text.isspace():
        raise stop("the file is empty", fix)
    return text


def _require_file(path: Path, stop: Stop, fix: str) -> None:
    """Checks before opening, since opening a pipe would wait for its other end."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise stop("this is a directory", fix)
    if not stat.S_ISREG(mode):
        raise stop("this is not a regular file", "write its content into one")


def _decoded(content: bytes, stop: Stop, fix: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeError:
        if content.startswith(_UTF16_MARKS):
            raise stop("the file is UTF-16", "save it as UTF-8") from None
        if content.startswith(_ARCHIVES):
            fix = "export its content as CSV in UTF-8"
            raise stop("the file is a spreadsheet or an archive, not text", fix) from None
        raise stop("the file is not UTF-8 text", "save it as UTF-8") from None

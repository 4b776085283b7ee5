"""Files of numbers that other programs wrote, as text: of load tests, of traffic, of prices."""

import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from inferstack.problems import SpecError

_MOST_BYTES = 16 * 1024 * 1024
_LONGEST = 60
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b")
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

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
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise stop(f"the file cannot be read: {reason}", fix) from None
    if len(content) > _MOST_BYTES:
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


def other_separator(names: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong with the header of a CSV file, and the fix, if something else than commas separates it.

    Spreadsheets do that in countries in which numbers have a comma.
    """
    for separator, called in _OTHER_SEPARATORS.items():
        if len(names) == 1 and separator in names[0]:
            fix = "separate them by commas, and write numbers with a point"
            return f"{called} separate the columns", fix
    return None


def wrong_form(key: str, error: Exception) -> str:
    """Says that an API's answer does not have its form, and what is wrong with it, if that is known."""
    message = f"`{key}` does not have the form of its API"
    match error:
        case KeyError():
            return f"{message}: `{error.args[0]}` is missing"
        case ValueError():
            return f"{message}: {error}"
        case _:
            return message


def counted(cells: Sequence[str]) -> str:
    """The number of cells of a line."""
    return f"{len(cells)} value{'' if len(cells) == 1 else 's'}"


def shown(text: str) -> str:
    """A cell of a table in a message, shortened if it is long."""
    if not text:
        return "empty"
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}…`"

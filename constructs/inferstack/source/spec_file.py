"""A spec file: its name, and its text with everything that can go wrong before YAML is parsed."""

import os
import re
import stat
import sys
from functools import cache
from pathlib import Path

from yaml.reader import Reader

from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import (
    DIRECTORY,
    NO_FILE,
    NOT_REGULAR,
    NOT_UTF8,
    TOO_LARGE,
    UNPRINTABLE,
    UNREADABLE,
)
from inferstack.problems.words import nearest
from inferstack.source.tree import START, Position

SUFFIXES = (".yaml", ".yml")
"""Suffixes of spec files."""
LOCK_SUFFIX = ".lock.json"
"""Suffix of the lock beside a spec file."""
PROJECT_FILE = "inferstack.yaml"
"""Name of the file with what all specs of a project share."""
PIPED = "-"
"""Instead of a file's name: the spec comes from standard input."""
STANDARD_INPUT = "<stdin>"
"""Its name in messages. Paths in it are relative to the working directory, and there is no lock."""
LARGEST_FILE = 1024 * 1024
"""In bytes. A spec has a few kilobytes; a larger file was given by mistake."""

# https://yaml.org/spec/1.2.2/#51-character-set, as PyYAML has it. The byte order mark is removed before.
_UNPRINTABLE = Reader.NON_PRINTABLE
# To libyaml the first three end a line, and with it a comment; to YAML 1.2 and every editor they do not. The
# others reverse the order of the text that is shown. https://trojansource.codes
_MISLEADING = re.compile("[\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Characters that no file may contain, and why.
_WRONG = {
    _UNPRINTABLE: "is not allowed in YAML",
    _MISLEADING: "is invisible, and changes what the file says",
}
LINE_BREAK = re.compile("\r\n|[\n\r]")
_MARK = "\ufeff"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK = b"\x1f\x8b"


def is_project_file(path: Path) -> bool:
    """Whether a path has the name of the project's file, so that it is no spec."""
    return path.name == PROJECT_FILE


def relative_to_cwd(file: str) -> str:
    """A file's name with forward slashes: as given, or relative to the working directory if it is an absolute
    one inside it.
    """
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_posix()


def name_in_templates(file: str) -> str:
    """The name of a file or folder relative to the working directory, with `..` if it is outside of it.

    It is never absolute, since absolute names differ between machines. If a path shares only the root of the
    file system with the working directory, just its last part is shown, after `.../`.
    """
    near = relative_to_cwd(file)
    if not Path(near).is_absolute():
        return near
    # In `Path.cwd()` links are resolved, so they are in the other, too.
    here, there = Path.cwd(), Path(near).parent.resolve() / Path(near).name
    if here.parts[:2] != there.parts[:2]:
        return f".../{there.name}"
    return Path(os.path.relpath(there, here)).as_posix()


def leads_out(path: Path) -> bool:
    """Whether a link leads out of the working directory and out of the file's own folder.

    Links inside of them are usual: Kubernetes mounts files as links, and so does a monorepo share them.
    """
    try:
        real, here = path.resolve(), Path.cwd()
        # A container often works in the root folder, in which everything lies.
        is_project = here != Path(here.anchor)
        if is_project and real.is_relative_to(here):
            return False
        # A folder inside the working directory may itself be the link.
        in_project = is_project and Path(os.path.abspath(path)).is_relative_to(here)  # noqa: PTH100 - keeps links
        return in_project or not real.is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError, ValueError):
        # Reading it will find out what is wrong.
        return False


# ---------------------------------------------------------------- reading


def read_text(path: Path, file: str) -> str:
    """The text of a spec file, without byte order mark. ``file`` is its name in messages.

    Raises:
        SpecError: when it is not a readable regular file of at most 1 MiB of printable UTF-8.
    """
    return _checked(_read_bytes(path, file), file)


def read_standard_input() -> str:
    """The text that is piped in.

    Raises:
        SpecError: as for a file.
    """
    return _checked(_piped(), STANDARD_INPUT)


@cache
def _piped() -> bytes:
    """Read once, since a command may read its spec several times."""
    if sys.stdin is None:
        raise _error(STANDARD_INPUT, UNREADABLE, "standard input is closed", "pipe a spec into it")
    return sys.stdin.buffer.read(LARGEST_FILE + 1)


def _checked(content: bytes, file: str) -> str:
    if len(content) > LARGEST_FILE:
        message = f"the file is larger than {LARGEST_FILE:,} bytes"
        raise _error(file, TOO_LARGE, message, "a spec only names artifacts; is this the right file?")
    text = _decoded(content, file)
    if text.startswith(_MARK):
        message = "the file begins with two byte order marks"
        raise _error(file, UNPRINTABLE, message, "save it once more, with one or without")
    for wrong, what in _WRONG.items():
        if wrong.search(text) is not None:
            raise _wrong_character(file, text, wrong, what)
    return text


def _read_bytes(path: Path, file: str) -> bytes:
    try:
        _require_regular_file(path, file)
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        if path.is_symlink():
            fix = "fix the link, or name the file itself"
            raise _error(file, NO_FILE, "this is a broken link", fix) from None
        raise _error(file, NO_FILE, f"there is no such {_awaited(path)}", _similar_files(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f"the file cannot be read: {reason}"
        raise _error(file, UNREADABLE, message, "check path and permissions") from None


def _require_regular_file(path: Path, file: str) -> None:
    """Checks before opening, since opening a pipe would wait for its other end."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise _error(file, DIRECTORY, "this is a directory", "name a spec file in it")
    if not stat.S_ISREG(mode):
        raise _error(file, NOT_REGULAR, "this is not a regular file", "write the spec into a file")


def _similar_files(path: Path) -> str:
    try:
        names = sorted(sibling.name for sibling in path.parent.iterdir())
    except OSError:
        return f"there is no directory `{path.parent.as_posix()}` either"
    # Compared without suffixes, which make short names look alike.
    stems = {Path(name).stem: name for name in names}
    meant = nearest(path.stem, list(stems))
    if meant is not None:
        return f"did you mean `{stems[meant]}`?"
    return "check the path" if path.suffix else "name a spec file, or the folder that holds your spec files"


def _awaited(path: Path) -> str:
    """What the path was meant to be: without a suffix, it may well be a folder, such as `model_specs`."""
    return "file" if path.suffix else "file or folder"


def _decoded(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = _position(error.object[: error.start].decode("utf-8", "replace"))
        message = f"byte {error.start} (0x{error.object[error.start]:02x}) is not UTF-8"
        fix = "save the file as UTF-8"
        if content.startswith(_UTF16_MARKS):
            message += "; the file looks like UTF-16"
        if content.startswith(_GZIP_MARK):
            message += "; the file looks like an archive"
            fix = "name a spec file; `inferstack package --check ARCHIVE` inspects archives"
        raise _error(file, NOT_UTF8, message, fix, at) from None


def _wrong_character(file: str, text: str, wrong: re.Pattern[str], what: str) -> SpecError:
    first, *others = wrong.finditer(text)
    message = f"the character U+{ord(first[0]):04X} {what}"
    if others:
        message += f", and {len(others)} more like it"
    fix = f'remove it, or write it as "\\u{ord(first[0]):04x}" in double quotes'
    return _error(file, UNPRINTABLE, message, fix, _position(text[: first.start()]))


def _position(text_before: str) -> Position:
    lines = LINE_BREAK.split(text_before)
    return Position(len(lines), len(lines[-1]) + 1)


def _error(file: str, code: str, message: str, fix: str, at: Position = START) -> SpecError:
    return SpecError([Problem(FilePlace(file, *at), message, fix, code)])

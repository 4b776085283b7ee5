"""What is wrong with a spec, as data.

Every part of inferstack that finds something wrong reports it as a :class:`Problem`. The only exception
that leaves the library, :class:`SpecError`, carries all the problems that were found.
"""

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

SpecPath = tuple[str | int, ...]
"""Keys and list indices from the top of a spec, e.g. ``("variants", 0, "instance_type")``."""

IN_PYTHON = "<python>"
"""Takes the place of the file name for a spec that was made in Python."""
LONGEST_TEXT = 1_000
"""In characters, for a message or a fix: what was found may be as long as a file, and nobody reads that."""
_END = 300


class Severity(StrEnum):
    """An error stops synthesis; a warning does not and can be switched off with ``ignore``, as can
    information, which is good to know about a routine change.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_LABELS = {Severity.ERROR: "", Severity.WARNING: "warning: ", Severity.INFO: "remark: "}


class FilePlace(msgspec.Struct, frozen=True):
    """A place in a file. Lines and columns count from 1; both are 0 for a value that was made in Python."""

    file: str
    line: int = 1
    column: int = 1


Place = SpecPath | FilePlace
"""A part of the spec, or a place in a file beside it."""


_IN_PYTHON = FilePlace(IN_PYTHON, 0, 0)


class Fix(str):
    """What to write instead, with the edit that writes it: for a mistake with one right answer only.

    ``found`` is the scalar at the problem's place, or a part of its text; ``instead`` replaces it. Where text
    replaces a number, it is the number as it is written.
    """

    found: Any
    instead: Any

    # With defaults, since `pickle` calls it with the text alone.
    def __new__(cls, said: str, found: object = None, instead: object = None) -> "Fix":
        """Makes a text that also holds the edit."""
        made = super().__new__(cls, said)
        made.found, made.instead = found, instead
        return made


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong, where it is, and how to fix it.

    A rule knows only the first three fields. Its caller adds its code and severity, and ``at``: where
    the spec's file has ``place``. A message or fix longer than ``LONGEST_TEXT`` loses its middle, since the
    important words are at both ends. A ``fix`` that is a :class:`Fix` can be applied.
    """

    place: Place
    message: str
    fix: str = ""
    code: str = ""
    severity: Severity = Severity.ERROR
    at: FilePlace | None = None
    lacks: str = ""
    """The key that is missing at ``place``, if that is what is wrong: a stage may have removed it."""
    of_key: bool = False
    """Whether the last key of the path is wrong, and not its value."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "message", _shortened(self.message))
        msgspec.structs.force_setattr(self, "fix", _shortened(self.fix))

    @property
    def path(self) -> SpecPath:
        """The part of the spec; empty for the spec as a whole and for other files."""
        return self.place if isinstance(self.place, tuple) else ()

    @property
    def in_file(self) -> FilePlace:
        """Where it is in a file."""
        if self.at is not None:
            return self.at
        return self.place if isinstance(self.place, FilePlace) else _IN_PYTHON

    @property
    def file(self) -> str:
        """The file that it is in."""
        return self.in_file.file

    @property
    def line(self) -> int:
        """The line, from 1; 0 for a value that was made in Python."""
        return self.in_file.line

    @property
    def column(self) -> int:
        """The column in characters, from 1; 0 for a value that was made in Python."""
        return self.in_file.column

    def __str__(self) -> str:
        return self._line(_LABELS[self.severity])

    @property
    def as_read(self) -> "Problem":
        """A key that is equal for problems that look the same: with a position, reports in text do not show
        the path. A text that aliases repeat has one place in the file, but a path for each use; the first is
        kept.
        """
        return msgspec.structs.replace(self, place=self.in_file, at=None) if self.line else self

    @property
    def without_severity(self) -> str:
        """The problem as one line, for formats that show its severity in another way."""
        return self._line("")

    def _line(self, label: str) -> str:
        remedy = f"; {self.fix}" if self.fix else ""
        return printable(f"{self._shown_place}: {self.code}: {label}{self.message}{remedy}")

    @property
    def _shown_place(self) -> str:
        if self.line:
            return f"{self.file}:{self.line}:{self.column}"
        if not self.path:
            return self.file
        return dotted(self.path) if self.file == IN_PYTHON else f"{self.file}: {dotted(self.path)}"


def dotted(path: SpecPath) -> str:
    """A path as text: ``variants.0.instance_type``."""
    return ".".join(map(str, path))


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT - _END - 1]}…{text[-_END:]}"


# CI systems obey a log: GitHub a line that begins with `::`, and it and Azure `##[…]` and `##vso[…]` anywhere
# in a line. https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
_COMMAND = re.compile(r"#(?=#(\[|vso\[))")
_LINE_OF_A_COMMAND = re.compile(r"^(\s*):(?=:)")


def on_one_line(text: str) -> str:
    """The text as a part of a line: control characters are escaped, and so is what would be a command to a CI
    system that reads it in a log.
    """
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return _COMMAND.sub(r"\\x23", shown)


def printable(text: str) -> str:
    """The text as a whole line, safe for a terminal and for a log that a CI system reads."""
    return _LINE_OF_A_COMMAND.sub(r"\1\\x3a", on_one_line(text))


class SpecError(Exception):
    """A spec cannot be used. ``problems`` has everything that is wrong with it, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = in_file_order(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type["SpecError"], tuple[tuple[Problem, ...]]]:
        # Python would pass the text: out of another process, the error would come as one about its copying.
        return type(self), (self.problems,)


# ---------------------------------------------------------------- many problems

MOST_SHOWN = 200
"""Problems of one file that are reported one by one. With more, one fixes the first and looks again."""
MOST_FOUND = 1_000
"""Problems with the structure of one file after which no more are looked for: each takes a millisecond and
20 KB, and a file may have as many as lines.
"""
MANY = "IS027"
"""The code of the problem that counts the rest. Its severity is the worst of theirs."""


def in_file_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems by file, line and column, the order in which a person would fix them, each only once.

    Of a file with very many, the first are left, errors before warnings, and one that counts the others.
    """
    found: dict[Problem, Problem] = {}
    for it in problems:
        found.setdefault(it.as_read, it)
    by_file: dict[str, list[Problem]] = {}
    for it in sorted(found.values(), key=lambda it: (it.file, it.line, it.column, it.code)):
        by_file.setdefault(it.file, []).append(it)
    return tuple(it for of_file in by_file.values() for it in first_of(of_file, of_file[-1].in_file))


def first_of(problems: list[Problem], at: FilePlace) -> list[Problem]:
    """The first problems, errors before warnings, in the same order; last one that counts the rest ``at``
    this place. All of them, if they are not very many.
    """
    counted = [it for it in problems if it.code == MANY]
    if len(problems) - len(counted) <= MOST_SHOWN:
        return problems
    by_weight = sorted(problems, key=lambda it: (it.code != MANY, it.severity is not Severity.ERROR))
    kept = {id(it) for it in by_weight[: len(counted) + MOST_SHOWN]}
    rest = [it for it in problems if id(it) not in kept]
    return [*(it for it in problems if id(it) in kept), _count(rest, at)]


def _count(rest: list[Problem], at: FilePlace) -> Problem:
    counts = sorted(Counter(it.code for it in rest).items())
    codes = ", ".join(f"{count:,} of {code}" for code, count in counts)
    severity = min((it.severity for it in rest), key=list(Severity).index)
    message = f"{len(rest):,} more problem{'s' if len(rest) > 1 else ''}: {codes}"
    return Problem((), message, "fix those above first", MANY, severity, at)

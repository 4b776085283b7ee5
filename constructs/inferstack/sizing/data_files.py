"""Files of numbers that other programs wrote: what is wrong with their lines and cells, in words."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from inferstack.problems import MOST_SHOWN, FilePlace, Problem, SpecError
from inferstack.problems.words import counted

_LONGEST = 60
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class DataFile(msgspec.Struct):
    """One file, with what is wrong with it so far."""

    code: ClassVar[str]
    usual_fix: ClassVar[str]
    fix_of_length: ClassVar[str]
    """What to do about a line that lacks a value."""

    file: str
    problems: list[Problem] = msgspec.field(default_factory=list)

    def fault(self, line: int, message: str, fix: str) -> None:
        """Notes a problem; a file in which nearly every line is wrong is given up."""
        self.problems.append(Problem(FilePlace(self.file, line), message, fix, self.code))
        if len(self.problems) > 2 * MOST_SHOWN:
            raise SpecError(self.problems)

    def stop(self, message: str, fix: str | None = None) -> SpecError:
        """The error for a file that cannot be read any further."""
        self.fault(1, message, self.usual_fix if fix is None else fix)
        return SpecError(self.problems)

    def lines_of_csv(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """The cells of each line that has any, with its number; the first has the names of the columns."""
        rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
        try:
            names = [it.strip() for it in next(rows, [])]
            self._check_separator(names)
            yield 1, names
            for row in rows:
                cells = [it.strip() for it in row]
                if any(cells) and len(cells) != len(names):
                    message = (
                        f"the line has {counted(len(cells), 'value')}, but there are {len(names)} columns"
                    )
                    self.fault(rows.line_num, message, self.fix_of_length)
                elif any(cells):
                    yield rows.line_num, cells
        except csv.Error as error:
            self.fault(rows.line_num, f"the line is not CSV: {error}", "check its quotes")
            raise SpecError(self.problems) from None

    def _check_separator(self, names: Sequence[str]) -> None:
        """Stops at other separators than commas, as spreadsheets write them where numbers have a comma."""
        for separator, called in _OTHER_SEPARATORS.items():
            if len(names) == 1 and separator in names[0]:
                fix = "separate them by commas, and write numbers with a point"
                raise self.stop(f"{called} separate the columns", fix)


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


def shown(text: str) -> str:
    """A cell of a table in a message, shortened if it is long."""
    if not text:
        return "empty"
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}…`"

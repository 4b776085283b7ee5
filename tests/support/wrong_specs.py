"""The cases of `check/wrong_specs/*.txt`: wrong specs and their right neighbors.

A case edits a base spec of `check/wrong_specs/bases`:

    wrong single: the least is above the most        or: right single IS500: they may be equal
    -  max_capacity: 4                                lines that are removed
    +  max_capacity: 1                                lines that are added
    >  max_capacity: 2                                lines that the right spec gets instead, which is tested, too
    =  endpoint: {}                                   lines that both get, and that are not part of the example
       min_capacity: 1                                lines that stay, to find the place by
    ...                                               another place in the same spec

`{x:5}` stands for five x, `<3 of t#: x>` for `t0: x, t1: x, t2: x`. `# <- IS500` at the end of a line says what
must be reported there, and nothing else may be reported. A right case reports nothing; its codes are those of its
wrong neighbors. The right side of a wrong case is its base, or has the lines with `>` if the case has any.

From wrong cases, `tools/code_examples.py` makes what `inferstack explain` shows: the lines of a case, with those
that stay, below the keys that lead to them. A case with `shown` instead of `wrong` is the example of its code; for
all other codes, it is the shortest case.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "check" / "wrong_specs"
REPEATED = re.compile(r"\{(.):(\d+)\}")
COUNTED = re.compile(r"<(\d+) of ([^>]+)>")
MARK = re.compile(r"# <-((?: IS\d{3})+)$", re.MULTILINE)
_HEADER = re.compile(r"(wrong|shown|right) (\w+)((?: IS\d{3})*): (.+)")


class Edit(NamedTuple):
    """A place in the base, and what the wrong spec and the right one have there."""

    old: str
    wrong: str
    right: str
    aside: str
    """Lines of both sides that are not what the case is about."""


@dataclass(frozen=True)
class Case:
    is_wrong: bool
    is_shown: bool
    base: str
    codes: frozenset[str]
    title: str
    edits: tuple[Edit, ...]

    def base_text(self) -> str:
        return "" if self.base == "empty" else (FOLDER / "bases" / f"{self.base}.yaml").read_text("utf-8")

    def text(self) -> str:
        text = self.base_text()
        for old, wrong, right, _ in self.edits:
            count = text.count(old)
            assert count == 1 or not text, (
                f"{self.title}: bases/{self.base}.yaml has these lines {count} times instead of once:\n{old}"
            )
            new = wrong if self.is_wrong else right
            text = text.replace(old, new) if text else new
        return _written_out(text)

    def mended(self) -> "Case":
        """The right spec that a wrong case itself describes."""
        codes = frozenset(code for _, code in marks(self.text()))
        return replace(self, is_wrong=False, is_shown=False, codes=codes, title=f"{self.title}, mended")


def _written_out(text: str) -> str:
    counted = COUNTED.sub(
        lambda found: ", ".join(found[2].replace("#", str(number)) for number in range(int(found[1]))), text
    )
    return REPEATED.sub(lambda found: found[1] * int(found[2]), counted)


def cases() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.txt")):
        lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
        headers = [(index, found) for index, line in enumerate(lines) if (found := _HEADER.fullmatch(line))]
        ends = [*(index for index, _ in headers[1:]), len(lines)]
        for (start, header), end in zip(headers, ends, strict=True):
            kind, base, codes, title = header.groups()
            body = [line for line in lines[start + 1 : end] if line]
            says_right = any(line[0] == ">" for line in body)
            right_sides = " +" if kind == "right" else " >=" if says_right else " -"
            edits = tuple(_edits(body, right_sides))
            case = Case(kind != "right", kind == "shown", base, frozenset(codes.split()), title, edits)
            yield case
            if says_right:
                yield case.mended()


def _edits(body: list[str], right_sides: str) -> Iterator[Edit]:
    hunks: list[list[str]] = [[]]
    for line in body:
        if line == "...":
            hunks.append([])
        else:
            hunks[-1].append(line)
    for hunk in hunks if body else ():
        yield Edit(*(_side(hunk, sides) for sides in (" -", " +=", right_sides, "=")))


def _side(hunk: list[str], sides: str) -> str:
    return "".join(f"{line[1:]}\n" for line in hunk if line[0] in sides)


def marks(text: str) -> Counter[tuple[int, str]]:
    """Line and code of everything that must be reported."""
    found = ((number, MARK.search(line)) for number, line in enumerate(text.splitlines(), start=1))
    return Counter((number, code) for number, mark in found if mark for code in mark[1].split())


ALL = list(cases())
WRONG = [case for case in ALL if case.is_wrong]
RIGHT = [case for case in ALL if not case.is_wrong]

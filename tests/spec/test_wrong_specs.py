"""Wrong specs and their right neighbours.

A case in `wrong_specs/*.txt` edits a base spec of `wrong_specs/bases`:

    wrong single: the least is above the most        or: right single IS500: they may be equal
    -  max_capacity: 4                                lines that go
    +  max_capacity: 1                                lines that come
       min_capacity: 1                                lines that stay, to find the place by
    ...                                               another place in the same spec

`{x:5}` stands for five x. `# <- IS500` at the end of a line says what must be reported there, and
nothing else may be. A right case reports nothing at all; its codes are those of its wrong neighbours.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from inferstack.spec.catalogue import catalogue
from inferstack.spec.check import check_file
from inferstack.spec.lock.codes import LOCK_CODES
from inferstack.spec.problem import Problem
from inferstack.spec.rules import RULES
from inferstack.spec.update_codes import UPDATE_CODES

TRITON = "IS9"
HERE = Path(__file__).parent / "wrong_specs"
HEADER = re.compile(r"(wrong|right) (\w+)((?: IS\d{3})*): (.+)")
REPEATED = re.compile(r"\{(.):(\d+)\}")
MARK = re.compile(r"# <-((?: IS\d{3})+)$")

# What no text of a single file can bring about; the tests of reading, stages, folders and locks do.
NOT_IN_A_TEXT = {
    *("IS001", "IS002", "IS003", "IS004", "IS005", "IS006", "IS007", "IS010", "IS021"),
    *("IS031", "IS040", "IS041", "IS042", "IS043", "IS044", "IS111", "IS208", "IS209", "IS218"),
    *LOCK_CODES,
    *UPDATE_CODES,
}


@dataclass(frozen=True)
class Case:
    is_wrong: bool
    base: str
    codes: frozenset[str]
    title: str
    edits: tuple[tuple[str, str], ...]

    def text(self) -> str:
        text = "" if self.base == "empty" else (HERE / "bases" / f"{self.base}.yaml").read_text("utf-8")
        for old, new in self.edits:
            assert text.count(old) == 1 or not text, f"{self.title}: found {text.count(old)} times:\n{old}"
            text = text.replace(old, new) if text else new
        return REPEATED.sub(lambda found: found[1] * int(found[2]), text)


def cases() -> Iterator[Case]:
    for file in sorted(HERE.glob("*.txt")):
        lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
        starts = [index for index, line in enumerate(lines) if HEADER.fullmatch(line)]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            kind, base, codes, title = HEADER.fullmatch(lines[start]).groups()
            body = [line for line in lines[start + 1 : end] if line]
            yield Case(kind == "wrong", base, frozenset(codes.split()), title, tuple(edits(body)))


def edits(body: list[str]) -> Iterator[tuple[str, str]]:
    hunks: list[list[str]] = [[]]
    for line in body:
        if line == "...":
            hunks.append([])
        else:
            hunks[-1].append(line)
    for hunk in hunks if body else ():
        old, new = ("".join(f"{line[1:]}\n" for line in hunk if line[0] in sides) for sides in (" -", " +"))
        yield old, new


def marks(text: str) -> Counter[tuple[int, str]]:
    found = ((number, MARK.search(line)) for number, line in enumerate(text.splitlines(), start=1))
    return Counter((number, code) for number, mark in found if mark for code in mark[1].split())


def problems_of(file: Path, text: str | None = None) -> list[Problem]:
    """What is reported of a spec, but for what is inside of Triton's models: that has tests of its own."""
    if text is not None:
        file.write_text(text, "utf-8")
    return [problem for problem in check_file(file) if not problem.code.startswith(TRITON)]


ALL = list(cases())
WRONG = [case for case in ALL if case.is_wrong]
RIGHT = [case for case in ALL if not case.is_wrong]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case.base}: {case.title}")
def test_a_wrong_spec_gives_exactly_its_codes_at_their_lines(case: Case, tmp_path: Path) -> None:
    text = case.text()
    expected = marks(text)
    assert expected, "the case marks no line"
    found = problems_of(tmp_path / "spec.yaml", text)
    assert Counter((problem.line, problem.code) for problem in found) == expected


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: f"{case.base}: {case.title}")
def test_a_right_spec_gives_nothing(case: Case, tmp_path: Path) -> None:
    assert problems_of(tmp_path / "spec.yaml", case.text()) == []


@pytest.mark.parametrize("base", sorted((HERE / "bases").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_base_is_right(base: Path) -> None:
    assert problems_of(base) == []


def test_no_two_cases_have_the_same_title() -> None:
    titles = Counter((case.base, case.title) for case in ALL)
    assert [title for title, count in titles.items() if count > 1] == []


def test_there_are_many_wrong_specs() -> None:
    assert len(WRONG) >= 150


def test_every_code_has_a_wrong_spec() -> None:
    shown = {code for case in WRONG for _, code in marks(case.text())}
    expected = {code for code in catalogue() if not code.startswith(TRITON)} - NOT_IN_A_TEXT
    assert expected - shown == set()
    assert shown - set(catalogue()) == set()


def test_every_rule_has_a_right_spec() -> None:
    shown = {code for case in RIGHT for code in case.codes}
    assert set(RULES) - shown == set()
    assert shown - set(catalogue()) == set()


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case.base}: {case.title}")
def test_every_problem_says_what_was_found_and_how_to_mend_it(case: Case, tmp_path: Path) -> None:
    for problem in problems_of(tmp_path / "spec.yaml", case.text()):
        assert problem.message
        if problem.code in RULES:
            assert problem.fix, f"{problem} gives no fix"
            assert problem.fix != problem.message


@pytest.mark.parametrize("example", sorted(Path("model_specs").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_have_no_errors(example: Path) -> None:
    assert [problem for problem in check_file(example) if problem.severity == "error"] == []

"""Chooses among the wrong specs and models of the tests the examples that `inferstack explain` shows.

Of the cases that break one rule and no other: the one that is there to be shown, or else the shortest.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from inferstack.check.every_code import EXAMPLES_FILE, RIGHT, WRONG, Example
from inferstack.check.rules import RULES
from inferstack.format.kinds import ModelSpec
from tests.support.wrong_models import CASES, expected
from tests.support.wrong_specs import WRONG as WRONG_SPECS, marks
from tools.generated_files import Contents
from tools.spec_examples import spec_example
from tools.triton_examples import WIDTH, triton_example


class _Candidate(NamedTuple):
    code: str
    is_shown: bool
    example: Example

    @property
    def cost(self) -> tuple[bool, int, int]:
        """Its lines, and some more for a missing side: the right one says more than the wrong one."""
        lines = self.example.lines
        sides = {line[0] for line in lines}
        missing = 0 if {WRONG, RIGHT} <= sides else 2 if RIGHT in sides else 4
        return not self.is_shown, len(lines) + missing, sum(map(len, lines))

    @property
    def fits(self) -> bool:
        """Whether a terminal can show all of it."""
        return all(len(line[1:]) <= WIDTH and line.isprintable() for line in self.example.lines)


def chosen() -> dict[str, Example]:
    """The best example of each code."""
    best: dict[str, _Candidate] = {}
    for it in _candidates():
        if it.fits and (it.code not in best or it.cost < best[it.code].cost):
            best[it.code] = it
    return {code: best[code].example for code in sorted(best)}


def _candidates() -> Iterator[_Candidate]:
    for case in WRONG_SPECS:
        code = _only_one(code for _, code in marks(case.text()))
        if code is not None:
            with_kind = code in RULES and RULES[code].applies_to is not ModelSpec
            yield _Candidate(code, case.is_shown, spec_example(case, with_kind=with_kind))
    for model in CASES:
        code = _only_one(code for code, _, _ in expected(model.spec(wrong=True)))
        if code is not None:
            yield _Candidate(code, model.is_shown, triton_example(model))


def _only_one(codes: Iterable[str]) -> str | None:
    first, *others = {*codes}
    return None if others else first


def generate() -> Contents:
    text = msgspec.json.format(msgspec.json.encode(chosen()), indent=1).decode()
    return {EXAMPLES_FILE: f"{text}\n"}

"""How tests of reading spec files look at the results."""

from collections.abc import Callable

from inferstack.problems import Problem
from inferstack.source.document import Document

Read = Callable[[str | bytes], Document]
Problems = Callable[[str | bytes], tuple[Problem, ...]]


def places(problems: tuple[Problem, ...]) -> list[tuple[str, int, int]]:
    return [(problem.code, problem.line, problem.column) for problem in problems]

"""How tests of reading spec files look at the results."""

from collections.abc import Callable

from inferstack.spec.document import Document
from inferstack.spec.problem import Problem

Read = Callable[[str | bytes], Document]
Problems = Callable[[str | bytes], tuple[Problem, ...]]


def places(problems: tuple[Problem, ...]) -> list[tuple[str, int, int]]:
    return [(problem.code, problem.line, problem.column) for problem in problems]

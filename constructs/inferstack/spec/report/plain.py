"""For people at a terminal."""

from collections.abc import Sequence

from inferstack.spec.problem import Problem


def text(problems: Sequence[Problem]) -> str:
    """``file:line:column: code: message; fix``, one line each."""
    return "".join(f"{problem}\n" for problem in problems)

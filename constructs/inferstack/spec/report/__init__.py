"""Problems as text for people, and in the formats that machines read.

Each format is a function from what was found to the whole output, which ends in a line break unless it is
empty.
"""

from collections.abc import Callable, Sequence

from inferstack.spec.problem import Problem
from inferstack.spec.report.github import github
from inferstack.spec.report.gitlab import gitlab
from inferstack.spec.report.markdown import markdown
from inferstack.spec.report.plain import as_json, text
from inferstack.spec.report.sarif import sarif
from inferstack.spec.report.words import Findings, here, product_version, summary

__all__ = [
    "FORMATS",
    "Findings",
    "as_json",
    "github",
    "gitlab",
    "here",
    "markdown",
    "product_version",
    "sarif",
    "summary",
    "text",
]

Report = Callable[[Findings], str]


def _of_problems(write: Callable[[Sequence[Problem]], str]) -> Report:
    return lambda found: write(found.problems)


FORMATS: dict[str, Report] = {
    "text": _of_problems(text),
    "json": _of_problems(as_json),
    "github": _of_problems(github),
    "gitlab": _of_problems(gitlab),
    "sarif": _of_problems(sarif),
    "markdown": markdown,
}
"""Formats by the name that the command line knows them by."""

"""For GitHub: annotations on the lines of a pull request."""

from collections.abc import Sequence

from inferstack.spec.problem import Problem, printable
from inferstack.spec.report.words import words
from inferstack.spec.texts.file_names import relative_to_cwd


def github(problems: Sequence[Problem]) -> str:
    """Commands that make GitHub annotate the lines of a pull request.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
    """
    return "".join(f"{_command(problem)}\n" for problem in problems)


def _command(problem: Problem) -> str:
    properties = {
        "file": relative_to_cwd(problem.file),
        "line": str(problem.line),
        "col": str(problem.column),
        "title": problem.code,
    }
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{problem.severity.value} {written}::{_data(words(problem))}"


def _data(value: str) -> str:
    # The log shows an annotation's text as it is, so control characters are escaped; line breaks may stay.
    shown = "".join(char if char in "\r\n" else printable(char) for char in value)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")

"""JSON, for the user's own programs."""

import json
from collections.abc import Sequence
from typing import Any

from inferstack.spec.problem import Problem


def as_json(problems: Sequence[Problem]) -> str:
    """A list of objects with the fields of a problem."""
    return json.dumps([_fields(problem) for problem in problems], indent=1) + "\n"


def _fields(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.message,
        "fix": problem.fix,
        "path": list(problem.path),
    }

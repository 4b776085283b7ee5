"""For GitLab: findings on the lines of a merge request."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from inferstack.spec.problem import Problem, Severity
from inferstack.spec.report.words import words
from inferstack.spec.texts.file_names import relative_to_cwd

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def gitlab(problems: Sequence[Problem]) -> str:
    """A Code Quality report: a list of findings, which GitLab identifies by their fingerprints.

    https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    seen: Counter[str] = Counter()
    findings = [_finding(problem, seen) for problem in problems]
    return json.dumps(findings, indent=1) + "\n"


def _finding(problem: Problem, seen: Counter[str]) -> dict[str, Any]:
    return {
        "description": words(problem),
        "check_name": problem.code,
        "fingerprint": _fingerprint(problem, seen),
        "severity": _SEVERITIES[problem.severity],
        "location": {"path": relative_to_cwd(problem.file), "lines": {"begin": problem.line}},
    }


def _fingerprint(problem: Problem, seen: Counter[str]) -> str:
    """It stays the same when lines are added above, so that a known problem is not a new finding."""
    from hashlib import sha256  # noqa: PLC0415 - OpenSSL takes 2 ms, for this format alone

    own = json.dumps([relative_to_cwd(problem.file), problem.code, list(problem.path), words(problem)])
    seen[own] += 1
    return sha256(f"{own}{seen[own]}".encode()).hexdigest()

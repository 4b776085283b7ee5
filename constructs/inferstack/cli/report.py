"""Problems as text for people, and in formats that programs read.

Each format has a function that turns what was found into the whole output, which ends in a line break unless
it is empty.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any, TextIO
from urllib.parse import quote

import msgspec

from inferstack.check.every_code import every_code
from inferstack.cli import escaping
from inferstack.cli.escaping import code, json_text, workflow_data, workflow_property
from inferstack.cli.terminal import painted
from inferstack.engines.properties import PROPERTIES
from inferstack.problems import Problem, Severity
from inferstack.problems.file_codes import (
    COMPARISON_CODES,
    NO_SPEC,
    NO_SPECS,
    STAGE_NEEDED,
    UNCLEAR,
    UNREADABLE_MODEL,
)
from inferstack.problems.words import counted
from inferstack.source.spec_file import LOCK_SUFFIX, SUFFIXES, is_project_file, relative_to_cwd
from inferstack.triton.model import CONFIG_FILE

# ---------------------------------------------------------------- what all formats have in common

# These problems are not about a spec, but about a folder without specs, or a template to compare with.
_BESIDE_SPECS = {NO_SPECS, *COMPARISON_CODES} - {UNCLEAR}


class Findings(msgspec.Struct, frozen=True):
    """Everything a report may show: problems, the number of specs, and a line about each update."""

    problems: Sequence[Problem]
    specs: int = 0
    updates: Sequence[str] = ()


def product_version() -> str:
    """The version of the installed package; "0" for sources that are not installed."""
    # This import takes a fifth of the time of a command.
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("inferstack")
    except PackageNotFoundError:
        return "0"


def summary(problems: Sequence[Problem], files: int) -> str:
    """How many problems there are, and in how many of the specs, in one line without a line break.

    Problems elsewhere (in folders, templates, locks and model files) are counted separately from the specs.
    """
    specs = counted(files, "spec")
    if not problems:
        return f"{specs}: no problems"
    wrong = {problem.file for problem in problems if not _is_beside(problem)}
    beside = len({problem.file for problem in problems if _is_beside(problem)})
    if files == 0:
        return f"{tally(problems)}, and no spec was found"
    if not wrong:
        return f"{tally(problems)} in {counted(beside, 'other path')}, none in {specs}"
    more = f" and in {counted(beside, 'other path')}" if beside else ""
    return f"{tally(problems)} in {len(wrong)} of {specs}{more}"


def _is_beside(problem: Problem) -> bool:
    if problem.code in _BESIDE_SPECS or is_project_file(Path(problem.file)):
        return True
    is_data = problem.code == UNREADABLE_MODEL and PurePath(problem.file).suffix not in SUFFIXES
    of_model = PurePath(problem.file).name in (CONFIG_FILE, PROPERTIES)
    return is_data or of_model or (problem.file.endswith(LOCK_SUFFIX) and problem.code != NO_SPEC)


def tally(problems: Sequence[Problem]) -> str:
    """The number of errors and the number of warnings, without those that are zero."""
    counts = Counter(problem.severity for problem in problems)
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "remark"}
    return ", ".join(counted(counts[severity], noun) for severity, noun in nouns.items() if counts[severity])


def words(problem: Problem) -> str:
    """What is wrong and how to fix it, without the place."""
    return f"{problem.message}; {problem.fix}" if problem.fix else problem.message


# ---------------------------------------------------------------- for people at a terminal


_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "bold"}


def text(problems: Sequence[Problem], stream: TextIO | None = None, *, stage_by: str = "--stage") -> str:
    """``file:line:column: code: message; fix``, one line each; colored if the stream that it is for is a
    terminal. ``stage_by`` is how its readers choose a stage.
    """
    return "".join(f"{_line(problem, stream, stage_by)}\n" for problem in problems)


def _line(problem: Problem, stream: TextIO | None, stage_by: str) -> str:
    line = str(problem) + (f" with `{stage_by}`" if problem.code == STAGE_NEEDED else "")
    where, _, said = line.partition(f": {problem.code}: ")
    if not said:
        return line
    color = _COLORS[problem.severity]
    return f"{painted(where, 'bold', stream)}: {painted(problem.code, color, stream)}: {said}"


# ---------------------------------------------------------------- JSON, for programs


def as_json(problems: Sequence[Problem]) -> str:
    """A list of objects with the fields of a problem."""
    return json_text([_fields(problem) for problem in problems]) + "\n"


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


# ---------------------------------------------------------------- annotations of a pull request on GitHub


def github(problems: Sequence[Problem]) -> str:
    """Commands that make GitHub annotate the lines of a pull request.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
    """
    return "".join(f"{_command(problem)}\n" for problem in problems)


_ANNOTATIONS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def _command(problem: Problem) -> str:
    properties = {
        "file": relative_to_cwd(problem.file),
        "line": str(problem.line),
        "col": str(problem.column),
        "title": problem.code,
    }
    written = ",".join(f"{name}={workflow_property(value)}" for name, value in properties.items())
    return f"::{_ANNOTATIONS[problem.severity]} {written}::{workflow_data(words(problem))}"


# ---------------------------------------------------------------- findings in a merge request on GitLab

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab(problems: Sequence[Problem]) -> str:
    """A Code Quality report: a list of findings, which GitLab identifies by their fingerprints.

    https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    seen: Counter[str] = Counter()
    findings = [_finding(problem, seen) for problem in problems]
    return json_text(findings) + "\n"


def _finding(problem: Problem, seen: Counter[str]) -> dict[str, Any]:
    return {
        "description": words(problem),
        "check_name": problem.code,
        "fingerprint": _fingerprint(problem, seen),
        "severity": _SEVERITIES[problem.severity],
        "location": {"path": relative_to_cwd(problem.file), "lines": {"begin": problem.line}},
    }


def _fingerprint(problem: Problem, seen: Counter[str]) -> str:
    """Stays the same when lines are added above, so that a known problem is not a new finding."""

    own = json.dumps([relative_to_cwd(problem.file), problem.code, list(problem.path), words(problem)])
    seen[own] += 1
    return sha256(f"{own}{seen[own]}".encode()).hexdigest()


# ---------------------------------------------------------------- SARIF, for code scanning


def sarif(problems: Sequence[Problem]) -> str:
    """A SARIF 2.1.0 log for code scanning. File names are relative to the working directory.

    https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
    """
    codes = sorted({problem.code for problem in problems})
    driver = {"name": "inferstack", "version": product_version(), "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, codes.index(problem.code)) for problem in problems],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json_text(log) + "\n"


_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def _rule(code: str) -> dict[str, Any]:
    entry = every_code()[code]
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": entry.sentence},
        "help": {"text": f"{entry.sentence} Source: {entry.source}"},
        "defaultConfiguration": {"level": _LEVELS[entry.severity]},
    }
    return rule if entry.source_url is None else {**rule, "helpUri": entry.source_url}


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": _uri(problem.file)},
        "region": {"startLine": problem.line, "startColumn": problem.column},
    }
    return {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _LEVELS[problem.severity],
        "message": {"text": words(problem)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    name = relative_to_cwd(file)
    return Path(name).as_uri() if Path(name).is_absolute() else quote(os.fsencode(name))


# ---------------------------------------------------------------- a comment for reviewers

LONGEST = 40_000
"""Characters for all rows, or for all lines. GitHub allows 65,536 a comment; the pipeline has the rest."""

_HEAD = ("| Severity | Where | What |", "| --- | --- | --- |")


def markdown(found: Findings) -> str:
    """A heading with the counts, a list of what the deployment will do, and a table of what is wrong.

    https://github.github.com/gfm/
    """
    parts = [f"### inferstack: {summary(found.problems, found.specs)}"]
    if found.updates:
        parts.append("\n".join(_fitting([f"- {escaping.markdown(line)}" for line in found.updates])))
    if found.problems:
        parts.append("\n".join((*_HEAD, *_fitting([_row(problem) for problem in found.problems]))))
    return "\n\n".join(parts) + "\n"


def _row(problem: Problem) -> str:
    where = code(f"{relative_to_cwd(problem.file)}:{problem.line}")
    return f"| {problem.severity} | {where} | **{problem.code}** {escaping.markdown(words(problem))} |"


def _fitting(lines: Sequence[str]) -> Iterator[str]:
    """As many lines as fit into a comment; if some are left out, the last line says how many."""
    room = LONGEST
    for index, line in enumerate(lines):
        room -= len(line)
        if room < 0:
            yield f"\n… and {len(lines) - index} more"
            return
        yield line


# ---------------------------------------------------------------- the table of formats

__all__ = ["FORMATS", "Findings", "in_format", "summary", "text"]

_WRITERS: dict[str, Callable[[Findings], str]] = {
    "text": lambda found: text(found.problems, sys.stdout),
    "json": lambda found: as_json(found.problems),
    "github": lambda found: github(found.problems),
    "gitlab": lambda found: gitlab(found.problems),
    "sarif": lambda found: sarif(found.problems),
    "markdown": markdown,
}
FORMATS = tuple(_WRITERS)
"""The formats, by their names on the command line."""


def in_format(form: str, found: Findings) -> str:
    """The whole output in one of :data:`FORMATS`.

    Raises:
        KeyError: if there is no such format.
    """
    return _WRITERS[form](found)

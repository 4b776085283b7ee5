"""Problems as text for people, and in the formats that machines read.

Each format is a function from problems to the whole output, which ends in a line break unless it is
empty.
"""

import json
import os
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inferstack.spec.catalogue import catalogue
from inferstack.spec.check_files import NO_SPECS
from inferstack.spec.problem import Problem, Severity
from inferstack.spec.update_codes import NOT_A_TEMPLATE, OTHER_STACK, UNREADABLE

Report = Callable[[Sequence[Problem]], str]

# What these are about is no spec: a folder without any, or a template to compare with.
_BESIDE_SPECS = {NO_SPECS, UNREADABLE, NOT_A_TEMPLATE, OTHER_STACK}


def product_version() -> str:
    """The version of the installed package; of sources that are not installed there is none."""
    try:
        return version("inferstack")
    except PackageNotFoundError:
        return "0"


def summary(problems: Sequence[Problem], files: int) -> str:
    """How many problems in how many of so many specs, in one line without line break.

    Folders and templates that something is wrong with are counted beside the specs.
    """
    specs = _counted(files, "spec")
    if not problems:
        return f"{specs}: no problems"
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    found = ", ".join(_counted(count, noun) for count, noun in counts if count)
    wrong = {problem.file for problem in problems if problem.code not in _BESIDE_SPECS}
    beside = {problem.file for problem in problems if problem.code in _BESIDE_SPECS}
    more = f" and in {_counted(len(beside), 'other path')}" if beside else ""
    return f"{found} in {len(wrong)} of {specs}{more}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def text(problems: Sequence[Problem]) -> str:
    """``file:line:column: code: message; fix``, one line each."""
    return "".join(f"{problem}\n" for problem in problems)


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


def github(problems: Sequence[Problem]) -> str:
    """Commands that make GitHub annotate the lines of a pull request.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
    """
    return "".join(f"{_command(problem)}\n" for problem in problems)


def _command(problem: Problem) -> str:
    properties = {
        "file": here(problem.file),
        "line": str(problem.line),
        "col": str(problem.column),
        "title": problem.code,
    }
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{problem.severity.value} {written}::{_data(_words(problem))}"


def _words(problem: Problem) -> str:
    return f"{problem.message}; {problem.fix}" if problem.fix else problem.message


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def here(file: str) -> str:
    """A file's name from the working directory on, absolute if it lies elsewhere; with forward slashes."""
    path = Path(file).absolute()
    inside = path.is_relative_to(Path.cwd())
    return (path.relative_to(Path.cwd()) if inside else path).as_posix()


def sarif(problems: Sequence[Problem]) -> str:
    """A SARIF 2.1.0 log, as code scanning reads it. Files are relative to the working directory.

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
    return json.dumps(log, indent=1) + "\n"


def _rule(code: str) -> dict[str, Any]:
    entry = catalogue()[code]
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": entry.sentence},
        "help": {"text": f"{entry.sentence} Source: {entry.source}"},
        "defaultConfiguration": {"level": entry.severity.value},
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
        "level": problem.severity.value,
        "message": {"text": _words(problem)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    name = here(file)
    return Path(name).as_uri() if Path(name).is_absolute() else quote(os.fsencode(name))


FORMATS: dict[str, Report] = {"text": text, "json": as_json, "github": github, "sarif": sarif}
"""Formats by the name that the command line knows them by."""

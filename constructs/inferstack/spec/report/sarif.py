"""SARIF, for code scanning."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inferstack.spec.every_code import every_code
from inferstack.spec.problem import Problem
from inferstack.spec.report.words import product_version, words
from inferstack.spec.texts.file_names import relative_to_cwd


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
    return json.dumps(log, indent=1) + "\n"


def _rule(code: str) -> dict[str, Any]:
    entry = every_code()[code]
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
        "message": {"text": words(problem)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    name = relative_to_cwd(file)
    return Path(name).as_uri() if Path(name).is_absolute() else quote(os.fsencode(name))

"""``inferstack preflight``: whether a deployment can work in the account, before it starts."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from inferstack.account.preflight.policy import least_policy
from inferstack.account.preflight.running import CheckedPlace, preflight
from inferstack.account.preflight.verdict import WORST_FIRST, Result
from inferstack.cli.arguments import add_paths, add_region
from inferstack.cli.deployment import refused, specs_of
from inferstack.cli.escaping import json_text
from inferstack.cli.terminal import painted, passing, tell
from inferstack.problems import printable

_COLORS = {Result.OK: "green", Result.PROBLEM: "red", Result.CANNOT_TELL: "yellow"}
_STATUSES = {Result.OK: 0, Result.PROBLEM: 1, Result.CANNOT_TELL: 3}
_WIDE_STATE, _WIDE_CHECK = 11, 11


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack preflight``."""
    add_paths(command)
    command.add_argument("--stage", help="check only this stage; without it, all that can be deployed")
    add_region(command)
    command.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    policy = "print the least IAM policy for this, and ask nothing"
    command.add_argument("--print-policy", action="store_true", help=policy)


def run(options: argparse.Namespace) -> int:
    """Ask the account whether a deployment can work: quotas, files, images, keys, roles, networks, names.
    Nothing is changed.

    Exit status: 0 all is well, 1 something is not, 3 something could not be checked.
    """
    chosen, problems = specs_of(options)
    if problems:
        return refused(problems)
    specs = [loaded for loaded, _ in chosen]
    if options.print_policy:
        print(json.dumps(least_policy(specs), indent=2))
        return 0
    found: list[CheckedPlace] = []
    with passing() as show:
        for it in preflight(specs):
            found.append(it)
            show(f"{it.check}: {it.verdict.message}")
    print(_WRITERS[options.format](found), end="", flush=True)
    states = Counter(it.verdict.state for it in found)
    state = next((it for it in WORST_FIRST if it in states), Result.OK)
    counts = ", ".join(f"{states[it]} {it}" for it in Result if states[it])
    tell(painted(counts, _COLORS[state], sys.stderr))
    return _STATUSES[state]


def _text(found: Sequence[CheckedPlace]) -> str:
    return "".join(f"{_line(it)}\n" for it in found)


def _line(found: CheckedPlace) -> str:
    verdict, at = found.verdict, found.place
    state = painted(f"{verdict.state:<{_WIDE_STATE}}", _COLORS[verdict.state], sys.stdout)
    where = "" if verdict.state is Result.OK else f"{at.file}:{at.line}: "
    said = printable(f"{where}{verdict.message}" + (f"; {verdict.fix}" if verdict.fix else ""))
    return f"{state}  {found.check:<{_WIDE_CHECK}}  {said}"


def _json(found: Sequence[CheckedPlace]) -> str:
    return json_text([_fields(it) for it in found]) + "\n"


def _fields(found: CheckedPlace) -> dict[str, Any]:
    return {
        "state": found.verdict.state,
        "check": found.check,
        "message": found.verdict.message,
        "fix": found.verdict.fix,
        "file": found.place.file,
        "line": found.place.line,
        "column": found.place.column,
        "path": list(found.path),
        "endpoint": found.endpoint,
        "account": found.account,
        "region": found.region,
    }


_WRITERS = {"text": _text, "json": _json}

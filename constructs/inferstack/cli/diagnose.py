"""``inferstack diagnose``: the cause of a failure, from a log, a reason, an event or an answer."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from msgspec.structs import asdict

from inferstack.check.load import check_document
from inferstack.check.project_file import read_spec
from inferstack.cli.arguments import add_region
from inferstack.cli.escaping import json_text
from inferstack.cli.terminal import Refusal, painted
from inferstack.diagnosis.clues import Clues, clues_in
from inferstack.diagnosis.in_spec import SpecBeside
from inferstack.diagnosis.reading import NoTextError, lines_of
from inferstack.diagnosis.verdict import Diagnosis, diagnosed
from inferstack.problems import SpecError, printable
from inferstack.problems.file_codes import UNKNOWN_STAGE
from inferstack.source.spec_file import PIPED, STANDARD_INPUT

_COLORS = {"cause": "red", "symptom": "yellow", "cannot-tell": "yellow", "healthy": "green"}
_STATUSES = {"cause": 1, "symptom": 1, "cannot-tell": 3, "healthy": 0}
_MOST_SHOWN = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    log = "a log, a FailureReason, stack events or an error of InvokeEndpoint; - for a pipe"
    parser.add_argument("file", metavar="FILE", help=log)
    parser.add_argument("spec", metavar="SPEC", nargs="?", type=Path, help="the spec that was deployed")
    parser.add_argument("--stage", metavar="STAGE", help="the stage of the spec")
    add_region(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    parser.set_defaults(wrong_usage=parser.error)


def run(options: argparse.Namespace) -> int:
    """Name the cause of a failed deployment or request, the line that says so, and the fix. AWS is not asked.

    Exit status: 0 healthy, 1 a cause or a symptom, 3 the text does not say it.
    """
    if options.spec is not None and options.file == PIPED == str(options.spec):
        options.wrong_usage("only one of FILE and SPEC can be -")
    if options.spec is None and (options.stage is not None or options.region is not None):
        options.wrong_usage("--stage and --region are for SPEC")
    beside = None if options.spec is None else _beside(options)
    found = diagnosed(_clues(options.file), beside)
    if options.format == "json":
        print(json_text(diagnosis_fields(found)), flush=True)
    else:
        print("\n".join(map(printable, diagnosis_lines(found, options.file))), flush=True)
    return _STATUSES[found.verdict]


def _beside(options: argparse.Namespace) -> SpecBeside:
    document = read_spec(options.spec)
    try:
        _, problems = check_document(document, stage=options.stage, region=options.region)
    except SpecError as error:
        problems = list(error.problems)
    # A spec may be wrong, which says why it does not work. But it must be one, and have the stage.
    if "kind" not in document.data or any(it.code == UNKNOWN_STAGE for it in problems):
        raise SpecError(problems)
    return SpecBeside(document, tuple(problems))


def _clues(name: str) -> Clues:
    try:
        if name == PIPED:
            if sys.stdin is None:
                raise Refusal(f"{STANDARD_INPUT}: standard input is closed; pipe a log into it")
            return _read(sys.stdin.buffer)
        with Path(name).open("rb") as stream:
            return _read(stream)
    except NoTextError as error:
        raise Refusal(f"{name}: {error}; give a log, or what `aws` printed, as text or JSON") from None


def _read(stream: BinaryIO) -> Clues:
    return clues_in(lines_of(stream))


# ---------------------------------------------------------------- for people and programs


def diagnosis_lines(found: Diagnosis, file: str) -> Iterator[str]:
    """The verdict, the line of a file that it rests on, the line of the spec, and the fix."""
    certainty = {True: "certain", False: "likely"}[found.certain]
    label = f"{found.verdict} ({certainty})" if found.verdict == "cause" else found.verdict
    code = f"{found.code}: " if found.code else ""
    yield f"{painted(label, _COLORS[found.verdict], sys.stdout)}: {code}{found.message}"
    if found.line:
        number = f":{found.line_number}" if found.line_number else ""
        yield f"  {file}{number}: {found.line[:_MOST_SHOWN]}"
    if found.place is not None:
        agrees = f": {found.rule} of `validate` agrees" if found.rule else ""
        yield f"  {found.place.file}:{found.place.line}:{found.place.column}{agrees}"
    if found.fix:
        yield f"  fix: {found.fix}"
    if found.source:
        yield f"  source: {found.source}"


def diagnosis_fields(found: Diagnosis) -> dict[str, Any]:
    """The verdict as JSON has it."""
    place = None if found.place is None else asdict(found.place)
    return {**asdict(found), "place": place}

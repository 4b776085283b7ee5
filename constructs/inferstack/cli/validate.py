"""``inferstack validate``."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from inferstack.cli.streams import tell
from inferstack.spec.check_files import check_files, spec_files
from inferstack.spec.problem import Problem, Severity, SpecError
from inferstack.spec.report import FORMATS, summary


def validate(options: argparse.Namespace) -> int:
    """Check specs and report everything that is wrong with them, at once."""
    files, problems = _files(options.paths)
    problems += check_files(files, stage=options.stage)
    # Flushed at once, so that the summary comes last where both streams end up in one place.
    print(FORMATS[options.format](problems), end="", flush=True)
    tell(summary(problems, len(files)))
    failing = {Severity.ERROR, Severity.WARNING} if options.strict else {Severity.ERROR}
    return int(any(problem.severity in failing for problem in problems))


def _files(paths: Iterable[Path]) -> tuple[list[Path], list[Problem]]:
    """The files that paths stand for, each once, and what is wrong with the folders among them."""
    files: dict[Path, Path] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            for file in spec_files(path):
                files.setdefault(file.absolute(), file)
        except SpecError as error:
            problems += error.problems
    return list(files.values()), problems

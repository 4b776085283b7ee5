"""``inferstack validate``."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from inferstack.cli.processes import mapped
from inferstack.cli.spec_paths import files_of
from inferstack.cli.streams import tell
from inferstack.spec.check_files import check_files
from inferstack.spec.problem import Problem, Severity, SpecError, printable
from inferstack.spec.report import FORMATS, Findings, summary


def validate(options: argparse.Namespace) -> int:
    """Check specs and report everything that is wrong with them, at once."""
    files, problems = files_of(options.paths)
    problems += check_files(files, stage=options.stage, each=mapped)
    updates: list[str] = []
    if options.against is not None:
        problems, updates = _with_updates(problems, options.against, files, options.stage)
    # Flushed at once, so that the summary comes last where both streams end up in one place.
    print(FORMATS[options.format](Findings(problems, len(files), updates)), end="", flush=True)
    tell(summary(problems, len(files)))
    failing = {Severity.ERROR, Severity.WARNING} if options.strict else {Severity.ERROR}
    return int(any(problem.severity in failing for problem in problems))


def _with_updates(
    problems: list[Problem], against: Path, files: Iterable[Path], stage: str | None
) -> tuple[list[Problem], list[str]]:
    """What was found, and what deploying the specs would do to the stacks that are there."""
    from inferstack.review.against import compare_with  # noqa: PLC0415 - brings the making of templates

    comparison = compare_with(against, files, stage=stage)
    for note in comparison.notes:
        tell(printable(note))
    return list(SpecError(dict.fromkeys((*problems, *comparison.problems))).problems), comparison.notes

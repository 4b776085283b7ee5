"""``inferstack validate``: everything that is wrong with specs, in one run."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from inferstack.check.files import check_files, idle_stage
from inferstack.cli.arguments import add_paths, add_region, files_of
from inferstack.cli.report import FORMATS, Findings, in_format, summary
from inferstack.cli.terminal import painted, tell
from inferstack.problems import Fix, Problem, Severity, in_file_order, printable

if TYPE_CHECKING:
    from inferstack.review import Comparison


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack validate``."""
    add_paths(command)
    command.add_argument("--stage", help="choose this stage of every spec; without it all stages are checked")
    add_region(command)
    described = "check containers of language models that name no `model_config` with this one"
    command.add_argument("--model-config", metavar="PATH", type=Path, help=described)
    command.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    against = "also report what deploying would do to this template's stack, or to the stacks of a folder"
    command.add_argument("--against", metavar="TEMPLATE_OR_DIR", type=Path, help=against)
    foreign = "compare even with a template that inferstack has not made"
    command.add_argument("--foreign", action="store_true", help=foreign)
    command.add_argument("--strict", action="store_true", help="fail on warnings, too")
    fixing = command.add_mutually_exclusive_group()
    fix = "write what has one right answer, such as quotes, into the specs, and show the diff"
    fixing.add_argument("--fix", action="store_true", help=fix)
    fixing.add_argument(
        "--diff", action="store_true", help="print what --fix would change, and write nothing"
    )


def run(options: argparse.Namespace) -> int:
    """Check specs and report everything that is wrong with them, at once."""
    specs = _specs(options)
    files, problems = files_of(specs)
    if options.fix:
        _fix(files, options, write=True)
    problems += check_files(
        files, stage=options.stage, region=options.region, model_config=options.model_config
    )
    updates: list[str] = []
    count = len(files)
    if options.against is not None:
        compared = _compared(files, options)
        problems, updates = list(in_file_order([*problems, *compared.problems])), compared.notes
        count += compared.endpoints
    # Flushed at once, so that the summary comes last where both streams end up in one place.
    if options.diff:
        _fix(files, options, write=False)
    else:
        print(in_format(options.format, Findings(problems, count, updates)), end="", flush=True)
    if (warning := idle_stage(files, options.stage)) is not None:
        tell(f"warning: {warning}")
    tell(painted(summary(problems, count), _color_of(problems), sys.stderr))
    if not (options.fix or options.diff) and any(isinstance(it.fix, Fix) for it in problems):
        tell("some of them have one answer: --diff shows it, --fix writes it")
    failing = {Severity.ERROR, Severity.WARNING} if options.strict else {Severity.ERROR}
    return int(any(problem.severity in failing for problem in problems))


def _specs(options: argparse.Namespace) -> list[Path]:
    """The paths without templates, which next to a template to compare with are what an app will deploy."""
    if options.against is None:
        return list(options.paths)
    from inferstack.review import holds_templates  # noqa: PLC0415 - brings the making of templates

    return [it for it in options.paths if not holds_templates(it)]


def _fix(files: list[Path], options: argparse.Namespace, *, write: bool) -> None:
    from inferstack.cli.fixing import show_fixes, write_fixes  # noqa: PLC0415 - brings the editing of specs

    (write_fixes if write else show_fixes)(files, stage=options.stage, region=options.region)


def _color_of(problems: Iterable[Problem]) -> str:
    """The color of the summary: that of the worst problem."""
    found = {it.severity for it in problems}
    return "red" if Severity.ERROR in found else "yellow" if found else "green"


def _compared(files: list[Path], options: argparse.Namespace) -> "Comparison":
    """What deploying to the existing stacks does; a note on each spec is printed."""
    from inferstack.review import compare_with  # noqa: PLC0415 - brings the making of templates

    comparison = compare_with(
        options.against,
        files,
        stage=options.stage,
        region=options.region,
        paths=options.paths,
        foreign=options.foreign,
    )
    for note in comparison.notes:
        tell(printable(note))
    return comparison

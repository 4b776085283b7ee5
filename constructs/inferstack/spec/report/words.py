"""What all formats have in common: words for problems, how many there are, the product's version."""

from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from inferstack.spec.check_files import NO_SPECS
from inferstack.spec.problem import Problem, Severity
from inferstack.spec.problem.file_codes import NO_SPEC
from inferstack.spec.problem.update_codes import LEFT_OVER, NOT_A_TEMPLATE, OTHER_STACK, UNREADABLE
from inferstack.spec.texts.file_names import LOCK_SUFFIX
from inferstack.triton.model import CONFIG_FILE

# These problems are not about a spec, but about a folder without specs, or a template to compare with.
_BESIDE_SPECS = {NO_SPECS, UNREADABLE, NOT_A_TEMPLATE, OTHER_STACK, LEFT_OVER}


class Findings(msgspec.Struct, frozen=True):
    """Everything that a report may show: problems, the number of specs, and a line about each update."""

    problems: Sequence[Problem]
    specs: int = 0
    updates: Sequence[str] = ()


def product_version() -> str:
    """The version of the installed package; "0" for sources that are not installed."""
    # This import takes longer than checking a spec.
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("inferstack")
    except PackageNotFoundError:
        return "0"


def summary(problems: Sequence[Problem], files: int) -> str:
    """How many problems there are, and in how many of the specs, as one line without a line break.

    Problems elsewhere (in folders, templates, locks and model files) are counted separately from the specs.
    """
    specs = counted(files, "spec")
    if not problems:
        return f"{specs}: no problems"
    wrong = {problem.file for problem in problems if not _is_beside(problem)}
    beside = len({problem.file for problem in problems if _is_beside(problem)})
    if files == 0:
        return f"{tally(problems)}, and no spec was found"
    more = f" and in {counted(beside, 'other path')}" if beside else ""
    return f"{tally(problems)} in {len(wrong)} of {specs}{more}"


def _is_beside(problem: Problem) -> bool:
    if problem.code in _BESIDE_SPECS:
        return True
    of_model = PurePath(problem.file).name == CONFIG_FILE
    return of_model or (problem.file.endswith(LOCK_SUFFIX) and problem.code != NO_SPEC)


def tally(problems: Sequence[Problem]) -> str:
    """The number of errors and the number of warnings; what there is none of is left out."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    return ", ".join(counted(count, noun) for count, noun in counts if count)


def counted(count: int, noun: str) -> str:
    """A number with its noun, as in ``1 spec`` and ``2 specs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def words(problem: Problem) -> str:
    """What is wrong and how to fix it, without the place."""
    return f"{problem.message}; {problem.fix}" if problem.fix else problem.message

"""What a spec may ignore: warnings about specs. An unknown code silences nothing, and errors stay errors."""

from collections.abc import Iterator, Mapping

from inferstack.check.every_code import every_code
from inferstack.check.references import REFERENCE_CODES
from inferstack.check.rules.base import RULES
from inferstack.check.rules.language_models.model_files import OF_MODELS
from inferstack.check.rules.objective import MEASURED
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, Severity
from inferstack.problems.codes import Code
from inferstack.problems.file_codes import FILE_CODES, NO_SUCH_WARNING, NOT_IGNORABLE
from inferstack.triton.rules import RULES as TRITON_RULES
from inferstack.updates import UPDATE_RULES

_OF_SPECS: tuple[Mapping[str, Code], ...] = (
    *(RULES, MEASURED, OF_MODELS, TRITON_RULES),
    *(UPDATE_RULES, REFERENCE_CODES, FILE_CODES),
)
"""The tables with warnings that a spec can cause."""


def may_be_ignored(code: str) -> bool:
    """Whether a spec can turn off a code: it must be a warning about specs."""
    entry = next((table[code] for table in _OF_SPECS if code in table), None)
    return entry is not None and entry.severity is not Severity.ERROR


def ignored_in_vain(spec: ModelSpec) -> Iterator[Problem]:
    """The codes under `ignore` that no spec can ignore."""
    for index, code in enumerate(spec.ignored_codes):
        if may_be_ignored(code):
            continue
        entry = every_code().get(code)
        if entry is not None and entry.severity is Severity.ERROR:
            message = f"{code} is an error and cannot be ignored"
            yield Problem(("ignore", index), message, "remove it and fix what it reports", NOT_IGNORABLE)
        else:
            message = f"there is no warning {code}"
            yield Problem(("ignore", index), message, "remove it, or correct the code", NO_SUCH_WARNING)

"""Warnings that a spec turns off."""

from collections.abc import Iterator

from inferstack.check.rules.base import RULES, error
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, Severity
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.update_codes import UPDATE_CODES


@error("IS290", OWN_FORMAT)
def ignored_code_exists(spec: ModelSpec) -> Iterator[Problem]:
    """`ignore` must name the code of an existing warning.

    An unknown code would silence nothing.
    """
    for index, code in enumerate(spec.ignored_codes):
        if _severity(code) is None:
            yield Problem(("ignore", index), f"there is no warning {code}", "remove it, or correct the code")


@error("IS291", OWN_FORMAT)
def errors_are_not_ignored(spec: ModelSpec) -> Iterator[Problem]:
    """Only warnings can be ignored.

    No spec can allow what AWS refuses.
    """
    for index, code in enumerate(spec.ignored_codes):
        if _severity(code) is Severity.ERROR:
            yield Problem(
                ("ignore", index),
                f"{code} is an error and cannot be ignored",
                "remove it and fix what it reports",
            )


def may_be_ignored(code: str) -> bool:
    """Whether a spec can turn it off: it must be a warning, and about a spec."""
    return _severity(code) is Severity.WARNING


def _severity(code: str) -> Severity | None:
    """The severity of a code; None if there is no such code, or no spec can cause it."""
    from inferstack.triton.rules import RULES as TRITON_RULES  # noqa: PLC0415 - few specs ignore anything

    rule = RULES.get(code) or TRITON_RULES.get(code) or UPDATE_CODES.get(code)
    return _of_no_rule(code) if rule is None else rule.severity


def _of_no_rule(code: str) -> Severity | None:
    """Problems that are found before the rules are errors; None if there is no such code."""
    from inferstack.check.every_code import every_code  # noqa: PLC0415 - that has the rules, too

    entry = every_code().get(code)
    return entry.severity if entry is not None and entry.severity is Severity.ERROR else None

"""IS290 to IS299: warnings that a spec turns off."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import Ignore, ModelSpec
from inferstack.spec.problem import Severity
from inferstack.spec.rules.base import RULES, Finding, error
from inferstack.spec.words import nearest

_FORMAT = "the spec's own format"


@error("IS290", "`ignore` names the code of a warning.", _FORMAT, ModelSpec)
def ignored_code_exists(spec: ModelSpec) -> Iterator[Finding]:
    """An unknown code would silence nothing."""
    warnings = [code for code, rule in RULES.items() if rule.severity is Severity.WARNING]
    for index, code in _ignored(spec):
        if code not in RULES:
            close = nearest(code, warnings)
            suggestion = "" if close is None else f"did you mean `{close}`? "
            yield Finding(
                ("ignore", index), f"there is no warning {code}", f"{suggestion}remove it, or correct it"
            )


@error("IS291", "Only warnings can be ignored.", _FORMAT, ModelSpec)
def errors_are_not_ignored(spec: ModelSpec) -> Iterator[Finding]:
    """What AWS refuses, no spec can allow."""
    for index, code in _ignored(spec):
        if code in RULES and RULES[code].severity is Severity.ERROR:
            yield Finding(
                ("ignore", index),
                f"{code} is an error and cannot be ignored",
                "remove it and mend what it reports",
            )


def _ignored(spec: ModelSpec) -> Iterator[tuple[int, str]]:
    for index, entry in enumerate(spec.ignore):
        yield index, entry.code if isinstance(entry, Ignore) else entry

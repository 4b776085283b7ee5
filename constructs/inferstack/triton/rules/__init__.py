"""The rules for Triton's models, by topic.

Importing this package registers them all; :data:`RULES` has them by code.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec

from inferstack.problems import Problem, Severity, SpecPath
from inferstack.triton.model import FilePlace, Place, Repository
from inferstack.triton.rules import (
    advice,
    batches,
    ensembles,
    files,
    local_files,
    models,
    pytorch,
    releases,
    serving,
    steps,
    tensors,
    values,
)
from inferstack.triton.rules.base import RULES, Context, Finding, TritonRule

__all__ = ["RULES", "Context", "Finding", "TritonRule"]


# ----------------------------------------------------------------
# The rules applied to a repository: problems at their places, in the spec or in a ``config.pbtxt``.


Locate = Callable[[SpecPath], FilePlace]
"""Where a part of the spec is written."""

_NOTHING_KNOWN = Context()


def repository_problems(
    repository: Repository,
    locate: Locate,
    context: Context = _NOTHING_KNOWN,
    ignored: frozenset[str] = frozenset(),
) -> Iterator[Problem]:
    """Everything wrong with the models of one archive. ``ignored`` are codes of warnings.

    When a model cannot be read, rules that look at several models are left out: what they would find missing
    may be in the unreadable one.
    """
    for model in repository.models:
        for rule in _rules_about(model.fields, ignored).of_models:
            for finding in rule.check(model, context):
                yield _problem(rule, finding, locate)
    fields = frozenset[str]().union(*(model.fields for model in repository.models))
    for rule in _rules_about(fields, ignored).of_archives:
        if repository.faults and not rule.partial:
            continue
        for finding in rule.check(repository, context):
            yield _problem(rule, finding, locate)


class _Rules(msgspec.Struct, frozen=True):
    """Rules that are handed each model, and those that are handed the whole repository."""

    of_models: tuple[TritonRule, ...]
    of_archives: tuple[TritonRule, ...]


# Half of the rules are about fields that few models have.
@lru_cache
def _rules_about(fields: frozenset[str], ignored: frozenset[str]) -> _Rules:
    asked = [rule for rule in RULES.values() if not rule.about or rule.about & fields]
    asked = [rule for rule in asked if rule.severity is Severity.ERROR or rule.code not in ignored]
    return _Rules(
        tuple(rule for rule in asked if not rule.whole), tuple(rule for rule in asked if rule.whole)
    )


def _problem(rule: TritonRule, finding: Finding, locate: Locate) -> Problem:
    place: Place = finding.place
    at, path = (place, ()) if isinstance(place, FilePlace) else (locate(place), place)
    return Problem(at.file, at.line, at.column, rule.code, finding.message, finding.fix, rule.severity, path)

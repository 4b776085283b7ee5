"""The rules for Triton's models, by topic, and what they find in a repository.

Importing this package registers them all; :data:`RULES` has them by code.
"""

from collections.abc import Callable, Iterable, Iterator

from inferstack.problems import FilePlace, Problem, Severity, SpecPath
from inferstack.problems.rules import Rule
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rules import (
    ensembles,
    files,
    local_files,
    model_files,
    models,
    pytorch,
    releases,
    sequences,
    serving,
    steps,
    tensors,
)
from inferstack.triton.rules.base import RULES, Context

__all__ = ["RULES", "Context", "repository_problems"]

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
    rules = [it for it in RULES.values() if it.severity is Severity.ERROR or it.code not in ignored]
    for model in repository.models:
        for rule in rules:
            if rule.applies_to is TritonModel:
                yield from _located(rule, rule.check(model, context), locate)
    for rule in rules:
        if rule.applies_to is Repository and (rule.partial or not repository.faults):
            yield from _located(rule, rule.check(repository, context), locate)


def _located(rule: Rule, found: Iterable[Problem], locate: Locate) -> Iterator[Problem]:
    for it in found:
        at = it.place if isinstance(it.place, FilePlace) else locate(it.place)
        yield Problem(it.place, it.message, it.fix, rule.code, rule.severity, at)

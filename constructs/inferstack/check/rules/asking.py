"""Applies the rules for a spec's kind, without the warnings that it turns off.

Some numbers are known only at deployment. The rules see the spec with several sample numbers in their place,
and only what they find with every one of them is reported: it is wrong whatever the number is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from inferstack.check.ignore import ignored_in_vain
from inferstack.check.rules.base import RULES
from inferstack.format.kinds import ModelSpec, Spec
from inferstack.problems import Problem, Severity
from inferstack.problems.rules import Rule
from inferstack.source.document import Document
from inferstack.texts.placeholders import is_opaque

# ---------------------------------------------------------------- numbers that only the deployment knows


# Usual values of counts, shares, seconds and megabytes; -1 for a step that removes capacity.
_USUAL = (-1, 0, 1, 2, 5, 10, 20, 50, 60, 100, 300, 600, 1200, 3600, 28800, 1024, 4096, 1_000_000)
_RISING = (1, 2, 5, 10, 60, 600, 3600, 28800)


def with_samples(spec: ModelSpec, data: object) -> Sequence[ModelSpec]:
    """Copies of a spec with sample numbers in place of its unknown ones; the spec itself if it has none."""
    if not any(map(is_opaque, _numbers(data))):
        return (spec,)
    # A number may have to equal another one in the spec, so those are tried, too.
    alike = dict.fromkeys((*_USUAL, *(it for it in _numbers(data) if not is_opaque(it))))
    samples = [*((it,) for it in alike), _RISING, _RISING[::-1]]
    plain = msgspec.to_builtins(spec)
    return [msgspec.convert(_filled(plain, _one_each(numbers)), Spec) for numbers in samples]


def _numbers(value: object) -> Iterator[int]:
    match value:
        case dict():
            for item in value.values():
                yield from _numbers(item)
        case list():
            for item in value:
                yield from _numbers(item)
        case int() if not isinstance(value, bool):
            yield value


def _one_each(numbers: Sequence[int]) -> Callable[[int], int]:
    """Gives each token one of the numbers, and the same one wherever the token occurs."""
    given: dict[int, int] = {}
    return lambda token: given.setdefault(token, numbers[min(len(given), len(numbers) - 1)])


def _filled(value: Any, number_for: Callable[[int], int]) -> Any:
    match value:
        case dict():
            return {key: _filled(item, number_for) for key, item in value.items()}
        case list() | tuple():
            return [_filled(item, number_for) for item in value]
        case int() if is_opaque(value):
            return number_for(value)
        case _:
            return value


# ---------------------------------------------------------------- asking the rules

Ask = Callable[[Rule, ModelSpec], Iterable[Problem]]
"""How a rule is run on a spec."""


def _asked(rule: Rule, spec: ModelSpec) -> Iterable[Problem]:
    return rule.check(spec)


def rule_problems(spec: ModelSpec, document: Document, ask: Ask = _asked) -> Iterable[Problem]:
    """Everything that the rules find in a spec, whatever values the unknown numbers get at deployment."""
    first, *others = (list(_found_in(it, document, ask)) for it in with_samples(spec, document.data))
    lasting = [{(it.code, it.path) for it in other} for other in others]
    return (it for it in first if all((it.code, it.path) in other for other in lasting))


def _found_in(spec: ModelSpec, document: Document, ask: Ask) -> Iterator[Problem]:
    for rule in _rules_for(type(spec), frozenset(spec.ignored_codes)):
        for problem in ask(rule, spec):
            yield document.located(problem, rule.code, rule.severity)
    for problem in ignored_in_vain(spec):
        yield document.located(problem, problem.code, problem.severity)


@lru_cache(maxsize=256)
def _rules_for(kind: type[ModelSpec], ignored: frozenset[str]) -> tuple[Rule, ...]:
    """The rules for specs of a kind, without the warnings that a spec ignores."""
    return tuple(
        rule
        for rule in RULES.values()
        if issubclass(kind, rule.applies_to)
        and not (rule.severity is Severity.WARNING and rule.code in ignored)
    )

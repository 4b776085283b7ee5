"""What the rules find in a spec. Only rules that the spec can break are run.

Those are the rules for its kind that it does not ignore and that are about keys that it has. Half of all
rules are about blocks that few specs have: skipping them makes a check a tenth shorter.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.document import Document
from inferstack.spec.parts.number_tokens import with_samples
from inferstack.spec.problem import Problem, Severity
from inferstack.spec.rules import RULES, Finding, Rule

Ask = Callable[[Rule, ModelSpec], Iterable[Finding]]
"""How a rule is run on a spec."""

# Below these keys are names that the user chose, and Triton's fields, none of which are keys of the format.
_OTHER_NAMES = frozenset({"environment", "tags", "triton"})
# Below these are names that the user chose, too, but with blocks below them, even if a name is `triton`.
_NAMED = frozenset({"inference_components", "models"})


def _asked(rule: Rule, spec: ModelSpec) -> Iterable[Finding]:
    return rule.check(spec)


def rule_problems(spec: ModelSpec, document: Document, ask: Ask = _asked) -> Iterable[Problem]:
    """Everything that the rules find in a spec, whichever values the unknown numbers get at deployment."""
    data = document.data if document.may_have_placeholders else None
    first, *others = (list(_found_in(it, document, ask)) for it in with_samples(spec, data))
    lasting = [{(it.code, it.path) for it in other} for other in others]
    return (it for it in first if all((it.code, it.path) in other for other in lasting))


def _found_in(spec: ModelSpec, document: Document, ask: Ask) -> Iterator[Problem]:
    for rule in rules_for(type(spec), frozenset(spec.ignored_codes), document.data):
        for finding in ask(rule, spec):
            if finding.of_key:
                at = document.position(finding.path, key=True)
            else:
                at = document.where_to_mend(finding.about)
            yield Problem(
                document.file,
                at.line,
                at.column,
                rule.code,
                f"{finding.message}{document.absent_by(finding.about)}",
                finding.fix,
                rule.severity,
                finding.path,
            )


def rules_for(kind: type[ModelSpec], ignored: frozenset[str], data: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules for a spec of this kind, with this data."""
    keys: set[str] = set()
    _collect_keys(data, keys)
    return _selected(kind, ignored, _asked_about() & keys)


@cache
def _asked_about() -> frozenset[str]:
    return frozenset[str]().union(*(rule.about for rule in RULES.values()))


def _collect_keys(data: Mapping[str, Any], keys: set[str]) -> None:
    """Adds the keys in the data, at any depth."""
    keys.update(data)
    for key, value in data.items():
        if isinstance(value, dict):
            if key in _NAMED:
                _collect_of_items(value.values(), keys)
            elif key not in _OTHER_NAMES:
                _collect_keys(value, keys)
        elif isinstance(value, list):
            _collect_of_items(value, keys)


def _collect_of_items(items: Iterable[Any], keys: set[str]) -> None:
    for item in items:
        if isinstance(item, dict):
            _collect_keys(item, keys)


@lru_cache(maxsize=256)
def _selected(kind: type[ModelSpec], ignored: frozenset[str], keys: frozenset[str]) -> tuple[Rule, ...]:
    return tuple(
        rule
        for rule in RULES.values()
        if issubclass(kind, rule.applies_to)
        and not (rule.severity is Severity.WARNING and rule.code in ignored)
        and (not rule.about or rule.about & keys)
    )

"""Which rules a spec can break: those for its kind, that it does not ignore, about keys that it has.

Half of the rules are about blocks that few specs have. Not to ask them takes a tenth of the time of a check.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import Severity
from inferstack.spec.rules import RULES, Rule

# Below these stand names of the user's own, and fields that are Triton's.
_OTHER_NAMES = frozenset({"environment", "tags", "triton"})


def rules_for(kind: type[ModelSpec], ignored: frozenset[str], data: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules for a spec of a kind that stands in the data."""
    return _selected(kind, ignored, _asked_about().intersection(_keys(data)))


@cache
def _asked_about() -> frozenset[str]:
    return frozenset[str]().union(*(rule.about for rule in RULES.values()))


def _keys(data: Mapping[str, Any]) -> set[str]:
    """The keys in the data, at any depth."""
    found = set(data)
    for key, value in data.items():
        if key not in _OTHER_NAMES:
            for below in value if isinstance(value, list) else (value,):
                if isinstance(below, dict):
                    found |= _keys(below)
    return found


@lru_cache(maxsize=256)
def _selected(kind: type[ModelSpec], ignored: frozenset[str], keys: frozenset[str]) -> tuple[Rule, ...]:
    return tuple(
        rule
        for rule in RULES.values()
        if issubclass(kind, rule.applies_to)
        and not (rule.severity is Severity.WARNING and rule.code in ignored)
        and (not rule.about or rule.about & keys)
    )

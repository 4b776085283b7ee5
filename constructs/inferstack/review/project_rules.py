"""The rules of a project, compared with those that it had: a change must not allow itself what it does."""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.check.project_file import written_rules
from inferstack.endpoint.place import Place
from inferstack.problems.words import listed
from inferstack.review.data import Finding
from inferstack.source.document import Document

WrittenRules = Mapping[str, Any]
"""Rules as a project's file has them."""


def loosened_rules(now: Document, before: WrittenRules) -> Finding | None:
    """What the project of a spec allows that it did not allow before."""
    found = list(_loosened(before, written_rules(now)))
    if not found:
        return None
    return Finding(
        effect="protection-lowered",
        severity="warning",
        endpoints=(),
        message=f"the project's rules allow more than before: {listed(found, last='and', quote='')}",
        fix="have it approved by those who answer for the rules",
        place=Place("inferstack.yaml" if now.project is None else now.project.file, 1, 1),
    )


def _loosened(before: WrittenRules, now: WrittenRules) -> Iterator[str]:
    for group, rules in before.items():
        for name, rule in rules.items():
            path, other = f"`{group}.{name}`", (now.get(group) or {}).get(name)
            if other is None:
                yield f"{path} is gone"
            elif isinstance(rule, dict) and isinstance(other, dict):
                yield from (f"{path} {it}" for it in _differences(rule, other))


def _differences(rule: WrittenRules, other: WrittenRules) -> Iterator[str]:
    """What a rule that stays allows now."""
    allowed = [it for it in other.get("values", ()) if it not in rule.get("values", ())]
    if allowed:
        yield f"allows {listed(allowed, last='and', quote='')}"
    dropped = [it for it in rule.get("keys", ()) if it not in other.get("keys", ())]
    if dropped:
        yield f"no longer asks for {listed(dropped, last='and', quote='')}"
    if other.get("value", 0) > rule.get("value", 0):
        yield f"is {other['value']:g} instead of {rule['value']:g}"
    if other.get("prices") != rule.get("prices"):
        yield "reads other prices"

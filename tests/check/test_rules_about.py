"""A rule about certain keys cannot be broken by a spec without them: skipping the rule hides nothing."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest
from support.wrong_specs import ALL, FOLDER, Case

from inferstack.check.rules import RULES
from inferstack.check.rules.asking import rules_for
from inferstack.format.kinds import ModelSpec, Spec
from inferstack.format.schema import shipped_schema
from inferstack.source.quick import read_quickly


def without(data: Any, key: str) -> Any:
    """The data without a key, wherever it is."""
    match data:
        case dict():
            return {name: without(value, key) for name, value in data.items() if name != key}
        case list():
            return [without(item, key) for item in data]
        case _:
            return data


def typed(data: object) -> ModelSpec | None:
    try:
        spec: ModelSpec = msgspec.convert(data, Spec)
    except msgspec.ValidationError:
        return None
    return spec


def shapes(data: dict[str, Any]) -> Iterator[tuple[dict[str, Any], ModelSpec]]:
    """The spec, and what is left of it without each of the keys that rules are about."""
    asked = sorted({key for rule in RULES.values() for key in rule.about})
    text = json.dumps(data)
    for less in (data, *(without(data, key) for key in asked if f'"{key}"' in text)):
        spec = typed(less)
        if spec is not None:
            yield less, spec


def read(text: str) -> dict[str, Any] | None:
    tree = read_quickly(text)
    return None if tree is None else tree.data


def found_by_others(data: Mapping[str, Any], spec: ModelSpec) -> list[str]:
    """Codes that skipped rules would report, although they are for this kind of spec."""
    asked = {rule.code for rule in rules_for(type(spec), frozenset(), data)}
    others = (rule for rule in RULES.values() if isinstance(spec, rule.applies_to) and rule.code not in asked)
    return [rule.code for rule in others if next(iter(rule.check(spec)), None) is not None]


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.base}: {case.title}")
def test_who_is_not_asked_has_nothing_to_say(case: Case) -> None:
    data = read(case.text())
    for less, spec in () if data is None else shapes(data):
        assert found_by_others(less, spec) == []


def test_half_of_the_rules_need_not_be_asked() -> None:
    """For the plainest base; this shows that the tests above test something."""
    data = read((FOLDER / "bases" / "single.yaml").read_text("utf-8"))
    assert data is not None
    spec = typed(data)
    assert spec is not None
    mine = [rule for rule in RULES.values() if isinstance(spec, rule.applies_to)]
    assert len(rules_for(type(spec), frozenset(), data)) < 0.6 * len(mine)


def test_rules_are_about_keys_that_the_format_has() -> None:
    known = {key for block in shipped_schema()["$defs"].values() for key in block.get("properties", {})}
    assert {key for rule in RULES.values() for key in rule.about} <= known


@pytest.mark.parametrize(
    "data",
    [
        {"a": {"b": [{"autoscaling": {}}]}},
        {"a": [{"b": {"autoscaling": None}}]},
        {"autoscaling": 0},
    ],
)
def test_a_key_counts_at_any_depth(data: dict[str, Any]) -> None:
    codes = {rule.code for rule in rules_for(ModelSpec, frozenset(), data)}
    assert "IS500" in codes


def test_names_of_the_users_own_are_no_keys() -> None:
    data = {"tags": {"autoscaling": "x"}, "environment": {"autoscaling": "1"}, "triton": {"autoscaling": {}}}
    assert "IS500" not in {rule.code for rule in rules_for(ModelSpec, frozenset(), data)}


@pytest.mark.parametrize("name", ["tags", "environment", "triton", "models"])
@pytest.mark.parametrize("of", ["inference_components", "models"])
def test_what_has_a_name_of_the_users_own_is_looked_into_whatever_that_is(of: str, name: str) -> None:
    data = {of: {name: {"autoscaling": {}}}}
    assert "IS500" in {rule.code for rule in rules_for(ModelSpec, frozenset(), data)}

"""What decides whether a spec's structure is right agrees with what reports the mistakes in it."""

import random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.damaged_specs import KEYS, ODD, SPECS, damage, damaged, exchange

from inferstack.check.structure.decide import compiled, fits
from inferstack.check.structure.report import reported
from inferstack.format.schema import kind_definitions, shipped_schema
from inferstack.problems import SpecError
from inferstack.source.document import Document

DEFINITIONS = shipped_schema()["$defs"]
WORDS = sorted({*KEYS, *(key for it in DEFINITIONS.values() for key in it.get("properties", {}))})
OPTIONS = sorted({option for it in DEFINITIONS.values() for option in it.get("enum", ())})
PLAIN = st.sampled_from([*ODD, *OPTIONS]) | st.integers() | st.floats() | st.text(max_size=8)


def document(data: dict[str, Any]) -> Document | None:
    """The document, or None if the data contains what no file can."""
    try:
        return Document.from_data(data)
    except SpecError:
        return None


def agree(definition: str, data: dict[str, Any]) -> bool:
    it = document(data)
    return it is None or fits(definition, it.data) == (not reported(it, definition))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(SPECS), st.randoms(use_true_random=False), st.integers(0, 4))
def test_both_say_the_same_of_a_damaged_spec(spec: dict[str, Any], choose: random.Random, times: int) -> None:
    assert agree(kind_definitions()[spec["kind"]], damaged(spec, choose, times, damage, exchange))


def test_a_number_that_could_stand_for_another_is_no_option() -> None:
    assert agree("InferenceExecutionConfig", {"mode": float("-inf")})


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from(sorted(DEFINITIONS)))
def test_both_say_the_same_of_any_data_in_any_block(data: st.DataObject, definition: str) -> None:
    own = sorted(DEFINITIONS[definition].get("properties", ())) or WORDS
    inner = st.recursive(
        PLAIN, lambda it: st.lists(it, max_size=3) | st.dictionaries(st.sampled_from(WORDS), it, max_size=3)
    )
    assert agree(definition, data.draw(st.dictionaries(st.sampled_from(own), inner, max_size=4)))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["endpoint_name"])
def test_right_specs_are_decided_without_a_report(spec: dict[str, Any]) -> None:
    assert fits(kind_definitions()[spec["kind"]], spec)


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"enum": [1, 5]}, 1, True),
        ({"enum": [1, 5]}, 5.0, 4),
        ({"enum": ["aws"]}, "${AWS::Partition}", "${AWS::Region}"),
        ({"type": "integer"}, 2, 2.0),
        ({"type": "number"}, 2.5, float("inf")),
        ({"type": ["string", "number"]}, 2.5, True),
        ({"type": "string", "maxLength": 12}, "${AWS::AccountId}", "a" * 13),
        ({"type": "string", "pattern": "^a$"}, "a", "a\n"),
        ({"type": "string", "pattern": "^a$"}, "{{resolve:ssm:/a}}", "b"),
        ({"uniqueItems": True}, [1, True, [1], [True]], [1, 1.0]),
        ({"uniqueItems": True}, [{"a": 1}, {"a": True}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
        ({"required": ["a"]}, {"a": None}, {"b": 1}),
        ({"properties": {"a": {"type": "string"}}, "additionalProperties": False}, {"a": "x"}, {"b": "x"}),
        ({"additionalProperties": {"type": "string"}}, {"b": "x"}, {"b": 1}),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}),
        ({"minProperties": 1}, {"a": 1}, {}),
        ({"minItems": 2, "maxItems": 3}, [1, 2], [1]),
        ({"minItems": 2, "maxItems": 3}, [1, 2, 3], [1, 2, 3, 4]),
        ({"minItems": 2}, ["#{Token[TOKEN.1]}"], ["x"]),
        ({"maxItems": 1}, "text", [1, 2]),
        ({"minimum": 0}, -1.8e308, -1),
        ({"minimum": 0}, "text", -0.5),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, 1, None),
        ({"allOf": [{"minimum": 0}, {"maximum": 1}]}, 1, 2),
        ({"not": {"required": ["a"]}}, {"b": 1}, {"a": 1}),
    ],
)
def test_a_word_of_the_schema_is_understood(schema: dict[str, Any], right: object, wrong: object) -> None:
    check = compiled(schema)
    assert check(right)
    assert not check(wrong)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "patternProperties": {}},
        {"items": {"type": "string", "format": "date"}},
        {"enum": [1.5]},
        {"uniqueItems": False},
    ],
)
def test_a_word_that_is_not_known_stops_the_check_from_being_made(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"known|options|uniqueItems"):
        compiled(schema)


def test_every_definition_of_the_shipped_schema_can_be_checked() -> None:
    assert [name for name in DEFINITIONS if not callable(compiled(DEFINITIONS[name]))] == []


def test_what_is_wrong_under_names_of_the_users_is_reported_in_their_order() -> None:
    names = list("hcafgbed")
    data = {"kind": "single-model", "endpoint_name": "x", "tags": dict.fromkeys(names, 1)}
    found = reported(Document.from_data(data), kind_definitions()["single-model"])
    assert [it.path for it in found] == [("tags", name) for name in names]

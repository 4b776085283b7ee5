"""Texts on which AWS's patterns would take minutes are refused by their length; integers have AWS's limits."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from support.damaged_specs import HERE_BASES

from inferstack.check.load import parse_spec
from inferstack.format.schema import shipped_schema
from inferstack.problems import SpecError
from inferstack.source.document import read_document


def test_a_long_text_is_refused_without_trying_the_pattern() -> None:
    data = copy.deepcopy(read_document(HERE_BASES / "steps.yaml").data)
    # The pattern of this name examines every run of spaces from each of its positions.
    data["autoscaling"]["scheduled_actions"][0]["scheduled_action_name"] = "a" + " " * 300_000 + "b"
    with pytest.raises(SpecError) as refusal:
        parse_spec(data)
    assert [problem.code for problem in refusal.value.problems] == ["IS107"]


def test_every_integer_of_aws_has_the_bounds_of_its_type() -> None:
    # None of AWS's integers that a spec may have is a `long`.
    integers = list(_integers(shipped_schema()["$defs"]))
    assert len(integers) > 30
    assert [
        it for it in integers if it.get("minimum", -(2**32)) < -(2**31) or it.get("maximum", 2**32) >= 2**31
    ] == []


def _integers(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        # Triton's integers have types of their own, including some of 64 bits.
        if schema.get("type") == "integer" and "enum" not in schema:
            yield schema
        for key, below in schema.items():
            if not key.startswith("Triton"):
                yield from _integers(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from _integers(below)

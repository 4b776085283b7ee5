"""Texts that would take AWS's patterns minutes are refused by their length."""

import copy

import pytest
from support.damaged_specs import HERE_BASES

from inferstack.spec.check import parse_spec
from inferstack.spec.document import read_document
from inferstack.spec.problem import SpecError


def test_a_long_text_is_refused_without_trying_the_pattern() -> None:
    data = copy.deepcopy(read_document(HERE_BASES / "steps.yaml").data)
    # The pattern of this name looks at every run of spaces from each of its places.
    data["autoscaling"]["scheduled_actions"][0]["scheduled_action_name"] = "a" + " " * 300_000 + "b"
    with pytest.raises(SpecError) as refusal:
        parse_spec(data)
    assert [problem.code for problem in refusal.value.problems] == ["IS107"]

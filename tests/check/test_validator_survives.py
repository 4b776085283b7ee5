"""Whatever is done to a spec, checking it ends with a spec or with a SpecError.

There are two kinds of damage: anything anywhere, which the structure mostly refuses, and a value replaced by another
of its type, which gets as far as the rules.
"""

import random
from typing import Any

from hypothesis import given, settings, strategies as st
from support.damaged_specs import KEYS, ODD, SPECS, damage, damaged, exchange

from inferstack.check.load import parse_spec
from inferstack.check.structure.report import structure_problems
from inferstack.problems import SpecError
from inferstack.source.document import Document


def is_checked(spec: Any) -> bool:
    """Whether it is a spec; anything but a SpecError fails the test."""
    try:
        parse_spec(spec)
    except SpecError as error:
        return not [str(problem) for problem in error.problems]
    return True


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from(SPECS), st.randoms(use_true_random=False), st.integers(1, 4))
def test_a_damaged_spec_gives_problems_and_never_a_traceback(
    spec: dict[str, Any], choose: random.Random, times: int
) -> None:
    is_checked(damaged(spec, choose, times, damage))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(SPECS), st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_spec_with_exchanged_values_gives_problems_and_never_a_traceback(
    spec: dict[str, Any], choose: random.Random, times: int
) -> None:
    is_checked(damaged(spec, choose, times, exchange))


def test_exchanged_values_often_get_past_the_structure() -> None:
    choose, past = random.Random(7), 0
    for _ in range(200):
        changed = damaged(choose.choice(SPECS), choose, 1, exchange)
        past += not structure_problems(Document.from_data(changed))
    assert past > 80


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.recursive(
        st.sampled_from(ODD),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=12,
    )
)
def test_data_that_is_no_spec_gives_problems(data: Any) -> None:
    assert not is_checked(data if isinstance(data, dict) else {"kind": data})
    assert not is_checked({"kind": "single-model", "endpoint_name": "x", "model": data, "variant": data})

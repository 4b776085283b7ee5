"""How templates are written."""

import json
from typing import Any

from hypothesis import given, settings, strategies as st

from inferstack.cli.writers import WRITERS

WHOLE = st.none() | st.booleans() | st.integers() | st.text()
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def templates(plain: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    data = st.recursive(plain, lambda it: st.lists(it) | st.dictionaries(st.text(), it), max_leaves=20)
    return st.dictionaries(st.text(), data)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(templates(WHOLE))
def test_json_is_written_as_python_writes_it(template: dict[str, Any]) -> None:
    assert WRITERS["json"](template) == json.dumps(template, indent=1) + "\n"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(templates(WHOLE | FLOATS))
def test_json_has_the_same_numbers_in_the_same_order(template: dict[str, Any]) -> None:
    """They may be spelled otherwise: 1e-7 and 1e-07."""
    assert json.dumps(json.loads(WRITERS["json"](template))) == json.dumps(template)

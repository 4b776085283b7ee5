"""How templates are written."""

import json
from typing import Any

from hypothesis import given, settings, strategies as st

from inferstack.cli.writers import WRITERS

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DATA = st.recursive(PLAIN, lambda it: st.lists(it) | st.dictionaries(st.text(), it), max_leaves=20)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(), DATA))
def test_json_is_written_as_python_writes_it(template: dict[str, Any]) -> None:
    assert WRITERS["json"](template) == json.dumps(template, indent=1) + "\n"

"""How templates are written, and how readers of JSON and of both versions of YAML understand them."""

import json
from io import StringIO
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st
from ruamel.yaml import YAML

from inferstack.cli.render import WRITERS

WHOLE = st.none() | st.booleans() | st.integers() | st.text()
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def templates(plain: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    data = st.recursive(plain, lambda it: st.lists(it) | st.dictionaries(st.text(), it), max_leaves=20)
    return st.dictionaries(st.text(), data)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(templates(WHOLE))
def test_json_is_written_as_python_writes_it(template: dict[str, Any]) -> None:
    written = WRITERS["json"](template)
    assert json.loads(written) == template
    if written.isascii():
        assert written == json.dumps(template, indent=1) + "\n"


def test_json_escapes_all_but_what_would_take_two_escapes() -> None:
    written = WRITERS["json"]({"description": "Zürich \x7f \u2028 😀 \\ud83d\\ude00"})
    assert r'"Z\u00fcrich \u007f \u2028 😀 \\ud83d\\ude00"' in written


@settings(max_examples=50, deadline=None, derandomize=True)
@given(templates(WHOLE | FLOATS))
def test_json_has_the_same_numbers_in_the_same_order(template: dict[str, Any]) -> None:
    """They may be written differently: 1e-7 and 1e-07."""
    assert json.dumps(json.loads(WRITERS["json"](template))) == json.dumps(template)


# Each of these has a special meaning for some reader, or ends a line for it.
TRAPS = (
    *(
        "1e3",
        "0o17",
        "5e12",
        "09",
        "+.5",
        "-2E+05",
        "1.",
        ".5",
        "-0x1F",
        "0b11",
        "1_000",
        "._",
        "._1",
        "1:30",
        "2026-01-01",
    ),
    *(
        "y",
        "N",
        "on",
        "NO",
        "True",
        "~",
        "null",
        "",
        ".inf",
        "-.INF",
        ".NaN",
        "=",
        "<<",
        "!x",
        "&x",
        "*x",
        "- a",
        "? a",
    ),
    *(
        "a: b",
        "a #b",
        "#a",
        " a",
        "a ",
        "a\nb",
        "\na",
        "a\n",
        "a\n\n  b\n",
        "\t",
        "a\tb",
        "%a",
        "@a",
        "`a",
        "'",
        '"',
        "\\",
    ),
    *("a\u202eb\u2066", "\xad", "a\u200b", "\u061c", "\U000e0041"),
    *(
        "a\x85b",
        "a\u2028b",
        "\u2029",
        "\ufeffa",
        "\x7f",
        "\x9f",
        "\xa0",
        "\r\n",
        "😀",
        "\ufffe",
        "\x00",
        "---",
        "...",
    ),
)
TEXTS = st.text() | st.sampled_from(TRAPS) | st.text("0123456789.eE+-xXobB_:nyNaf~ ", max_size=8)


def _ruamel(version: str | None) -> YAML:
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    return reader


READERS = {
    "PyYAML, 1.1": yaml.safe_load,
    "ruamel, 1.1": lambda text: _ruamel("1.1").load(StringIO(text)),
    "ruamel, 1.2": lambda text: _ruamel(None).load(StringIO(text)),
}


@settings(max_examples=150, deadline=None, derandomize=True)
@given(texts=st.lists(TEXTS), keys=st.lists(TEXTS, unique=True))
@example(texts=list(TRAPS), keys=list(TRAPS))
def test_yaml_has_the_same_texts_for_any_reader(texts: list[str], keys: list[str]) -> None:
    template = {"texts": texts, "keys": dict.fromkeys(keys, "x"), "of": {"number": 1000.0, "no": None}}
    written = WRITERS["yaml"](template)
    for name, read in READERS.items():
        assert read(written) == template, name


@pytest.mark.parametrize(
    "text", ["763104351884.dkr.ecr.us-east-1.amazonaws.com/x:1", "/aws/x", "1.2.3", "v1", "Zürich"]
)
def test_yaml_has_no_quotes_where_all_readers_see_a_text(text: str) -> None:
    assert WRITERS["yaml"]({"a": text}) == f"a: {text}\n"


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(
    "char", ["\x1b", "\x85", "\xad", "\u061c", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff"]
)
def test_no_template_has_characters_that_nobody_sees(form: str, char: str) -> None:
    written = WRITERS[form]({f"key {char}": f"evil {char} text"})
    assert char not in written
    assert yaml.safe_load(written) == {f"key {char}": f"evil {char} text"}

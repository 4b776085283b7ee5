"""The quick reader returns the same as the careful one, or leaves the file to it."""

import random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from support.damaged_specs import FILES

from inferstack.problems import SpecError
from inferstack.source import quick
from inferstack.source.compose import compose
from inferstack.source.quick import read_quickly
from inferstack.source.tree import Node

TEXTS = [file.read_text("utf-8") for file in FILES]
PIECES = (
    *(
        "\n",
        " ",
        "  ",
        "\t",
        ":",
        ": ",
        "- ",
        "-",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "#",
        " #",
        "|",
        ">",
        "'",
        '"',
    ),
    *(
        "&a ",
        "*a",
        "<<: ",
        "!",
        "! ",
        "!!str ",
        "!!int ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "\\",
        "~",
        "null",
        "é",
        "\U0001f600",
    ),
    *(
        "1",
        "0x1F",
        "0o17",
        "1e3",
        ".inf",
        ".nan",
        "-.5",
        "1_000",
        "on",
        "yes",
        "true",
        "2026-01-01",
        "1:30",
        "9" * 20,
    ),
    *("\x85", "\u2028", "\r", "\r\n", "@", "`", "=", "<<", "${stage}"),
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(PIECES)
)
DATA = st.recursive(
    SCALARS,
    lambda it: st.lists(it, max_size=4) | st.dictionaries(st.text(max_size=6) | st.sampled_from(PIECES), it),
    max_leaves=25,
)


def places(node: Node) -> Any:
    """All data of a tree, with types and positions."""
    below = node.entries
    if below is None:
        return node.at, repr(node.data)
    steps = below.items() if isinstance(below, dict) else enumerate(below)
    return node.at, repr(node.data), [(step, at, places(inner)) for step, (at, inner) in steps]


def agree(text: str) -> bool:
    tree = read_quickly(text)
    return tree is None or places(tree) == places(compose("spec.yaml", text))


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(max_size=6), DATA), st.sampled_from((None, "'", '"', "|", ">")), st.booleans())
def test_both_read_the_same_from_any_data(data: dict[str, Any], style: str | None, flow: bool) -> None:
    text = yaml.dump(data, default_style=style, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    assert agree(text)


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False), st.integers(0, 3))
def test_both_read_the_same_from_a_damaged_file(text: str, choose: random.Random, times: int) -> None:
    for _ in range(times):
        start = choose.randrange(len(text))
        text = text[:start] + choose.choice(PIECES) + text[start + choose.choice((0, 0, 1, 5)) :]
    assert agree(text)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_both_read_the_same_from_any_text(text: str) -> None:
    assert agree(f"a: {text}\n")
    assert agree(text)


@pytest.mark.parametrize("text", TEXTS, ids=[file.stem for file in FILES])
def test_a_spec_is_read_quickly(text: str) -> None:
    assert quick.CParser is None or read_quickly(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "<<: {a: 1}\n",
        "a: 1\na: 2\n",
        "1: a\n",
        "[a]: 1\n",
        "a: !!str 1\n",
        "a: !!map {}\n",
        "a: ! 12\n",
        "a: 99999999999999999999\n",
        "a: 1\n---\nb: 1\n",
        "- a\n",
        "",
        "a: [\n",
        f"a: {'[' * 64}{']' * 64}\n",
        f"a: {'[' * 20_000}",
        f"{'- ' * 20_000}a",
        f"{'? ' * 20_000}a",
        "".join(f"{' ' * level}a:\n{' ' * level}-\n" for level in range(300)),
        f"a: {'x' * 60_000}",
    ],
    ids=lambda text: text[:12],
)
def test_what_is_rare_or_wrong_is_left_to_the_careful_reader(text: str) -> None:
    assert read_quickly(text) is None


def test_as_many_levels_as_a_spec_may_have_are_read() -> None:
    tree = read_quickly(f"a: {'[' * 63}{']' * 63}")
    assert tree is not None
    assert places(tree) == places(compose("", f"a: {'[' * 63}{']' * 63}"))
    with pytest.raises(SpecError):
        compose("", f"a: {'[' * 64}{']' * 64}")


def test_without_libyaml_the_careful_reader_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "CParser", None)
    assert read_quickly("a: 1\n") is None

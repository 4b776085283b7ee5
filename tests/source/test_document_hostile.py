"""No file ends the process, exhausts its memory, or causes anything but a SpecError."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st

from inferstack.problems import Problem, SpecError, file_codes
from inferstack.source import events
from inferstack.source.document import Document, read_document
from inferstack.source.scalars import UnfitScalarError, plain_scalar
from inferstack.source.tree import DEEPEST

MIB = 1024 * 1024
PARSERS = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "python"])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "spec.yaml"


@contextmanager
def parser(*, pure: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if pure:
            patch.setattr(events, "LOADER", yaml.SafeLoader)
        yield


def codes(path: Path, content: str) -> list[str]:
    path.write_text(content)
    with pytest.raises(SpecError) as caught:
        read_document(path)
    return [problem.code for problem in caught.value.problems]


def read_text(path: Path, content: str) -> Document:
    path.write_text(content, encoding="utf-8")
    return read_document(path)


# ---------------------------------------------------------------- depth


@PARSERS
@pytest.mark.parametrize("unit", ["[", "{", "{a: ", "- ", "? ", "[{a: "])
def test_a_file_full_of_open_brackets_is_too_deep(path: Path, unit: str, pure: bool) -> None:
    with parser(pure=pure):
        assert codes(path, unit * (MIB // len(unit))) == [file_codes.TOO_DEEP]


def test_nesting_is_allowed_down_to_the_limit_and_no_further(path: Path) -> None:
    lists = DEEPEST - 1
    read_text(path, "a: " + "[" * lists + "]" * lists)
    assert codes(path, "a: " + "[" * DEEPEST + "]" * DEEPEST) == [file_codes.TOO_DEEP]


def test_nesting_through_aliases_counts(path: Path) -> None:
    half = DEEPEST // 2 - 1
    anchored = "a: &a " + "[" * half + "]" * half + "\n"
    read_text(path, anchored + "b: " + "[" * half + "*a" + "]" * half)
    uneven = "a: &a [" + "[" * (half - 1) + "]" * (half - 1) + ", 1, [2]]\n"
    assert codes(path, uneven + "b: " + "[" * (half + 2) + "*a" + "]" * (half + 2)) == [file_codes.TOO_DEEP]
    assert codes(path, anchored + "b: " + "[" * (half + 2) + "*a" + "]" * (half + 2)) == [file_codes.TOO_DEEP]


# ---------------------------------------------------------------- size


def test_a_list_may_hold_a_hundred_thousand_values_and_no_more(path: Path) -> None:
    # The mapping, its key and the list count as well.
    read_text(path, "a: [" + "1," * 99_997 + "]")
    assert codes(path, "a: [" + "1," * 99_998 + "]") == [file_codes.TOO_MANY_VALUES]


def _laughs() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    return "\n".join(lines)


def _merge_laughs() -> str:
    keys = ", ".join(f"k{n}: 1" for n in range(20_000))
    return f"a: &a {{{keys}}}\nb:\n" + "  - {<<: *a}\n" * 20_000


def _merge_list_laughs() -> str:
    keys = ", ".join(f"k{n}: 1" for n in range(20_000))
    return f"a: &a {{{keys}}}\nb: {{<<: [{'*a, ' * 20_000}]}}\n"


@pytest.mark.parametrize("bomb", [_laughs, _merge_laughs, _merge_list_laughs])
def test_an_alias_bomb_is_an_error(path: Path, bomb: Any) -> None:
    assert codes(path, bomb()) == [file_codes.TOO_MANY_VALUES]


def test_values_behind_an_alias_count_each_time(path: Path) -> None:
    # The anchored list counts as 1,000; beside it and its copies there are two keys, the mapping and the list.
    thousand = "a: &a [" + "1," * 999 + "]\n"
    read_text(path, thousand + "b: [" + "*a," * 98 + "]")
    assert codes(path, thousand + "b: [" + "*a," * 99 + "]") == [file_codes.TOO_MANY_VALUES]


def test_keys_behind_an_alias_count_like_values(path: Path) -> None:
    # The anchored mapping counts as 999.
    mapping = "a: &a {" + "".join(f"k{index}: 1, " for index in range(499)) + "}\n"
    read_text(path, mapping + "b: [" + "*a," * 99 + "]")
    assert codes(path, mapping + "b: [" + "*a," * 100 + "]") == [file_codes.TOO_MANY_VALUES]


@pytest.mark.parametrize(
    "text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}", "a: &a [[{x: *a}]]", "&a {b: *a}"]
)
def test_a_recursive_alias_is_an_error(path: Path, text: str) -> None:
    assert codes(path, text) == [file_codes.RECURSIVE_ALIAS]


# ---------------------------------------------------------------- anything at all

YAML_LIKE = st.text(alphabet="[]{}:,-?&*!|>'\"%@`#<.~ \n\t\rab01xe+$\\\u2028\x85é", max_size=60)
PIECES = st.lists(
    st.sampled_from(
        ["a: ", "&a ", "*a", "<<: ", "- ", "\n", "\n  ", "[", "]", "{", "}", ", ", "!!int ", "!Ref ", "? ",
         ": ", "1", "x", '"', "'", "|\n", "---\n", "...\n", "0x1F", "1e999", "!%C3", "\\ud800", "# c", "\t"]
    ),
    max_size=40,
).map("".join)  # fmt: skip
ANYTHING = st.one_of(st.binary(max_size=80), YAML_LIKE.map(str.encode), PIECES.map(str.encode))


@PARSERS
@given(content=ANYTHING)
@example(content=b"a: !%ED%A0%80 b")
@example(content=b"&a &a: 1\n<<: *a")
@example(content=b'"\\ud800": 1\n"\\ud800": 2')
@settings(max_examples=150, deadline=None)
def test_no_bytes_raise_anything_but_a_spec_error(path: Path, pure: bool, content: bytes) -> None:
    path.write_bytes(content)
    with parser(pure=pure):
        found, problems = _result(path)
    assert all(isinstance(key, str) for key in found)
    assert all(problem.code in file_codes.FILE_CODES for problem in problems)
    assert all(problem.line >= 1 and problem.column >= 1 for problem in problems)
    assert all(str(problem).encode() for problem in problems)


def _result(path: Path) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    try:
        return read_document(path).data, ()
    except SpecError as error:
        return {}, error.problems


def _is_safe(text: str) -> bool:
    """PyYAML writes by the rules of YAML 1.1, in which some numbers of 1.2 need no quotes."""
    try:
        return isinstance(plain_scalar(text), str)
    except UnfitScalarError:
        return False


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))


def _data(texts: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    values: st.SearchStrategy[Any] = st.recursive(
        st.one_of(st.none(), st.booleans(), NUMBERS, texts),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
        max_leaves=12,
    )
    return st.dictionaries(texts, values, max_size=5).filter(bool)


@PARSERS
@given(data=_data(TEXTS.filter(_is_safe)), flow=st.booleans())
@settings(max_examples=100, deadline=None)
def test_data_survives_being_written_and_read(
    path: Path, pure: bool, data: dict[str, Any], flow: bool
) -> None:
    dumped = yaml.dump(data, default_flow_style=flow, allow_unicode=False, sort_keys=False)
    with parser(pure=pure):
        assert read_text(path, dumped).data == data


@given(data=_data(TEXTS))
@settings(max_examples=100, deadline=None)
def test_data_survives_being_written_with_quotes_and_tags(path: Path, data: dict[str, Any]) -> None:
    read = read_text(path, yaml.dump(data, default_style='"', sort_keys=False)).data
    assert read == data
    assert _types(read) == _types(data)


def _types(value: Any) -> Any:
    match value:
        case dict():
            return {key: _types(item) for key, item in value.items()}
        case list():
            return [_types(item) for item in value]
        case float():
            return "float", math.copysign(1, value)
        case _:
            return type(value).__name__

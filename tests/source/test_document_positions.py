"""The positions of everything in a document."""

from collections import UserDict
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from inferstack.problems import SpecError, SpecPath, file_codes
from inferstack.source.document import Document, Position, read_document
from inferstack.source.tree import DEEPEST

TEXT = """\
# comment
kind: multi-model
variant:
  instance_type: ml.g5.xlarge
  tags: [a, {k: v}]
empty:
list:
  - first
  -   key: 1
  - - nested
base: &base
  x: 1
  y: {z: 2}
  number: &n 5
one: *base
two:
  <<: *base
  x: *n
items: [*base, *n]
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    path = tmp_path_factory.mktemp("positions") / "spec.yaml"
    path.write_text(TEXT)
    return read_document(path)


@pytest.mark.parametrize(
    ("path", "value_at", "key_at"),
    [
        ((), (2, 1), (2, 1)),
        (("kind",), (2, 7), (2, 1)),
        (("variant",), (3, 1), (3, 1)),
        (("variant", "instance_type"), (4, 18), (4, 3)),
        (("variant", "tags"), (5, 3), (5, 3)),
        (("variant", "tags", 0), (5, 10), (5, 10)),
        (("variant", "tags", 1), (5, 13), (5, 13)),
        (("variant", "tags", 1, "k"), (5, 17), (5, 14)),
        (("empty",), (6, 7), (6, 1)),
        (("list", 0), (8, 5), (8, 5)),
        (("list", 1), (9, 7), (9, 7)),
        (("list", 1, "key"), (9, 12), (9, 7)),
        (("list", 2, 0), (10, 7), (10, 7)),
    ],
)
def test_a_scalar_stands_by_itself_and_a_collection_at_what_holds_it(
    document: Document, path: SpecPath, value_at: tuple[int, int], key_at: tuple[int, int]
) -> None:
    assert document.position(path) == value_at
    assert document.position(path, key=True) == key_at


@pytest.mark.parametrize(
    ("path", "value_at", "key_at"),
    [
        (("one",), (15, 1), (15, 1)),
        (("one", "x"), (12, 6), (12, 3)),
        (("one", "y", "z"), (13, 10), (13, 7)),
        (("two", "y"), (13, 3), (13, 3)),
        (("two", "y", "z"), (13, 10), (13, 7)),
        (("two", "x"), (14, 11), (18, 3)),
        (("items", 0), (19, 9), (19, 9)),
        (("items", 0, "x"), (12, 6), (12, 3)),
        (("items", 1), (14, 11), (19, 16)),
    ],
)
def test_what_came_by_alias_or_merge_stands_where_its_text_is(
    document: Document, path: SpecPath, value_at: tuple[int, int], key_at: tuple[int, int]
) -> None:
    assert document.position(path) == value_at
    assert document.position(path, key=True) == key_at


@pytest.mark.parametrize(
    ("path", "ancestor"),
    [
        (("nothing",), ()),
        (("variant", "nothing", "x"), ("variant",)),
        (("variant", 0), ("variant",)),
        (("list", 9), ("list",)),
        (("list", -1), ("list",)),
        (("list", "x"), ("list",)),
        (("kind", "x"), ("kind",)),
    ],
)
def test_a_path_that_does_not_exist_stands_at_its_deepest_ancestor(
    document: Document, path: SpecPath, ancestor: SpecPath
) -> None:
    assert document.position(path) == document.position(ancestor)


def test_every_key_of_a_large_mapping_is_found(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("top:\n" + "".join(f"  key{index}: {index}\n" for index in range(10_000)))
    document = read_document(path)
    found = [document.position(("top", f"key{index}"), key=True) for index in range(10_000)]
    assert found == [Position(index + 2, 3) for index in range(10_000)]


def test_columns_count_characters(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("äöü: {€: 1, x: 😀, z: 2}\n", encoding="utf-8")
    assert read_document(path).position(("äöü", "z"), key=True) == (1, 19)


# ---------------------------------------------------------------- data made in Python


def test_python_data_becomes_a_document_that_stands_nowhere() -> None:
    document = Document.from_data({"a": {"b": [1, {"c": None}]}})
    assert document.file == "<python>"
    assert document.data == {"a": {"b": [1, {"c": None}]}}
    assert document.position(("a", "b", 1, "c")) == (0, 0)


def test_python_data_is_copied_into_plain_dicts_and_lists() -> None:
    inner: dict[str, Any] = {"x": (1, 2)}
    document = Document.from_data(UserDict(a=inner), file="app.py")
    inner["x"] = 3
    assert document.data == {"a": {"x": [1, 2]}}
    assert type(document.data) is dict
    assert document.file == "app.py"


def test_python_data_that_yaml_could_not_hold_is_an_error() -> None:
    data: dict[Any, Any] = {"a": {1: "x"}, "b": [date(2026, 1, 1)], "c": {2}}
    with pytest.raises(SpecError) as caught:
        Document.from_data(data)
    found = {(problem.code, problem.path) for problem in caught.value.problems}
    assert found == {
        (file_codes.KEY_NOT_TEXT, ("a",)),
        (file_codes.NOT_PLAIN, ("b", 0)),
        (file_codes.NOT_PLAIN, ("c",)),
    }


class HttpProxy:
    """A class whose name ends like those of jsii's stand-ins for interfaces."""

    _delegates = 5


@pytest.mark.parametrize(("given", "name"), [(HttpProxy(), "HttpProxy"), (MagicMock(), "MagicMock")])
def test_objects_that_only_look_like_cdks_are_called_by_their_class(given: object, name: str) -> None:
    with pytest.raises(SpecError) as caught:
        Document.from_data({"a": given})
    (problem,) = caught.value.problems
    assert f"`a` is a `{name}`" in problem.message


def test_python_data_that_holds_itself_is_an_error() -> None:
    data: dict[str, Any] = {}
    data["self"] = data
    with pytest.raises(SpecError) as caught:
        Document.from_data(data)
    (problem,) = caught.value.problems
    assert problem.code == file_codes.TOO_DEEP
    assert len(problem.path) == DEEPEST


def test_python_data_must_be_a_mapping() -> None:
    with pytest.raises(SpecError) as caught:
        Document.from_data([])  # type: ignore[arg-type]
    assert caught.value.problems[0].code == file_codes.NOT_A_MAPPING

"""What a plain word means: YAML 1.2, not 1.1."""

import math
from pathlib import Path
from typing import Any

import pytest

from inferstack.problems import SpecError, file_codes
from inferstack.source.document import Document, read_document


def document(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "spec.yaml"
    path.write_text(f"a: {text}\n")
    return read_document(path)


def value(tmp_path: Path, text: str) -> Any:
    return document(tmp_path, text).data["a"]


@pytest.mark.parametrize("text", ["on", "off", "yes", "no", "y", "n", "Yes", "NO", "tRUE", "nULL", "True1"])
def test_only_true_and_false_are_booleans(tmp_path: Path, text: str) -> None:
    assert value(tmp_path, text) == text


@pytest.mark.parametrize(
    "text",
    ["1_000", "1:30", "1:30:45.5", "2026-01-01", "2026-01-01T00:00:00Z", "0b11", "0o8", "0xg", "-0x1F", "=",
     ".", "+", "1.2.3", "1e", "e5", "٣", "1 2", "inf", "nan", "-.nan", ".iNF", "0o", "0x", "+0o7", "~~"],
)  # fmt: skip
def test_what_only_looks_like_a_number_is_text(tmp_path: Path, text: str) -> None:
    assert value(tmp_path, text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False),
        ("null", None), ("Null", None), ("NULL", None), ("~", None), ("", None),
        ("0", 0), ("-0", 0), ("+12", 12), ("-12", -12), ("017", 17), ("08", 8), ("0o17", 15), ("0x1F", 31),
        ("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)), ("0" * 5000 + "1", 1),
        ("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("-1.5e-3", -0.0015), ("1e3", 1000.0), ("1E+3", 1000.0),
        (".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf),
        ('"12"', "12"), ("'true'", "true"), ('""', ""), ("|\n  12", "12\n"), ("! 12", "12"),
        ("!!str 12", "12"), ("!!str", ""), ("!!int '12'", 12), ("!!float 1", 1.0), ("!!float 1.5", 1.5),
        ("!!bool 'true'", True), ("!!null ''", None),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(tmp_path: Path, text: str, expected: object) -> None:
    found = value(tmp_path, text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number_is_a_float(tmp_path: Path, text: str) -> None:
    assert math.isnan(value(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    ["9223372036854775808", "-9223372036854775809", "9" * 5000, "0x" + "f" * 17, "0o7777777777777777777777",
     "1e400", "-1e400", "!!int 1.5", "!!int x", "!!bool yes", "!!float x", "!!null x", "!!float true"],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError) as caught:
        value(tmp_path, text)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == (file_codes.UNFIT_SCALAR, 1, 4)
    assert problem.path == ("a",)

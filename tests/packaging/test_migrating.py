"""The page for those who come from CloudFormation names keys that there are."""

import re
from pathlib import Path

import pytest

from inferstack.spec.schema import shipped_schema

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
ROWS = [
    line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")
][1:]
KEYS = {key for block in shipped_schema()["$defs"].values() for key in block.get("properties", {})}


def keys_of(said: str) -> list[str]:
    """Keys in `a.b` and in `a: {b: …}`."""
    return re.findall(r"([a-z_]+):", said) if ":" in said else said.split(".")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_ends_with_keys_of_a_spec(row: list[str]) -> None:
    keys = {key for said in re.findall(r"`([a-z][^`]+)`", row[-1]) for key in keys_of(said)}
    assert keys <= KEYS
    assert keys or "nothing" in row[-1] or "metric" in row[-1]


def test_there_are_many_rows() -> None:
    assert len(ROWS) > 15

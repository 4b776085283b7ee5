"""The copy for SchemaStore: draft-07, and the same verdict as the schema that it copies."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, Draft202012Validator

from inferstack.check.files import check_files, spec_files
from inferstack.facts.kinds import KINDS
from inferstack.format.schema import published_schema_text
from tools.schema_store import NAME, for_schema_store
from tools.update_schema import ROOT, SCHEMA_STORE

SCHEMA: dict[str, Any] = json.loads((SCHEMA_STORE / NAME).read_text("utf-8"))
ENTRY: dict[str, Any] = json.loads((SCHEMA_STORE / "catalog-entry.json").read_text("utf-8"))
HERE, THERE = Draft7Validator(SCHEMA), Draft202012Validator(json.loads(published_schema_text()))
EXAMPLES = [
    *((ROOT / "model_specs").glob("*.yaml")),
    *((ROOT / "tests" / "shapes").glob("*.yaml")),
    *((ROOT / "docs" / "examples").rglob("*.yaml")),
]


def content(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def keywords(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            for key, below in schema.items():
                yield key
                if key in ("properties", "patternProperties", "definitions"):
                    for it in below.values():
                        yield from keywords(it)
                elif key not in ("enum", "const", "default", "examples"):
                    yield from keywords(below)
        case list():
            for it in schema:
                yield from keywords(it)


def test_it_is_a_schema_of_draft_07_and_has_no_word_that_is_newer() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    newer = {"$defs", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"}
    newer |= {"prefixItems", "minContains", "maxContains", "$anchor", "$dynamicRef", "$vocabulary"}
    assert newer.isdisjoint(keywords(SCHEMA))
    assert "$ref" in set(keywords(SCHEMA))


def test_nothing_stands_beside_a_reference() -> None:
    """Draft-07 ignores it: an editor would show no description, and a default would be lost."""

    def beside(schema: Any) -> Iterator[Any]:
        match schema:
            case {"$ref": str(), **others}:
                yield from others
            case dict():
                for it in schema.values():
                    yield from beside(it)
            case list():
                for it in schema:
                    yield from beside(it)

    assert list(beside(SCHEMA)) == []
    assert list(beside(json.loads(published_schema_text())))


def test_values_are_not_taken_for_schemas() -> None:
    made = for_schema_store(
        {
            "title": "x",
            "$defs": {"A": {"const": {"$ref": "#/$defs/A"}}},
            "properties": {"enum": {"$ref": "#/$defs/A", "description": "y"}},
        }
    )
    assert made["definitions"]["A"]["const"] == {"$ref": "#/$defs/A"}
    assert made["properties"]["enum"] == {"allOf": [{"$ref": "#/definitions/A"}], "description": "y"}


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_it_accepts_a_right_spec_of_each_kind_and_marks_a_wrong_one(kind: str) -> None:
    right = content(ROOT / "docs" / "examples" / "kinds" / f"{kind}.yaml")
    assert list(HERE.iter_errors(right)) == []
    for wrong in (
        {**right, "variant": {**right["variant"], "instance_type": "ml.m5.lrge"}},
        {**right, "variant": {**right["variant"], "instance_typ": "ml.m5.large"}},
        {**right, "autoscaling": {"min_capacity": "one"}},
        {key: it for key, it in right.items() if key != "endpoint_name"},
    ):
        assert list(HERE.iter_errors(wrong)), wrong


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_it_says_what_the_published_schema_says(file: Path) -> None:
    for spec in (
        content(file),
        {**content(file), "variant": {"instance_type": "x"}, "alarms": {"rules": [1]}},
    ):
        places = [
            sorted({tuple(it.absolute_path) for it in that.iter_errors(spec)}, key=str)
            for that in (HERE, THERE)
        ]
        assert places[0] == places[1]


# ---------------------------------------------------------------- names that an editor knows by itself


@pytest.mark.parametrize("suffix", [it.removeprefix("*") for it in ENTRY["fileMatch"]])
def test_files_of_these_names_are_specs(suffix: str, tmp_path: Path) -> None:
    for name in (f"churn{suffix}", "ranker.yaml"):
        text = (ROOT / "docs/examples/kinds/single-model.yaml").read_text("utf-8")
        (tmp_path / name).write_text(text.replace(": churn", f": {name.partition('.')[0]}"), "utf-8")
    assert [it.name for it in spec_files(tmp_path)] == [f"churn{suffix}", "ranker.yaml"]
    assert check_files(spec_files(tmp_path)) == []


def test_the_name_of_a_folder_would_match_files_of_others() -> None:
    assert all(it.startswith("*.inferstack.") for it in ENTRY["fileMatch"])
    assert ENTRY["url"] == SCHEMA["$id"]

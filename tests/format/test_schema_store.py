"""The copy for SchemaStore, as a release makes it: draft-07, and the same verdict as the schema that it copies."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, Draft202012Validator

from inferstack.check.files import check_files, spec_files
from inferstack.facts.kinds import KINDS
from inferstack.format.schema import published_schema_text
from tools.schema_store import ENTRY, FILES, NAME, for_schema_store

ROOT = Path(__file__).parents[2]
RELEASE = ROOT / ".github" / "workflows" / "release.yml"
THERE = Draft202012Validator(json.loads(published_schema_text()))
EXAMPLES = [
    *((ROOT / "model_specs").glob("*.yaml")),
    *((ROOT / "tests" / "shapes").glob("*.yaml")),
    *((ROOT / "docs" / "examples").rglob("*.yaml")),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the workflow's command."""
    (line,) = re.findall(r"run: \S+/python (-m tools\.schema_store .+)", RELEASE.read_text("utf-8"))
    *words, name = shlex.split(line)
    folder = tmp_path_factory.mktemp("release") / name
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'constructs'}"}
    subprocess.run([sys.executable, *words, folder], cwd=ROOT, env=environment, timeout=60, check=True)
    return folder


@pytest.fixture(scope="module")
def schema(made: Path) -> dict[str, Any]:
    return json.loads((made / NAME).read_text("utf-8"))


@pytest.fixture(scope="module")
def here(schema: dict[str, Any]) -> Draft7Validator:
    return Draft7Validator(schema)


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


def test_it_is_a_schema_of_draft_07_and_has_no_word_that_is_newer(schema: dict[str, Any]) -> None:
    Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    newer = {"$defs", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"}
    newer |= {"prefixItems", "minContains", "maxContains", "$anchor", "$dynamicRef", "$vocabulary"}
    assert newer.isdisjoint(keywords(schema))
    assert "$ref" in set(keywords(schema))


def test_nothing_stands_beside_a_reference(schema: dict[str, Any]) -> None:
    """Draft-07 ignores it: an editor would show no description, and a default would be lost."""

    def beside(part: Any) -> Iterator[Any]:
        match part:
            case {"$ref": str(), **others}:
                yield from others
            case dict():
                for it in part.values():
                    yield from beside(it)
            case list():
                for it in part:
                    yield from beside(it)

    assert list(beside(schema)) == []
    assert list(beside(json.loads(published_schema_text())))


def test_values_are_not_taken_for_schemas() -> None:
    copy = for_schema_store(
        {
            "title": "x",
            "$defs": {"A": {"const": {"$ref": "#/$defs/A"}}},
            "properties": {"enum": {"$ref": "#/$defs/A", "description": "y"}},
        }
    )
    assert copy["definitions"]["A"]["const"] == {"$ref": "#/$defs/A"}
    assert copy["properties"]["enum"] == {"allOf": [{"$ref": "#/definitions/A"}], "description": "y"}


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_it_accepts_a_right_spec_of_each_kind_and_marks_a_wrong_one(kind: str, here: Draft7Validator) -> None:
    right = content(ROOT / "docs" / "examples" / "kinds" / f"{kind}.yaml")
    assert list(here.iter_errors(right)) == []
    for wrong in (
        {**right, "variant": {**right["variant"], "instance_type": "ml.m5.lrge"}},
        {**right, "variant": {**right["variant"], "instance_typ": "ml.m5.large"}},
        {**right, "autoscaling": {"min_capacity": "one"}},
        {key: it for key, it in right.items() if key != "endpoint_name"},
    ):
        assert list(here.iter_errors(wrong)), wrong


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_it_says_what_the_published_schema_says(file: Path, here: Draft7Validator) -> None:
    for spec in (
        content(file),
        {**content(file), "variant": {"instance_type": "x"}, "alarms": {"rules": [1]}},
    ):
        places = [
            sorted({tuple(it.absolute_path) for it in that.iter_errors(spec)}, key=str)
            for that in (here, THERE)
        ]
        assert places[0] == places[1]


# ---------------------------------------------------------------- names that an editor knows by itself


@pytest.mark.parametrize("suffix", [it.removeprefix("*") for it in FILES])
def test_files_of_these_names_are_specs(suffix: str, tmp_path: Path) -> None:
    for name in (f"churn{suffix}", "ranker.yaml"):
        text = (ROOT / "docs/examples/kinds/single-model.yaml").read_text("utf-8")
        (tmp_path / name).write_text(text.replace(": churn", f": {name.partition('.')[0]}"), "utf-8")
    assert [it.name for it in spec_files(tmp_path)] == [f"churn{suffix}", "ranker.yaml"]
    assert check_files(spec_files(tmp_path)) == []


def test_the_name_of_a_folder_would_match_files_of_others() -> None:
    assert all(it.startswith("*.inferstack.") for it in FILES)


def test_the_entry_of_the_catalog_leads_to_the_schema(made: Path, schema: dict[str, Any]) -> None:
    entry = json.loads((made / ENTRY).read_text("utf-8"))
    assert (entry["url"], entry["fileMatch"]) == (schema["$id"], FILES)
    assert entry["name"] == schema["title"]


def test_a_release_has_both_files(made: Path) -> None:
    assert {it.name for it in made.iterdir()} == {NAME, ENTRY}
    jobs = yaml.safe_load(RELEASE.read_text("utf-8"))["jobs"]
    (kept,) = (it["with"]["path"].split() for it in jobs["build"]["steps"] if "path" in it.get("with", {}))
    assert f"{made.name}/" in kept
    assert f"{made.name}/*" in jobs["announce"]["steps"][-1]["run"].split()

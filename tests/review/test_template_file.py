"""Previous templates as users have them, and files that are not templates."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inferstack.problems import SpecError
from inferstack.review import PreviousTemplate, read_folder, read_template

RESOURCES = {
    "Model": {"Type": "AWS::SageMaker::Model", "Properties": {"PrimaryContainer": {"Image": "x"}}},
    "Endpoint": {
        "Type": "AWS::SageMaker::Endpoint",
        "Properties": {"EndpointName": "bert", "EndpointConfigName": {"Fn::GetAtt": ["Config", "Name"]}},
        "Metadata": {"inferstack:source": "model_specs/bert.yaml:2"},
    },
}
TEMPLATE = {"Resources": RESOURCES}
YAML = """\
AWSTemplateFormatVersion: 2010-09-09
Resources:
  Model:
    Type: AWS::SageMaker::Model
    Properties: {PrimaryContainer: {Image: x}}
  Endpoint:
    Type: AWS::SageMaker::Endpoint
    Properties:
      EndpointName: bert
      EndpointConfigName: !GetAtt Config.Name
"""
READABLE = {
    "JSON": json.dumps(TEMPLATE),
    "JSON with a byte order mark": "\ufeff" + json.dumps(TEMPLATE),
    "YAML": YAML,
    "what get-template prints": json.dumps({"StagesAvailable": [], "TemplateBody": TEMPLATE}),
    "what get-template prints of YAML": json.dumps({"TemplateBody": YAML}),
    "a resource without properties": json.dumps({"Resources": {**RESOURCES, "X": {"Type": "My::Type"}}}),
}


def written(folder: Path, text: str | bytes, name: str = "old.json") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize("how", READABLE)
def test_a_template_is_read(how: str, tmp_path: Path) -> None:
    template = read_template(written(tmp_path, READABLE[how]))
    assert template.endpoint_name == "bert"
    assert template.resources["Model"] == RESOURCES["Model"]


def test_functions_may_be_tags(tmp_path: Path) -> None:
    text = """\
Resources:
  A:
    Type: X
    Properties: {a: !Ref B, b: !Sub "${B}", c: !Join ["", [!Ref B, x]], d: !Condition C, e: !Transform {Name: N}}
"""
    assert read_template(written(tmp_path, text)).resources["A"]["Properties"] == {
        "a": {"Ref": "B"},
        "b": {"Fn::Sub": "${B}"},
        "c": {"Fn::Join": ["", [{"Ref": "B"}, "x"]]},
        "d": {"Condition": "C"},
        "e": {"Fn::Transform": {"Name": "N"}},
    }


def test_it_says_which_spec_it_came_from() -> None:
    assert PreviousTemplate("old.json", RESOURCES, TEMPLATE).spec_files == {"model_specs/bert.yaml"}


@pytest.mark.parametrize(
    ("image", "region"),
    [
        ("763104351884.dkr.ecr.eu-west-1.amazonaws.com/x:1", "eu-west-1"),
        ("763104351884.dkr.ecr-fips.us-east-1.amazonaws.com/x:1", "us-east-1"),
        ("docker.io/x:1", None),
        ({"Fn::Sub": "1.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/x"}, None),
    ],
)
def test_it_says_where_its_images_are(image: Any, region: str | None) -> None:
    model = {"Type": "AWS::SageMaker::Model", "Properties": {"PrimaryContainer": {"Image": image}}}
    assert PreviousTemplate("old.json", {"Model": model}, {}).image_region == region


HOSTILE = {
    "nothing": (b"", "IS851", "nothing"),
    "a comment": (b"# none\n", "IS851", "nothing"),
    "a text": (b"hello", "IS851", '"hello"'),
    "a list": (b"[1, 2]", "IS851", "a list"),
    "a spec": (b"kind: single-model", "IS851", "this is a spec, not a template"),
    "no resources": (b"{}", "IS851", "`Resources`"),
    "empty resources": (b'{"Resources": {}}', "IS851", "`Resources`"),
    "resources that are a list": (b'{"Resources": []}', "IS851", "`Resources`"),
    "a resource that is a text": (b'{"Resources": {"A": "x"}}', "IS851", '"A" has no type'),
    "a resource without a type": (b'{"Resources": {"A": {}}}', "IS851", '"A" has no type'),
    "a type that is no text": (b'{"Resources": {"A": {"Type": 1}}}', "IS851", '"A" has no type'),
    "properties that are a list": (
        b'{"Resources": {"A": {"Type": "X", "Properties": []}}}',
        "IS851",
        "not a mapping",
    ),
    "a name that is no text": (b"Resources: {1: {Type: X}}", "IS851", "not text"),
    "cut short": (json.dumps(TEMPLATE).encode()[:-20], "IS850", "not complete JSON"),
    "two in one": (json.dumps(TEMPLATE).encode() * 2, "IS850", "Extra data"),
    "YAML cut short": (b"Resources: {A: [", "IS850", "not the YAML"),
    "an alias": (b"Resources: {A: &a {Type: X}, B: *a}", "IS850", "it has an alias"),
    "a tag of Python": (b"Resources: !!python/object:os.system {}", "IS850", "not the YAML"),
    "a date that there is not": (b"Resources: 2020-99-99", "IS850", "cannot be read"),
    "a number without end": (b'{"a": ' + b"9" * 5000 + b"}", "IS850", "cannot be read"),
    "deep lists": (b'{"a": ' + b"[" * 100_000, "IS850", "nested more than"),
    "deep YAML": (b"a: " + b"[" * 100_000 + b"]" * 100_000, "IS850", "nested more than"),
    "deep resources": (
        b'{"Resources": {"A": {"Type": "X", "Properties": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}}}",
        "IS851",
        "nested more than",
    ),
    "not UTF-8": (b'{"a": "\xff"}', "IS850", "not UTF-8"),
    "UTF-16": ('{"Resources": {}}'.encode("utf-16"), "IS850", "UTF-16"),
    "zeros": (b"\0" * 100, "IS850", "U+0000"),
    "more than CloudFormation takes": (b" " * (1 << 20) + b"{}", "IS850", "larger than"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_no_template_is_one_problem(what: str, tmp_path: Path) -> None:
    content, code, said = HOSTILE[what]
    with pytest.raises(SpecError) as refusal:
        read_template(written(tmp_path, content))
    [problem] = refusal.value.problems
    assert problem.code == code
    assert said in problem.message
    assert problem.fix
    assert problem.file == (tmp_path / "old.json").as_posix()


def test_a_problem_of_json_and_yaml_has_its_place(tmp_path: Path) -> None:
    for text in ('{\n "Resources": {\n  x', "Resources:\n  A: 1\n  B: ]"):
        with pytest.raises(SpecError) as refusal:
            read_template(written(tmp_path, text))
        assert refusal.value.problems[0].line == 3


@pytest.mark.parametrize("what", ["a date that there is not", "a number without end", "deep lists"])
def test_what_has_no_place_of_its_own_is_reported_at_the_top(what: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refusal:
        read_template(written(tmp_path, HOSTILE[what][0]))
    [problem] = refusal.value.problems
    assert (problem.line, problem.column) == (1, 1)


@pytest.mark.parametrize("kind", ["missing", "a directory", "a pipe"])
def test_what_is_no_file_is_one_problem(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    if kind == "a directory":
        path.mkdir()
    if kind == "a pipe":
        os.mkfifo(path)
    with pytest.raises(SpecError) as refusal:
        read_template(path)
    assert [problem.code for problem in refusal.value.problems] == ["IS850"]


def test_a_folder_gives_the_templates_with_an_endpoint(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(TEMPLATE), "bert.template.json")
    written(tmp_path, YAML, "gpt.template.yaml")
    written(tmp_path, json.dumps({"Resources": {"A": {"Type": "AWS::S3::Bucket"}}}), "other.template.json")
    written(tmp_path, "{", "manifest.json")
    templates, problems = read_folder(tmp_path)
    assert [Path(it.file).name for it in templates] == ["bert.template.json", "gpt.template.yaml"]
    assert problems == []


def test_a_broken_template_in_a_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(TEMPLATE), "bert.template.json")
    written(tmp_path, "{", "gpt.template.json")
    templates, problems = read_folder(tmp_path)
    assert [it.endpoint_name for it in templates] == ["bert"]
    assert [problem.code for problem in problems] == ["IS850"]


def test_a_folder_without_templates_is_a_problem(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(TEMPLATE))
    templates, [problem] = read_folder(tmp_path)
    assert templates == []
    assert (problem.code, problem.file) == ("IS850", tmp_path.as_posix())
    assert problem.message == "the folder holds no *.template.json and no *.template.yaml"


def test_a_folder_that_cannot_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "glob", refused)
    templates, [problem] = read_folder(tmp_path)
    assert templates == []
    assert (problem.code, problem.file) == ("IS850", tmp_path.as_posix())
    assert problem.message == "the folder cannot be read: Permission denied"

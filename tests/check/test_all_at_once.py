"""Nothing wrong in a spec hides anything else, and nothing is reported that only follows from something wrong."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.checking import check_file

from inferstack.check.load import parse_spec
from inferstack.check.structure import STRUCTURE_CODES
from inferstack.problems import Problem, SpecError, SpecPath
from inferstack.source.document import read_document

SINGLE = """\
kind: single-model
endpoint_name: ranker
model:
  image: {framework: triton, version: "25.09"}
  model_data_url: s3://acme-models/ranker/model.tar.gz
variant:
  instance_type: ml.m5.xlarge
  initial_instance_count: 2
"""
THRESHOLD = "alarms: {rules: [{metric: ModelLatency, threshold: 5}]}\n"
WRONG_INSIDE = SINGLE.replace("endpoint_name", "endpoint_nam").replace("m5.xlarge", "m5.xlarg")


@pytest.mark.parametrize("slip", ["kind: single-modl", "Kind: single-model", "kind: Single_Model"])
def test_of_a_spec_whose_kind_is_a_slip_all_is_said_at_once(slip: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"# A comment.\n{WRONG_INSIDE.replace('kind: single-model', slip)}")
    found = [(it.line, it.code) for it in check_file(path)]
    assert found[1:] == [(3, "IS101"), (8, "IS104")]
    assert found[0] in {(2, "IS102"), (2, "IS104")}
    path.write_text(SINGLE.replace("kind: single-model", slip) + THRESHOLD)
    assert [(it.line, it.code) for it in check_file(path)][1:] == [(9, "IS803")]


def test_of_a_kind_that_may_be_any_nothing_else_is_said(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(WRONG_INSIDE.replace("single-model", "model"))
    assert [(it.line, it.code) for it in check_file(path)] == [(1, "IS104")]


def test_a_number_in_quotes_hides_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SINGLE.replace("count: 2", 'count: "2"') + THRESHOLD)
    assert [(it.line, it.code) for it in check_file(path)] == [(8, "IS103"), (9, "IS803")]


@pytest.mark.parametrize("key", ["Resources", "AWSTemplateFormatVersion"])
def test_a_template_is_known_as_one(key: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"{key}: {{}}\n")
    (problem,) = check_file(path)
    assert (problem.code, problem.message) == ("IS102", "this is a CloudFormation template, not a spec")
    assert "docs/migrating.md" in problem.fix
    path.write_text(f"{key}: {{Model: {{Type: !Sub x, Properties: !GetAtt [a, b]}}}}\n")
    assert check_file(path) == [problem]
    path.write_text(f"{SINGLE}{key}: {{}}\n")
    (problem,) = check_file(path)
    assert problem.code == "IS101"


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("initial_instance_count: 2", "initial_instance_count: two", "IS103"),
        ("endpoint_name: ranker\n", "", "IS102"),
        ("variant:", "tags: [a, b]\nvariant:", "IS103"),
        ("variant:", "autoscaling: {min_capacity: 1, max_capacity: 2, policies: 5}\nvariant:", "IS103"),
        ("variant:", "autoscaling: {max_capacity: 2}\nvariant:", "IS102"),
        ("variant:", "endpoint: {deployment_config: blue-green}\nvariant:", "IS103"),
        ("ml.m5.xlarge", "ml.m5.xlarg", "IS104"),
    ],
)
def test_what_is_of_another_type_or_missing_hides_nothing_else(
    right: str, wrong: str, code: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SINGLE.replace("model.tar.gz", "model.zip").replace(right, wrong) + THRESHOLD)
    assert sorted(it.code for it in check_file(path)) == sorted([code, "IS231", "IS803"])


MODELS = """\
triton:
  models:
    net:
      backend: onnxruntime
      max_batch_size: 4
      input: [{name: X, data_type: TYPE_FP32, dims: [1]}]
      output: [{name: Y, data_type: TYPE_FP32, dims: [0]}]
"""


def test_a_slip_beside_a_triton_model_hides_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SINGLE + MODELS)
    of_the_model = {it.code for it in check_file(path)}
    assert of_the_model
    path.write_text(SINGLE.replace("m5.xlarge", "m5.xlarg") + MODELS)
    assert {it.code for it in check_file(path)} == {"IS104", *of_the_model}
    (tmp_path / "spec.lock.json").write_text("{}")
    assert not {it.code for it in check_file(path)} & of_the_model


def test_of_warnings_that_may_be_ignored_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    gpu = SINGLE.replace("m5.xlarge", "p3.2xlarge").replace("25.09", "26.05") + THRESHOLD
    path.write_text(gpu)
    assert {it.code for it in check_file(path)} == {"IS270", "IS803"}
    path.write_text(gpu + "ignore: 5\n")
    assert {it.code for it in check_file(path)} == {"IS103", "IS803"}


def test_of_a_block_that_stands_elsewhere_nothing_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    policy = "{metric: ApproximateBacklogSizePerInstance, target_value: 4}"
    scaling = f"autoscaling: {{min_capacity: 0, max_capacity: 2, policies: [{policy}]}}\n"
    output = "async_inference_config: {output_config: {s3_output_path: s3://acme-models/out/}}\n"
    spec = SINGLE.replace("model.tar.gz", "model.zip") + scaling
    path.write_text(spec + output)
    assert {it.code for it in check_file(path)} == {"IS101", "IS231"}
    path.write_text(spec)
    assert {it.code for it in check_file(path)} == {"IS231", "IS501", "IS512"}


def _places(data: Any, path: SpecPath = ()) -> Iterator[SpecPath]:
    """The path of everything in a spec, except its kind and the insides of Triton's models."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, below in items:
        if (*path, key) != ("kind",) and key != "triton":
            yield (*path, key)
            yield from _places(below, (*path, key))


def _of_another_type(block: Any, key: str | int) -> None:
    block[key] = "text" if isinstance(block[key], list | int | float) else ["a list"]


def _misspelt(block: Any, key: str | int) -> None:
    if isinstance(key, str):
        block[f"{key}{key[-1]}"] = block.pop(key)


def _not_an_option(block: Any, key: str | int) -> None:
    if isinstance(block[key], str | int | float):
        block[key] = f"{block[key]}~ ~" if isinstance(block[key], str) else -7


BASES = sorted((Path(__file__).parent / "wrong_specs/bases").glob("*.yaml"))


@pytest.mark.parametrize("change", [_of_another_type, _misspelt, _not_an_option])
@pytest.mark.parametrize("base", BASES, ids=lambda path: path.stem)
def test_nothing_is_said_that_rests_on_what_is_wrong(base: Path, change: Callable[..., None]) -> None:
    right = read_document(base).data
    usual = {(it.code, it.path) for it in _found(right)}
    for path in _places(right):
        wrong = copy.deepcopy(right)
        block = wrong
        for key in path[:-1]:
            block = block[key]
        change(block, path[-1])
        found = _found(wrong)
        if any(it.code in STRUCTURE_CODES for it in found):
            rules = [it for it in found if it.code not in STRUCTURE_CODES and (it.code, it.path) not in usual]
            assert rules == [], path


def _found(data: dict[str, Any]) -> tuple[Problem, ...]:
    try:
        return parse_spec(data).warnings
    except SpecError as error:
        return error.problems


def test_of_a_list_that_is_too_short_nothing_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SINGLE.partition("variant:")[0].replace("model.tar.gz", "model.zip") + "variants: []\n")
    assert {it.code for it in check_file(path)} == {"IS108", "IS231"}


def test_a_reference_to_a_secure_parameter_is_known_as_one(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SINGLE + 'tags: {a: "{{resolve:ssm-secure:/x:1}}"}\n')
    (problem,) = check_file(path)
    assert problem.message == "CloudFormation does not resolve `ssm-secure` in these resources"

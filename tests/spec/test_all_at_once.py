"""What is wrong at the top of a spec hides nothing else of it."""

from pathlib import Path

import pytest

from inferstack.spec.check import check_file

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
    assert (problem.code, problem.message) == ("IS102", "this is a template of CloudFormation, and no spec")
    assert "docs/migrating.md" in problem.fix
    path.write_text(f"{SINGLE}{key}: {{}}\n")
    (problem,) = check_file(path)
    assert problem.code == "IS101"

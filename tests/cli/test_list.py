"""``inferstack list``: a row for each stack that specs make, without CDK."""

import json
from pathlib import Path

import pytest
from support.program import Write

from inferstack.cli import main

STAGES = """\
autoscaling: {min_capacity: 2, max_capacity: 4, policies: [{metric: CPUUtilization, target_value: 60}]}
stages:
  test: {autoscaling: null}
  prod:
    endpoint_name: bert-prod
    autoscaling: {max_capacity: 20, scheduled_actions: [{scheduled_action_name: night,
      schedule: cron(0 22 * * ? *), scalable_target_action: {min_capacity: 1, max_capacity: 30}}]}
    variant: {initial_instance_count: 5}
"""


def listed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> list[list[str]]:
    assert main(["list", *arguments]) == status
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_each_stage_has_its_row(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("model_specs/a.yaml", more=STAGES)
    write("model_specs/b.yaml", name="fixed", count=3)
    assert listed(capsys) == [
        ["STACK", "STAGE", "KIND", "RESOURCES", "INSTANCES", "ALARMS"],
        ["bert", "-", "single-model", "11", "2-2-4", "3"],
        ["bert", "test", "single-model", "9", "2", "3"],
        ["bert-prod", "prod", "single-model", "11", "1-5-30", "3"],
        ["fixed", "-", "single-model", "9", "3", "3"],
    ]
    assert listed(capsys, "--stage", "prod", "model_specs/a.yaml")[1:] == [
        ["bert-prod", "prod", "single-model", "11", "1-5-30", "3"]
    ]


def test_the_columns_fit_a_terminal(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("model_specs/a.yaml", name="b" * 20)
    assert main(["list"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_programs_get_json(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", more=STAGES)
    assert main(["list", "a.yaml", "--stage", "prod", "--region", "eu-west-1", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "stack": "bert-prod",
            "spec": "a.yaml",
            "stage": "prod",
            "kind": "single-model",
            "region": "eu-west-1",
            "resources": 11,
            "instances": {"min": 1, "start": 5, "max": 30},
            "instance_types": ["ml.m5.large"],
            "alarms": 3,
        }
    ]


def test_a_wrong_spec_is_reported_beside_the_right_ones(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model_specs/a.yaml", count=0)
    write("model_specs/b.yaml", name="right")
    assert main(["list"]) == 1
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["STACK", "right"]
    assert err.startswith("model_specs/a.yaml:6:") and err.count("\n") == 1  # noqa: PT018


def test_where_nothing_is_right_there_is_no_table(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("model_specs/a.yaml", count=0)
    assert listed(capsys, status=1) == []


@pytest.mark.parametrize(
    ("variant", "wanted"),
    [
        ("{serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}}", "serverless"),
        ("{instance_type: ml.m5.large, initial_instance_count: 4}", "4"),
    ],
)
def test_serverless_endpoints_have_no_instances(
    variant: str, wanted: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write("a.yaml")
    text = file.read_text("utf-8")
    file.write_text(text[: text.index("variant:")] + f"variant: {variant}\n", "utf-8")
    assert listed(capsys, "a.yaml")[1][4] == wanted


FLEETS = """\
kind: inference-components
endpoint_name: fleets
variants:
  - {variant_name: a, instance_type: ml.g5.xlarge, initial_instance_count: 2,
     managed_instance_scaling: {status: ENABLED, min_instance_count: 1, max_instance_count: 6}}
  - {variant_name: b, instance_type: ml.g5.xlarge, initial_instance_count: 3,
     managed_instance_scaling: {status: DISABLED, min_instance_count: 1, max_instance_count: 6}}
inference_components:
  one:
    variant_name: a
    specification: &it
      container: {image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/x:1}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}
  two: {variant_name: b, specification: *it}
"""


def test_the_instances_of_all_fleets_count(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(FLEETS, "utf-8")
    assert listed(capsys, "a.yaml", "--region", "us-east-1")[1][4] == "4-5-9"

"""A stage's `null` that removes nothing, or too much."""

from pathlib import Path

import pytest
from support.checking import check_file

from inferstack.problems import Problem

BASE = """\
kind: single-model
endpoint_name: churn
ignore: [IS061]
model:
  image: {framework: sklearn, version: 1.2-1}
  model_data_url: s3://acme-models/churn/model.tar.gz
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
stages:
  dev: {}
  prod:
"""
LINE = len(BASE.splitlines()) + 1


def problems_of(tmp_path: Path, override: str) -> list[Problem]:
    path = tmp_path / "spec.yaml"
    path.write_text(f"{BASE}    {override}\n")
    return check_file(path)


@pytest.mark.parametrize(
    ("override", "column", "path", "meant"),
    [
        ("autoscalng: null", 5, ("autoscalng",), "did you mean `autoscaling`?"),
        (
            "variant: {routing_confg: null}",
            15,
            ("variant", "routing_confg"),
            "did you mean `routing_config`?",
        ),
        (
            "variant: {RoutingConfig: null}",
            15,
            ("variant", "RoutingConfig"),
            "did you mean `routing_config`?",
        ),
        ("model: {image: {tag: null}}", 21, ("model", "image", "tag"), "allowed"),
        ("dashboard: {name: null}", 17, ("dashboard", "name"), "dashboard_name"),
        ("triton: {models: {a: {bakend: null}}}", 27, ("triton", "models", "a", "bakend"), "`backend`"),
        ("load_test: {traffic_patern: null}", 17, ("load_test", "traffic_patern"), "`traffic_pattern`"),
    ],
)
def test_a_null_on_a_key_that_the_format_does_not_have_is_an_unknown_key(
    tmp_path: Path, override: str, column: int, path: tuple[str, ...], meant: str
) -> None:
    [problem] = [it for it in problems_of(tmp_path, override) if it.path == path]
    assert (problem.code, problem.line, problem.column) == ("IS101", LINE, column)
    block = f"`{path[-2]}`" if path[1:] else "the spec"
    assert problem.message == f"unknown key `{path[-1]}` in {block}, so the stage `prod` removes nothing"
    assert meant in problem.fix


@pytest.mark.parametrize(
    "override",
    [
        "autoscaling: null",
        "variant: {routing_config: null}",
        "tags: {team: null}",
        "model: {environment: {SOME_VARIABLE: null}}",
        "execution_role: null",
        "execution_role: {path: null}",
    ],
)
def test_a_null_on_a_key_that_only_other_specs_have_is_right(tmp_path: Path, override: str) -> None:
    assert problems_of(tmp_path, override) == []


def test_of_a_null_in_an_unknown_block_only_the_block_is_said(tmp_path: Path) -> None:
    assert [it.path for it in problems_of(tmp_path, "autoscalng: {min_capcity: null}")] == [("autoscalng",)]


def test_each_stage_with_such_a_null_is_told(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, "autoscalng: null\n  test: {autoscalng: null}")
    assert [(it.code, it.line) for it in problems] == [("IS101", LINE), ("IS101", LINE + 1)]


@pytest.mark.parametrize(
    ("override", "code", "column", "said"),
    [
        ("variant: null", "IS201", 14, "(the stage `prod` removes `variant`)"),
        ("model: null", "IS200", 12, "(the stage `prod` removes `model`)"),
        ("endpoint_name: null", "IS102", 20, "(the stage `prod` removes `endpoint_name`)"),
        ("model: {image: {version: null}}", "IS102", 30, "(the stage `prod` removes `version`)"),
        ("model: {model_data_url: null}", "IS246", 29, "(the stage `prod` removes `model_data_url`)"),
        ("variant: {instance_type: null}", "IS260", 30, "(the stage `prod` removes `instance_type`)"),
        (
            "variant: {initial_instance_count: null}",
            "IS262",
            39,
            "(the stage `prod` removes `initial_instance_count`)",
        ),
    ],
)
def test_what_a_stage_took_away_is_said_at_its_null(
    tmp_path: Path, override: str, code: str, column: int, said: str
) -> None:
    [problem] = problems_of(tmp_path, override)
    assert (problem.code, problem.line, problem.column) == (code, LINE, column)
    assert problem.message.endswith(said)


COMPONENTS = """\
kind: inference-components
endpoint_name: chat
models:
  llm: {image: {framework: djl-lmi, version: "0.36.0"}, environment: {HF_MODEL_ID: acme/small}}
  other: {image: {framework: djl-lmi, version: "0.36.0"}, environment: {HF_MODEL_ID: acme/other}}
variant:
  instance_type: ml.g6e.xlarge
  initial_instance_count: 2
  inference_ami_version: al2023-ami-sagemaker-inference-gpu-4-1
  routing_config:
    routing_strategy: PREFIX_AWARE
    prefix_aware_routing_config: {prefix_length: 2048, concurrency_threshold: 16}
endpoint:
  deployment_config:
    blue_green_update_policy:
      traffic_routing_configuration:
        type: CANARY
        canary_size: {type: CAPACITY_PERCENT, value: 10}
        wait_interval_in_seconds: 300
      termination_wait_in_seconds: 300
    auto_rollback_configuration: {alarms: [{alarm_name: slo}]}
alarms: {rules: [{metric: GPUUtilization, threshold: 95 %}]}
inference_components:
  chat:
    specification:
      container: {image: {framework: djl-lmi, version: "0.36.0"}, environment: {HF_MODEL_ID: acme/chat}}
      compute_resource_requirements: {min_memory_required_in_mb: 1024, number_of_accelerator_devices_required: 1}
    runtime_config: {copy_count: 1}
    autoscaling:
      min_capacity: 1
      max_capacity: 4
      policies: [{metric: InvocationsPerCopy, target_value: 10}]
stages:
  prod:
"""
_TRAFFIC = "endpoint.deployment_config.blue_green_update_policy.traffic_routing_configuration"
_CHAT = "inference_components.chat.specification"
_PREFIXES = "    prefix_aware_routing_config: {prefix_length: 2048, concurrency_threshold: 16}\n"
SEVERAL = BASE.replace("model:\n", "models:\n net:\n").replace("variant: {", "variant: {model_name: net, ")


@pytest.mark.parametrize(
    ("code", "spec", "removed"),
    [
        ("IS202", SEVERAL, "variant.model_name"),
        ("IS267", COMPONENTS.replace(_PREFIXES, ""), "variant.routing_config.routing_strategy"),
        ("IS232", BASE, "model.image"),
        ("IS274", COMPONENTS, "variant.routing_config.prefix_aware_routing_config"),
        ("IS274", COMPONENTS, "variant.routing_config.prefix_aware_routing_config.prefix_length"),
        ("IS300", BASE.replace("single-model", "multi-model"), "model.model_data_url"),
        ("IS404", COMPONENTS, _CHAT),
        ("IS405", COMPONENTS, f"{_CHAT}.container"),
        ("IS406", COMPONENTS, f"{_CHAT}.container.image"),
        ("IS410", COMPONENTS, f"{_CHAT}.compute_resource_requirements"),
        ("IS410", COMPONENTS, f"{_CHAT}.compute_resource_requirements.min_memory_required_in_mb"),
        ("IS611", COMPONENTS, f"{_TRAFFIC}.canary_size"),
        ("IS612", COMPONENTS, f"{_TRAFFIC}.wait_interval_in_seconds"),
    ],
)
def test_a_rule_says_which_stage_took_away_what_it_misses(
    tmp_path: Path, code: str, spec: str, removed: str
) -> None:
    *around, key = removed.split(".")
    path = tmp_path / "spec.yaml"
    nested = [f"{'  ' * level}{name}:" for level, name in enumerate((*around, key), start=2)]
    path.write_text(f"{spec}{chr(10).join(nested)} null\n")
    last = len(path.read_text().splitlines())
    said = f"(the stage `prod` removes `{key}`)"
    assert {(it.code, it.line) for it in check_file(path) if said in it.message} == {(code, last)}


def test_what_the_spec_lacks_by_itself_is_no_stages_fault(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(BASE.replace("endpoint_name: churn\n", "") + "    endpoint_name: null\n")
    assert [(it.line, it.message) for it in check_file(path)] == [(1, "the spec is missing `endpoint_name`")]

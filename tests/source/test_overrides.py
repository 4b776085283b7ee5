"""Values from Python are merged into a file like those of a stage, and what the file says keeps its position."""

from pathlib import Path
from typing import Any

import pytest
from support.locked_specs import locked_spec
from support.locking import ONE

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.problems import Problem, SpecError
from inferstack.resolve import resolve_template

TEXT = """\
kind: single-model
endpoint_name: churn
model:
  image: {framework: sklearn, version: 1.2-1}
  model_data_url: s3://acme-models/churn/model.tar.gz
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
alarms:
  rules: [{metric: ModelLatency, threshold: 500 ms}]
stages:
  prod: {variant: {initial_instance_count: 4}, tags: {stage: "${stage}"}}
"""
TOPIC = "arn:aws:sns:us-east-1:111122223333:oncall"
TOKEN = "${Token[TOKEN.7]}"


def read(folder: Path, overrides: dict[str, Any], text: str = TEXT, **options: Any) -> LoadedSpec:
    file = folder / "churn.yaml"
    file.write_text(text, "utf-8")
    return load_spec(file, overrides=overrides, **options)


def refused(folder: Path, overrides: dict[str, Any], **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as found:
        read(folder, overrides, **options)
    return found.value.problems


def test_mappings_are_merged_and_all_else_is_replaced(tmp_path: Path) -> None:
    network = {"subnets": [TOKEN], "security_group_ids": [TOKEN]}
    spec = read(tmp_path, {"model": {"vpc_config": network}, "alarms": {"actions": (TOPIC,)}}).spec
    assert spec.models is None
    assert spec.model.model_data_url == "s3://acme-models/churn/model.tar.gz"
    assert spec.model.vpc_config.subnets == (TOKEN,)
    assert (spec.alarms.actions, len(spec.alarms.rules)) == ((TOPIC,), 1)


def test_none_removes_a_key(tmp_path: Path) -> None:
    assert read(tmp_path, {"alarms": {"rules": None}}).spec.alarms.rules == ()


def test_overrides_come_after_the_stage(tmp_path: Path) -> None:
    over = {"variant": {"initial_instance_count": 3}, "description": "Ours in ${stage}."}
    spec = read(tmp_path, over, stage="prod").spec
    assert spec.variant.initial_instance_count == 3
    assert (spec.tags, spec.description) == ({"stage": "prod"}, "Ours in prod.")


def test_resources_name_the_file_and_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    over = {
        "alarms": {"actions": [TOPIC]},
        "autoscaling": {
            "min_capacity": 1,
            "max_capacity": 2,
            "policies": [{"metric": "CPUUtilization", "target_value": 50}],
        },
    }
    loaded = read(tmp_path, over)
    made = resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)["Resources"]
    sources = {it["Type"].rpartition(":")[2]: it["Metadata"]["inferstack:source"] for it in made.values()}
    assert sources["Model"] == "churn.yaml: model"
    assert sources["Alarm"] == "churn.yaml: alarms.rules.0"
    assert sources["ScalableTarget"] == "churn.yaml: autoscaling"


def test_a_mistake_in_overrides_is_known_by_its_path_and_one_beside_them_by_its_line(tmp_path: Path) -> None:
    wrong = TEXT.replace("500 ms", "500")
    problems = refused(tmp_path, {"alarms": {"actions": ["oncall"]}}, text=wrong)
    of_python, of_file = (str(it) for it in problems)
    assert of_python.startswith(f"{(tmp_path / 'churn.yaml').as_posix()}: alarms.actions.0: IS105: ")
    assert of_file.startswith(f"{(tmp_path / 'churn.yaml').as_posix()}:8:45: IS803: ")


@pytest.mark.parametrize("key", ["kind", "stages"])
def test_what_no_stage_can_set_overrides_cannot_either(key: str, tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, {key: "multi-model"})
    assert (problem.code, problem.path) == ("IS033", (key,))
    assert problem.message == f"the overrides cannot set `{key}`"


def test_a_forgotten_stage_is_said_once(tmp_path: Path) -> None:
    tags = {str(it): "${stage}" for it in range(16)}
    (problem,) = refused(tmp_path, {"description": "Ours in ${stage}.", "tags": tags})
    assert problem.code == "IS034"
    assert problem.message == "this text uses `${stage}`, as 16 more do, but no stage was chosen"


def test_the_name_of_a_stage_needs_a_stage(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, {"description": "Ours in ${stage}."})
    assert (problem.code, problem.path) == ("IS034", ("description",))


def test_what_a_lock_says_was_uploaded_is_deployed(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, ONE)
    plain, over = load_spec(file), load_spec(file, overrides={"alarms": {"actions": [TOKEN]}})
    assert over.uploaded == plain.uploaded != {}
    assert over.spec.model.model_data_url == plain.spec.model.model_data_url
    assert "sha256" in over.spec.model.model_data_url


def test_no_overrides_are_as_none(tmp_path: Path) -> None:
    assert read(tmp_path, {}).spec == load_spec(tmp_path / "churn.yaml").spec

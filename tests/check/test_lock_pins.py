"""A spec whose model packages are pinned is the same as one that names their ARNs."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.checking import check_file

from inferstack.check.load import load_spec, parse_spec, structured
from inferstack.format import ModelPackage
from inferstack.problems import SpecError
from inferstack.resolve.template import template_of

ARN = "arn:aws:sagemaker:us-east-1:111122223333:model-package/churn/7"
GROUP = "arn:aws:sagemaker:us-east-1:111122223333:model-package-group/Churn"
SPEC = """\
kind: single-model
endpoint_name: churn
model: {model_package: {group: Churn, version: latest-approved}}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
env: {region: us-east-1}
ignore: [{code: IS830, reason: granted elsewhere}]
"""
BY_NAME = "{model_package: {group: Churn, version: latest-approved}}"
PIN = {"arn": ARN, "version": 7, "approval": "Approved", "pinned": "2026-01-01T00:00:00Z", "containers": []}


def lay_out(folder: Path, text: str = SPEC, key: str = "Churn/latest-approved", **pin: Any) -> Path:
    file = folder / "a.yaml"
    file.write_text(text)
    lock = {"version": 2, "pins": {key: {**PIN, **pin}}}
    file.with_name("a.lock.json").write_text(json.dumps(lock, indent=1))
    return file


def test_a_pin_gives_the_template_that_its_arn_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    pinned = template_of(load_spec("a.yaml"))
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    Path("a.yaml").write_text(SPEC.replace(BY_NAME, f"{{model_package_name: '{ARN}'}}"))
    assert pinned == template_of(load_spec("a.yaml"))
    assert ARN in json.dumps(pinned)


@pytest.mark.parametrize(
    ("group", "pin"),
    [
        ("Churn", {}),
        (GROUP, {}),
        (GROUP.replace("111122223333", "${AWS::AccountId}"), {}),
        ("churn", {"arn": ARN.replace("churn", "Churn")}),
    ],
)
def test_a_pin_of_the_group_is_right(group: str, pin: dict[str, Any], tmp_path: Path) -> None:
    file = lay_out(tmp_path, SPEC.replace("Churn", f"'{group}'"), f"{group}/latest-approved", **pin)
    assert check_file(file) == []


@pytest.mark.parametrize(
    ("group", "version", "pin"),
    [
        ("Churn", "latest-approved", {"arn": ARN.replace("churn", "evil")}),
        ("Churn", "latest-approved", {"version": 8}),
        ("Churn", "latest-approved", {"arn": "churn/7"}),
        ("Churn", "8", {}),
        (GROUP, "latest-approved", {"arn": ARN.replace("1111", "9999")}),
        (GROUP, "latest-approved", {"arn": ARN.replace("us-east-1", "us-west-2")}),
    ],
)
def test_a_pin_of_something_else_is_refused(
    group: str, version: str, pin: dict[str, Any], tmp_path: Path
) -> None:
    text = SPEC.replace("Churn", f"'{group}'").replace("latest-approved", version)
    file = lay_out(tmp_path, text, f"{group}/{version}", **pin)
    errors = [it for it in check_file(file) if it.code == "IS051"]
    (error,) = errors
    assert (error.file, error.line) == ((tmp_path / "a.lock.json").as_posix(), 5)
    assert "is not what" in error.message


@pytest.mark.parametrize("change", [{"arn": 7}, {"version": 0}, {"pinned": "today"}, {"evil": 1}])
def test_a_pin_that_is_none_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    assert [it.code for it in check_file(lay_out(tmp_path, **change))] == ["IS051", "IS063"]


def test_the_pin_of_what_the_spec_said_before_does_not_count(tmp_path: Path) -> None:
    file = lay_out(tmp_path, SPEC.replace("Churn", "Fraud"))
    (problem,) = check_file(file)
    assert (problem.code, problem.line) == ("IS063", 3)
    assert problem.message == "no version of Fraud is pinned"


def test_rules_see_the_package_that_is_pinned(tmp_path: Path) -> None:
    file = lay_out(tmp_path, SPEC.replace("us-east-1", "eu-west-1").partition("ignore")[0])
    assert any("us-east-1" in it.message and it.code != "IS830" for it in check_file(file))


def test_what_is_wrong_with_a_package_is_told_at_the_key_that_names_it(tmp_path: Path) -> None:
    file = lay_out(tmp_path, SPEC.partition("ignore")[0])
    (problem,) = [it for it in check_file(file) if it.code == "IS830"]
    assert (problem.path, problem.line, problem.column) == (("model", "model_package"), 3, 9)


def test_only_stages_with_pins_are_deployed_where_only_stages_have_some(tmp_path: Path) -> None:
    file = lay_out(tmp_path, SPEC + "stages: {prod: {}}\n")
    lock = {"version": 2, "pins_of_stages": {"prod": {"Churn/latest-approved": PIN}}}
    file.with_name("a.lock.json").write_text(json.dumps(lock))
    assert check_file(file) == []
    assert load_spec(file, stage="prod").spec.model.model_package_name == ARN


def test_a_spec_made_in_python_names_a_version() -> None:
    data = {
        "kind": "single-model",
        "endpoint_name": "churn",
        "model": {"model_package": {"group": "churn", "version": 7}},
        "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
    }
    assert parse_spec(data).spec.model.model_package_name == "churn/7"
    data["model"] = {"model_package": {"group": "churn", "version": "latest-approved"}}
    with pytest.raises(SpecError, match="a spec made in Python has no lock"):
        parse_spec(data)


def test_classes_in_python_name_a_version(tmp_path: Path) -> None:
    spec = load_spec(lay_out(tmp_path), locked=False).spec
    assert spec.model.model_package == ModelPackage(group="Churn", version="latest-approved")
    with pytest.raises(SpecError, match="write the version's number"):
        structured(spec)


def test_a_group_that_only_the_deployment_knows_cannot_be_pinned(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(SPEC.replace("Churn", "'{{resolve:ssm:/churn/group}}'"))
    (problem,) = check_file(file)
    assert problem.code == "IS063"
    assert problem.fix == "write the group's name: one that only the deployment knows cannot be pinned"

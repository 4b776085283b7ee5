"""An upgrade that changes templates without a change of the spec is found, and must be in the changelog."""

import shutil
from pathlib import Path

import pytest

from tools import template_changes
from tools.template_changes import SECTION, Change, main, spec_changes

ROOT = Path(__file__).parents[2]
DEFAULTS = "constructs/inferstack/format/defaults.py"
OLD, NEW = "ALARM_EVALUATION_PERIODS = Default(3,", "ALARM_EVALUATION_PERIODS = Default(4,"


def resource(type_: str, **properties: object) -> dict[str, object]:
    return {"Type": type_, "Properties": properties}


def found(before: dict[str, object], after: dict[str, object]) -> set[Change]:
    templates = ({"template": {"Resources": it}, "problems": {}} for it in (before, after))
    return set(spec_changes(*templates))


def test_what_two_templates_differ_in_is_said_by_types() -> None:
    model = resource("AWS::SageMaker::Model", ModelName="a", Tags=[1])
    alarm = resource("AWS::CloudWatch::Alarm")
    assert found({"Model": model}, {"Model": model}) == set()
    assert found({"Model": model}, {"Model": resource("AWS::SageMaker::Model", ModelName="b")}) == {
        Change("AWS::SageMaker::Model", "Properties.ModelName has another value"),
        Change("AWS::SageMaker::Model", "Properties.Tags is removed"),
    }
    assert found({"AlarmX12A97B78": alarm}, {"AlarmY12A97B78": alarm}) == {
        Change("AWS::CloudWatch::Alarm", "AlarmX… is removed"),
        Change("AWS::CloudWatch::Alarm", "AlarmY… is added"),
    }


def test_a_spec_that_is_refused_now_is_said() -> None:
    before = {"template": {"Resources": {}}, "problems": {"IS100": "warning: old"}}
    after = {"template": None, "problems": {"IS100": "warning: other words", "IS101": "error: new"}}
    assert list(spec_changes(before, after)) == [Change("IS101", "is reported now: error: new")]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another version of inferstack, with one spec."""
    for file in (ROOT / "constructs").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            copy = tmp_path / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
    (tmp_path / "model_specs").mkdir()
    shutil.copy(ROOT / "model_specs" / "sentiment-ab.yaml", tmp_path / "model_specs")
    return tmp_path


def test_the_same_version_changes_nothing(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--since", str(other), "--check"]) == 0
    assert capsys.readouterr().out == f"No template changes since {other}.\n"


def test_a_default_that_changes_must_be_in_the_changelog(
    other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = other / DEFAULTS
    text = file.read_text("utf-8")
    assert OLD in text
    file.write_text(text.replace(OLD, NEW), "utf-8")
    changelog = tmp_path / "CHANGELOG.md"
    monkeypatch.setattr(template_changes, "CHANGELOG", changelog)
    changelog.write_text(f"# Changelog\n\n## [Unreleased]\n\n## [1.0.0]\n\n{SECTION}\n", "utf-8")
    assert main(["--since", str(other), "--check"]) == 1
    assert (
        "`AWS::CloudWatch::Alarm`: Properties.EvaluationPeriods has another value (model_specs/sentiment-ab.yaml"
        in capsys.readouterr().out
    )
    changelog.write_text(f"# Changelog\n\n## [Unreleased]\n\n{SECTION}\n\n## [1.0.0]\n", "utf-8")
    assert main(["--since", str(other), "--check"]) == 0

"""An upgrade that changes templates without a change of the spec is found, and must be in the changelog."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


# ---------------------------------------------------------------- with tags, in a repository of its own


def git(folder: Path, *words: str) -> None:
    names = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def committed(folder: Path, *, tag: str | None = None) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=more")
    if tag is not None:
        git(folder, "tag", tag)


def checked(folder: Path) -> tuple[int, str]:
    """What `make changes` of that repository answers."""
    command = (sys.executable, "-m", "tools.template_changes", "--check")
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def repository(other: Path) -> Path:
    shutil.copytree(ROOT / "tools", other / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (other / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n", "utf-8")
    git(other, "init", "--quiet")
    committed(other)
    return other


def test_what_a_release_changes_cannot_be_forgotten(repository: Path) -> None:
    changelog = repository / "CHANGELOG.md"
    assert checked(repository) == (0, "no release yet, so nothing to compare with\n")

    git(repository, "tag", "v0.1.0")
    assert checked(repository) == (0, "no release yet, so nothing to compare with\n")

    file = repository / DEFAULTS
    file.write_text(file.read_text("utf-8").replace(OLD, NEW), "utf-8")
    committed(repository)
    status, said = checked(repository)
    assert status == 1
    change = "- `AWS::CloudWatch::Alarm`: Properties.EvaluationPeriods has another value"
    assert f"{change} (model_specs/sentiment-ab.yaml, model_specs/sentiment-ab.yaml at stage prod)\n" in said
    assert f"CHANGELOG.md does not have a section {SECTION!r} in what is new since v0.1.0" in said

    # The tag of the new release is not what it is compared with.
    forgotten = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-23\n\n## [0.1.0] - 2026-10-01\n\n"
    changelog.write_text(f"{forgotten}{SECTION}\n", "utf-8")
    committed(repository, tag="v0.2.0")
    assert checked(repository)[0] == 1
    changelog.write_text(forgotten.replace("-23\n", f"-23\n\n{SECTION}\n\n- Alarms\n"), "utf-8")
    committed(repository, tag="v0.2.1")
    git(repository, "tag", "--delete", "v0.2.0")
    assert checked(repository)[0] == 0


def test_without_history_nothing_is_claimed(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    git(repository, "tag", "v0.1.0")
    committed(repository)
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    git(repository, "clone", "--quiet", "--depth=1", "--no-tags", repository.as_uri(), str(shallow))
    status, said = checked(shallow)
    assert (status, said.partition(":")[0]) == (0, "nothing to compare with")


def test_ci_compares_with_the_last_release() -> None:
    assert "\nmake changes\n" in (ROOT / ".ci" / "run").read_text("utf-8")
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "run: python -m tools.template_changes --check\n" in workflow
    assert "fetch-depth: 0" in workflow

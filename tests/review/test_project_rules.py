"""A change that loosens the rules of its project is reported, whether the base is a folder or a revision."""

import subprocess
from pathlib import Path

import pytest

from inferstack.review.reviewing import review

SPEC = """\
kind: single-model
endpoint_name: churn
model: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/a:1", model_data_url: "s3://models/m.tar.gz"}
variant: {instance_type: ml.m6g.large, initial_instance_count: 1}
tags: {team: a, cost: b}
"""
RULES = """\
rules:
  allowed: {instance_types: {values: [ml.m6g.*], reason: R}}
  required: {tags: {keys: [team, cost], reason: R}}
  at_most: {instances: {value: 4, reason: R}}
"""
LOWERED = "protection-lowered"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("model_specs").mkdir()
    Path("model_specs/churn.yaml").write_text(SPEC)
    Path("inferstack.yaml").write_text(RULES)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "c"],
    ):
        subprocess.run(["git", *command], check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[ml.m6g.*]", "[ml.m6g.*, ml.p5.*]", "`allowed.instance_types` allows ml.p5.*"),
        ("[team, cost]", "[team]", "`required.tags` no longer asks for cost"),
        ("value: 4", "value: 5", "`at_most.instances` is 5 instead of 4"),
        ("  at_most: {instances: {value: 4, reason: R}}\n", "", "`at_most.instances` is gone"),
        (RULES, "defaults: {}", "`allowed.instance_types` is gone, `required.tags` is gone and `at_most.instances` is gone"),
        ("value: 4", "value: 3", None),
        ("reason: R}}", "reason: S}}", None),
        ("rules:\n", "rules:\n  required: {vpc_config: R}\n", "`required.tags` is gone"),
    ],
)  # fmt: skip
def test_what_is_allowed_now(old: str, new: str, said: str | None, project: Path) -> None:
    text = RULES.replace(old, new)
    if new.startswith("rules:\n  required"):
        text = text.replace("  required: {tags: {keys: [team, cost], reason: R}}\n", "")
    Path("inferstack.yaml").write_text(text)
    found = [it for it in review("model_specs", base="git:HEAD").findings if it.effect == LOWERED]
    assert [it.message for it in found] == [f"the project's rules allow more than before: {said}"][
        : said is not None
    ]
    assert [it.place.file for it in found if it.place] == ["inferstack.yaml"] * len(found)


def test_the_base_has_its_own_defaults(project: Path) -> None:
    Path("inferstack.yaml").write_text("defaults: {tags: {new: tag}}\n" + RULES)
    made = review("model_specs", base="git:HEAD")
    assert [it.fate for it in made.endpoints] == ["updated"]
    assert not [it for it in made.findings if it.effect == LOWERED]


def test_a_file_that_is_gone_allows_everything(project: Path) -> None:
    Path("inferstack.yaml").unlink()
    (found,) = [it for it in review("model_specs", base="git:HEAD").findings if it.effect == LOWERED]
    assert "`at_most.instances` is gone" in found.message

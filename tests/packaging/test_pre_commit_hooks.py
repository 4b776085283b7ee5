"""The hooks for pre-commit: whether it accepts them, and what they do in a repository. Nothing is installed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.pages import assert_printed, code_blocks, commands

from inferstack.cli.arguments import parse

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text("utf-8"))}
FILE = ROOT / "docs" / "pre-commit.md"
PAGE = FILE.read_text("utf-8")
VALIDATE = [{"id": "inferstack-validate"}]
RENDER = [{"id": "inferstack-render"}]
SPEC = """\
kind: single-model
endpoint_name: bert
model:
  image: {framework: sklearn, version: "1.2-1"}
  model_data_url: s3://acme-models/bert/model.tar.gz
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
WARNED = f"{SPEC}autoscaling: {{min_capacity: 1, max_capacity: 4}}\n"


class Repository:
    """A user's repository with inferstack's hooks as they are shipped, which run the inferstack under test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.folder.mkdir()
        self._home = folder / "home"
        self.run("git init --quiet --initial-branch=main")

    def run(self, command: str) -> tuple[int, str]:
        names = {
            f"GIT_{who}_{what}": "me@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            **names,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}/constructs",
            "PRE_COMMIT_HOME": str(self._home),
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    def configure(self, hooks: list[dict[str, Any]]) -> None:
        local = [{**HOOKS[hook["id"]], **hook, "language": "unsupported"} for hook in hooks]
        self.stage(".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))

    def stage(self, path: str, content: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
        self.run(f"git add {shlex.quote(path)}")

    def commit(self) -> tuple[int, str]:
        return self.run("git commit --quiet --message changes")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Has one right spec that is committed, and hooks that are not configured yet."""
    made = Repository(tmp_path)
    made.stage("model_specs/a.yaml", SPEC)
    assert made.commit() == (0, "")
    assert made.run("pre-commit install")[0] == 0
    return made


def test_pre_commit_accepts_the_manifest() -> None:
    program = (BIN / "pre-commit", "validate-manifest", MANIFEST)
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_what_a_hook_runs_is_a_command_of_the_package(hook: dict[str, Any]) -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    program, *words = shlex.split(hook["entry"])
    assert program in scripts
    assert parse([*words, *hook.get("args", ())]).paths == [Path("model_specs")]


@pytest.mark.parametrize(
    ("path", "starts"),
    [
        ("model_specs/a.yaml", {"inferstack-validate", "inferstack-render"}),
        ("model_specs/a.lock.json", {"inferstack-validate", "inferstack-render"}),
        ("model_specs/artifacts/model.onnx", {"inferstack-validate", "inferstack-render"}),
        ("templates/a.template.json", {"inferstack-render"}),
        ("old/model_specs/a.yaml", set()),
        ("model_specs.py", set()),
        ("model_specs_old/a.yaml", set()),
        ("cdk.json", set()),
    ],
)
def test_a_hook_runs_for_what_it_looks_at(path: str, starts: set[str]) -> None:
    assert {name for name, hook in HOOKS.items() if re.search(hook["files"], path)} == starts


def test_a_right_spec_is_committed(repository: Repository) -> None:
    repository.configure(VALIDATE)
    repository.stage("model_specs/b.yaml", SPEC.replace("bert", "ranker"))
    status, printed = repository.commit()
    assert (status, printed.split(".")[-1]) == (0, "Passed\n")


def test_a_name_is_taken_by_a_spec_that_did_not_change(repository: Repository) -> None:
    repository.configure(VALIDATE)
    repository.stage("model_specs/b.yaml", SPEC)
    status, printed = repository.commit()
    assert status == 1
    assert "\nmodel_specs/b.yaml:2:16: IS041: " in printed


def test_a_lock_is_checked_that_changes_alone(repository: Repository) -> None:
    repository.configure(VALIDATE)
    repository.stage("model_specs/a.lock.json", "<<<<<<< HEAD\n")
    status, printed = repository.commit()
    assert status == 1
    assert "\nmodel_specs/a.lock.json:1:1: IS05" in printed


def test_what_is_not_staged_mends_nothing(repository: Repository) -> None:
    repository.configure(VALIDATE)
    repository.stage("model_specs/a.yaml", SPEC.replace("bert", "b_rt"))
    (repository.folder / "model_specs/a.yaml").write_text(SPEC, "utf-8")
    status, printed = repository.commit()
    assert status == 1
    assert "\nmodel_specs/a.yaml:2:16: " in printed


def test_other_changes_start_no_hook(repository: Repository) -> None:
    repository.configure([*VALIDATE, *RENDER])
    status, printed = repository.commit()
    assert (status, printed.count("(no files to check)Skipped")) == (0, 2)


@pytest.mark.parametrize(("args", "status"), [([], 0), (["--strict"], 1)])
def test_warnings_fail_where_they_are_asked_to(args: list[str], status: int, repository: Repository) -> None:
    repository.configure([{"id": "inferstack-validate", "args": args}])
    repository.stage("model_specs/a.yaml", WARNED)
    assert repository.commit()[0] == status


def test_a_template_is_committed_with_its_spec(repository: Repository) -> None:
    repository.configure(RENDER)
    repository.stage("model_specs/b.yaml", SPEC.replace("bert", "ranker"))
    status, printed = repository.commit()
    assert status == 1
    assert "\ntemplates/bert.template.json: was missing and has been written; " in printed
    repository.run("git add templates")
    assert repository.commit()[0] == 0


def test_a_template_that_somebody_edited_is_made_again(repository: Repository) -> None:
    repository.configure(RENDER)
    repository.stage("templates/bert.template.json", "{}")
    status, printed = repository.commit()
    assert status == 1
    assert "\ntemplates/bert.template.json: was out of date and has been written; " in printed


def test_the_hooks_without_an_installation_are_the_same() -> None:
    (block,) = re.findall(r"```yaml\n(  - repo: local.*?)```", PAGE, re.DOTALL)
    (local,) = yaml.safe_load(block)
    installed = [{**hook, "language": "system"} for hook in HOOKS.values()]
    assert local["hooks"] == [{key: hook[key] for key in hook if key != "description"} for hook in installed]


def test_the_sessions_of_the_page_are_real(tmp_path: Path) -> None:
    configs = re.findall(r"```yaml\n(repos:.*?)```", PAGE, re.DOTALL)
    sessions = code_blocks(FILE, "console")
    assert len(configs) == len(sessions)
    repository = Repository(tmp_path)
    (repository.folder / "model_specs").mkdir()
    for name in ("fraud-pipeline.yaml", "sentiment-ab.yaml"):
        shutil.copy(ROOT / "model_specs" / name, repository.folder / "model_specs")
    repository.run(
        "inferstack render --out templates --region us-east-1; git add --all; git commit --message specs"
    )
    repository.run("pre-commit install")
    for config, session in zip(configs, sessions, strict=True):
        (source,) = yaml.safe_load(config)["repos"]
        repository.configure(source["hooks"])
        for command, shown in commands(session):
            assert_printed(repository.run(command)[1], shown)
        repository.run("git reset --hard")

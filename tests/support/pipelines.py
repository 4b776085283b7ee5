"""A user's repository with the pipeline files of the documentation, and what their runners do with it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from support.cdk_cli import add_program, add_runtimes

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "pipelines"

SPEC = """\
kind: single-model
endpoint_name: "bert-${stage}"
model:
  image: {framework: sklearn, version: "1.2-1"}
  model_data_url: s3://acme-models/bert/ARCHIVE/model.tar.gz
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
autoscaling:
  min_capacity: 2
  max_capacity: 4
  policies: [{metric: SageMakerVariantInvocationsPerInstance, target_value: 100}]
stages:
  test: {autoscaling: {max_capacity: 3}}
  prod: {}
"""

# Programs that need the network: each logs how it was called, and does what a test needs.
_PROGRAMS = {
    "pip": """
        case "$*" in
          "install --no-compile --require-hashes -r ci/node.txt") [ -s ci/node.txt ] ;;
          *) [ "$1 $2 $3 $4" = "install --no-compile -r requirements.txt" ] && [ -s requirements.txt ] ;;
        esac""",
    "aws": f'exec "{sys.executable}" "{Path(__file__).with_name("aws_cli.py")}" "$@"',
    "npm": f'[ "$1" = ci ] && ln -sfn "{ROOT}/node_modules" node_modules',
    "gh": """
        case "$*" in
          *--paginate*) cat "$CALLS/comment-id" 2>/dev/null || true ;;
          *body=@*) cp review.md "$CALLS/comment.md" && echo 42 >"$CALLS/comment-id" ;;
        esac""",
    "curl": """
        case "$*" in
          *${CALLS_REFUSED-nothing}*) exit 22 ;;
          *--form*) cp review.md "$CALLS/comment.md" && echo '[{"id": 1, "body": "LGTM"}, {"id": 42, "body": "<!-- inferstack -->"}]' >"$CALLS/notes" ;;
          *) cat "$CALLS/notes" 2>/dev/null || echo "[]" ;;
        esac""",
}
_INPUT = re.compile(r"\$\[\[ inputs\.(\w+) \]\]")
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


PAGES_URL = "https://github.com/acme/models/actions/runs/1/artifacts/2"
# What the review asks GitHub for, and where its pages are.
IN_GITHUB = {
    "github.event_name": "pull_request",
    "github.token": "token",
    "github.event.pull_request.number": "7",
    "github.server_url": "https://github.com",
    "github.repository": "acme/models",
    "github.sha": "0a1b2c3",
    "steps.pages.outputs.artifact-url": PAGES_URL,
}


@dataclass
class Step:
    """One command of a pipeline, and whether it runs even after another has failed."""

    script: str
    environment: dict[str, str] = field(default_factory=dict)
    always: bool = False
    pipefail: bool = True
    """Whether a command fails if any part of a pipe does; on GitHub, only where the step names bash as its shell."""


class Repository:
    """A user's repository: specs on main, and a branch that changes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "models"
        self.calls = folder / "calls"
        self.programs = folder / "programs"
        for path in (self.folder / "model_specs", self.folder / "ci", self.calls, self.programs):
            path.mkdir(parents=True)
        for name in ("app.py", "cdk.json", "package.json", "package-lock.json"):
            shutil.copy(ROOT / name, self.folder)
        for file in (*DOCS.glob("*.sh"), DOCS / "node.txt", *(DOCS / "codebuild").glob("buildspec-*.yml")):
            shutil.copy(file, self.folder / "ci")
        (self.folder / "requirements.txt").write_text("inferstack\n", "utf-8")
        (self.folder / ".gitignore").write_text("node_modules\ncdk.out\n__pycache__\n", "utf-8")
        for name, does in _PROGRAMS.items():
            add_program(self.programs, name, f'echo "{name} $*" >>"$CALLS/log"\n{does}')
        add_runtimes(self.programs)
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit(SPEC.replace("ARCHIVE", "one"))

    def git(self, *arguments: str) -> str:
        """Runs git as some user, whatever this machine's configuration says."""
        names = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
        done = subprocess.run(
            ["git", *names, *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, spec: str) -> None:
        (self.folder / "model_specs" / "bert.yaml").write_text(spec, "utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=specs")

    def propose(self, spec: str) -> None:
        """Leaves the repository as a runner finds it for a pull request: a merge, whose first parent is main."""
        self.git("checkout", "--quiet", "-b", "change")
        self.commit(spec)
        self.git("checkout", "--quiet", "--detach", "main")
        self.git("merge", "--quiet", "--no-ff", "--no-edit", "change")

    def run(self, steps: list[Step], **environment: str) -> tuple[int, str]:
        """Runs steps like a runner; returns the status of the first that failed, and everything that was printed."""
        failed, printed = 0, ""
        for step in steps:
            if failed and not step.always:
                continue
            ran = subprocess.run(
                ["bash", "-e", *(("-o", "pipefail") if step.pipefail else ()), "-c", step.script],
                cwd=self.folder,
                env={**self.environment(), **environment, **step.environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=300,
                check=False,
            )
            printed += ran.stdout
            failed = failed or ran.returncode
        return failed, printed

    def environment(self) -> dict[str, str]:
        programs = f"{self.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        sources = f"{ROOT}/constructs:{ROOT}/stacks"
        return {**os.environ, "PATH": programs, "PYTHONPATH": sources, "CALLS": str(self.calls)}

    def called(self) -> list[str]:
        log = self.calls / "log"
        return log.read_text("utf-8").splitlines() if log.exists() else []

    def comment(self) -> str:
        return (self.calls / "comment.md").read_text("utf-8")


def read(file: str) -> dict[str, Any]:
    """One of the pipeline files. YAML 1.1 reads the key ``on`` as true, but nothing here looks at that key."""
    found: dict[str, Any] = yaml.safe_load((DOCS / file).read_text("utf-8"))
    return found


def github_steps(
    file: str, values: Mapping[str, str], job: str = "review", *, fork: bool = False
) -> list[Step]:
    """The commands of a workflow's job. ``values`` are the values of its expressions."""
    workflow = read(file)
    found = workflow["jobs"][job]
    shared = {**workflow.get("env", {}), **found.get("env", {})}
    return [_github_step(step, shared, values) for step in found["steps"] if _is_run(step, values, fork=fork)]


def action_steps(values: Mapping[str, str], *, fork: bool = False) -> list[Step]:
    """The commands of the action, with its defaults for inputs that ``values`` does not have."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    defaults = {f"inputs.{name}": it["default"] for name, it in action["inputs"].items()}
    given = {"github.action_ref": "v1.2.3", **defaults, **values}
    return [
        _github_step(step, {}, given) for step in action["runs"]["steps"] if _is_run(step, given, fork=fork)
    ]


def _is_run(step: Mapping[str, Any], values: Mapping[str, str], *, fork: bool) -> bool:
    condition = step.get("if", "")
    events = re.findall(r"github\.event_name == '(\w+)'", condition)
    unset = any(values.get(it) != "true" for it in re.findall(r"(vars\.\w+) == 'true'", condition))
    other = unset or (bool(events) and values.get("github.event_name") not in events)
    return "run" in step and not other and not (fork and "head.repo.full_name" in condition)


def _github_step(step: Mapping[str, Any], shared: Mapping[str, str], values: Mapping[str, str]) -> Step:
    environment = {**shared, **step.get("env", {})}
    evaluated = {name: _evaluated(value, values) for name, value in environment.items()}
    # A script must not contain an expression: its value would be inserted before a shell reads the script.
    assert not _EXPRESSION.search(step["run"]), step
    always = "!cancelled()" in step.get("if", "")
    return Step(step["run"], evaluated, always, pipefail=step.get("shell") == "bash")


def _evaluated(value: str, values: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: values[found[1]], value)


def component(inputs: Mapping[str, str]) -> dict[str, Any]:
    """The GitLab component with its inputs filled in, as GitLab does before it reads the jobs."""
    head, jobs = (ROOT / "templates" / "review.yml").read_text("utf-8").split("\n---\n")
    declared = yaml.safe_load(head)["spec"]["inputs"]
    given = {name: inputs.get(name, it["default"]) for name, it in declared.items()}
    found: dict[str, Any] = yaml.safe_load(_INPUT.sub(lambda name: given[name[1]], jobs))
    return found


def gitlab_steps(job: str, pipeline: Mapping[str, Any] | None = None) -> list[Step]:
    """The commands of a GitLab job, all in one shell, including those of the job that it extends."""
    pipeline = read("gitlab/.gitlab-ci.yml") if pipeline is None else pipeline
    chain = list(_extended(pipeline, job))
    variables: dict[str, str] = dict(pipeline.get("variables", {}))
    merged: dict[str, Any] = {}
    for one in reversed(chain):
        variables.update({name: str(value) for name, value in one.get("variables", {}).items()})
        merged.update(one)
    lines = [*merged["before_script"], *merged["script"]]
    steps = [Step("\n".join(lines), variables)]
    return [*steps, *(Step(line, variables, always=True) for line in merged.get("after_script", ()))]


def _extended(pipeline: Mapping[str, Any], job: str) -> Iterator[dict[str, Any]]:
    yield pipeline[job]
    if "extends" in pipeline[job]:
        yield from _extended(pipeline, pipeline[job]["extends"])


def codebuild_steps(file: str) -> list[Step]:
    """The commands of a buildspec, in one shell."""
    spec = read(file)
    commands = [command for phase in spec["phases"].values() for command in phase["commands"]]
    return [Step("\n".join(commands), spec["env"].get("variables", {}))]

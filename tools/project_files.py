"""Copies into the package what `inferstack init` writes and another file of the repository says already.

The pipelines come from docs/pipelines, the specs from docs/examples/kinds and docs/examples/chat, the hook
from .pre-commit-hooks.yaml, and the CDK CLI is the one that the tests deploy with. Marks like ``@{region}``
are filled in by :mod:`inferstack.project`.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from inferstack.project.answers import CHAT, KIND_NAMES, STARTS
from inferstack.project.files import FILES
from inferstack.source.spec_file import PROJECT_FILE
from tools.generated_files import ROOT, Contents

_PIPELINES = ROOT / "docs" / "pipelines"
_KINDS = ROOT / "docs" / "examples" / "kinds"
_CHAT = ROOT / "docs" / "examples" / "chat"
_ALWAYS = FILES / "always"
_CLI = "aws-cdk"
_MARKS = {
    "us-east-1": "@{region}",
    "111122223333": "@{account}",
    "acme-models": "@{bucket}",
    "acme@1234567/models@123456789": "@{repository}",
    "acme/models": "@{repository_name}",
}
"""What the documentation says, and what stands for it until a project is written."""

# ---------------------------------------------------------------- pipelines

_OF_SYSTEM = {
    "all": (
        "synthesize.sh",
        "fetch-deployed.sh",
        "review-deployed.sh",
        "review.sh",
        "iam/boundary-policy.json",
        "iam/execution-policy.json",
        "iam/execution-extras-policy.json",
        "iam/upload-policy.json",
    ),
    "github": ("iam/pipeline-policy.json", "iam/review-policy.json", "iam/trust-github.json"),
    "gitlab": ("iam/pipeline-policy.json", "iam/review-policy.json", "iam/trust-gitlab.json", "node.txt"),
}
"""What goes into `ci/`; the other files of a system go where it looks for them."""
_PLACES = {
    "github": ("github", Path("dot_github/workflows")),
    "gitlab": ("gitlab", Path()),
    "codepipeline": ("codebuild", Path("ci")),
}


def pipelines() -> Iterator[tuple[Path, str]]:
    there = FILES / "ci"
    yield there / "all" / PROJECT_FILE, (_PIPELINES / PROJECT_FILE).read_text("utf-8")
    for system, names in _OF_SYSTEM.items():
        for name in names:
            yield there / system / "ci" / name, _marked((_PIPELINES / name).read_text("utf-8"))
    for system, (folder, place) in _PLACES.items():
        for file in sorted((_PIPELINES / folder).iterdir()):
            yield there / system / place / re.sub(r"^\.", "dot_", file.name), _marked(file.read_text("utf-8"))


def _marked(text: str) -> str:
    for said, mark in _MARKS.items():
        text = text.replace(said, mark)
    return text


# ---------------------------------------------------------------- specs

_SPEC = """\
# yaml-language-server: $schema=../inferstack.schema.json
# {sentence}
{spec}
env: {{region: @{{region}}}}

stages:
  test: {{}}
  prod:{prod}
"""
_PROD = " {{variant: {{initial_instance_count: {more}}}}}"
# As many copies as instances, so that none runs for nothing.
_PROD_OF_COMPONENTS = """
    variant:
      initial_instance_count: {more}
      # One more for updates: the copies of a new version start alongside the old ones.
      managed_instance_scaling: {{status: ENABLED, min_instance_count: {more}, max_instance_count: {most}}}
    inference_components:
      "{component}-${{stage}}": {{runtime_config: {{copy_count: {more}}}}}"""
_PROD_OF_SCALED_COMPONENTS = """
    variant: {{initial_instance_count: {more}, managed_instance_scaling: {{min_instance_count: {more}}}}}
    inference_components:
      "{component}-${{stage}}":
        runtime_config: {{copy_count: {more}}}
        autoscaling: {{min_capacity: {more}}}"""


def specs() -> Iterator[tuple[Path, str]]:
    """The shortest spec of each kind and that of a chat model, with two stages that may share an account."""
    for kind in KIND_NAMES:
        yield _start(kind, _KINDS / f"{kind}.yaml")
    yield _start(CHAT, _CHAT / "chat.yaml")
    for file in _CHAT.glob("*/*.json"):
        there = FILES / "kinds" / CHAT / "model_specs" / file.relative_to(_CHAT)
        yield there, file.read_text("utf-8")


def _start(start: str, file: Path) -> tuple[Path, str]:
    spec = file.read_text("utf-8")
    content = yaml.safe_load(spec)
    name, count = content["endpoint_name"], content["variant"]["initial_instance_count"]
    staged = re.sub(r"(?m)^(endpoint_name: ).+$", r"\1@{name}-${stage}", _marked(spec))
    staged = staged.replace(f"@{{bucket}}/{name}/", "@{bucket}/@{name}/")
    prod = _PROD.format(more=count + 1)
    for component, it in content.get("inference_components", {}).items():
        staged = staged.replace(f"  {component}:\n", f'  "{component}-${{stage}}":\n')
        of_prod = _PROD_OF_SCALED_COMPONENTS if "autoscaling" in it else _PROD_OF_COMPONENTS
        prod = of_prod.format(component=component, more=count + 1, most=count + 2)
    text = _SPEC.format(sentence=STARTS[start], spec=staged, prod=prod)
    return FILES / "kinds" / start / "model_specs" / f"{name}.yaml", text


# ---------------------------------------------------------------- the CDK CLI, the hook


def cdk_cli() -> Iterator[tuple[Path, str]]:
    """The package.json and lock of a project that needs the CLI only."""
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    needs = {"devDependencies": {_CLI: package["devDependencies"][_CLI]}}
    cli = packages[f"node_modules/{_CLI}"]
    if cli.keys() & {"dependencies", "optionalDependencies"}:
        raise ValueError(f"{_CLI} needs other packages by now: they belong into the lock, too")
    # With a name of its own: npm would write that of the folder into the lock.
    root = {"name": "model-specs"}
    lock = {
        **root,
        "lockfileVersion": 3,
        "requires": True,
        "packages": {"": {**root, **needs}, f"node_modules/{_CLI}": cli},
    }
    yield _ALWAYS / "package.json", _json({**root, "private": True, **needs})
    yield _ALWAYS / "package-lock.json", _json(lock)


def _json(data: object) -> str:
    return json.dumps(data, indent=2) + "\n"


def hook() -> Iterator[tuple[Path, str]]:
    """The hook that checks specs. It runs the inferstack of the environment, which has no address yet."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (found,) = (it for it in hooks if it["id"] == "inferstack-validate")
    local = {key: it for key, it in {**found, "language": "system"}.items() if key != "description"}
    written = yaml.safe_dump({"repos": [{"repo": "local", "hooks": [local]}]}, sort_keys=False)
    yield _ALWAYS / "dot_pre-commit-config.yaml", f"# Run `pre-commit install` once in each clone.\n{written}"


def generate() -> Contents:
    return dict((*pipelines(), *specs(), *cdk_cli(), *hook()))

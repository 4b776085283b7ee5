"""What `inferstack init` writes, deployed as its README says: a whole life with the real CDK CLI, or rendered."""

import json
import re
import shlex
import shutil
from itertools import cycle
from pathlib import Path

import pytest
from emulator.clients import ACCOUNT, EmulatedAws
from emulator.deploying import deploy, status
from support.cdk_cli import ROOT, Project

from inferstack.project.answers import CI_SYSTEMS, KIND_NAMES

# By the CDK CLI, each CI system once; by what is rendered, in a tenth of the time, every kind.
LIVES = [*zip(KIND_NAMES, CI_SYSTEMS, strict=False)]
OTHERS = [*zip(KIND_NAMES[len(LIVES) :], cycle(CI_SYSTEMS), strict=False)]
# aws-cdk-lib's own check of templates takes longer than everything else, and was part of `cdk synth`.
AFTER_SYNTH = ("--require-approval", "never", "--no-validation")


@pytest.mark.parametrize(("kind", "ci"), LIVES)
def test_a_new_project_is_deployed_and_destroyed_as_its_readme_says(
    kind: str, ci: str, aws: EmulatedAws, tmp_path: Path
) -> None:
    project = new_project(tmp_path, aws, "--kind", kind, "--region", aws.region, "--ci", ci)
    (name,) = (it.stem for it in (project.folder / "model_specs").iterdir())
    assert project.inferstack("validate", "--strict").output == "1 spec: no problems\n"
    prepare(project)
    assert project.cdk("synth", "--quiet").status == 0
    said = readme(project)
    for command in re.findall(r"^npx cdk (deploy .*)$", said, re.MULTILINE):
        ran = project.cdk(*shlex.split(command), *AFTER_SYNTH)
        assert ran.status == 0, ran.output
    for stage in ("test", "prod"):
        assert status(aws, f"{name}-{stage}") == "CREATE_COMPLETE"
    if kind != KIND_NAMES[0]:
        return  # What comes now is the CDK CLI's own, whatever is in the stacks, and takes as long again.
    assert "(no changes)" in project.cdk("deploy", f"{name}-test", *AFTER_SYNTH).output
    (destroy,) = re.findall(r"^npx cdk (destroy \S+)", said, re.MULTILINE)
    assert project.cdk(*destroy.split(), "--force", "--no-validation").status == 0
    left = aws.client("sagemaker").list_endpoints()["Endpoints"]
    assert [it["EndpointName"] for it in left] == [f"{name}-prod"]


@pytest.mark.parametrize(("kind", "ci"), OTHERS)
def test_a_new_project_is_deployed_by_what_it_renders(
    kind: str, ci: str, aws: EmulatedAws, tmp_path: Path
) -> None:
    project = new_project(tmp_path, aws, "--kind", kind, "--region", aws.region, "--ci", ci)
    for stage in ("test", "prod"):
        ran = project.inferstack("render", "--stage", stage, "--out", stage)
        assert ran.status == 0, ran.output
        (file,) = (project.folder / stage).iterdir()
        name = file.name.removesuffix(".template.json")
        assert deploy(aws, name, json.loads(file.read_text("utf-8"))) == "CREATE_COMPLETE"


def new_project(folder: Path, aws: EmulatedAws, *words: str) -> Project:
    project = Project(folder, aws)
    shutil.rmtree(project.folder)
    project.folder.mkdir()
    ran = project.inferstack("init", *words)
    assert ran.status == 0, ran.output
    # What `npm ci` installs.
    (project.folder / "node_modules").symlink_to(ROOT / "node_modules")
    for file in (project.folder / "ci/iam").glob("*.json"):
        file.write_text(file.read_text("utf-8").replace("111122223333", ACCOUNT), "utf-8")
    return project


def readme(project: Project) -> str:
    return (project.folder / "README.md").read_text("utf-8")


def prepare(project: Project) -> None:
    """What the README says to do once for each account."""
    create_policies(project)
    (command,) = re.findall(r"^npx cdk (bootstrap.*)$", readme(project), re.MULTILINE)
    ran = project.cdk(*command.replace("111122223333", ACCOUNT).split())
    assert ran.status == 0, ran.output


def create_policies(project: Project) -> None:
    for line in re.findall(r"^aws iam (create-policy .*)$", readme(project), re.MULTILINE):
        _, _, name, _, document = line.split()
        text = (project.folder / "ci/iam" / document.removeprefix("file://")).read_text("utf-8")
        project.aws.client("iam").create_policy(PolicyName=name, PolicyDocument=text)

"""The app of docs/typescript.md: a rendered spec in an app in TypeScript, run by Node and deployed by the CDK CLI."""

import json
import subprocess
import tarfile
from importlib.resources import files
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, destroy, failures
from emulator.inventory import inventory
from support.cdk_cli import ROOT, Project, bootstrap
from support.deployed import endpoint_arn, ids, may

from inferstack.review import compare_templates
from tools.npm import node

EXAMPLE = ROOT / "docs" / "examples" / "typescript"
PACKAGES = {
    "aws-cdk-lib": "aws_cdk",
    "@aws-cdk/cloud-assembly-schema": "aws_cdk.cloud_assembly_schema",
    "constructs": "constructs",
}
"""Node's packages, each in the Python package that wraps it."""


def unpack(folder: Path) -> None:
    """Installs the packages that the app imports."""
    for name, python in PACKAGES.items():
        [archive] = (it for it in files(f"{python}._jsii").iterdir() if it.name.endswith(".tgz"))
        with tarfile.open(Path(str(archive))) as packed:
            packed.extractall(folder / "unpacked" / name, filter="data")
        target = folder / "node_modules" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder / "unpacked" / name / "package").rename(target)


def synth(project: Project) -> Any:
    """Renders the spec, runs the app, and returns its template."""
    rendered = project.inferstack("render", "basket.yaml", "--region", "us-east-1", "--out", "templates")
    assert rendered.status == 0, rendered.output
    # Older versions of Node 22 read TypeScript only if asked.
    ran = subprocess.run(
        [node(), "--experimental-strip-types", "--no-warnings", "app.ts"],
        cwd=project.folder,
        env={"CDK_OUTDIR": "cdk.out", "CDK_VALIDATION": "false", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads((project.folder / "cdk.out" / "Basket.template.json").read_text("utf-8"))


def test_the_page_shows_the_files_as_they_are() -> None:
    page = (ROOT / "docs" / "typescript.md").read_text("utf-8")
    for name in ("app.ts", "basket.yaml"):
        assert f"\n{(EXAMPLE / name).read_text('utf-8')}```" in page


def test_a_rendered_spec_is_deployed_with_what_the_app_makes_and_compared(
    aws: EmulatedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, aws)
    monkeypatch.chdir(project.folder)
    copytree(EXAMPLE, project.folder, dirs_exist_ok=True)
    unpack(project.folder)
    bootstrap(aws)
    empty, template = inventory(aws), synth(project)
    rendered = json.loads((project.folder / "templates" / "basket.template.json").read_text("utf-8"))
    assert rendered["Resources"].keys() <= template["Resources"].keys()
    assert not rendered["Parameters"].keys() & template["Parameters"].keys()
    assert template["Outputs"].keys() == rendered["Outputs"].keys()
    ran = project.cdk("deploy", "--app", "cdk.out", "--require-approval", "never")
    assert ran.status == 0, ran.output
    assert_it_uses_what_the_app_made(aws)
    there = inventory(aws)

    # The metadata is still there, so updates are compared.
    spec = project.folder / "basket.yaml"
    spec.write_text(spec.read_text("utf-8").replace("ml.m5.large", "ml.m5.xlarge"), "utf-8")
    updated = synth(project)
    found = compare_templates(template, updated)
    assert [(it.code, it.file, it.line) for it in found.problems] == [("IS870", "basket.yaml", 18)]
    assert found.notes == ["after against before: replaced EndpointConfig; updated Endpoint"]
    assert (deploy(aws, "Basket", updated), failures(aws, "Basket")) == ("UPDATE_COMPLETE", [])
    now = inventory(aws)
    assert {kind for kind in now if now[kind] != there[kind]} == {"endpoint configurations"}
    assert (destroy(aws, "Basket"), inventory(aws)) == ("DELETE_COMPLETE", empty)


def assert_it_uses_what_the_app_made(aws: EmulatedAws) -> None:
    sagemaker = aws.client("sagemaker")
    endpoint = sagemaker.describe_endpoint(EndpointName="basket")
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    model = sagemaker.describe_model(ModelName=config["ProductionVariants"][0]["ModelName"])
    [bucket], [topic] = ids(aws, "Basket", "AWS::S3::Bucket"), ids(aws, "Basket", "AWS::SNS::Topic")
    assert model["PrimaryContainer"]["ModelDataUrl"] == f"s3://{bucket}/basket/model.tar.gz"
    assert len(model["VpcConfig"]["Subnets"]) == 2
    assert {*model["VpcConfig"]["Subnets"]} < {*ids(aws, "Basket", "AWS::EC2::Subnet")}
    assert model["VpcConfig"]["SecurityGroupIds"] == ids(aws, "Basket", "AWS::EC2::SecurityGroup")
    alarms = aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert sorted(it["AlarmActions"] for it in alarms) == [[], *[[topic]] * 3]
    role = model["ExecutionRoleArn"]
    assert may(aws, role, "s3:GetObject", f"arn:aws:s3:::{bucket}/basket/model.tar.gz")
    assert not may(aws, role, "s3:GetObject", f"arn:aws:s3:::{bucket}/other/model.tar.gz")
    roles = [it["Arn"] for it in aws.client("iam").list_roles()["Roles"]]
    [caller] = (it for it in roles if "/Basket-Caller" in it)
    assert may(aws, caller, "sagemaker:InvokeEndpoint", endpoint_arn(aws, "basket"))

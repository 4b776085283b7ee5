"""The app of docs/typescript.md: a rendered spec in an app in TypeScript, run by Node."""

import json
import subprocess
import tarfile
from importlib.resources import files
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from inferstack.cli import main
from inferstack.review import compare_templates
from tools.npm import node

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "typescript"
PACKAGES = {
    "aws-cdk-lib": "aws_cdk",
    "@aws-cdk/cloud-assembly-schema": "aws_cdk.cloud_assembly_schema",
    "constructs": "constructs",
}
"""Node's packages, each in the Python package that wraps it."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typescript") / "app"
    copytree(EXAMPLE, folder)
    for name, python in PACKAGES.items():
        [archive] = (it for it in files(f"{python}._jsii").iterdir() if it.name.endswith(".tgz"))
        with tarfile.open(Path(str(archive))) as packed:
            packed.extractall(folder / "unpacked" / name, filter="data")
        target = folder / "node_modules" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder / "unpacked" / name / "package").rename(target)
    return folder


@pytest.fixture
def synth(project: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Renders the spec, and runs the app."""
    monkeypatch.chdir(project)

    def synth() -> dict[str, Any]:
        assert main(["render", "basket.yaml", "--region", "us-east-1", "--out", "templates"]) == 0
        # Older versions of Node 22 read TypeScript only if asked.
        ran = subprocess.run(
            [node(), "--experimental-strip-types", "--no-warnings", "app.ts"],
            env={"CDK_OUTDIR": "cdk.out", "CDK_VALIDATION": "false", "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        template: dict[str, Any] = json.loads(Path("cdk.out/Basket.template.json").read_text("utf-8"))
        return template

    return synth


def test_the_page_shows_the_files_as_they_are() -> None:
    page = (EXAMPLE.parents[1] / "typescript.md").read_text("utf-8")
    for name in ("app.ts", "basket.yaml"):
        assert f"\n{(EXAMPLE / name).read_text('utf-8')}```" in page


def test_a_rendered_spec_gets_what_an_app_in_typescript_makes_and_is_compared(synth: Any) -> None:
    template = synth()
    resources, rendered = (
        template["Resources"],
        json.loads(Path("templates/basket.template.json").read_text()),
    )
    assert rendered["Resources"].keys() <= resources.keys()
    assert not rendered["Parameters"].keys() & template["Parameters"].keys()
    [bucket] = (it for it, one in resources.items() if one["Type"] == "AWS::S3::Bucket")
    [topic] = (it for it, one in resources.items() if one["Type"] == "AWS::SNS::Topic")
    model = resources["Model"]["Properties"]
    assert model["PrimaryContainer"]["ModelDataUrl"]["Fn::Sub"][1] == {"Weights": {"Ref": bucket}}
    assert len(model["VpcConfig"]["Subnets"]) == 2
    alarms = [one for one in resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    assert [it["Properties"].get("AlarmActions") for it in alarms] == [[{"Ref": topic}]] * 3 + [None]
    policy = next(one for it, one in resources.items() if it.startswith("ExecutionPolicy"))
    assert json.dumps({"Weights": {"Ref": bucket}}) in json.dumps(policy)
    assert template["Outputs"].keys() == rendered["Outputs"].keys()

    # The metadata is still there, so updates are compared.
    spec = Path("basket.yaml")
    spec.write_text(spec.read_text("utf-8").replace("ml.m5.large", "ml.m5.xlarge"), "utf-8")
    found = compare_templates(template, synth())
    assert [(it.code, it.file, it.line) for it in found.problems] == [("IS870", "basket.yaml", 18)]
    assert found.notes == ["after against before: replaced EndpointConfig; updated Endpoint"]

"""The apps of docs/apps.md: shown as they are, written by CDK without a warning, accepted by AWS's checkers."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from support.pages import files
from support.resolving import Template, of_type, only
from support.validators import cfn_lint_findings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "apps.md"
APPS = ROOT / "docs" / "examples" / "apps"
NAMES = sorted(it.name for it in APPS.iterdir())
# CDK joins texts, where cfn-lint would rather see them substituted, and repeats that as an error of a pipeline; and it
# makes functions wait for their roles, to which they refer anyway.
CDKS_OWN = ("I1022: ", "E3703: Prefer using Fn::Sub", "W3005: ")


@dataclass(frozen=True)
class Written:
    """What an app writes, and what it prints meanwhile."""

    folder: Path
    printed: str

    @property
    def templates(self) -> dict[str, Template]:
        """By the name of the file, without its ending; also those of stages."""
        found = sorted(self.folder.rglob("*.template.json"))
        return {it.name.partition(".")[0]: json.loads(it.read_text("utf-8")) for it in found}


REFERENCES = "@aws-cdk/core:defaultCrossStackReferences"


@cache
def written(name: str, references: str | None = None) -> Written:
    """Runs an app in its folder as the CDK CLI does: Node keeps the folder and the variables that it started with."""
    folder = Path(mkdtemp())
    paths = os.pathsep.join(str(ROOT / it) for it in ("constructs", "stacks"))
    context = json.loads((APPS / name / "cdk.json").read_text("utf-8")).get("context", {})
    given = context if references is None else context | {REFERENCES: references}
    environment = {
        **os.environ,
        "CDK_CONTEXT_JSON": json.dumps(given),
        "CDK_OUTDIR": str(folder),
        "JSII_DEPRECATED": "fail",
        "PYTHONPATH": paths,
    }
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=APPS / name,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return Written(folder, done.stdout)


def test_the_page_shows_the_apps_as_they_are() -> None:
    there = {it.relative_to(APPS).as_posix(): it for it in APPS.rglob("*.*") if it.suffix in (".py", ".yaml")}
    # Where somebody has tried an app, its assets are there once more.
    mine = {name: it.read_text("utf-8") for name, it in there.items() if "/cdk.out/" not in name}
    assert files(PAGE) == mine


@pytest.mark.parametrize("name", NAMES)
def test_an_app_can_be_read_in_two_minutes(name: str) -> None:
    assert len((APPS / name / "app.py").read_text("utf-8").splitlines()) <= 60


@pytest.mark.parametrize("name", NAMES)
def test_an_app_is_synthesized_without_a_warning(name: str) -> None:
    made = written(name)
    assert made.printed == ""
    said = [it.name for it in made.folder.rglob("*.json") if "aws:cdk:warning" in it.read_text("utf-8")]
    assert said == []


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_asked_of_an_account(name: str) -> None:
    for manifest in written(name).folder.rglob("manifest.json"):
        assert "missing" not in json.loads(manifest.read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_cfn_lint_finds_nothing(name: str) -> None:
    for template in written(name).templates.values():
        assert [it for it in cfn_lint_findings(template) if not it.startswith(CDKS_OWN)] == []


# ---------------------------------------------------------------- what each app is for


def test_what_another_stack_has_reaches_the_endpoint_by_imports() -> None:
    made = written("network").templates
    exported = {it["Export"]["Name"]: it["Value"] for it in made["Platform"]["Outputs"].values()}
    (model,) = of_type(made["Propensity"], "AWS::SageMaker::Model").values()
    subnets = [exported[it["Fn::ImportValue"]] for it in model["VpcConfig"]["Subnets"]]
    assert {it["Ref"] for it in subnets} == of_type(made["Platform"], "AWS::EC2::Subnet").keys()
    (key,) = of_type(made["Platform"], "AWS::KMS::Key")
    volumes = only(made["Propensity"], "AWS::SageMaker::EndpointConfig")["KmsKeyId"]
    assert exported[volumes["Fn::ImportValue"]] == {"Fn::GetAtt": [key, "Arn"]}
    statements = only(made["Propensity"], "AWS::IAM::ManagedPolicy")["PolicyDocument"]["Statement"]
    assert [volumes] in [it["Resource"] for it in statements if it["Sid"] == "DecryptFiles"]


def test_new_projects_of_cdk_read_the_outputs_of_the_other_stack_instead() -> None:
    made = written("network", references="weak").templates["Propensity"]
    (model,) = of_type(made, "AWS::SageMaker::Model").values()
    assert {it["Fn::GetStackOutput"]["StackName"] for it in model["VpcConfig"]["Subnets"]} == {"Platform"}
    assert "Fn::ImportValue" not in json.dumps(made)


def test_a_component_and_its_scaling_are_all_that_the_shared_endpoint_gets() -> None:
    made = written("shared-endpoint").templates["Summaries"]
    assert only(made, "AWS::SageMaker::InferenceComponent")["EndpointName"] == "shared-gpus"
    kinds = sorted({it["Type"].split("::")[1] for it in made["Resources"].values()})
    assert kinds == ["ApplicationAutoScaling", "IAM", "SageMaker"]


def test_alarms_for_an_endpoint_come_without_the_endpoint() -> None:
    made = written("alarms").templates["Oncall"]
    kinds = {it["Type"] for it in made["Resources"].values()}
    assert kinds == {
        *("AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Events::Rule"),
        *("AWS::SNS::Topic", "AWS::SNS::TopicPolicy"),
    }


def test_the_function_may_invoke_the_endpoint_that_its_environment_names() -> None:
    made = written("lambda").templates["Leads"]
    (endpoint,) = of_type(made, "AWS::SageMaker::Endpoint")
    function = only(made, "AWS::Lambda::Function")
    assert function["Environment"]["Variables"] == {
        "ENDPOINT_NAME": {"Fn::GetAtt": [endpoint, "EndpointName"]}
    }
    assert {"Ref": endpoint} in resources_of(only(made, "AWS::IAM::Policy"))


def resources_of(policy: Any) -> list[Any]:
    """What the statements of a policy are about."""
    found = [it["Resource"] for it in policy["PolicyDocument"]["Statement"]]
    return [one for it in found for one in (it if isinstance(it, list) else [it])]


def test_the_api_sends_requests_to_the_endpoint_under_a_role_of_its_own() -> None:
    made = written("api-gateway").templates["Quotes"]
    (endpoint,) = of_type(made, "AWS::SageMaker::Endpoint")
    method = only(made, "AWS::ApiGateway::Method")
    called, role = method["Integration"]["Uri"], method["Integration"]["Credentials"]
    assert (method["Integration"]["Type"], method["Integration"]["IntegrationHttpMethod"]) == ("AWS", "POST")
    assert called["Fn::Join"][1][-1] == "/invocations"
    assert {"Fn::GetAtt": [endpoint, "EndpointName"]} in called["Fn::Join"][1]
    assert role["Fn::GetAtt"][0] in of_type(made, "AWS::IAM::Role")
    assert "AWS::Lambda::Function" not in {it["Type"] for it in made["Resources"].values()}


def test_the_api_says_what_sagemaker_says() -> None:
    method = only(written("api-gateway").templates["Quotes"], "AWS::ApiGateway::Method")
    mapped = [
        (it["StatusCode"], it.get("SelectionPattern")) for it in method["Integration"]["IntegrationResponses"]
    ]
    assert mapped == [("200", "200"), ("400", "400"), ("502", None)]
    assert sorted(it["StatusCode"] for it in method["MethodResponses"]) == ["200", "400", "502"]


def test_the_pipeline_waits_for_somebody_between_test_and_prod() -> None:
    stages = only(written("pipelines").templates["DemandPipeline"], "AWS::CodePipeline::Pipeline")["Stages"]
    assert [it["Name"] for it in stages] == ["Source", "Build", "UpdatePipeline", "Test", "Prod"]
    first = {it["Name"]: min(it["Actions"], key=lambda action: action["RunOrder"]) for it in stages}
    assert first["Prod"]["ActionTypeId"]["Category"] == "Approval"
    assert first["Test"]["ActionTypeId"]["Category"] == "Deploy"


def test_each_stage_of_the_pipeline_has_its_endpoint() -> None:
    made = written("pipelines")
    names = {
        folder: [
            only(json.loads(it.read_text("utf-8")), "AWS::SageMaker::Endpoint")["EndpointName"]
            for it in there
        ]
        for folder in ("assembly-Test", "assembly-Prod")
        if (there := [*(made.folder / folder).glob("*.template.json")])
    }
    assert names == {"assembly-Test": ["demand-test"], "assembly-Prod": ["demand-prod"]}


def test_each_market_has_its_endpoint_and_its_limits() -> None:
    made = written("python-only").templates
    limits = {
        name: only(made[name], "AWS::ApplicationAutoScaling::ScalableTarget")
        for name in ("returns-de", "returns-fr", "returns-us")
    }
    found = {name: (it["MinCapacity"], it["MaxCapacity"]) for name, it in limits.items()}
    assert found == {"returns-de": (2, 8), "returns-fr": (2, 8), "returns-us": (6, 24)}

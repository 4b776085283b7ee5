"""The example apps, each deployed by the real CDK CLI into an account that has what the app expects there."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from botocore.session import get_session
from emulator.clients import ACCOUNT, EmulatedAws
from emulator.deploying import deploy
from emulator.runtime import ENDPOINT
from support.cdk_cli import ROOT, Project, bootstrap
from support.deployed import endpoint_arn, ids, may

from inferstack.check.load import parse_spec
from inferstack.resolve import resolve_template

APPS = ROOT / "docs" / "examples" / "apps"
ALL = ("--all", "--require-approval", "never")


@dataclass(frozen=True)
class Case:
    """What must be true of the account once the app is deployed."""

    made: Callable[[EmulatedAws], None]
    given: str = ""
    """The spec of an endpoint that another stack has made before."""


# ---------------------------------------------------------------- what is there before, and afterwards


def give(aws: EmulatedAws, spec: str) -> None:
    """Deploys an endpoint as its own team does."""
    loaded = parse_spec(yaml.safe_load(spec))
    made = resolve_template(loaded.spec, region=aws.region, source_of=loaded.source_of)
    assert deploy(aws, "given", made) == "CREATE_COMPLETE"


# ---------------------------------------------------------------- one function for each app


def network(aws: EmulatedAws) -> None:
    sagemaker = aws.client("sagemaker")
    endpoint = sagemaker.describe_endpoint(EndpointName="propensity")
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    model = sagemaker.describe_model(ModelName=config["ProductionVariants"][0]["ModelName"])
    [key], [bucket] = ids(aws, "Platform", "AWS::KMS::Key"), ids(aws, "Platform", "AWS::S3::Bucket")
    subnets = ids(aws, "Platform", "AWS::EC2::Subnet")
    assert len(subnets) == 2
    assert sorted(model["VpcConfig"]["Subnets"]) == sorted(subnets)
    assert model["VpcConfig"]["SecurityGroupIds"] == ids(aws, "Propensity", "AWS::EC2::SecurityGroup")
    assert model["PrimaryContainer"]["ModelDataUrl"] == f"s3://{bucket}/propensity/model.tar.gz"
    role, key_arn = model["ExecutionRoleArn"], config["KmsKeyId"]
    assert key_arn.endswith(f":key/{key}")
    assert may(aws, role, "kms:Decrypt", key_arn)
    assert may(aws, role, "s3:GetObject", f"arn:aws:s3:::{bucket}/propensity/model.tar.gz")
    assert not may(aws, role, "s3:GetObject", f"arn:aws:s3:::{bucket}/other/model.tar.gz")


SHARED = """
kind: inference-components
endpoint_name: shared-gpus
variant:
  instance_type: ml.g6e.2xlarge
  initial_instance_count: 2
  managed_instance_scaling: {status: ENABLED, min_instance_count: 2, max_instance_count: 6}
inference_components:
  translations:
    specification:
      container: {image: {framework: djl-lmi, version: 0.36.0}, artifact_url: s3://acme-models/translations/model.tar.gz}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 16384}
execution_role:
  statements: [{action: ["s3:GetObject"], resource: ["arn:aws:s3:::acme-models/*"]}]
"""


def shared_endpoint(aws: EmulatedAws) -> None:
    sagemaker = aws.client("sagemaker")
    found = sagemaker.list_inference_components(EndpointNameEquals="shared-gpus")["InferenceComponents"]
    assert {it["InferenceComponentName"] for it in found} == {"translations", "summaries"}
    [target] = aws.client("application-autoscaling").describe_scalable_targets(ServiceNamespace="sagemaker")[
        "ScalableTargets"
    ]
    assert (target["ResourceId"], target["MaxCapacity"]) == ("inference-component/summaries", 3)
    [web] = ids(aws, "Summaries", "AWS::IAM::Role")
    theirs, ours = (
        f"arn:aws:sagemaker:{aws.region}:123456789012:inference-component/{it}"
        for it in ("translations", "summaries")
    )
    assert may(aws, web, "sagemaker:InvokeEndpoint", ours)
    assert not may(aws, web, "sagemaker:InvokeEndpoint", theirs)


FRAUD = """
kind: single-model
endpoint_name: fraud-scores
model: {image: {framework: xgboost, version: 1.7-1}, model_data_url: s3://acme-models/fraud-scores/model.tar.gz}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
alarms: false
dashboard: false
"""


def alarms(aws: EmulatedAws) -> None:
    cloudwatch = aws.client("cloudwatch")
    found = cloudwatch.describe_alarms()["MetricAlarms"]
    [topic] = ids(aws, "Oncall", "AWS::SNS::Topic")
    assert {"Invocation5XXErrors", "ModelLatency", "Invocations"} <= {it["MetricName"] for it in found}
    for alarm in found:
        dimensions = {it["Name"]: it["Value"] for it in alarm["Dimensions"]}
        assert dimensions == {"EndpointName": "fraud-scores", "VariantName": "AllTraffic"}
        assert alarm["AlarmActions"] == [topic]
    [dashboard] = cloudwatch.list_dashboards()["DashboardEntries"]
    body = cloudwatch.get_dashboard(DashboardName=dashboard["DashboardName"])["DashboardBody"]
    assert '"fraud-scores"' in json.dumps(json.loads(body))
    assert len(aws.client("sagemaker").list_endpoints()["Endpoints"]) == 1


def properties(aws: EmulatedAws, stack: str, type_name: str) -> list[dict[str, Any]]:
    """With which properties a stack has created the resources of one type."""
    events = aws.client("cloudformation").describe_stack_events(StackName=stack)["StackEvents"]
    made = [
        it for it in events if (it["ResourceType"], it["ResourceStatus"]) == (type_name, "CREATE_COMPLETE")
    ]
    return [json.loads(it["ResourceProperties"]) for it in made]


def lambda_function(aws: EmulatedAws) -> None:
    [made] = properties(aws, "Leads", "AWS::Lambda::Function")
    assert may(aws, made["Role"], "sagemaker:InvokeEndpoint", endpoint_arn(aws, "leads"))
    assert not may(aws, made["Role"], "sagemaker:InvokeEndpoint", endpoint_arn(aws, "quotes"))
    assert not may(aws, made["Role"], "sagemaker:UpdateEndpoint", endpoint_arn(aws, "leads"))
    code = {"Bucket": made["Code"]["S3Bucket"], "Key": made["Code"]["S3Key"]}
    archive = io.BytesIO(aws.client("s3").get_object(**code)["Body"].read())
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(archive).extractall(folder)
        assert called(aws, Path(folder), made) == "{'score': 0.81}\n"


def called(aws: EmulatedAws, folder: Path, function: Mapping[str, Any]) -> str:
    """What a function returns, with the environment that it was deployed with."""
    module, _, name = function["Handler"].partition(".")
    program = f"import {module}; print({module}.{name}({{'features': [34, 0, 1.5]}}, None))"
    with model({("leads", b"34,0,1.5"): b"0.81\n"}) as url, aws.container(url):
        return subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env={**os.environ, **aws.environment(), **function["Environment"]["Variables"]},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout


@contextmanager
def model(answers: Mapping[tuple[str | None, bytes], bytes]) -> Iterator[str]:
    """A server in place of all containers: what it answers to which request to which endpoint."""

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            answer = answers.get((self.headers[ENDPOINT], asked))
            self.send_response(400 if answer is None else 200)
            self.end_headers()
            self.wfile.write(asked if answer is None else answer)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Model) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def api_gateway(aws: EmulatedAws) -> None:
    [method] = properties(aws, "Quotes", "AWS::ApiGateway::Method")
    model = get_session().get_service_model("sagemaker-runtime")
    path = model.operation_model("InvokeEndpoint").http["requestUri"].format(EndpointName="quotes")
    service = f"arn:aws:apigateway:{aws.region}:{model.endpoint_prefix}"
    assert method["Integration"]["Uri"] == f"{service}:path{path}"
    role = method["Integration"]["Credentials"]
    assert may(aws, role, "sagemaker:InvokeEndpoint", endpoint_arn(aws, "quotes"))
    assert not may(aws, role, "sagemaker:InvokeEndpoint", endpoint_arn(aws, "leads"))
    trust = aws.client("iam").get_role(RoleName=role.rpartition("/")[2])["Role"]["AssumeRolePolicyDocument"]
    assert [it["Principal"] for it in trust["Statement"]] == [{"Service": "apigateway.amazonaws.com"}]


def pipelines(aws: EmulatedAws) -> None:
    [made] = properties(aws, "DemandPipeline", "AWS::CodePipeline::Pipeline")
    actions = {
        stage["Name"]: [it["ActionTypeId"]["Provider"] for it in stage["Actions"]] for stage in made["Stages"]
    }
    assert actions == {
        "Source": ["CodeStarSourceConnection"],
        "Build": ["CodeBuild"],
        "UpdatePipeline": ["CodeBuild"],
        "Test": ["CloudFormation", "CloudFormation"],
        "Prod": ["Manual", "CloudFormation", "CloudFormation"],
    }
    assert instances(aws) == {"demand-test": 1, "demand-prod": 2}


def instances(aws: EmulatedAws) -> dict[str, int]:
    """How many instances each endpoint has."""
    sagemaker = aws.client("sagemaker")
    names = [it["EndpointName"] for it in sagemaker.list_endpoints()["Endpoints"]]
    found = {it: sagemaker.describe_endpoint(EndpointName=it)["ProductionVariants"] for it in names}
    return {name: variant["CurrentInstanceCount"] for name, [variant] in found.items()}


def python_only(aws: EmulatedAws) -> None:
    assert instances(aws) == {"returns-de": 2, "returns-fr": 2, "returns-us": 6}
    found = aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
    told = {action for it in found if it["AlarmName"].startswith("returns") for action in it["AlarmActions"]}
    assert told == {f"arn:aws:sns:us-east-1:{ACCOUNT}:oncall"}


CASES: Mapping[str, Case] = {
    "alarms": Case(alarms, given=FRAUD),
    "api-gateway": Case(api_gateway),
    "lambda": Case(lambda_function),
    "network": Case(network),
    "pipelines": Case(pipelines),
    "python-only": Case(python_only),
    "shared-endpoint": Case(shared_endpoint, given=SHARED),
}


def test_every_app_is_tried() -> None:
    assert {it.name for it in APPS.iterdir()} == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_an_app_is_deployed(name: str, aws: EmulatedAws, tmp_path: Path) -> None:
    case, project = CASES[name], app(name, aws, tmp_path)
    bootstrap(aws)
    if case.given:
        give(aws, case.given)
    synth = project.cdk("synth", "--quiet", "--strict", "--no-validation")
    assert (synth.status, "arning" in synth.output) == (0, False), synth.output
    # Pipelines deploy their stages one after the other; each is an assembly of its own.
    assemblies = ["cdk.out", *sorted(str(it) for it in project.folder.glob("cdk.out/assembly-*"))]
    for assembly in assemblies:
        deployed = project.cdk("deploy", "--app", assembly, *ALL)
        assert deployed.status == 0, deployed.output
    case.made(aws)
    for assembly in assemblies:
        assert "(no changes)" in project.cdk("deploy", "--app", assembly, *ALL).output


def app(name: str, aws: EmulatedAws, folder: Path) -> Project:
    """A copy of an app in which all accounts are the emulator's, and the CDK CLI."""
    project = Project(folder, aws)
    shutil.rmtree(project.folder)
    shutil.copytree(APPS / name, project.folder, ignore=shutil.ignore_patterns("cdk.out"))
    program = project.folder / "app.py"
    program.write_text(re.sub(r"\b[0-9]{12}\b", ACCOUNT, program.read_text("utf-8")), "utf-8")
    return project

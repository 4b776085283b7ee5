"""An app of a team's own: an endpoint among other constructs, for the life of its stack under the CDK CLI."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import destroy
from emulator.inventory import inventory
from emulator.server import reset
from support.cdk_cli import Project, Ran, bootstrap
from support.deployed import endpoint_arn, ids, may

APP = Path(__file__).parent / "own_stack"


@dataclass
class Life:
    """What the account has once the app is deployed, and what comparisons and updates say."""

    outputs: dict[str, str] = field(default_factory=dict)
    endpoint: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    policies: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)
    rights: dict[str, bool] = field(default_factory=dict)
    said: dict[str, Ran] = field(default_factory=dict)
    there: dict[str, dict[str, list[str]]] = field(default_factory=dict)


def look(aws: EmulatedAws, life: Life) -> None:
    """Notes what is there."""
    sagemaker, cloudformation = aws.client("sagemaker"), aws.client("cloudformation")
    [stack] = cloudformation.describe_stacks(StackName="Shop")["Stacks"]
    life.outputs = {it["OutputKey"]: it["OutputValue"] for it in stack["Outputs"]}
    name = life.outputs["EndpointName"]
    life.endpoint = sagemaker.describe_endpoint(EndpointName=name)
    life.config = sagemaker.describe_endpoint_config(EndpointConfigName=life.endpoint["EndpointConfigName"])
    life.model = sagemaker.describe_model(ModelName=life.config["ProductionVariants"][0]["ModelName"])
    found = aws.client("application-autoscaling").describe_scaling_policies(ServiceNamespace="sagemaker")
    life.policies = {
        it["TargetTrackingScalingPolicyConfiguration"]["CustomizedMetricSpecification"]["MetricName"]: it
        for it in found["ScalingPolicies"]
    }
    types = ("EC2::Subnet", "EC2::SecurityGroup", "KMS::Key", "S3::Bucket", "SNS::Topic", "Events::Rule")
    life.ids = {it: ids(aws, "Shop", f"AWS::{it}") for it in types}
    role, [caller] = life.model["ExecutionRoleArn"], callers(aws)
    weights = life.model["PrimaryContainer"]["ModelDataUrl"].removeprefix("s3://")
    [bucket] = life.ids["S3::Bucket"]
    life.rights = {
        "invoke": may(aws, caller, "sagemaker:InvokeEndpoint", life.endpoint["EndpointArn"]),
        "invoke another": may(aws, caller, "sagemaker:InvokeEndpoint", endpoint_arn(aws, "other")),
        "send": may(aws, role, "sqs:SendMessage", "arn:aws:sqs:us-east-1:123456789012:jobs"),
        "read weights": may(aws, role, "s3:GetObject", f"arn:aws:s3:::{weights}"),
        "read others": may(aws, role, "s3:GetObject", f"arn:aws:s3:::{weights}x"),
        "capture": may(aws, role, "s3:PutObject", f"arn:aws:s3:::{bucket}/shop/a.jsonl"),
        "encrypt": may(aws, role, "kms:GenerateDataKey", life.config["KmsKeyId"]),
    }


def callers(aws: EmulatedAws) -> list[str]:
    """ARNs of the role that may invoke the endpoint."""
    roles = aws.client("iam").list_roles()["Roles"]
    return [it["Arn"] for it in roles if it["RoleName"].startswith("Shop-Caller")]


@pytest.fixture(scope="module")
def aws(_server: str) -> EmulatedAws:
    """One account for both apps, with what CDK needs there."""
    reset()
    account = EmulatedAws(_server)
    bootstrap(account)
    return account


@pytest.fixture(scope="module")
def life(aws: EmulatedAws, tmp_path_factory: pytest.TempPathFactory) -> Life:
    lived, project = Life(), Project(tmp_path_factory.mktemp("own"), aws)
    shutil.copytree(APP, project.folder, dirs_exist_ok=True)
    lived.there["before"] = inventory(aws)
    for step in ("deploy", "update"):
        (project.folder / "weights.tar.gz").write_text(step, "utf-8")
        ran = project.cdk("deploy", "--require-approval", "never", "--no-validation")
        assert ran.status == 0, ran.output
        lived.there[step] = inventory(aws)
        if step == "deploy":
            look(aws, lived)
            shutil.copytree(project.folder / "cdk.out", project.folder / "deployed")
    lived.said["update"] = project.inferstack("validate", "cdk.out", "--against", "deployed")
    # Not deployed: SageMaker refuses another type while a target is registered.
    template = project.folder / "cdk.out" / "Shop.template.json"
    template.write_text(template.read_text("utf-8").replace("ml.m5.large", "ml.m5.xlarge"), "utf-8")
    lived.said["another type"] = project.inferstack("validate", "cdk.out", "--against", "deployed")
    assert destroy(aws, "Shop") == "DELETE_COMPLETE"
    lived.there["destroy"] = inventory(aws)
    return lived


def test_what_the_app_made_is_what_the_endpoint_uses(life: Life) -> None:
    assert sorted(life.model["VpcConfig"]["Subnets"]) == sorted(life.ids["EC2::Subnet"])
    assert life.model["VpcConfig"]["SecurityGroupIds"] == life.ids["EC2::SecurityGroup"]
    [key], [bucket] = life.ids["KMS::Key"], life.ids["S3::Bucket"]
    assert life.config["KmsKeyId"].endswith(f":key/{key}")
    assert life.config["DataCaptureConfig"]["DestinationS3Uri"] == f"s3://{bucket}/shop"
    assert life.model["PrimaryContainer"]["ModelDataUrl"].startswith("s3://cdk-hnb659fds-assets-")


def test_the_endpoint_is_named_after_its_construct_and_its_role_can_be_named(life: Life) -> None:
    assert life.outputs["EndpointName"] == life.endpoint["EndpointName"]
    assert life.outputs["EndpointName"].startswith("Shop-Endpoint-")
    assert life.model["ExecutionRoleArn"].endswith(f"/{life.outputs['RoleName']}")


def test_what_the_app_adds_is_there(life: Life) -> None:
    # The escape hatch; the policy in code next to that of the spec, on the same target; the rule.
    [variant] = life.config["ProductionVariants"]
    assert variant["RoutingConfig"] == {"RoutingStrategy": "RANDOM"}
    assert life.policies.keys() == {"CPUUtilization", "MemoryUtilization"}
    assert len({it["ResourceId"] for it in life.policies.values()}) == 1
    assert len(life.ids["Events::Rule"]) == 1


def test_grants_reach_what_they_name_and_nothing_else(life: Life) -> None:
    assert {it for it, allowed in life.rights.items() if not allowed} == {"invoke another", "read others"}


def test_what_sagemaker_refuses_is_found_in_the_assembly_of_the_app(life: Life) -> None:
    assert (life.said["another type"].status, ": IS860: " in life.said["another type"].output) == (1, True)


def test_an_update_is_compared_and_leaves_the_endpoint_in_place(life: Life) -> None:
    assert life.said["update"].status == 0, life.said["update"].output
    assert "IS870" in life.said["update"].output
    for kind in ("endpoints", "models", "endpoint configurations", "scaling policies"):
        assert len(life.there["update"][kind]) == len(life.there["deploy"][kind])
    assert life.there["update"]["endpoints"] == life.there["deploy"]["endpoints"]
    assert life.there["update"]["models"] != life.there["deploy"]["models"]


def test_destroy_leaves_nothing(life: Life) -> None:
    assert life.there["destroy"] == life.there["before"]

"""Parameters, imports and the Parameter Store under the real CDK CLI."""

from typing import Any

import yaml
from emulator.clients import EmulatedAws
from emulator.deploying import deploy
from support.cdk_cli import Project, bootstrap

NAME = "from-elsewhere"
SPEC: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": NAME,
    "parameters": {"Release": {}},
    "model": {
        "image": {"framework": "sklearn", "version": "1.2-1"},
        "model_data_url": "s3://${import:models}/${parameter:Release}/model.tar.gz",
        "environment": {"TABLE": "${ssm:/table}"},
    },
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
    "exports": {"endpoint_arn": "endpoint"},
}
GIVING = {
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"Bucket": {"Value": "acme-models", "Export": {"Name": "models"}}},
}


def container(aws: EmulatedAws) -> dict[str, Any]:
    sagemaker = aws.client("sagemaker")
    (model,) = sagemaker.list_models()["Models"]
    found: dict[str, Any] = sagemaker.describe_model(ModelName=model["ModelName"])["PrimaryContainer"]
    return found


def test_values_are_given_at_deployment_and_kept(aws: EmulatedAws, tmp_path: Any) -> None:
    project = Project(tmp_path, aws)
    bootstrap(aws)
    aws.client("ssm").put_parameter(Name="/table", Value="one", Type="String")
    deploy(aws, "giving", GIVING)
    project.write({NAME: yaml.safe_dump(SPEC)})
    project.synth()
    assert "missing a value: Release" in project.deploy().output
    given = project.deploy("--parameters", f"{NAME}:Release=7")
    assert given.status == 0, given.output
    assert container(aws)["ModelDataUrl"] == "s3://acme-models/7/model.tar.gz"
    aws.client("ssm").put_parameter(Name="/table", Value="two", Type="String", Overwrite=True)
    again = project.deploy()
    assert again.status == 0, again.output
    found = container(aws)
    assert found["ModelDataUrl"] == "s3://acme-models/7/model.tar.gz"
    assert found["Environment"]["TABLE"] == "two"
    (export,) = (
        it for it in aws.client("cloudformation").list_exports()["Exports"] if it["Name"] == "endpoint"
    )
    assert export["Value"].endswith(f":endpoint/{NAME}")

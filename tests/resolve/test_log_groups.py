"""Log groups with a retention: their names, and what waits for them."""

from typing import Any

from support.resolving import Resolved, of_type

TYPE = "AWS::Logs::LogGroup"
ON = "log_groups: {retention_in_days: 30}"
ADAPTER = """
    log_groups: {retention_in_days: 30, kms_key_id: 'arn:aws:kms:us-east-1:111122223333:key/abc'}
    inference_components:
      chat-fr:
        specification: {base_inference_component_name: chat, container: {artifact_url: s3://models/fr.tar.gz}}
"""


def groups(template: dict[str, Any]) -> dict[str, str]:
    return {logical_id: it["LogGroupName"] for logical_id, it in of_type(template, TYPE).items()}


def test_without_the_key_there_is_none(resolve: Resolved) -> None:
    assert groups(resolve("single")) == {}


def test_the_endpoint_waits_for_its_group_which_outlives_the_stack(resolve: Resolved) -> None:
    made = resolve("single", ON)
    assert groups(made) == {
        "LogGroup": f"/aws/sagemaker/Endpoints/{made['Resources']['Endpoint']['Properties']['EndpointName']}"
    }
    assert made["Resources"]["Endpoint"]["DependsOn"] == ["LogGroup"]
    group = made["Resources"]["LogGroup"]
    assert group["Properties"]["RetentionInDays"] == 30
    # Without it, what exists cannot be imported.
    assert group["DeletionPolicy"] == "RetainExceptOnCreate"


def test_each_component_with_a_container_waits_for_its_group(resolve: Resolved) -> None:
    made = resolve("components", ADAPTER)
    of_endpoint, of_component = groups(made).values()
    assert (of_endpoint, of_component) == (
        "/aws/sagemaker/Endpoints/shared",
        "/aws/sagemaker/InferenceComponents/chat",
    )
    assert {it["KmsKeyId"] for it in of_type(made, TYPE).values()} == {
        "arn:aws:kms:us-east-1:111122223333:key/abc"
    }
    _, group = groups(made)
    [component] = (it for it in of_type(made, "AWS::SageMaker::InferenceComponent") if "Fr" not in it)
    assert group in made["Resources"][component]["DependsOn"]


def test_a_component_on_another_variant_keeps_its_group(resolve: Resolved) -> None:
    moved = f"""
        {ON}
        variant: {{variant_name: other}}
    """
    assert groups(resolve("components", moved)) == groups(resolve("components", ON))

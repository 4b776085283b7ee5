"""SageMaker models of the spec that inference components run."""

from typing import Any

import pytest
import yaml
from support.resolving import BASES, Resolved, merged, of_type, only

from inferstack.check.load import parse_spec
from inferstack.facts.walk import containers
from inferstack.resolve import resolve_template

COMPONENT = "AWS::SageMaker::InferenceComponent"
MODEL = "AWS::SageMaker::Model"
POLICY = "AWS::IAM::ManagedPolicy"
NAMED = {"Fn::GetAtt": ["ModelLlm", "ModelName"]}
NEEDS = "{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}"
POOLS = "[{instance_type: ml.g5.12xlarge, priority: 1}, {instance_type: ml.g6.12xlarge, priority: 2}]"
IMAGE = "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"
FILES = "{s3_data_source: {s3_uri: s3://models/llm/, s3_data_type: S3Prefix, compression_type: None}}"


def modelled(model: str = f"image: {IMAGE}, model_data_source: {FILES}", more: str = "") -> str:
    return f"""
        models: {{llm: {{{model}}}}}
        inference_components: {{chat: {{specification: {{container: null, model_name: llm}}}}}}
        {more}
    """


def statements(template: dict[str, Any]) -> dict[str, Any]:
    return {s["Sid"]: s for s in only(template, POLICY)["PolicyDocument"]["Statement"]}


def test_a_component_refers_to_the_model_of_the_stack(resolve: Resolved) -> None:
    template = resolve("components", modelled())
    specification = only(template, COMPONENT)["Specification"]
    assert specification["ModelName"] == NAMED
    assert "Container" not in specification
    model = only(template, MODEL)
    assert model["PrimaryContainer"]["ModelDataSource"]["S3DataSource"]["CompressionType"] == "None"
    assert "ModelName" not in model


def test_specifications_for_instance_types_refer_to_models_too(resolve: Resolved) -> None:
    change = f"""
        models: {{llm: {{image: {IMAGE}, model_data_url: s3://models/llm.tar.gz}}}}
        variant:
          instance_type: null
          instance_pools: {POOLS}
        inference_components:
          chat:
            specification: null
            specifications:
              - {{instance_type: ml.g5.12xlarge, model_name: llm, compute_resource_requirements: {NEEDS}}}
              - {{instance_type: ml.g6.12xlarge, model_name: elsewhere, compute_resource_requirements: {NEEDS}}}
    """
    first, second = only(resolve("components", change), COMPONENT)["Specifications"]
    assert (first["ModelName"], second["ModelName"]) == (NAMED, "elsewhere")


def test_a_name_that_no_model_of_the_spec_has_is_that_of_one_that_exists(resolve: Resolved) -> None:
    change = "inference_components: {chat: {specification: {container: null, model_name: elsewhere}}}"
    template = resolve("components", change)
    assert only(template, COMPONENT)["Specification"]["ModelName"] == "elsewhere"
    assert not of_type(template, MODEL)


def test_the_role_may_do_what_the_model_needs(resolve: Resolved) -> None:
    function = "arn:aws:lambda:us-east-1:111122223333:function:login"
    hub = "arn:aws:sagemaker:us-east-1:111122223333:hub-content/acme/Model/llama/1.0.0"
    network = "{subnets: [subnet-0a1b2c3d], security_group_ids: [sg-0a1b2c3d]}"
    files = FILES.replace("None}", f"None, hub_access_config: {{hub_content_arn: '{hub}'}}}}")
    access = f"{{repository_access_mode: Vpc, repository_auth_config: {{repository_credentials_provider_arn: '{function}'}}}}"
    model = f"image: registry.example.com/llm:1, image_config: {access}, model_data_source: {files}, vpc_config: {network}"
    found = statements(resolve("components", modelled(model, f"endpoint_config: {{vpc_config: {network}}}")))
    assert found["ReadModelFiles"]["Resource"] == [{"Fn::Sub": "arn:${AWS::Partition}:s3:::models/llm/*"}]
    assert found["AskRegistryCredentials"]["Resource"] == [function]
    assert found["ReadHubContent"]["Resource"] == [hub]
    assert "JoinVpc" in found
    package = "model_package_name: 'arn:aws:sagemaker:us-east-1:111122223333:model-package/llm/1'"
    found = statements(resolve("components", modelled(package)))
    assert "model-package/llm/1" in str(found["ReadModelPackages"]["Resource"])


def test_the_role_may_pull_the_models_image(resolve: Resolved) -> None:
    pull = statements(resolve("components", modelled()))["PullImage"]
    assert "repository/llm" in str(pull["Resource"])


def test_a_model_waits_for_the_rights_of_the_role(resolve: Resolved) -> None:
    template = resolve("components", modelled())
    (policy,) = of_type(template, POLICY)
    assert template["Resources"]["ModelLlm"]["DependsOn"] == [policy]


@pytest.mark.parametrize(("instance_type", "build"), [("ml.g5.12xlarge", "gpu"), ("ml.c7g.4xlarge", "arm64")])
def test_the_image_is_for_the_processors_of_the_components_fleet(
    resolve: Resolved, instance_type: str, build: str
) -> None:
    change = f"""
        models: {{llm: {{image: {{framework: pytorch, version: 2.6.0}}, model_data_url: s3://models/llm.tar.gz}}}}
        variant: {{instance_type: {instance_type}}}
        inference_components: {{chat: {{specification: {{container: null, model_name: llm,
          compute_resource_requirements: {{number_of_accelerator_devices_required: null}}}}}}}}
    """
    assert build in only(resolve("components", change), MODEL)["PrimaryContainer"]["Image"]


def test_a_model_runs_on_all_types_of_the_components_that_name_it() -> None:
    change = f"""
        models: {{llm: {{image: {IMAGE}, model_data_url: s3://models/llm.tar.gz}}}}
        variant:
          instance_type: null
          instance_pools: {POOLS}
        inference_components:
          chat: {{specification: {{container: null, model_name: llm}}}}
          small:
            specifications:
              - {{instance_type: ml.g6.12xlarge, model_name: llm, compute_resource_requirements: {NEEDS}}}
              - {{instance_type: ml.g5.12xlarge, model_name: elsewhere, compute_resource_requirements: {NEEDS}}}
    """
    spec = parse_spec(merged(yaml.safe_load(BASES["components"]), yaml.safe_load(change))).spec
    (placed,) = containers(spec)
    assert placed.instance_types == ("ml.g5.12xlarge", "ml.g6.12xlarge")
    without = change.replace("chat: {specification: {container: null, model_name: llm}}", "chat: null")
    (placed,) = containers(
        parse_spec(merged(yaml.safe_load(BASES["components"]), yaml.safe_load(without))).spec
    )
    assert placed.instance_types == ("ml.g6.12xlarge",)


def test_the_images_account_is_found_by_region_where_none_is_named() -> None:
    own = modelled('image: {framework: triton, version: "24.09"}, model_data_url: s3://models/llm.tar.gz')
    spec = parse_spec(merged(yaml.safe_load(BASES["components"]), yaml.safe_load(own))).spec
    template = resolve_template(spec, region=None, source_of=str)
    (mapping,) = template["Mappings"]
    assert mapping in str(only(template, MODEL)["PrimaryContainer"]["Image"])


def test_a_model_with_triton_has_the_environment_of_triton(resolve: Resolved) -> None:
    own = modelled('image: {framework: triton, version: "24.09"}, model_data_url: s3://models/llm.tar.gz')
    environment = only(resolve("components", own), MODEL)["PrimaryContainer"]["Environment"]
    assert environment["SAGEMAKER_TRITON_LOG_VERBOSE"] == "false"

"""The model of an endpoint that has one."""

from aws_cdk import Stack, aws_sagemaker as sagemaker

from benchmarks.by_hand.names import REGISTRY
from benchmarks.family import Endpoint

_VERSIONS = {"single-model": "26.05", "multi-model": "26.05", "ensemble": "25.09"}


def model(stack: Stack, endpoint: Endpoint, role_arn: str) -> sagemaker.CfnModel:
    """The model in Triton's image."""
    image = f"{REGISTRY}/sagemaker-tritonserver:{_VERSIONS[endpoint.kind]}-py3"
    container = sagemaker.CfnModel.ContainerDefinitionProperty
    folder = f"s3://acme-models/{endpoint.name}/"
    if endpoint.kind == "multi-model":
        caching = sagemaker.CfnModel.MultiModelConfigProperty(model_cache_setting="Enabled")
        primary = container(
            image=image,
            mode="MultiModel",
            environment=_environment(endpoint),
            model_data_url=folder,
            multi_model_config=caching,
        )
    else:
        url = f"{folder}model.tar.gz"
        primary = container(image=image, environment=_environment(endpoint), model_data_url=url)
    return sagemaker.CfnModel(stack, "Model", execution_role_arn=role_arn, primary_container=primary)


def _environment(endpoint: Endpoint) -> dict[str, str]:
    particular = {
        "single-model": {
            "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "encoder",
            "SAGEMAKER_TRITON_THREAD_COUNT": str(endpoint.threads),
        },
        "multi-model": {"SAGEMAKER_TRITON_PING_MODE": "live"},
        "ensemble": {"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "ranker"},
    }
    return {"SAGEMAKER_TRITON_LOG_VERBOSE": "false", **particular[endpoint.kind]}

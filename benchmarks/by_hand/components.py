"""Inference components."""

from dataclasses import dataclass

from aws_cdk import Stack, aws_sagemaker as sagemaker

from benchmarks.by_hand.names import REGISTRY, VARIANT, suffix

Resource = sagemaker.CfnInferenceComponent


@dataclass(frozen=True, slots=True)
class Component:
    """What differs between components."""

    endpoint: str
    name: str
    is_split: bool
    """Whether its model is split over two GPUs, and it has start-up limits of its own."""

    @property
    def id_suffix(self) -> str:
        """The end of its logical ids."""
        return suffix(self.name, self.endpoint, VARIANT, self.name)


def output_id(part: Component) -> str:
    """Logical id of the output with its name."""
    return f"InferenceComponent{suffix(part.name, part.name)}"


def inference_component(stack: Stack, part: Component, endpoint: sagemaker.CfnEndpoint) -> Resource:
    """The component on the endpoint's only variant."""
    return Resource(
        stack,
        f"InferenceComponent{part.id_suffix}",
        inference_component_name=part.name,
        endpoint_name=endpoint.attr_endpoint_name,
        variant_name=VARIANT,
        specification=_specification(part),
        runtime_config=Resource.InferenceComponentRuntimeConfigProperty(copy_count=1),
    )


def _specification(part: Component) -> Resource.InferenceComponentSpecificationProperty:
    container = Resource.InferenceComponentContainerSpecificationProperty(
        image=f"{REGISTRY}/djl-inference:0.33.0-lmi15.0.0-cu128",
        environment={"OPTION_TENSOR_PARALLEL_DEGREE": "2"} if part.is_split else None,
        artifact_url=f"s3://acme-models/{part.name}/model.tar.gz",
    )
    compute = Resource.InferenceComponentComputeResourceRequirementsProperty(
        number_of_accelerator_devices_required=2, min_memory_required_in_mb=16384
    )
    return Resource.InferenceComponentSpecificationProperty(
        container=container,
        compute_resource_requirements=compute,
        startup_parameters=_start_up() if part.is_split else None,
    )


def _start_up() -> Resource.InferenceComponentStartupParametersProperty:
    return Resource.InferenceComponentStartupParametersProperty(
        model_data_download_timeout_in_seconds=300, container_startup_health_check_timeout_in_seconds=600
    )

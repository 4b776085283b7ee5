"""Jobs of 2026 that measure language models: what they send, benchmarks and recommendations.

Keys are those of CreateAIWorkloadConfig, CreateAIBenchmarkJob and CreateAIRecommendationJob, without the
levels between them.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.format.ai_workload import AiParameters, AiSecrets, AiTooling
from inferstack.format.base import Block, Items, RoleArn
from inferstack.format.model import VpcConfig


class AiChannel(Block):
    """A dataset in S3, which the tool finds at `/opt/ml/input/data/` and the channel's name."""

    shapes: ClassVar = ("sagemaker:AIWorkloadInputDataConfig", "sagemaker:AIWorkloadS3DataSource")

    channel_name: str
    """Name of the channel."""
    s3_uri: str
    """S3 URL of the dataset."""


class AiWorkloadConfig(Block):
    """What AIPerf sends to a language model. `inferstack recommend` makes it, for both kinds of job."""

    shapes: ClassVar = ("sagemaker:AIDatasetConfig",)

    parameters: AiParameters
    """What is sent, how often and for how long."""
    input_data_config: Items[AiChannel] | None = None
    """Datasets of your own."""
    secrets: AiSecrets | None = None
    """Secrets that the tool needs."""
    tooling: AiTooling | None = None
    """The API that the model answers by."""


class MlflowConfig(Block):
    """Where MLflow records the job."""

    shapes: ClassVar = ("sagemaker:AIMlflowConfig",)

    mlflow_resource_arn: str
    """ARN of the MLflow app or tracking server."""
    mlflow_experiment_name: str | None = None
    """Name of the experiment."""
    mlflow_run_name: str | None = None
    """Name of the run."""


class AiBenchmarkComponent(Block):
    """An inference component to measure."""

    shapes: ClassVar = ("sagemaker:AIBenchmarkInferenceComponent",)

    identifier: str
    """Name of the component."""


class AiBenchmarkJob(Block):
    """A benchmark of a deployed language model, which `inferstack recommend` runs. Nothing of it is
    deployed."""

    shapes: ClassVar = (
        "sagemaker:CreateAIBenchmarkJobRequest",
        "sagemaker:AIBenchmarkOutputConfig",
        "sagemaker:AIBenchmarkNetworkConfig",
        "sagemaker:AIBenchmarkEndpoint",
    )
    aws_keys: ClassVar = {"role_arn": None}

    s3_output_location: str
    """S3 URL for the results; each job gets a folder there."""
    ai_workload_config_identifier: str | None = None
    """Name or ARN of a workload configuration that exists, instead of `ai_workload_config` of the spec."""
    identifier: str | None = None
    """Name of the endpoint; if left out, the spec's."""
    inference_components: Items[AiBenchmarkComponent] | None = None
    """Components to measure; if left out, all of the spec's."""
    target_container_hostname: str | None = None
    """The container to measure, of a pipeline that is invoked directly."""
    vpc_config: VpcConfig | None = None
    """Subnets and security groups of the job."""
    mlflow_config: MlflowConfig | None = None
    """Where MLflow records the job."""
    role_arn: RoleArn | None = None
    """ARN of the role that the job uses; if left out, `execution_role`, where that is an ARN."""


class AiConstraint(Block):
    """What the recommendation is for."""

    shapes: ClassVar = ("sagemaker:AIRecommendationConstraint",)

    metric: str
    """`ttft-ms` (time to first token), `throughput` or `cost`."""


class AiCapacityReservation(Block):
    """Reserved capacity that the job uses."""

    shapes: ClassVar = ("sagemaker:AICapacityReservationConfig",)

    capacity_reservation_preference: str | None = None
    """`capacity-reservations-only`."""
    ml_reservation_arns: Items[str] | None = None
    """ARNs of the reservations."""


class AiAdapterPackage(Block):
    """A LoRA adapter in the model registry."""

    shapes: ClassVar = ("sagemaker:AIAdapterModelPackageEntry",)

    adapter_id: str
    """Name of the adapter."""
    model_package_arn: str
    """ARN of its model package."""


class AiAdapterFiles(Block):
    """A LoRA adapter in S3."""

    shapes: ClassVar = ("sagemaker:AIAdapterS3Entry",)

    adapter_id: str
    """Name of the adapter."""
    s3_uri: str
    """S3 URL of the folder with the adapter's files."""


class AiAdapterSource(Block):
    """LoRA adapters of the model, from one of two places."""

    shapes: ClassVar = ("sagemaker:AIAdapterSource",)

    model_package_arns: Items[AiAdapterPackage] | None = None
    """Adapters in the model registry."""
    s3_uris: Items[AiAdapterFiles] | None = None
    """Adapters in S3."""


class AiRecommendationJob(Block):
    """A job that finds instance type and settings for a language model, and can optimize it.
    `inferstack recommend` runs it. Nothing of it is deployed."""

    shapes: ClassVar = (
        "sagemaker:CreateAIRecommendationJobRequest",
        "sagemaker:AIRecommendationOutputConfig",
        "sagemaker:AIRecommendationPerformanceTarget",
        "sagemaker:AIRecommendationInferenceSpecification",
        "sagemaker:AIRecommendationComputeSpec",
        "sagemaker:AIModelSourceS3",
    )
    aws_keys: ClassVar = {"role_arn": None}

    s3_output_location: str
    """S3 URL for the results; each job gets a folder there."""
    constraints: Annotated[Items[AiConstraint], Meta(min_length=1)]
    """What the recommendation is for."""
    ai_workload_config_identifier: str | None = None
    """Name or ARN of a workload configuration that exists, instead of `ai_workload_config` of the spec."""
    instance_types: Items[str] | None = None
    """Instance types to consider, at most three."""
    framework: str | None = None
    """What serves the model: `LMI` or `VLLM`."""
    optimize_model: bool | None = None
    """Whether the model may be optimized, as by speculative decoding; if left out, it may."""
    s3_uri: str | None = None
    """S3 URL of the model's files; if left out, those of the spec's only model."""
    adapter_source: AiAdapterSource | None = None
    """LoRA adapters of the model."""
    model_package_group_identifier: str | None = None
    """Name or ARN of the model package group that gets the optimized model."""
    capacity_reservation_config: AiCapacityReservation | None = None
    """Reserved capacity that the job uses."""
    mlflow_config: MlflowConfig | None = None
    """Where MLflow records the job."""
    role_arn: RoleArn | None = None
    """ARN of the role that the job uses; if left out, `execution_role`, where that is an ARN. It needs
    `servicequotas:GetServiceQuota`, which AmazonSageMakerFullAccess lacks."""

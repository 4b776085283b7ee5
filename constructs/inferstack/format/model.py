"""AWS::SageMaker::Model: what runs in the container, and with which files.

A model in a `triton` block is Triton's own ModelConfig, written in YAML, with Triton's schema.
"""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from inferstack.format.base import Block, FileBeside, Items, Tags, form

# ---------------------------------------------------------------- Triton model repositories

TritonModel = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/TritonModelConfig"})]
ArchiveName = Annotated[str, form(r"^(?!(.*/)?\.\.?/)[^/].*\.tar\.gz$")]


class TritonArchive(Block):
    """One `tar.gz` of a multi-model endpoint: a model, or an ensemble with its members."""

    models: dict[str, TritonModel] | None = None
    """Models by folder name, each as a Triton model configuration."""
    repository: str | None = None
    """Path of an existing folder that is packed, instead of `models`: that of a model with its
    `config.pbtxt`, or one that holds several such folders."""


class Triton(Block):
    """A Triton model repository that is part of the spec."""

    default_model: str | None = None
    """Name of the model that answers requests. If left out, it is the only model, or the only ensemble
    under `models`. Otherwise (also for a `repository` with several models) it is required, unless the
    environment variable `SAGEMAKER_TRITON_DEFAULT_MODEL_NAME` names the model."""
    models: dict[str, TritonModel] | None = None
    """Models by folder name, each as a Triton model configuration."""
    archives: dict[ArchiveName, TritonArchive] | None = None
    """For `kind: multi-model`: the contents of each archive under the S3 prefix, by file name."""
    repository: str | None = None
    """Path of an existing model repository with its own `config.pbtxt` files, instead of `models`."""


# ---------------------------------------------------------------- models


class FrameworkImage(Block):
    """An inference image that AWS publishes for a framework; it becomes the ECR URI in the stack's region."""

    framework: str
    """Name of the framework, for example `triton`, `pytorch`, `huggingface` or `djl-lmi`."""
    version: str
    """Version of the framework's image, in quotes: `"26.05"`."""
    py_version: str | None = None
    """Python version of the image (`py312`), if the framework version comes with more than one."""
    base_framework_version: str | None = None
    """Hugging Face only: the framework that the image is built on (`pytorch2.1.0`), if the version comes
    with more than one."""


class RepositoryAuthConfig(Block):
    """Credentials for a private Docker registry."""

    shapes: ClassVar = ("AWS::SageMaker::Model.RepositoryAuthConfig",)
    # The constraint comes from the training API, where AWS gives the form of the same ARN. For a model, AWS
    # accepts any text, but IAM does not.
    aws_keys: ClassVar = {
        "repository_credentials_provider_arn": (
            "sagemaker:TrainingRepositoryAuthConfig",
            "training_repository_credentials_provider_arn",
        )
    }

    repository_credentials_provider_arn: str
    """ARN of the Lambda function that returns the user name and password for the registry."""


class ImageConfig(Block):
    """Where the image is pulled from when it is not in Amazon ECR."""

    shapes: ClassVar = ("AWS::SageMaker::Model.ImageConfig",)

    repository_access_mode: str
    """`Platform` for Amazon ECR, `Vpc` for a private registry that is reachable from the model's VPC."""
    repository_auth_config: RepositoryAuthConfig | None = None
    """Credentials for the registry. Only with `Vpc`, and only if the registry requires a login."""


# AWS gives no pattern for this ARN, but IAM accepts no other form as a resource. The account of public hubs
# is `aws`.
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
HubContentArn = Annotated[
    str, form(r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]+:([0-9]{12}|aws):hub-content/[^/]+/[^/]+/\S+$")
]


class HubAccessConfig(Block):
    """Access to a model in a SageMaker hub."""

    shapes: ClassVar = ("AWS::SageMaker::Model.HubAccessConfig",)

    hub_content_arn: HubContentArn
    """ARN of the hub content that the model files belong to."""


class ModelAccessConfig(Block):
    """Acceptance of a gated model's licence."""

    shapes: ClassVar = ("AWS::SageMaker::Model.ModelAccessConfig",)

    accept_eula: bool
    """Must be true to use the model; it states that you have read and accepted its licence."""


class S3DataSource(Block):
    """Model files in S3, compressed or uncompressed."""

    shapes: ClassVar = ("AWS::SageMaker::Model.S3DataSource",)

    s3_uri: str
    """S3 URI of one object, or of a prefix (ending in `/`) whose files all belong to the model."""
    s3_data_type: str
    """`S3Object` for one archive, `S3Prefix` for a folder of files."""
    compression_type: str
    """`Gzip` for a `tar.gz`, `None` for uncompressed files."""
    hub_access_config: HubAccessConfig | None = None
    """For files that come from a SageMaker hub."""
    model_access_config: ModelAccessConfig | None = None
    """For a gated model, whose licence you must accept."""


class ModelDataSource(Block):
    """Where the model files are, with options that `model_data_url` does not have."""

    shapes: ClassVar = ("AWS::SageMaker::Model.ModelDataSource",)

    s3_data_source: S3DataSource
    """The model files in S3."""


class MultiModelConfig(Block):
    """How a multi-model container caches its models."""

    shapes: ClassVar = ("AWS::SageMaker::Model.MultiModelConfig",)

    model_cache_setting: str | None = None
    """`Enabled` keeps loaded models in memory until it is full; `Disabled` unloads a model after each
    request, which suits many models that are each invoked rarely."""


class ModelPackage(Block):
    """A version of a group in the model registry, instead of an image and files."""

    aws_keys: ClassVar = {"group": ("sagemaker:DescribeModelPackageGroupInput", "model_package_group_name")}

    group: str
    """Name of the model package group, or its ARN if it is in another account."""
    # The names of versions have at most nine digits.
    version: Annotated[int, Meta(ge=1, le=999_999_999)] | Annotated[str, form("^latest-approved$")]
    """A version's number, or `latest-approved`: the version that was the newest approved one when
    `inferstack pin` last wrote it into the lock."""


class VpcConfig(Block):
    """The subnets and security groups that the container's network traffic goes through."""

    shapes: ClassVar = ("AWS::SageMaker::Model.VpcConfig", "AWS::SageMaker::EndpointConfig.VpcConfig")

    security_group_ids: Items[str]
    """IDs of the security groups for the container's network interfaces."""
    subnets: Items[str]
    """Subnet IDs, preferably in two or more Availability Zones."""


class Container(Block):
    """One container: its image, model files and environment."""

    shapes: ClassVar[tuple[str, ...]] = ("AWS::SageMaker::Model.ContainerDefinition",)

    image: str | FrameworkImage | None = None
    """An ECR URI, or `{framework, version}` for an image that AWS publishes. Can be left out only with
    a model package."""
    model_data_url: str | None = None
    """S3 URL of the model: a `model.tar.gz`, or for a multi-model endpoint the prefix (ending in `/`)
    that holds the archives. Overwriting a file under the same URL deploys nothing: use a new S3 key."""
    model_data_source: ModelDataSource | None = None
    """Instead of `model_data_url`, for uncompressed files, gated models and files from a SageMaker hub."""
    model_package_name: str | None = None
    """Name or ARN of a model package from the model registry, instead of an image and files. A package from
    AWS Marketplace also needs `enable_network_isolation: true`."""
    model_package: ModelPackage | None = None
    """Instead of `model_package_name`: a version of a group in the model registry."""
    inference_specification_name: str | None = None
    """Which inference specification of the model package to use."""
    environment: dict[str, str] | None = None
    """Environment variables of the container. Values are strings: quote numbers and booleans."""
    container_hostname: str | None = None
    """Name of the container in a pipeline, used in logs and for direct invocation."""
    image_config: ImageConfig | None = None
    """For an image in a private registry outside Amazon ECR."""
    multi_model_config: MultiModelConfig | None = None
    """How a multi-model container caches its models."""
    model_config: FileBeside | None = None
    """A language model's own `config.json`, or a folder that also has the index of its weights, to check the
    endpoint with: see `inferstack describe-model`. For an adapter, the folder of its `adapter_config.json`.
    Nothing of it is deployed."""


class PipelineContainer(Container):
    """One step of a pipeline, or one of several containers that are invoked directly."""

    mode: str | None = None
    """`MultiModel` for a container that serves many archives from one S3 prefix; a serial pipeline may have
    one such container, a direct one none."""


class InferenceExecutionConfig(Block):
    """How the containers of a pipeline are invoked."""

    shapes: ClassVar = ("AWS::SageMaker::Model.InferenceExecutionConfig",)

    mode: str
    """`Serial`: a request passes through all containers in order; `Direct`: a request names one of them."""


class Model(Container):
    """The model behind an endpoint. With a single container, its properties go directly in this block."""

    shapes: ClassVar[tuple[str, ...]] = (
        "AWS::SageMaker::Model",
        "AWS::SageMaker::Model.ContainerDefinition",
    )

    containers: Items[PipelineContainer] | None = None
    """For `kind: pipeline`: the containers in order, instead of a single container's properties."""
    inference_execution_config: InferenceExecutionConfig | None = None
    """For `kind: pipeline`: whether a request passes through all containers or names one of them; if left
    out, it passes through all."""
    enable_network_isolation: bool | None = None
    """True blocks all of the container's network traffic, in and out; it still gets the model files."""
    vpc_config: VpcConfig | None = None
    """Connects the container to your VPC."""
    tags: Tags | None = None
    """Tags of this model alone, added to those of the spec; for the same key, this one counts. Changing them
    replaces nothing."""


class NamedModel(Model):
    """One of several models. With a single container, its properties go directly in this block."""

    triton: Triton | None = None
    """For a Triton image: the model repository in the archive at `model_data_url`, instead of the `triton`
    block at the top of the spec."""

"""AWS::SageMaker::Model: what runs in the container and with which files."""

from typing import Annotated, ClassVar

from inferstack.spec.blocks.base import Block, form
from inferstack.spec.blocks.triton import Triton


class FrameworkImage(Block):
    """A framework's published inference image; becomes the ECR URI of the stack's region."""

    framework: str
    """Name of the framework, for example `triton`, `pytorch`, `huggingface` or `djl-lmi`."""
    version: str
    """Version of the framework's image, in quotes: `"26.05"`."""
    py_version: str | None = None
    """Python of the image (`py312`), where a version exists for several."""
    base_framework_version: str | None = None
    """For Hugging Face: the framework below it (`pytorch2.1.0`), where a version exists on several."""


class RepositoryAuthConfig(Block):
    """Credentials for a private Docker registry."""

    shapes: ClassVar = ("AWS::SageMaker::Model.RepositoryAuthConfig",)
    # Of training, where AWS says the form of the same ARN; of a model it takes any text, and IAM does not.
    aws_keys: ClassVar = {
        "repository_credentials_provider_arn": (
            "sagemaker:TrainingRepositoryAuthConfig",
            "training_repository_credentials_provider_arn",
        )
    }

    repository_credentials_provider_arn: str
    """ARN of the Lambda function that hands out user name and password for the registry."""


class ImageConfig(Block):
    """Where the image is pulled from when it is not in Amazon ECR."""

    shapes: ClassVar = ("AWS::SageMaker::Model.ImageConfig",)

    repository_access_mode: str
    """`Platform` for Amazon ECR, `Vpc` for a private registry that the model's VPC reaches."""
    repository_auth_config: RepositoryAuthConfig | None = None
    """Only with `Vpc`, and only when the registry asks for a login."""


# AWS says no form of it, and IAM takes nothing else for a resource. Public hubs are of the account `aws`.
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
HubContentArn = Annotated[
    str, form(r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]+:([0-9]{12}|aws):hub-content/[^/]+/[^/]+/\S+$")
]


class HubAccessConfig(Block):
    """Access to a model in a SageMaker hub."""

    shapes: ClassVar = ("AWS::SageMaker::Model.HubAccessConfig",)

    hub_content_arn: HubContentArn
    """ARN of the hub content that these files belong to."""


class ModelAccessConfig(Block):
    """Consent to the licence of a gated model."""

    shapes: ClassVar = ("AWS::SageMaker::Model.ModelAccessConfig",)

    accept_eula: bool
    """Must be true to use the model; it states that you read and accept its licence."""


class S3DataSource(Block):
    """Model files in S3, compressed or not."""

    shapes: ClassVar = ("AWS::SageMaker::Model.S3DataSource",)

    s3_uri: str
    """The object, or the prefix (ending in `/`) under which all files belong to the model."""
    s3_data_type: str
    """`S3Object` for one archive, `S3Prefix` for a folder of files."""
    compression_type: str
    """`Gzip` for a `tar.gz`, `None` for plain files."""
    hub_access_config: HubAccessConfig | None = None
    """For files that come from a SageMaker hub."""
    model_access_config: ModelAccessConfig | None = None
    """For models whose licence must be accepted."""


class ModelDataSource(Block):
    """Where the model's files are, in more detail than `model_data_url` can say."""

    shapes: ClassVar = ("AWS::SageMaker::Model.ModelDataSource",)

    s3_data_source: S3DataSource
    """The files in S3."""


class MultiModelConfig(Block):
    """How a multi-model container keeps its models."""

    shapes: ClassVar = ("AWS::SageMaker::Model.MultiModelConfig",)

    model_cache_setting: str | None = None
    """`Enabled` keeps loaded models in memory until it is full; `Disabled` unloads after each request,
    which suits many models that are each asked for rarely."""


class VpcConfig(Block):
    """Subnets and security groups that the container's traffic goes through."""

    shapes: ClassVar = ("AWS::SageMaker::Model.VpcConfig", "AWS::SageMaker::EndpointConfig.VpcConfig")

    security_group_ids: tuple[str, ...]
    """Security groups of the network interfaces."""
    subnets: tuple[str, ...]
    """Subnets, best in two or more availability zones."""


class Container(Block):
    """One container: its image, its files, its environment."""

    shapes: ClassVar[tuple[str, ...]] = ("AWS::SageMaker::Model.ContainerDefinition",)

    image: str | FrameworkImage | None = None
    """An ECR URI, or `{framework, version}` of an image that AWS publishes. Absent only with a
    `model_package_name`."""
    model_data_url: str | None = None
    """S3 URL of the model: a `model.tar.gz`, or for a multi-model endpoint the prefix (ending in `/`)
    under which the archives lie. Overwriting a file under the same URL deploys nothing: use a new key."""
    model_data_source: ModelDataSource | None = None
    """Instead of `model_data_url`: uncompressed files, licences, hubs."""
    model_package_name: str | None = None
    """Name or ARN of a model package from the registry, instead of image and files. One from AWS
    Marketplace needs `enable_network_isolation: true` beside it."""
    inference_specification_name: str | None = None
    """Which inference specification of the model package to use."""
    environment: dict[str, str] | None = None
    """Environment variables of the container. Values are strings: quote numbers and booleans."""
    container_hostname: str | None = None
    """Name of the container in a pipeline, for logs and for direct invocation."""
    image_config: ImageConfig | None = None
    """For an image in a private registry outside Amazon ECR."""
    multi_model_config: MultiModelConfig | None = None
    """Caching of a multi-model container."""


class PipelineContainer(Container):
    """One step of a pipeline, or one of several containers that are called directly."""

    mode: str | None = None
    """`MultiModel` for a container that serves many archives from a prefix; one in a serial pipeline."""


class InferenceExecutionConfig(Block):
    """How the containers of a pipeline are called."""

    shapes: ClassVar = ("AWS::SageMaker::Model.InferenceExecutionConfig",)

    mode: str
    """`Serial`: a request runs through all containers in order. `Direct`: it names one of them."""


class Model(Container):
    """The model behind an endpoint. The only container's properties stand directly in the block."""

    shapes: ClassVar[tuple[str, ...]] = (
        "AWS::SageMaker::Model",
        "AWS::SageMaker::Model.ContainerDefinition",
    )

    containers: tuple[PipelineContainer, ...] | None = None
    """For `kind: pipeline`: the containers in order, instead of one container's properties."""
    inference_execution_config: InferenceExecutionConfig | None = None
    """For `kind: pipeline`: whether a request runs through all containers or names one."""
    enable_network_isolation: bool | None = None
    """True cuts the container off from every network call, in and out, except the model's files."""
    vpc_config: VpcConfig | None = None
    """Puts the container into your VPC."""


class NamedModel(Model):
    """One of several models. The only container's properties stand directly in the block."""

    triton: Triton | None = None
    """Model repository in the archive at `model_data_url`, for a Triton image, instead of the one at the
    top."""

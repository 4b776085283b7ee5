"""A load test by SageMaker Inference Recommender, in the words of its API."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.format.base import Block, Items, RoleArn, form
from inferstack.format.model import VpcConfig
from inferstack.format.variant import ServerlessConfig

# AWS gives no bounds for these, but each of them is a count that is at least 1.
_Count = Annotated[int, Meta(extra_json_schema={"minimum": 1})]
# Bounds that AWS names only in prose, in the API's reference and on
# https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-load-test.html
_TrafficSeconds = Annotated[int, Meta(extra_json_schema={"minimum": 120, "maximum": 3_600})]
_JobSeconds = Annotated[int, Meta(extra_json_schema={"maximum": 18_000})]
_Tests = Annotated[int, Meta(extra_json_schema={"maximum": 10})]
_ContentType = Annotated[str, form("^[-0-9A-Za-z_]+/.+$", max_length=1024)]
_Invocations = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 30_000})]


class LoadPhase(Block):
    """A period of time in which new users arrive at a constant rate."""

    shapes: ClassVar = ("sagemaker:Phase",)

    initial_number_of_users: int
    """Initial number of simulated users: 1 to 3 in the first phase."""
    spawn_rate: int
    """Number of users that are added each minute."""
    duration_in_seconds: _TrafficSeconds
    """Length of the phase, in seconds."""

    @property
    def most_users(self) -> int:
        """The users of its last minute: some are added after each minute, but none at the end."""
        return self.initial_number_of_users + self.spawn_rate * ((self.duration_in_seconds - 1) // 60)


class LoadStairs(Block):
    """Traffic that rises in equal steps."""

    shapes: ClassVar = ("sagemaker:Stairs",)

    duration_in_seconds: _TrafficSeconds
    """Length of all steps together, in seconds."""
    number_of_steps: int
    """Number of steps, all of the same length."""
    users_per_step: int
    """Number of users that each step adds."""


class TrafficPattern(Block):
    """How the load grows during the test."""

    shapes: ClassVar = ("sagemaker:TrafficPattern",)

    traffic_type: str
    """`PHASES` or `STAIRS`."""
    phases: Items[LoadPhase] | None = None
    """Only with `PHASES`: the phases, one after the other."""
    stairs: LoadStairs | None = None
    """Only with `STAIRS`: the steps."""


class LatencyThreshold(Block):
    """A model latency above which the test ends."""

    shapes: ClassVar = ("sagemaker:ModelLatencyThreshold",)

    # AWS names these two values only in its prose.
    percentile: Annotated[str, form("^P9[59]$")]
    """Percentile of the latency that is compared: `P95` or `P99`."""
    value_in_milliseconds: _Count
    """The latency limit, in milliseconds."""


class StoppingConditions(Block):
    """When the test ends."""

    shapes: ClassVar = ("sagemaker:RecommendationJobStoppingConditions",)

    max_invocations: _Invocations | None = None
    """Number of requests per minute above which the test ends."""
    model_latency_thresholds: Items[LatencyThreshold] | None = None
    """Model latencies above which the test ends."""
    flat_invocations: str | None = None
    """Whether to `Stop` or `Continue` when more users no longer lead to more requests."""


class ResourceLimit(Block):
    """How many tests a job may run."""

    shapes: ClassVar = ("sagemaker:RecommendationJobResourceLimit",)

    max_number_of_tests: _Tests | None = None
    """Maximum number of tests. Each instance type with each combination of environment variables is one."""
    max_parallel_of_tests: _Tests | None = None
    """Maximum number of simultaneous tests."""


class CategoricalParameter(Block):
    """Values of an environment variable to compare."""

    shapes: ClassVar = ("sagemaker:CategoricalParameter",)

    name: str
    """Name of the environment variable."""
    value: Items[str]
    """Up to three values, in quotes if they are numbers."""


class EnvironmentParameterRanges(Block):
    """Environment variables whose values are compared."""

    shapes: ClassVar = ("sagemaker:EnvironmentParameterRanges",)

    categorical_parameter_ranges: Items[CategoricalParameter]
    """Up to five environment variables with their values."""


class EndpointInputConfiguration(Block):
    """What one test, or several with different environment variables, runs on."""

    shapes: ClassVar = ("sagemaker:EndpointInputConfiguration",)

    instance_type: str | None = None
    """Instance type to test."""
    serverless_config: ServerlessConfig | None = None
    """Serverless capacity to test, instead of an instance type."""
    inference_specification_name: str | None = None
    """Name of the inference specification in the model package."""
    environment_parameter_ranges: EnvironmentParameterRanges | None = None
    """Environment variables whose values are compared."""


class EndpointInfo(Block):
    """An endpoint that exists."""

    shapes: ClassVar = ("sagemaker:EndpointInfo",)

    endpoint_name: str
    """Name of the endpoint."""


class RecommendationOutput(Block):
    """How the results are encrypted, and where a compiled model goes."""

    shapes: ClassVar = (
        "sagemaker:RecommendationJobOutputConfig",
        "sagemaker:RecommendationJobCompiledOutputConfig",
    )

    kms_key_id: str | None = None
    """ID or ARN of the KMS key that encrypts the results."""
    s3_output_uri: str | None = None
    """S3 URL for a model that SageMaker Neo compiles."""


class LoadTest(Block):
    """A job of SageMaker Inference Recommender, which `inferstack recommend` runs. Nothing of it is deployed.

    Keys are those of CreateInferenceRecommendationsJob, without the levels between them."""

    shapes: ClassVar = (
        "sagemaker:CreateInferenceRecommendationsJobRequest",
        "sagemaker:RecommendationJobInputConfig",
        "sagemaker:RecommendationJobContainerConfig",
        "sagemaker:RecommendationJobPayloadConfig",
    )
    aws_keys: ClassVar = {
        "instance_types": ("AWS::SageMaker::EndpointConfig.ProductionVariant", "instance_type"),
        # AWS's patterns have classes that mean more in Python than in an editor.
        "role_arn": None,
        "supported_response_mime_types": None,
    }

    job_type: str
    """`Default` compares instance types with traffic of its own, in up to 45 minutes; `Advanced` is a load
    test with your traffic, on the instance types that you name."""
    sample_payload_url: str
    """S3 URL of a `tar.gz` with sample requests, such as `inferstack body --sample-payload` makes."""
    supported_content_types: Items[str] | None = None
    """Content types of the sample requests."""
    instance_types: Items[str] | None = None
    """Instance types to compare."""
    endpoint_configurations: Items[EndpointInputConfiguration] | None = None
    """What else to compare, for `Advanced`: instance types with different environment variables or inference
    specifications, and serverless capacity. With `instance_types`, at most ten."""
    traffic_pattern: TrafficPattern | None = None
    """How the load grows. `Advanced` needs it."""
    stopping_conditions: StoppingConditions | None = None
    """When the test ends. `Advanced` needs them."""
    job_duration_in_seconds: _JobSeconds | None = None
    """How long the job may take: no test starts later than that. The traffic must fit in."""
    resource_limit: ResourceLimit | None = None
    """How many tests there may be."""
    model_name: str | None = None
    """Name of a SageMaker model. If left out, and the spec has no `model_package`, it is the model that the
    endpoint runs when the job is started."""
    model_package_version_arn: str | None = None
    """ARN of a version of a model package; if left out, the spec's own."""
    domain: str | None = None
    """`COMPUTER_VISION`, `NATURAL_LANGUAGE_PROCESSING`, `MACHINE_LEARNING` or `OTHER`. This, `task` and
    `framework` are needed without a model package."""
    task: str | None = None
    """`IMAGE_CLASSIFICATION`, `OBJECT_DETECTION`, `TEXT_GENERATION`, `IMAGE_SEGMENTATION`, `FILL_MASK`,
    `CLASSIFICATION`, `REGRESSION` or `OTHER`."""
    framework: str | None = None
    """`TENSORFLOW`, `PYTORCH`, `XGBOOST`, `SAGEMAKER-SCIKIT-LEARN` or `OTHER`."""
    framework_version: str | None = None
    """Version of the framework."""
    nearest_model_name: str | None = None
    """The model that is most like yours, of those that AWS has measured: `resnet50`, `bert-base-cased`, …
    `aws sagemaker list-model-metadata` lists them."""
    data_input_config: str | None = None
    """Names and shapes of the inputs as JSON, for SageMaker Neo."""
    supported_endpoint_type: str | None = None
    """Whether `Default` recommends `RealTime` or `Serverless` endpoints only."""
    supported_response_mime_types: Items[_ContentType] | None = None
    """Content types of the answers."""
    endpoints: Items[EndpointInfo] | None = None
    """An endpoint that exists, to be measured as well. During the job, it must get no other requests."""
    vpc_config: VpcConfig | None = None
    """Subnets and security groups of the endpoints that the job makes."""
    volume_kms_key_id: str | None = None
    """ID or ARN of the KMS key for the volumes of these endpoints."""
    output_config: RecommendationOutput | None = None
    """How the results are encrypted."""
    role_arn: RoleArn | None = None
    """ARN of the role that the job uses; if left out, `execution_role`, where that is an ARN."""
    job_description: str | None = None
    """Description of the job."""

"""AWS::SageMaker::EndpointConfig: the settings that apply to all variants."""

from typing import ClassVar

from inferstack.spec.blocks.base import Block, KmsKey
from inferstack.spec.blocks.model import VpcConfig

_TYPE = "AWS::SageMaker::EndpointConfig"


class AsyncClientConfig(Block):
    """How SageMaker calls the container of an asynchronous endpoint."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceClientConfig",)

    max_concurrent_invocations_per_instance: int | None = None
    """Maximum number of requests that an instance processes at a time."""


class AsyncNotificationConfig(Block):
    """SNS topics that are notified of finished requests."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceNotificationConfig",)

    success_topic: str | None = None
    """ARN of the SNS topic for requests that succeed."""
    error_topic: str | None = None
    """ARN of the SNS topic for requests that fail."""
    include_inference_response_in: tuple[str, ...] | None = None
    """Topics whose messages contain the response itself."""


class AsyncOutputConfig(Block):
    """Where the responses of an asynchronous endpoint are stored."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceOutputConfig",)

    s3_output_path: str | None = None
    """S3 prefix for responses."""
    s3_failure_path: str | None = None
    """S3 prefix for failures."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the responses and failures."""
    notification_config: AsyncNotificationConfig | None = None
    """SNS topics to notify."""


class AsyncInferenceConfig(Block):
    """Makes the endpoint asynchronous: requests wait in a queue, and responses are stored in S3."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceConfig",)

    output_config: AsyncOutputConfig
    """Where responses are stored."""
    client_config: AsyncClientConfig | None = None
    """How SageMaker calls the container."""


class CaptureOption(Block):
    """What data capture records."""

    shapes: ClassVar = (f"{_TYPE}.CaptureOption",)

    capture_mode: str
    """`Input`, `Output` or `InputAndOutput`."""


class CaptureContentTypeHeader(Block):
    """Content types that are stored as text instead of base64."""

    shapes: ClassVar = (f"{_TYPE}.CaptureContentTypeHeader",)

    csv_content_types: tuple[str, ...] | None = None
    """Content types to treat as CSV."""
    json_content_types: tuple[str, ...] | None = None
    """Content types to treat as JSON."""


class DataCaptureConfig(Block):
    """Copies requests and responses to S3."""

    shapes: ClassVar = (f"{_TYPE}.DataCaptureConfig",)

    destination_s3_uri: str
    """S3 prefix that receives the copies."""
    initial_sampling_percentage: int
    """Percentage of requests to copy; 0 copies none."""
    capture_options: tuple[CaptureOption, ...]
    """Whether to copy requests, responses or both."""
    enable_capture: bool | None = None
    """False keeps the configuration but copies nothing."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the copies."""
    capture_content_type_header: CaptureContentTypeHeader | None = None
    """Content types that are stored as text instead of base64."""


class ClarifyInferenceConfig(Block):
    """How the explainer reads requests and responses."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyInferenceConfig",)

    content_template: str | None = None
    """Template of a JSON Lines record."""
    feature_headers: tuple[str, ...] | None = None
    """Names of the features."""
    feature_types: tuple[str, ...] | None = None
    """Type of each feature, in order: `numerical`, `categorical` or `text`."""
    features_attribute: str | None = None
    """Where the features are in a JSON record, as a JMESPath expression."""
    label_attribute: str | None = None
    """Where the label is in a JSON response, as a JMESPath expression."""
    label_headers: tuple[str, ...] | None = None
    """Names of the labels."""
    label_index: int | None = None
    """Column of the label in a CSV response, counted from 0."""
    max_payload_in_mb: int | None = None
    """Largest request that the explainer sends to the model, in MB."""
    max_record_count: int | None = None
    """Largest number of records that the explainer sends to the model at once."""
    probability_attribute: str | None = None
    """Where the probability is in a JSON response, as a JMESPath expression."""
    probability_index: int | None = None
    """Column of the probability in a CSV response, counted from 0."""


class ClarifyShapBaselineConfig(Block):
    """The baseline that explanations compare a record with."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyShapBaselineConfig",)

    mime_type: str | None = None
    """MIME type of the baseline, for example `text/csv`."""
    shap_baseline: str | None = None
    """The baseline data itself."""
    shap_baseline_uri: str | None = None
    """S3 URL of the baseline."""


class ClarifyTextConfig(Block):
    """How text features are split."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyTextConfig",)

    granularity: str
    """Unit that text is split into: `token`, `sentence` or `paragraph`."""
    language: str
    """Two-letter code of the language of the text."""


class ClarifyShapConfig(Block):
    """How SHAP values are computed."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyShapConfig",)

    shap_baseline_config: ClarifyShapBaselineConfig
    """The baseline to compare with."""
    number_of_samples: int | None = None
    """Number of samples to draw for each request."""
    seed: int | None = None
    """Seed of the sampling."""
    use_logit: bool | None = None
    """True explains log-odds instead of probabilities."""
    text_config: ClarifyTextConfig | None = None
    """How text features are split."""


class ClarifyExplainerConfig(Block):
    """Explanations by SageMaker Clarify."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyExplainerConfig",)

    shap_config: ClarifyShapConfig
    """How explanations are computed."""
    enable_explanations: str | None = None
    """JMESPath expression that decides which records are explained; if left out, all are."""
    inference_config: ClarifyInferenceConfig | None = None
    """How requests and responses are read."""


class ExplainerConfig(Block):
    """Returns explanations together with predictions."""

    shapes: ClassVar = (f"{_TYPE}.ExplainerConfig",)

    clarify_explainer_config: ClarifyExplainerConfig | None = None
    """Explanations by SageMaker Clarify."""


class MetricsConfig(Block):
    """Which metrics the instances publish, and how often."""

    shapes: ClassVar = (f"{_TYPE}.MetricsConfig",)

    enable_enhanced_metrics: bool | None = None
    """True publishes metrics for each instance, container and GPU."""
    enable_detailed_observability: bool | None = None
    """True turns on detailed dashboards, which are charged for; on by default for new endpoints."""
    metric_publish_frequency_in_seconds: int | None = None
    """Seconds between two readings of a metric."""


class EndpointConfig(Block):
    """Settings of the endpoint configuration that apply to all variants."""

    shapes: ClassVar = (_TYPE,)

    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the instances' storage volumes; it does not encrypt local NVMe disks."""
    data_capture_config: DataCaptureConfig | None = None
    """Copies requests and responses to S3."""
    async_inference_config: AsyncInferenceConfig | None = None
    """Makes the endpoint asynchronous."""
    explainer_config: ExplainerConfig | None = None
    """Returns explanations together with predictions."""
    metrics_config: MetricsConfig | None = None
    """Which metrics the instances publish, and how often."""
    enable_network_isolation: bool | None = None
    """For inference components: true cuts their containers off from the network."""
    vpc_config: VpcConfig | None = None
    """For inference components: connects their containers to your VPC."""

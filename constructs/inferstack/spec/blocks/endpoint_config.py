"""AWS::SageMaker::EndpointConfig: what belongs to the fleet as a whole."""

from typing import ClassVar

from inferstack.spec.blocks.base import Block, KmsKey
from inferstack.spec.blocks.model import VpcConfig

_TYPE = "AWS::SageMaker::EndpointConfig"


class AsyncClientConfig(Block):
    """How SageMaker calls the container of an asynchronous endpoint."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceClientConfig",)

    max_concurrent_invocations_per_instance: int | None = None
    """Requests that an instance works on at a time."""


class AsyncNotificationConfig(Block):
    """SNS topics that hear of finished requests."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceNotificationConfig",)

    success_topic: str | None = None
    """ARN of the topic for successes."""
    error_topic: str | None = None
    """ARN of the topic for failures."""
    include_inference_response_in: tuple[str, ...] | None = None
    """Topics whose messages carry the answer itself."""


class AsyncOutputConfig(Block):
    """Where answers of an asynchronous endpoint go."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceOutputConfig",)

    s3_output_path: str | None = None
    """S3 prefix for answers."""
    s3_failure_path: str | None = None
    """S3 prefix for failures."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts them."""
    notification_config: AsyncNotificationConfig | None = None
    """Topics to notify."""


class AsyncInferenceConfig(Block):
    """Makes the endpoint asynchronous: requests wait in a queue, answers go to S3."""

    shapes: ClassVar = (f"{_TYPE}.AsyncInferenceConfig",)

    output_config: AsyncOutputConfig
    """Where answers go."""
    client_config: AsyncClientConfig | None = None
    """How the container is called."""


class CaptureOption(Block):
    """What is captured."""

    shapes: ClassVar = (f"{_TYPE}.CaptureOption",)

    capture_mode: str
    """`Input`, `Output` or `InputAndOutput`."""


class CaptureContentTypeHeader(Block):
    """Content types that are stored as text instead of base64."""

    shapes: ClassVar = (f"{_TYPE}.CaptureContentTypeHeader",)

    csv_content_types: tuple[str, ...] | None = None
    """Types to treat as CSV."""
    json_content_types: tuple[str, ...] | None = None
    """Types to treat as JSON."""


class DataCaptureConfig(Block):
    """Requests and answers are copied to S3."""

    shapes: ClassVar = (f"{_TYPE}.DataCaptureConfig",)

    destination_s3_uri: str
    """S3 prefix that receives the copies."""
    initial_sampling_percentage: int
    """Share of requests to copy; 0 copies none."""
    capture_options: tuple[CaptureOption, ...]
    """Requests, answers, or both."""
    enable_capture: bool | None = None
    """False keeps the configuration but copies nothing."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the copies."""
    capture_content_type_header: CaptureContentTypeHeader | None = None
    """Which content types are text."""


class ClarifyInferenceConfig(Block):
    """How the explainer reads requests and answers."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyInferenceConfig",)

    content_template: str | None = None
    """Template of a JSON Lines record."""
    feature_headers: tuple[str, ...] | None = None
    """Names of the features."""
    feature_types: tuple[str, ...] | None = None
    """`numerical`, `categorical` or `text`, a feature each."""
    features_attribute: str | None = None
    """Where the features are in a JSON record (JMESPath)."""
    label_attribute: str | None = None
    """Where the label is in the answer (JMESPath)."""
    label_headers: tuple[str, ...] | None = None
    """Names of the labels."""
    label_index: int | None = None
    """Column of the label in a CSV answer, from 0."""
    max_payload_in_mb: int | None = None
    """Largest request that the explainer sends to the model, in MB."""
    max_record_count: int | None = None
    """Most records that it sends at once."""
    probability_attribute: str | None = None
    """Where the probability is in the answer (JMESPath)."""
    probability_index: int | None = None
    """Column of the probability in a CSV answer, from 0."""


class ClarifyShapBaselineConfig(Block):
    """What explanations compare with."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyShapBaselineConfig",)

    mime_type: str | None = None
    """Type of the baseline, for example `text/csv`."""
    shap_baseline: str | None = None
    """The baseline itself."""
    shap_baseline_uri: str | None = None
    """S3 URL of the baseline."""


class ClarifyTextConfig(Block):
    """How text features are split."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyTextConfig",)

    granularity: str
    """`token`, `sentence` or `paragraph`."""
    language: str
    """Two-letter code of the text's language."""


class ClarifyShapConfig(Block):
    """How SHAP values are computed."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyShapConfig",)

    shap_baseline_config: ClarifyShapBaselineConfig
    """What to compare with."""
    number_of_samples: int | None = None
    """Samples to draw a request."""
    seed: int | None = None
    """Seed of the sampling."""
    use_logit: bool | None = None
    """True explains log-odds instead of probabilities."""
    text_config: ClarifyTextConfig | None = None
    """For text features."""


class ClarifyExplainerConfig(Block):
    """SageMaker Clarify beside the endpoint."""

    shapes: ClassVar = (f"{_TYPE}.ClarifyExplainerConfig",)

    shap_config: ClarifyShapConfig
    """How explanations are computed."""
    enable_explanations: str | None = None
    """Expression (JMESPath) that decides for each record; all records when absent."""
    inference_config: ClarifyInferenceConfig | None = None
    """How requests and answers are read."""


class ExplainerConfig(Block):
    """Explanations beside predictions."""

    shapes: ClassVar = (f"{_TYPE}.ExplainerConfig",)

    clarify_explainer_config: ClarifyExplainerConfig | None = None
    """SageMaker Clarify."""


class MetricsConfig(Block):
    """Which metrics the instances publish, and how often."""

    shapes: ClassVar = (f"{_TYPE}.MetricsConfig",)

    enable_enhanced_metrics: bool | None = None
    """True publishes metrics for each instance, container and GPU."""
    enable_detailed_observability: bool | None = None
    """Detailed dashboards; on by default for new endpoints, and charged for."""
    metric_publish_frequency_in_seconds: int | None = None
    """Seconds between two readings."""


class EndpointConfig(Block):
    """Settings of the endpoint's fleet as a whole."""

    shapes: ClassVar = (_TYPE,)

    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the instances' storage volumes, and no local NVMe disk."""
    data_capture_config: DataCaptureConfig | None = None
    """Copies of requests and answers in S3."""
    async_inference_config: AsyncInferenceConfig | None = None
    """Makes the endpoint asynchronous."""
    explainer_config: ExplainerConfig | None = None
    """Explanations."""
    metrics_config: MetricsConfig | None = None
    """Extra metrics."""
    enable_network_isolation: bool | None = None
    """For inference components: cuts their containers off from the network."""
    vpc_config: VpcConfig | None = None
    """For inference components: puts their containers into your VPC."""

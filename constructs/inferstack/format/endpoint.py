"""The endpoint: the name that clients invoke, how updates roll out, and settings that apply to all variants.

AWS::SageMaker::Endpoint and AWS::SageMaker::EndpointConfig.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.format.async_inference import AsyncInferenceConfig
from inferstack.format.base import Block, Items, KmsKey, Tags
from inferstack.format.model import VpcConfig

# ---------------------------------------------------------------- AWS::SageMaker::Endpoint

_ENDPOINT = "AWS::SageMaker::Endpoint"


OWN = "own"
"""In place of a list of alarms: all alarms of the spec."""
OwnAlarms = Annotated[str, Meta(extra_json_schema={"enum": [OWN]})]


class RollbackAlarm(Block):
    """An alarm that rolls an update back: one of this spec, by its metric, or any other, by its name."""

    shapes: ClassVar = (f"{_ENDPOINT}.Alarm",)

    metric: str | None = None
    """Metric of one or more alarms of this spec, from the default set or from `alarms.rules`. For an
    expression, the `id` of the entry that returns data. On a component, only its own alarms count."""
    alarm_name: str | None = None
    """Name of an existing alarm that is not part of this spec."""


class AutoRollbackConfiguration(Block):
    """Alarms that are watched during an update."""

    shapes: ClassVar = (f"{_ENDPOINT}.AutoRollbackConfig",)

    alarms: Items[RollbackAlarm] | OwnAlarms
    """Alarms that roll the update back as soon as one of them is in ALARM. Write `own` for all alarms of
    this spec, or a list with `{metric}` for some of those and `{alarm_name}` for existing alarms. Alarms of
    a shadow variant roll nothing back. Alarms only count while the update waits, and it only waits with an
    update policy."""


class CapacitySize(Block):
    """A number of instances, or a percentage of the fleet."""

    shapes: ClassVar = (f"{_ENDPOINT}.CapacitySize",)

    type: str
    """`INSTANCE_COUNT` or `CAPACITY_PERCENT`."""
    value: int
    """The number of instances, or the percentage."""


class TrafficRoutingConfiguration(Block):
    """How traffic shifts from the old fleet to the new one."""

    shapes: ClassVar = (f"{_ENDPOINT}.TrafficRoutingConfig",)

    type: str
    """`ALL_AT_ONCE`, `CANARY` or `LINEAR`."""
    canary_size: CapacitySize | None = None
    """With `CANARY`: the part of the fleet that takes traffic first, at most 50 %."""
    linear_step_size: CapacitySize | None = None
    """With `LINEAR`: the part of the fleet that each step shifts, 10 to 50 %."""
    wait_interval_in_seconds: int | None = None
    """How long to watch the alarms between two shifts, in seconds."""


class BlueGreenUpdatePolicy(Block):
    """A complete new fleet starts before the old one is removed; until then, twice the instance quota is
    needed."""

    shapes: ClassVar = (f"{_ENDPOINT}.BlueGreenUpdatePolicy",)

    traffic_routing_configuration: TrafficRoutingConfiguration
    """How traffic shifts to the new fleet."""
    termination_wait_in_seconds: int | None = None
    """How long the old fleet is kept after the last shift, in seconds."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time limit for the whole update, in seconds; must be longer than all waits together."""


class RollingUpdatePolicy(Block):
    """Instances are replaced in batches; needs little spare quota."""

    shapes: ClassVar = (f"{_ENDPOINT}.RollingUpdatePolicy",)

    maximum_batch_size: CapacitySize
    """How many instances to replace at a time: 5 to 50 % of the fleet."""
    wait_interval_in_seconds: int
    """How long to watch the alarms between two batches, in seconds."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time limit for the whole update, in seconds; must be longer than all waits together."""
    rollback_maximum_batch_size: CapacitySize | None = None
    """Batch size of a rollback."""


class DeploymentConfig(Block):
    """How an update of the endpoint is rolled out. Only one of the two policies may be given."""

    shapes: ClassVar = (f"{_ENDPOINT}.DeploymentConfig",)

    blue_green_update_policy: BlueGreenUpdatePolicy | None = None
    """Start a new fleet alongside the old one, then shift the traffic."""
    rolling_update_policy: RollingUpdatePolicy | None = None
    """Replace the instances batch by batch."""
    auto_rollback_configuration: AutoRollbackConfiguration | None = None
    """Alarms that roll the update back."""


class VariantProperty(Block):
    """A variant property that an update can reset."""

    shapes: ClassVar = (f"{_ENDPOINT}.VariantProperty",)

    variant_property_type: str
    """`DesiredInstanceCount` or `DesiredWeight`; SageMaker does not support `DataCaptureConfig` yet."""


class Endpoint(Block):
    """What happens to the endpoint when its configuration changes."""

    shapes: ClassVar = (_ENDPOINT,)

    deployment_config: DeploymentConfig | None = None
    """How updates are rolled out, and which alarms roll them back (deployment guardrails)."""
    retain_all_variant_properties: bool | None = None
    """True keeps instance counts and weights across updates. It is the default if anything scales, since an
    update would otherwise reset the count to `initial_instance_count`."""
    exclude_retained_variant_properties: Items[VariantProperty] | None = None
    """With `retain_all_variant_properties`: the properties that an update resets all the same. If neither
    key is written and retaining is the default, the weights of variants that share the traffic are reset to
    the spec's."""
    retain_deployment_config: bool | None = None
    """True reuses the deployment configuration of the last update."""
    tags: Tags | None = None
    """Tags of the endpoint alone, added to those of the spec; for the same key, this one counts."""


# ---------------------------------------------------------------- AWS::SageMaker::EndpointConfig

_CONFIG = "AWS::SageMaker::EndpointConfig"


class CaptureOption(Block):
    """What data capture records."""

    shapes: ClassVar = (f"{_CONFIG}.CaptureOption",)

    capture_mode: str
    """`Input`, `Output` or `InputAndOutput`."""


class CaptureContentTypeHeader(Block):
    """Content types that are stored as text instead of base64."""

    shapes: ClassVar = (f"{_CONFIG}.CaptureContentTypeHeader",)

    csv_content_types: Items[str] | None = None
    """Content types to treat as CSV."""
    json_content_types: Items[str] | None = None
    """Content types to treat as JSON."""


class DataCaptureConfig(Block):
    """Copies requests and responses to S3."""

    shapes: ClassVar = (f"{_CONFIG}.DataCaptureConfig",)

    destination_s3_uri: str
    """S3 prefix that receives the copies."""
    initial_sampling_percentage: int
    """Percentage of requests to copy; 0 copies none."""
    capture_options: Items[CaptureOption]
    """Whether to copy requests, responses or both."""
    enable_capture: bool | None = None
    """False keeps the configuration but copies nothing."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the copies."""
    capture_content_type_header: CaptureContentTypeHeader | None = None
    """Content types that are stored as text instead of base64."""


class ClarifyInferenceConfig(Block):
    """How the explainer reads requests and responses."""

    shapes: ClassVar = (f"{_CONFIG}.ClarifyInferenceConfig",)

    content_template: str | None = None
    """Template of a JSON Lines record."""
    feature_headers: Items[str] | None = None
    """Names of the features."""
    feature_types: Items[str] | None = None
    """Type of each feature, in order: `numerical`, `categorical` or `text`."""
    features_attribute: str | None = None
    """Where the features are in a JSON record, as a JMESPath expression."""
    label_attribute: str | None = None
    """Where the label is in a JSON response, as a JMESPath expression."""
    label_headers: Items[str] | None = None
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

    shapes: ClassVar = (f"{_CONFIG}.ClarifyShapBaselineConfig",)

    mime_type: str | None = None
    """MIME type of the baseline, for example `text/csv`."""
    shap_baseline: str | None = None
    """The baseline data itself."""
    shap_baseline_uri: str | None = None
    """S3 URL of the baseline."""


class ClarifyTextConfig(Block):
    """How text features are split."""

    shapes: ClassVar = (f"{_CONFIG}.ClarifyTextConfig",)

    granularity: str
    """Unit that text is split into: `token`, `sentence` or `paragraph`."""
    language: str
    """Two-letter code of the language of the text."""


class ClarifyShapConfig(Block):
    """How SHAP values are computed."""

    shapes: ClassVar = (f"{_CONFIG}.ClarifyShapConfig",)

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

    shapes: ClassVar = (f"{_CONFIG}.ClarifyExplainerConfig",)

    shap_config: ClarifyShapConfig
    """How explanations are computed."""
    enable_explanations: str | None = None
    """JMESPath expression that decides which records are explained; if left out, all are."""
    inference_config: ClarifyInferenceConfig | None = None
    """How requests and responses are read."""


class ExplainerConfig(Block):
    """Returns explanations together with predictions."""

    shapes: ClassVar = (f"{_CONFIG}.ExplainerConfig",)

    clarify_explainer_config: ClarifyExplainerConfig | None = None
    """Explanations by SageMaker Clarify."""


class MetricsConfig(Block):
    """Which metrics the instances publish, and how often."""

    shapes: ClassVar = (f"{_CONFIG}.MetricsConfig",)

    enable_enhanced_metrics: bool | None = None
    """True publishes metrics for each instance, container and GPU."""
    enable_detailed_observability: bool | None = None
    """Metrics of containers, GPUs and hosts, which CloudWatch charges for by the gigabyte; on by default."""
    metric_publish_frequency_in_seconds: int | None = None
    """Seconds between two readings of a metric."""


class EndpointConfig(Block):
    """Settings of the endpoint configuration that apply to all variants."""

    shapes: ClassVar = (_CONFIG,)

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
    tags: Tags | None = None
    """Tags of the endpoint configuration alone, added to those of the spec; for the same key, this one
    counts."""

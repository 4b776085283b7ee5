"""AWS::SageMaker::InferenceComponent: a model that shares the endpoint's instances with others."""

from typing import ClassVar

from inferstack.spec.blocks.autoscaling import Autoscaling
from inferstack.spec.blocks.base import Block, Number
from inferstack.spec.blocks.endpoint import AutoRollbackConfiguration
from inferstack.spec.blocks.model import FrameworkImage
from inferstack.spec.blocks.triton import Triton

_TYPE = "AWS::SageMaker::InferenceComponent"


class MetricsEndpoint(Block):
    """A path of the container that serves metrics in Prometheus' format."""

    shapes: ClassVar = (f"{_TYPE}.MetricsEndpoint",)

    metrics_endpoint_path: str
    """Path of the metrics page, for example `/metrics`."""
    metric_publish_frequency_in_seconds: int | None = None
    """Seconds between two readings."""


class ContainerMetricsConfig(Block):
    """The container's own metrics, published to CloudWatch."""

    shapes: ClassVar = (f"{_TYPE}.ContainerMetricsConfig",)

    metrics_endpoints: tuple[MetricsEndpoint, ...]
    """Where the metrics are read."""


class ComponentContainer(Block):
    """The container of an inference component."""

    shapes: ClassVar = (
        f"{_TYPE}.InferenceComponentContainerSpecification",
        f"{_TYPE}.InferenceComponentContainerSpecificationForInstanceType",
    )

    image: str | FrameworkImage | None = None
    """An ECR URI, or `{framework, version}` of an image that AWS publishes."""
    artifact_url: str | None = None
    """S3 URL of the model's `tar.gz`, or of an adapter's files."""
    environment: dict[str, str] | None = None
    """Environment variables of the container. Values are strings: quote numbers and booleans."""
    container_metrics_config: ContainerMetricsConfig | None = None
    """Metrics that the container serves itself."""
    triton: Triton | None = None
    """Model repository in the archive at `artifact_url`, for a Triton image."""


class ComputeResourceRequirements(Block):
    """What one copy reserves on an instance."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentComputeResourceRequirements",)

    number_of_accelerator_devices_required: Number | None = None
    """GPUs or Neuron devices for one copy."""
    number_of_cpu_cores_required: Number | None = None
    """vCPUs for one copy."""
    min_memory_required_in_mb: int | None = None
    """Memory of the host (not of the GPU) that one copy needs, in MB."""
    max_memory_required_in_mb: int | None = None
    """Memory of the host that one copy may use, in MB."""


class StartupParameters(Block):
    """Time limits of a copy's start."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentStartupParameters",)

    model_data_download_timeout_in_seconds: int | None = None
    """Time to download and unpack the model."""
    container_startup_health_check_timeout_in_seconds: int | None = None
    """Time from the container's start until `/ping` must answer."""


class DataCacheConfig(Block):
    """Cache of model files and image on the instances."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentDataCacheConfig",)

    enable_caching: bool
    """True keeps files on the instance, so that further copies start faster."""


class AvailabilityZoneBalance(Block):
    """How evenly copies stand over availability zones."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentAvailabilityZoneBalance",)

    enforcement_mode: str
    """`PERMISSIVE`: balance is tried, not demanded."""
    max_imbalance: int | None = None
    """Largest difference in copies between two zones."""


class SchedulingConfig(Block):
    """Where new copies are placed."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentSchedulingConfig",)

    placement_strategy: str
    """`SPREAD` over instances, or `BINPACK` to fill an instance first."""
    availability_zone_balance: AvailabilityZoneBalance
    """Balance over availability zones."""


class ComponentSpecification(Block):
    """What an inference component runs and what it needs."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentSpecification",)

    container: ComponentContainer | None = None
    """Image and files."""
    model_name: str | None = None
    """Instead of `container`, a model: one under `models`, else a SageMaker model that exists already."""
    base_inference_component_name: str | None = None
    """Makes this an adapter (LoRA) on another component; it then has no compute requirements."""
    compute_resource_requirements: ComputeResourceRequirements | None = None
    """What one copy reserves. Needed unless this is an adapter."""
    startup_parameters: StartupParameters | None = None
    """Time limits of the start."""
    data_cache_config: DataCacheConfig | None = None
    """Cache on the instances."""
    scheduling_config: SchedulingConfig | None = None
    """Placement of copies."""


class ComponentSpecificationForInstanceType(Block):
    """What an inference component runs on one of several instance types."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentSpecificationForInstanceType",)

    instance_type: str
    """The instance type that this specification is for."""
    container: ComponentContainer | None = None
    """Image and files."""
    model_name: str | None = None
    """Instead of `container`, a model: one under `models`, else a SageMaker model that exists already."""
    compute_resource_requirements: ComputeResourceRequirements | None = None
    """What one copy reserves."""
    startup_parameters: StartupParameters | None = None
    """Time limits of the start."""
    data_cache_config: DataCacheConfig | None = None
    """Cache on the instances."""
    scheduling_config: SchedulingConfig | None = None
    """Placement of copies."""


class ComponentRuntimeConfig(Block):
    """How many copies run."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentRuntimeConfig",)

    copy_count: int
    """Copies to start with, at least 1; autoscaling changes the number later, also to 0."""


class ComponentCapacitySize(Block):
    """A number of copies or a share of them."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentCapacitySize",)

    type: str
    """`COPY_COUNT` or `CAPACITY_PERCENT`."""
    value: int
    """The number, or the percentage."""


class ComponentRollingUpdatePolicy(Block):
    """A component is updated in batches of copies."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentRollingUpdatePolicy",)

    maximum_batch_size: ComponentCapacitySize
    """Copies to replace at a time."""
    wait_interval_in_seconds: int
    """Time to watch the alarms between two batches."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time for the whole update; longer than the waits together."""
    rollback_maximum_batch_size: ComponentCapacitySize | None = None
    """Batch size of a rollback."""


class ComponentDeploymentConfig(Block):
    """How an update of the component is rolled out."""

    shapes: ClassVar = (f"{_TYPE}.InferenceComponentDeploymentConfig",)

    rolling_update_policy: ComponentRollingUpdatePolicy
    """Size and pace of the batches."""
    auto_rollback_configuration: AutoRollbackConfiguration | None = None
    """Alarms that undo the update."""


class InferenceComponent(Block):
    """One model on the endpoint: what it runs, how many copies, how it scales."""

    shapes: ClassVar = (_TYPE,)

    specification: ComponentSpecification | None = None
    """What it runs, the same on every instance type."""
    specifications: tuple[ComponentSpecificationForInstanceType, ...] | None = None
    """What it runs on each of 2 to 5 instance types, instead of `specification`."""
    runtime_config: ComponentRuntimeConfig | None = None
    """How many copies to start with. An adapter has no default: it goes with its base."""
    variant_name: str | None = None
    """Variant whose instances it uses; the only one when absent."""
    deployment_config: ComponentDeploymentConfig | None = None
    """How updates are rolled out."""
    autoscaling: Autoscaling | None = None
    """Scaling of the number of copies."""

    @property
    def base_name(self) -> str | None:
        """The component whose adapter this one is; None if it is none."""
        said = self.specification
        return None if said is None else said.base_inference_component_name

"""AWS::SageMaker::InferenceComponent: a model that shares the endpoint's instances with others."""

from typing import ClassVar

from inferstack.catalog.resource_types import COMPONENT_TYPE
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.base import Block, FileBeside, Items, Number, Tags
from inferstack.format.endpoint import AutoRollbackConfiguration
from inferstack.format.model import FrameworkImage, Triton
from inferstack.format.objective import ComponentObjective


class MetricsEndpoint(Block):
    """A path at which the container serves metrics in Prometheus format."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.MetricsEndpoint",)

    metrics_endpoint_path: str
    """Path of the metrics page, for example `/metrics`."""
    metric_publish_frequency_in_seconds: int | None = None
    """Seconds between two readings of the metrics."""


class ContainerMetricsConfig(Block):
    """The container's own metrics, published to CloudWatch."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.ContainerMetricsConfig",)

    metrics_endpoints: Items[MetricsEndpoint]
    """The paths at which the metrics are read."""


class ComponentContainer(Block):
    """The container of an inference component."""

    shapes: ClassVar = (
        f"{COMPONENT_TYPE}.InferenceComponentContainerSpecification",
        f"{COMPONENT_TYPE}.InferenceComponentContainerSpecificationForInstanceType",
    )

    image: str | FrameworkImage | None = None
    """An ECR URI, or `{framework, version}` for an image that AWS publishes."""
    artifact_url: str | None = None
    """S3 URL of the model's `tar.gz`, or of an adapter's files."""
    environment: dict[str, str] | None = None
    """Environment variables of the container. Values are strings: quote numbers and booleans."""
    container_metrics_config: ContainerMetricsConfig | None = None
    """Metrics that the container itself serves."""
    triton: Triton | None = None
    """For a Triton image: the model repository in the archive at `artifact_url`."""
    model_config: FileBeside | None = None
    """A language model's own `config.json`, or a folder that also has the index of its weights, to check the
    endpoint with: see `inferstack describe-model`. For an adapter, the folder of its `adapter_config.json`.
    Nothing of it is deployed."""


class ComputeResourceRequirements(Block):
    """What one copy reserves on an instance."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentComputeResourceRequirements",)

    number_of_accelerator_devices_required: Number | None = None
    """Number of GPUs or Neuron devices for one copy."""
    number_of_cpu_cores_required: Number | None = None
    """Number of vCPUs for one copy."""
    min_memory_required_in_mb: int | None = None
    """Host memory (not GPU memory) that one copy needs, in MB."""
    max_memory_required_in_mb: int | None = None
    """Maximum host memory that one copy may use, in MB."""


class StartupParameters(Block):
    """Time limits for the start of a copy."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentStartupParameters",)

    model_data_download_timeout_in_seconds: int | None = None
    """Time limit for downloading and unpacking the model, in seconds."""
    container_startup_health_check_timeout_in_seconds: int | None = None
    """How long after its start the container may take to answer `/ping`, in seconds."""


class DataCacheConfig(Block):
    """Caching of model files and image on the instances."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentDataCacheConfig",)

    enable_caching: bool
    """True keeps the files on the instance, so that further copies start faster."""


class AvailabilityZoneBalance(Block):
    """How evenly copies are spread over Availability Zones."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentAvailabilityZoneBalance",)

    enforcement_mode: str
    """`PERMISSIVE`: SageMaker tries to keep the balance but does not enforce it."""
    max_imbalance: int | None = None
    """Largest difference in the number of copies between two zones."""


class SchedulingConfig(Block):
    """Where new copies are placed."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentSchedulingConfig",)

    placement_strategy: str
    """`SPREAD` distributes copies over the instances; `BINPACK` fills one instance before the next."""
    availability_zone_balance: AvailabilityZoneBalance
    """How evenly copies are spread over Availability Zones."""


class ComponentSpecification(Block):
    """What an inference component runs and what it needs."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentSpecification",)

    container: ComponentContainer | None = None
    """Image, model files and environment."""
    model_name: str | None = None
    """Instead of `container`: a key under `models`, or the name of an existing SageMaker model."""
    base_inference_component_name: str | None = None
    """Makes this component an adapter (LoRA) of the named component; it then has no compute requirements."""
    compute_resource_requirements: ComputeResourceRequirements | None = None
    """What one copy reserves. Required unless this is an adapter."""
    startup_parameters: StartupParameters | None = None
    """Time limits for the start of a copy."""
    data_cache_config: DataCacheConfig | None = None
    """Caching on the instances."""
    scheduling_config: SchedulingConfig | None = None
    """Where new copies are placed."""


class ComponentSpecificationForInstanceType(Block):
    """What an inference component runs on one of several instance types."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentSpecificationForInstanceType",)

    instance_type: str
    """The instance type that this specification is for."""
    container: ComponentContainer | None = None
    """Image, model files and environment."""
    model_name: str | None = None
    """Instead of `container`: a key under `models`, or the name of an existing SageMaker model."""
    compute_resource_requirements: ComputeResourceRequirements | None = None
    """What one copy reserves."""
    startup_parameters: StartupParameters | None = None
    """Time limits for the start of a copy."""
    data_cache_config: DataCacheConfig | None = None
    """Caching on the instances."""
    scheduling_config: SchedulingConfig | None = None
    """Where new copies are placed."""


class ComponentRuntimeConfig(Block):
    """How many copies run."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentRuntimeConfig",)

    copy_count: int
    """Number of copies to start with, at least 1; autoscaling can change it later, also to 0."""


class ComponentCapacitySize(Block):
    """A number of copies, or a percentage of them."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentCapacitySize",)

    type: str
    """`COPY_COUNT` or `CAPACITY_PERCENT`."""
    value: int
    """The number of copies, or the percentage."""


class ComponentRollingUpdatePolicy(Block):
    """Copies are replaced in batches."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentRollingUpdatePolicy",)

    maximum_batch_size: ComponentCapacitySize
    """How many copies to replace at a time."""
    wait_interval_in_seconds: int
    """How long to watch the alarms between two batches, in seconds."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time limit for the whole update, in seconds; must be longer than all waits together."""
    rollback_maximum_batch_size: ComponentCapacitySize | None = None
    """Batch size of a rollback."""


class ComponentDeploymentConfig(Block):
    """How an update of the component is rolled out."""

    shapes: ClassVar = (f"{COMPONENT_TYPE}.InferenceComponentDeploymentConfig",)

    rolling_update_policy: ComponentRollingUpdatePolicy
    """Size and pace of the batches."""
    auto_rollback_configuration: AutoRollbackConfiguration | None = None
    """Alarms that roll the update back."""


class InferenceComponent(Block):
    """One model on the endpoint: what it runs, how many copies it has, and how it scales."""

    shapes: ClassVar = (COMPONENT_TYPE,)

    specification: ComponentSpecification | None = None
    """What the component runs, the same on every instance type."""
    specifications: Items[ComponentSpecificationForInstanceType] | None = None
    """What the component runs on each of 2 to 5 instance types, instead of `specification`."""
    runtime_config: ComponentRuntimeConfig | None = None
    """How many copies to start with. The default is not for adapters, which run on their base's copies."""
    variant_name: str | None = None
    """Variant whose instances the component uses; if left out, the only variant."""
    deployment_config: ComponentDeploymentConfig | None = None
    """How updates of the component are rolled out."""
    autoscaling: Autoscaling | None = None
    """Autoscaling of the number of copies."""
    objective: ComponentObjective | None = None
    """What the component must do: `inferstack size` finds the copies for it. Nothing of it is deployed."""
    tags: Tags | None = None
    """Tags of this component alone, such as the team that pays for it, added to those of the spec; for the
    same key, this one counts. Changing them replaces nothing."""

    @property
    def base_name(self) -> str | None:
        """Name of the component that this one is an adapter of; None if it is not an adapter."""
        said = self.specification
        return None if said is None else said.base_inference_component_name

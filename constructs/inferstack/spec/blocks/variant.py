"""Production variants of AWS::SageMaker::EndpointConfig: the fleet that answers."""

from typing import ClassVar

from inferstack.spec.blocks.autoscaling import Autoscaling
from inferstack.spec.blocks.base import Block, KmsKey, Number

DEFAULT_VARIANT = "AllTraffic"
"""Name of a variant that the spec does not name, as the SageMaker SDK calls it."""


class CapacityReservationConfig(Block):
    """Use of reserved ML capacity."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.CapacityReservationConfig",)

    capacity_reservation_preference: str | None = None
    """`capacity-reservations-only`: instances come from the reservation or not at all."""
    ml_reservation_arn: str | None = None
    """ARN of the reservation (training plan)."""


class CoreDumpConfig(Block):
    """Where a crashed container's core dump goes."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.CoreDumpConfig",)

    destination_s3_uri: str
    """S3 prefix that receives the dumps."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts them."""


class InstancePool(Block):
    """One instance type among several that a variant may use."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.InstancePool",)

    instance_type: str
    """The instance type of this pool."""
    priority: int
    """1 is tried first."""
    model_name_override: str | None = None
    """Another model for this instance type, for example one compiled for it."""


class ScaleInPolicy(Block):
    """How SageMaker takes instances away from an endpoint of inference components."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ScaleInPolicy",)

    strategy: str
    """`IDLE_RELEASE` removes instances without copies; `CONSOLIDATION` also moves copies together."""
    maximum_step_size: int | None = None
    """Instances to remove at once, at most."""
    cooldown_in_minutes: int | None = None
    """Minutes to wait between two removals."""


class ManagedInstanceScaling(Block):
    """SageMaker adds and removes instances as the copies of inference components need them."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ManagedInstanceScaling",)

    status: str | None = None
    """`ENABLED` or `DISABLED`."""
    min_instance_count: int | None = None
    """Fewest instances. 0 lets the fleet go to nothing when no copy runs."""
    max_instance_count: int | None = None
    """Most instances: the ceiling of what the endpoint can cost."""
    scale_in_policy: ScaleInPolicy | None = None
    """How instances are removed."""


class PrefixAwareRoutingConfig(Block):
    """Tuning of PREFIX_AWARE routing."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.PrefixAwareRoutingConfig",)

    concurrency_threshold: int | None = None
    """Requests in flight above which an instance is passed over despite a matching prefix."""
    prefix_length: int | None = None
    """Bytes of the prompt that are compared."""


class RoutingConfig(Block):
    """How requests are spread over instances or copies."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.RoutingConfig",)

    routing_strategy: str | None = None
    """`LEAST_OUTSTANDING_REQUESTS` suits requests of unequal length; `RANDOM` is SageMaker's default;
    `PREFIX_AWARE` sends prompts with a common beginning to the same place."""
    prefix_aware_routing_config: PrefixAwareRoutingConfig | None = None
    """Only with `PREFIX_AWARE`."""


class ServerlessConfig(Block):
    """Serverless inference: no instances to choose, pay per request."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ServerlessConfig",)

    memory_size_in_mb: int
    """1024 to 6144, in steps of 1024."""
    max_concurrency: int
    """Requests at a time; more are throttled."""
    provisioned_concurrency: int | None = None
    """Places kept warm, at most `max_concurrency`."""


class Variant(Block):
    """A fleet of equal instances behind the endpoint."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ProductionVariant",)

    variant_name: str = DEFAULT_VARIANT
    """Name of the variant, a dimension of its metrics. Changing it resets the variant's scaling."""
    model_name: str | None = None
    """Key under `models` of the model that this variant hosts. Not needed with a single `model`."""
    instance_type: str | None = None
    """ML compute instance, for example `ml.g5.xlarge`. Absent only for serverless or instance pools."""
    initial_instance_count: int | None = None
    """Instances to start with. With autoscaling, later updates keep the count that scaling has reached."""
    initial_variant_weight: Number | None = None
    """Share of the traffic relative to the other variants. 0 gets none."""
    instance_pools: tuple[InstancePool, ...] | None = None
    """Several instance types in order of preference, instead of `instance_type`."""
    serverless_config: ServerlessConfig | None = None
    """Serverless instead of instances."""
    managed_instance_scaling: ManagedInstanceScaling | None = None
    """Instances follow the copies; for endpoints of inference components only."""
    routing_config: RoutingConfig | None = None
    """How requests are spread."""
    volume_size_in_gb: int | None = None
    """Size of the EBS volume for model files, for instance types without local NVMe storage."""
    model_data_download_timeout_in_seconds: int | None = None
    """Time to download and unpack the model."""
    container_startup_health_check_timeout_in_seconds: int | None = None
    """Time from the container's start until `/ping` must answer."""
    variant_instance_provision_timeout_in_seconds: int | None = None
    """Time to find an instance before the next pool is tried."""
    inference_ami_version: str | None = None
    """Host image, which fixes the NVIDIA driver. A container built on a newer CUDA than the driver
    dies without a log."""
    enable_ssm_access: bool | None = None
    """Opens a shell on the instances through AWS Systems Manager, for debugging; needs a network, so no
    `enable_network_isolation`."""
    core_dump_config: CoreDumpConfig | None = None
    """Where core dumps go."""
    capacity_reservation_config: CapacityReservationConfig | None = None
    """Use of reserved capacity."""
    autoscaling: Autoscaling | None = None
    """Scaling of this variant's instance count."""

"""Production variants of AWS::SageMaker::EndpointConfig: the fleet that answers requests."""

from typing import ClassVar

from inferstack.format.autoscaling import Autoscaling
from inferstack.format.base import Block, Items, KmsKey, Number

DEFAULT_VARIANT = "AllTraffic"
"""Name of a variant for which the spec gives none; the SageMaker SDK uses the same one."""


class CapacityReservationConfig(Block):
    """Use of reserved ML capacity."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.CapacityReservationConfig",)

    capacity_reservation_preference: str | None = None
    """`capacity-reservations-only`: instances are only ever taken from the reservation."""
    ml_reservation_arn: str | None = None
    """ARN of the ML capacity reservation (training plan)."""


class CoreDumpConfig(Block):
    """Where the core dump of a crashed container is stored."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.CoreDumpConfig",)

    destination_s3_uri: str
    """S3 prefix for the core dumps."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the core dumps."""


class InstancePool(Block):
    """One of several instance types that a variant may use."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.InstancePool",)

    instance_type: str
    """The instance type of this pool."""
    priority: int
    """Order in which the pools are tried; 1 is tried first."""
    model_name_override: str | None = None
    """A different model for this instance type, for example one compiled for it: a key under `models`, or the
    name of an existing SageMaker model."""


class ScaleInPolicy(Block):
    """How SageMaker removes instances from an endpoint with inference components."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ScaleInPolicy",)

    strategy: str
    """`IDLE_RELEASE` removes instances without copies; `CONSOLIDATION` also moves copies onto fewer
    instances."""
    maximum_step_size: int | None = None
    """Largest number of instances to remove at once."""
    cooldown_in_minutes: int | None = None
    """Minutes to wait between two removals."""


class ManagedInstanceScaling(Block):
    """SageMaker adds and removes instances to fit the copies of the inference components."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ManagedInstanceScaling",)

    status: str | None = None
    """`ENABLED` or `DISABLED`."""
    min_instance_count: int | None = None
    """Minimum number of instances. With 0, the fleet can scale to no instances when no copy is running."""
    max_instance_count: int | None = None
    """Maximum number of instances, and so an upper limit on what the endpoint can cost."""
    scale_in_policy: ScaleInPolicy | None = None
    """How instances are removed."""


class PrefixAwareRoutingConfig(Block):
    """Tuning of `PREFIX_AWARE` routing."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.PrefixAwareRoutingConfig",)

    concurrency_threshold: int | None = None
    """Number of requests in flight above which an instance is skipped even though the prefix matches."""
    prefix_length: int | None = None
    """How many bytes of the prompt are compared."""


class RoutingConfig(Block):
    """How requests are distributed among instances or copies."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.RoutingConfig",)

    routing_strategy: str | None = None
    """`LEAST_OUTSTANDING_REQUESTS` suits requests of unequal length; `RANDOM` is SageMaker's default;
    `PREFIX_AWARE` sends prompts that start with the same text to the same instance or copy."""
    prefix_aware_routing_config: PrefixAwareRoutingConfig | None = None
    """Tuning of the routing; only with `PREFIX_AWARE`."""


class ServerlessConfig(Block):
    """Serverless inference: no instances to choose, and you pay per request."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ServerlessConfig",)

    memory_size_in_mb: int
    """Memory in MB: 1024 to 6144, in steps of 1024."""
    max_concurrency: int
    """Maximum number of concurrent requests; more are throttled."""
    provisioned_concurrency: int | None = None
    """How many concurrent requests to keep warm capacity for; at most `max_concurrency`."""


class Variant(Block):
    """The fleet behind the endpoint: equal instances, instance pools or serverless capacity."""

    shapes: ClassVar = ("AWS::SageMaker::EndpointConfig.ProductionVariant",)

    variant_name: str = DEFAULT_VARIANT
    """Name of the variant, which is also a dimension of its metrics. Changing it resets the variant's
    scaling."""
    model_name: str | None = None
    """The model that this variant hosts: a key under `models`, or the name of an existing SageMaker model,
    which keeps its own role and network. Without it, the variant hosts the single `model`."""
    instance_type: str | None = None
    """ML instance type, for example `ml.g5.xlarge`. Left out only for serverless or instance pools."""
    initial_instance_count: int | None = None
    """Number of instances to start with. With autoscaling, later updates keep the count that scaling has
    reached."""
    initial_variant_weight: Number | None = None
    """Share of the traffic, relative to the weights of the other variants. 0 means no traffic."""
    instance_pools: Items[InstancePool] | None = None
    """Several instance types in order of preference, instead of `instance_type`."""
    serverless_config: ServerlessConfig | None = None
    """Serverless inference instead of instances."""
    managed_instance_scaling: ManagedInstanceScaling | None = None
    """Lets the number of instances follow the number of copies; only with inference components."""
    routing_config: RoutingConfig | None = None
    """How requests are distributed."""
    volume_size_in_gb: int | None = None
    """Size in GB of the EBS volume for model files; only for instance types without local NVMe storage."""
    model_data_download_timeout_in_seconds: int | None = None
    """Time limit for downloading and unpacking the model, in seconds."""
    container_startup_health_check_timeout_in_seconds: int | None = None
    """How long after its start the container may take to answer `/ping`, in seconds."""
    variant_instance_provision_timeout_in_seconds: int | None = None
    """How long to look for an instance before the next pool is tried, in seconds."""
    inference_ami_version: str | None = None
    """AMI of the instances, which determines the NVIDIA driver. A container built on a newer CUDA than the
    driver supports dies without a log. Without it, an image with CUDA 12.5 or above gets the AMI that it
    needs, where that is known, and any other the default of its instance type."""
    enable_ssm_access: bool | None = None
    """True allows shell access to the instances through AWS Systems Manager, for debugging. It needs a
    network, so it does not work with `enable_network_isolation`."""
    core_dump_config: CoreDumpConfig | None = None
    """Where core dumps are stored."""
    capacity_reservation_config: CapacityReservationConfig | None = None
    """Use of reserved capacity."""
    autoscaling: Autoscaling | None = None
    """Autoscaling of this variant's instance count."""

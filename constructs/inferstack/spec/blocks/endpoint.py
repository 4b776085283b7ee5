"""AWS::SageMaker::Endpoint: the name that clients invoke, and how updates of it are rolled out."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.spec.blocks.base import Block

_TYPE = "AWS::SageMaker::Endpoint"


OWN = "own"
"""In place of a list of alarms: all alarms of the spec."""
OwnAlarms = Annotated[str, Meta(extra_json_schema={"enum": [OWN]})]


class RollbackAlarm(Block):
    """An alarm that rolls an update back: one of this spec, by its metric, or any other, by its name."""

    shapes: ClassVar = (f"{_TYPE}.Alarm",)

    metric: str | None = None
    """Metric of one or more alarms of this spec, from the default set or from `alarms.rules`. For an
    expression, the `id` of the entry that returns data. On a component, only its own alarms count."""
    alarm_name: str | None = None
    """Name of an existing alarm that is not part of this spec."""


class AutoRollbackConfiguration(Block):
    """Alarms that are watched during an update."""

    shapes: ClassVar = (f"{_TYPE}.AutoRollbackConfig",)

    alarms: tuple[RollbackAlarm, ...] | OwnAlarms
    """Alarms that roll the update back as soon as one of them is in ALARM. Write `own` for all alarms of
    this spec, or a list with `{metric}` for some of those and `{alarm_name}` for existing alarms. Alarms of
    a shadow variant roll nothing back. Alarms only count while the update waits, and it only waits with an
    update policy."""


class CapacitySize(Block):
    """A number of instances, or a percentage of the fleet."""

    shapes: ClassVar = (f"{_TYPE}.CapacitySize",)

    type: str
    """`INSTANCE_COUNT` or `CAPACITY_PERCENT`."""
    value: int
    """The number of instances, or the percentage."""


class TrafficRoutingConfiguration(Block):
    """How traffic shifts from the old fleet to the new one."""

    shapes: ClassVar = (f"{_TYPE}.TrafficRoutingConfig",)

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

    shapes: ClassVar = (f"{_TYPE}.BlueGreenUpdatePolicy",)

    traffic_routing_configuration: TrafficRoutingConfiguration
    """How traffic shifts to the new fleet."""
    termination_wait_in_seconds: int | None = None
    """How long the old fleet is kept after the last shift, in seconds."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time limit for the whole update, in seconds; must be longer than all waits together."""


class RollingUpdatePolicy(Block):
    """Instances are replaced in batches; needs little spare quota."""

    shapes: ClassVar = (f"{_TYPE}.RollingUpdatePolicy",)

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

    shapes: ClassVar = (f"{_TYPE}.DeploymentConfig",)

    blue_green_update_policy: BlueGreenUpdatePolicy | None = None
    """Start a new fleet beside the old one, then shift the traffic."""
    rolling_update_policy: RollingUpdatePolicy | None = None
    """Replace the instances batch by batch."""
    auto_rollback_configuration: AutoRollbackConfiguration | None = None
    """Alarms that roll the update back."""


class VariantProperty(Block):
    """A variant property that an update can reset."""

    shapes: ClassVar = (f"{_TYPE}.VariantProperty",)

    variant_property_type: str
    """`DesiredInstanceCount` or `DesiredWeight`; SageMaker does not support `DataCaptureConfig` yet."""


class Endpoint(Block):
    """What happens to the endpoint when its configuration changes."""

    shapes: ClassVar = (_TYPE,)

    deployment_config: DeploymentConfig | None = None
    """How updates are rolled out, and which alarms roll them back (deployment guardrails)."""
    retain_all_variant_properties: bool | None = None
    """True keeps instance counts and weights across updates. It is the default if anything scales, since an
    update would otherwise reset the count to `initial_instance_count`."""
    exclude_retained_variant_properties: tuple[VariantProperty, ...] | None = None
    """With `retain_all_variant_properties`: the properties that an update resets all the same. If neither
    key is written and retaining is the default, the weights of variants that share the traffic are reset to
    the spec's."""
    retain_deployment_config: bool | None = None
    """True reuses the deployment configuration of the last update."""

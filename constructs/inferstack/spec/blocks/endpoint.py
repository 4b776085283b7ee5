"""AWS::SageMaker::Endpoint: the name that clients call, and how it changes."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.spec.blocks.base import Block

_TYPE = "AWS::SageMaker::Endpoint"


OWN = "own"
"""Stands for all alarms of the spec."""
OwnAlarms = Annotated[str, Meta(extra_json_schema={"enum": [OWN]})]


class RollbackAlarm(Block):
    """A CloudWatch alarm that undoes an update: of this spec by its metric, any other by its name."""

    shapes: ClassVar = (f"{_TYPE}.Alarm",)

    metric: str | None = None
    """Metric of alarms of this spec, from the default set or from `alarms.rules`; of an expression the
    `id` of what it returns. For a component, of its own alarms."""
    alarm_name: str | None = None
    """Name of an alarm that is there already."""


class AutoRollbackConfiguration(Block):
    """Alarms that are watched during an update."""

    shapes: ClassVar = (f"{_TYPE}.AutoRollbackConfig",)

    alarms: tuple[RollbackAlarm, ...] | OwnAlarms
    """Any of them in ALARM rolls the update back. `own` for all alarms of this spec, or a list of
    `{metric}` for some of those and `{alarm_name}` for alarms that are there already. An alarm of a shadow
    variant undoes nothing. Alarms count while the update waits, which takes an update policy."""


class CapacitySize(Block):
    """A number of instances or a share of the fleet."""

    shapes: ClassVar = (f"{_TYPE}.CapacitySize",)

    type: str
    """`INSTANCE_COUNT` or `CAPACITY_PERCENT`."""
    value: int
    """The number, or the percentage."""


class TrafficRoutingConfiguration(Block):
    """How traffic moves from the old fleet to the new one."""

    shapes: ClassVar = (f"{_TYPE}.TrafficRoutingConfig",)

    type: str
    """`ALL_AT_ONCE`, `CANARY` or `LINEAR`."""
    canary_size: CapacitySize | None = None
    """First share with `CANARY`, at most 50 %."""
    linear_step_size: CapacitySize | None = None
    """Each share with `LINEAR`, 10 to 50 %."""
    wait_interval_in_seconds: int | None = None
    """Time to watch the alarms between two shifts."""


class BlueGreenUpdatePolicy(Block):
    """A whole new fleet is started before the old one goes; needs twice the instance quota meanwhile."""

    shapes: ClassVar = (f"{_TYPE}.BlueGreenUpdatePolicy",)

    traffic_routing_configuration: TrafficRoutingConfiguration
    """How traffic moves over."""
    termination_wait_in_seconds: int | None = None
    """Time the old fleet stays after the last shift."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time for the whole update; longer than the waits together."""


class RollingUpdatePolicy(Block):
    """Instances are replaced in batches; needs little spare quota."""

    shapes: ClassVar = (f"{_TYPE}.RollingUpdatePolicy",)

    maximum_batch_size: CapacitySize
    """Instances to replace at a time, 5 to 50 %."""
    wait_interval_in_seconds: int
    """Time to watch the alarms between two batches."""
    maximum_execution_timeout_in_seconds: int | None = None
    """Time for the whole update; longer than the waits together."""
    rollback_maximum_batch_size: CapacitySize | None = None
    """Batch size of a rollback."""


class DeploymentConfig(Block):
    """How an update of the endpoint is rolled out. One policy only."""

    shapes: ClassVar = (f"{_TYPE}.DeploymentConfig",)

    blue_green_update_policy: BlueGreenUpdatePolicy | None = None
    """New fleet beside the old one."""
    rolling_update_policy: RollingUpdatePolicy | None = None
    """Batch by batch."""
    auto_rollback_configuration: AutoRollbackConfiguration | None = None
    """Alarms that undo the update."""


class VariantProperty(Block):
    """A property of variants."""

    shapes: ClassVar = (f"{_TYPE}.VariantProperty",)

    variant_property_type: str
    """`DesiredInstanceCount` or `DesiredWeight`; SageMaker does not support `DataCaptureConfig` yet."""


class Endpoint(Block):
    """How the endpoint changes when its configuration does."""

    shapes: ClassVar = (_TYPE,)

    deployment_config: DeploymentConfig | None = None
    """Guardrails of an update."""
    retain_all_variant_properties: bool | None = None
    """True keeps instance counts and weights across updates. It is the default where something scales,
    since an update would otherwise reset the count to `initial_instance_count`."""
    exclude_retained_variant_properties: tuple[VariantProperty, ...] | None = None
    """Properties that are reset nevertheless; for `retain_all_variant_properties`. Where that is not said,
    weights that variants share the traffic by are: the spec's are those that count."""
    retain_deployment_config: bool | None = None
    """True reuses the deployment configuration of the last update."""

"""Application Auto Scaling: a scalable target and its policies."""

from typing import ClassVar

from inferstack.spec.blocks.base import Block, Number


class ScalingPolicy(Block):
    """Target tracking: capacity follows a metric so that it stays near the target."""

    shapes: ClassVar = (
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "AWS::ApplicationAutoScaling::ScalingPolicy.TargetTrackingScalingPolicyConfiguration",
    )

    metric: str
    """AWS's name of the metric: a predefined one such as `SageMakerVariantInvocationsPerInstance`,
    or one that SageMaker publishes such as `GPUUtilization`. Namespace, dimensions, statistic and unit
    follow from it."""
    target_value: Number
    """The value to hold, in the metric's own unit. GPUUtilization is a sum over the GPUs of an
    instance and CPUUtilization over its vCPUs: 60 % on four GPUs is 240."""
    scale_in_cooldown: int | None = None
    """Seconds to wait after removing capacity before removing more."""
    scale_out_cooldown: int | None = None
    """Seconds to wait after adding capacity before adding more."""
    disable_scale_in: bool | None = None
    """True: this policy only ever adds capacity."""
    policy_name: str | None = None
    """Name of the policy; the metric's name when absent. Changing it replaces the policy."""


class SuspendedState(Block):
    """Scaling that is switched off for a while without being removed."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget.SuspendedState",)

    dynamic_scaling_in_suspended: bool | None = None
    """True stops policies from removing capacity."""
    dynamic_scaling_out_suspended: bool | None = None
    """True stops policies from adding capacity."""
    scheduled_scaling_suspended: bool | None = None
    """True stops scheduled actions."""


class Autoscaling(Block):
    """Limits and policies for the instances of a variant or the copies of an inference component."""

    shapes: ClassVar = ("AWS::ApplicationAutoScaling::ScalableTarget",)

    min_capacity: int
    """Fewest instances or copies. 0 is possible for inference components and asynchronous endpoints."""
    max_capacity: int
    """Most instances or copies."""
    policies: tuple[ScalingPolicy, ...] = ()
    """Several policies work together: the one that asks for most capacity wins."""
    suspended_state: SuspendedState | None = None
    """Which kinds of scaling are paused."""

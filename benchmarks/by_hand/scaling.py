"""Scalable targets, policies, and the alarm that wakes a component."""

from collections.abc import Iterator
from typing import Any

from aws_cdk import CfnResource, Stack, aws_applicationautoscaling as scaling, aws_cloudwatch as cloudwatch

from benchmarks.by_hand.components import Component
from benchmarks.by_hand.names import VARIANT
from benchmarks.family import Endpoint

Policy = scaling.CfnScalingPolicy
Tracking = Policy.TargetTrackingScalingPolicyConfigurationProperty


def variant_scaling(stack: Stack, endpoint: Endpoint, made: CfnResource) -> None:
    """Scaling of the instances."""
    target = scaling.CfnScalableTarget(
        stack,
        f"ScalableTarget{VARIANT}",
        service_namespace="sagemaker",
        scalable_dimension="sagemaker:variant:DesiredInstanceCount",
        resource_id=f"endpoint/{endpoint.name}/variant/{VARIANT}",
        min_capacity=endpoint.fewest,
        max_capacity=endpoint.most,
    )
    target.add_resource_dependency(made)
    for metric, tracking in _variant_policies(endpoint):
        _policy(stack, f"{VARIANT}{metric}", metric, target, tracking)


def _variant_policies(endpoint: Endpoint) -> Iterator[tuple[str, Tracking]]:
    match endpoint.kind:
        case "single-model":
            yield _predefined(
                "SageMakerVariantInvocationsPerInstance", endpoint.target, scale_in_cooldown=600
            )
            yield _customized(endpoint, "CPUUtilization", 240)
        case "multi-model":
            yield _customized(endpoint, "GPUUtilization", 60, scale_in_cooldown=600, scale_out_cooldown=200)
        case "ensemble":
            yield _predefined("SageMakerVariantConcurrentRequestsPerModelHighResolution", endpoint.target)


def component_scaling(stack: Stack, endpoint: Endpoint, part: Component, made: CfnResource) -> None:
    """Scaling of a component's copies, down to none and up again."""
    target = scaling.CfnScalableTarget(
        stack,
        f"ScalableTarget{part.id_suffix}",
        service_namespace="sagemaker",
        scalable_dimension="sagemaker:inference-component:DesiredCopyCount",
        resource_id=f"inference-component/{part.name}",
        min_capacity=0,
        max_capacity=4,
    )
    target.add_resource_dependency(made)
    cooldowns = {"scale_in_cooldown": 300, "scale_out_cooldown": 300} if part.is_split else {}
    predefined = _predefined("SageMakerInferenceComponentInvocationsPerCopy", endpoint.target, **cooldowns)
    metric, tracking = predefined
    _policy(stack, f"{part.id_suffix}{metric}", metric, target, tracking)
    _wake_up(stack, part, target)


def _policy(
    stack: Stack, id_suffix: str, name: str, target: scaling.CfnScalableTarget, tracking: Tracking
) -> None:
    Policy(
        stack,
        f"ScalingPolicy{id_suffix}",
        policy_name=name,
        policy_type="TargetTrackingScaling",
        scaling_target_id=target.ref,
        target_tracking_scaling_policy_configuration=tracking,
    )


def _predefined(metric: str, target_value: int, **cooldowns: int) -> tuple[str, Tracking]:
    named = Policy.PredefinedMetricSpecificationProperty(predefined_metric_type=metric)
    settings: dict[str, Any] = {"target_value": target_value, **cooldowns}
    return metric, Tracking(predefined_metric_specification=named, **settings)


def _customized(endpoint: Endpoint, metric: str, target: int, **cooldowns: int) -> tuple[str, Tracking]:
    dimension = Policy.MetricDimensionProperty
    measured = Policy.CustomizedMetricSpecificationProperty(
        namespace="/aws/sagemaker/Endpoints",
        metric_name=metric,
        dimensions=[
            dimension(name="EndpointName", value=endpoint.name),
            dimension(name="VariantName", value=VARIANT),
        ],
        statistic="Average",
        unit="Percent",
    )
    settings: dict[str, Any] = {"target_value": target, **cooldowns}
    return metric, Tracking(customized_metric_specification=measured, **settings)


def _wake_up(stack: Stack, part: Component, target: scaling.CfnScalableTarget) -> None:
    step = Policy.StepAdjustmentProperty(metric_interval_lower_bound=0, scaling_adjustment=1)
    steps = Policy.StepScalingPolicyConfigurationProperty(
        adjustment_type="ChangeInCapacity",
        cooldown=900,
        metric_aggregation_type="Maximum",
        step_adjustments=[step],
    )
    policy = Policy(
        stack,
        f"StepPolicy{part.id_suffix}WakeUp",
        policy_name="WakeUp",
        policy_type="StepScaling",
        scaling_target_id=target.ref,
        step_scaling_policy_configuration=steps,
    )
    _wake_up_alarm(stack, part, policy.ref)


def _wake_up_alarm(stack: Stack, part: Component, action: str) -> None:
    metric = "NoCapacityInvocationFailures"
    where = cloudwatch.CfnAlarm.DimensionProperty(name="InferenceComponentName", value=part.name)
    cloudwatch.CfnAlarm(
        stack,
        f"StepAlarm{part.id_suffix}WakeUp",
        alarm_description=(
            f"Maximum of {metric} of {part.name} in {part.endpoint} reaches 1. Capacity changes by a step."
        ),
        namespace="AWS/SageMaker",
        metric_name=metric,
        dimensions=[where],
        statistic="Maximum",
        period=60,
        evaluation_periods=1,
        comparison_operator="GreaterThanOrEqualToThreshold",
        threshold=1,
        treat_missing_data="missing",
        alarm_actions=[action],
    )

"""The spec format: one frozen class per block. Everything else about the format is derived from these.

To build a spec in Python, import the classes from here: ``from inferstack.spec.blocks import Variant``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inferstack.spec.blocks.alarms import AlarmRule, Alarms, Dashboard
    from inferstack.spec.blocks.autoscaling import (
        Autoscaling,
        CustomizedMetricSpecification,
        ScalableTargetAction,
        ScalingPolicy,
        ScheduledAction,
        StepAdjustment,
        StepPolicy,
        SuspendedState,
        TargetTrackingMetric,
        TargetTrackingMetricDataQuery,
        TargetTrackingMetricStat,
    )
    from inferstack.spec.blocks.endpoint import (
        AutoRollbackConfiguration,
        BlueGreenUpdatePolicy,
        CapacitySize,
        DeploymentConfig,
        Endpoint,
        RollbackAlarm,
        RollingUpdatePolicy,
        TrafficRoutingConfiguration,
        VariantProperty,
    )
    from inferstack.spec.blocks.endpoint_config import (
        AsyncClientConfig,
        AsyncInferenceConfig,
        AsyncNotificationConfig,
        AsyncOutputConfig,
        CaptureContentTypeHeader,
        CaptureOption,
        ClarifyExplainerConfig,
        ClarifyInferenceConfig,
        ClarifyShapBaselineConfig,
        ClarifyShapConfig,
        ClarifyTextConfig,
        DataCaptureConfig,
        EndpointConfig,
        ExplainerConfig,
        MetricsConfig,
    )
    from inferstack.spec.blocks.execution_role import ExecutionRole, PolicyStatement
    from inferstack.spec.blocks.inference_component import (
        AvailabilityZoneBalance,
        ComponentCapacitySize,
        ComponentContainer,
        ComponentDeploymentConfig,
        ComponentRollingUpdatePolicy,
        ComponentRuntimeConfig,
        ComponentSpecification,
        ComponentSpecificationForInstanceType,
        ComputeResourceRequirements,
        ContainerMetricsConfig,
        DataCacheConfig,
        InferenceComponent,
        MetricsEndpoint,
        SchedulingConfig,
        StartupParameters,
    )
    from inferstack.spec.blocks.kinds import (
        EnsembleSpec,
        Environment,
        Ignore,
        InferenceComponentsSpec,
        ModelBackedSpec,
        ModelSpec,
        MultiModelSpec,
        PipelineSpec,
        SingleModelSpec,
    )
    from inferstack.spec.blocks.load_test import (
        LatencyThreshold,
        LoadPhase,
        LoadStairs,
        LoadTest,
        StoppingConditions,
        TrafficPattern,
    )
    from inferstack.spec.blocks.model import (
        Container,
        FrameworkImage,
        HubAccessConfig,
        ImageConfig,
        InferenceExecutionConfig,
        Model,
        ModelAccessConfig,
        ModelDataSource,
        MultiModelConfig,
        NamedModel,
        PipelineContainer,
        RepositoryAuthConfig,
        S3DataSource,
        VpcConfig,
    )
    from inferstack.spec.blocks.triton import Triton, TritonArchive
    from inferstack.spec.blocks.variant import (
        CapacityReservationConfig,
        CoreDumpConfig,
        InstancePool,
        ManagedInstanceScaling,
        PrefixAwareRoutingConfig,
        RoutingConfig,
        ScaleInPolicy,
        ServerlessConfig,
        Variant,
    )
    from inferstack.spec.blocks.watched import (
        AlarmMetric,
        AlarmMetricDataQuery,
        AlarmMetricStat,
        MetricDimension,
        Watched,
    )

__all__ = [
    "AlarmMetric",
    "AlarmMetricDataQuery",
    "AlarmMetricStat",
    "AlarmRule",
    "Alarms",
    "AsyncClientConfig",
    "AsyncInferenceConfig",
    "AsyncNotificationConfig",
    "AsyncOutputConfig",
    "AutoRollbackConfiguration",
    "Autoscaling",
    "AvailabilityZoneBalance",
    "BlueGreenUpdatePolicy",
    "CapacityReservationConfig",
    "CapacitySize",
    "CaptureContentTypeHeader",
    "CaptureOption",
    "ClarifyExplainerConfig",
    "ClarifyInferenceConfig",
    "ClarifyShapBaselineConfig",
    "ClarifyShapConfig",
    "ClarifyTextConfig",
    "ComponentCapacitySize",
    "ComponentContainer",
    "ComponentDeploymentConfig",
    "ComponentRollingUpdatePolicy",
    "ComponentRuntimeConfig",
    "ComponentSpecification",
    "ComponentSpecificationForInstanceType",
    "ComputeResourceRequirements",
    "Container",
    "ContainerMetricsConfig",
    "CoreDumpConfig",
    "CustomizedMetricSpecification",
    "Dashboard",
    "DataCacheConfig",
    "DataCaptureConfig",
    "DeploymentConfig",
    "Endpoint",
    "EndpointConfig",
    "EnsembleSpec",
    "Environment",
    "ExecutionRole",
    "ExplainerConfig",
    "FrameworkImage",
    "HubAccessConfig",
    "Ignore",
    "ImageConfig",
    "InferenceComponent",
    "InferenceComponentsSpec",
    "InferenceExecutionConfig",
    "InstancePool",
    "LatencyThreshold",
    "LoadPhase",
    "LoadStairs",
    "LoadTest",
    "ManagedInstanceScaling",
    "MetricDimension",
    "MetricsConfig",
    "MetricsEndpoint",
    "Model",
    "ModelAccessConfig",
    "ModelBackedSpec",
    "ModelDataSource",
    "ModelSpec",
    "MultiModelConfig",
    "MultiModelSpec",
    "NamedModel",
    "PipelineContainer",
    "PipelineSpec",
    "PolicyStatement",
    "PrefixAwareRoutingConfig",
    "RepositoryAuthConfig",
    "RollbackAlarm",
    "RollingUpdatePolicy",
    "RoutingConfig",
    "S3DataSource",
    "ScalableTargetAction",
    "ScaleInPolicy",
    "ScalingPolicy",
    "ScheduledAction",
    "SchedulingConfig",
    "ServerlessConfig",
    "SingleModelSpec",
    "StartupParameters",
    "StepAdjustment",
    "StepPolicy",
    "StoppingConditions",
    "SuspendedState",
    "TargetTrackingMetric",
    "TargetTrackingMetricDataQuery",
    "TargetTrackingMetricStat",
    "TrafficPattern",
    "TrafficRoutingConfiguration",
    "Triton",
    "TritonArchive",
    "Variant",
    "VariantProperty",
    "VpcConfig",
    "Watched",
]

_HOMES = (
    "alarms",
    "autoscaling",
    "endpoint",
    "endpoint_config",
    "execution_role",
    "inference_component",
    "kinds",
    "load_test",
    "model",
    "triton",
    "variant",
    "watched",
)

# Type checkers have seen the classes above; if they saw this function too, they would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A class by its name. On demand: code that only reads specs imports just the modules it needs."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415

        homes = (import_module(f"{__name__}.{home}") for home in _HOMES)
        return next(vars(home)[name] for home in homes if name in vars(home))


def __dir__() -> list[str]:
    # Names that are imported on demand are not in globals() yet, and completion in a shell asks here.
    return sorted({*globals(), *__all__})

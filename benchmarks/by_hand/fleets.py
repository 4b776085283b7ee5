"""Endpoint configurations and endpoints."""

from aws_cdk import Stack, aws_sagemaker as sagemaker

from benchmarks.by_hand.names import VARIANT
from benchmarks.family import Endpoint

Config = sagemaker.CfnEndpointConfig
Live = sagemaker.CfnEndpoint


def model_config(stack: Stack, endpoint: Endpoint, model: sagemaker.CfnModel) -> Config:
    """A fleet that hosts a model."""
    is_single = endpoint.kind == "single-model"
    variant = Config.ProductionVariantProperty(
        variant_name=VARIANT,
        model_name=model.attr_model_name,
        instance_type=endpoint.instance_type,
        initial_instance_count=endpoint.fewest,
        container_startup_health_check_timeout_in_seconds=600 if is_single else None,
        inference_ami_version="al2023-ami-sagemaker-inference-gpu-4-1",
    )
    capture = _capture(endpoint) if is_single else None
    return Config(stack, "EndpointConfig", production_variants=[variant], data_capture_config=capture)


def _capture(endpoint: Endpoint) -> Config.DataCaptureConfigProperty:
    return Config.DataCaptureConfigProperty(
        destination_s3_uri=f"s3://acme-captured/{endpoint.name}/",
        initial_sampling_percentage=5,
        capture_options=[Config.CaptureOptionProperty(capture_mode="InputAndOutput")],
    )


def component_config(stack: Stack, endpoint: Endpoint, role_arn: str) -> Config:
    """A fleet for inference components."""
    managed = Config.ManagedInstanceScalingProperty(
        status="ENABLED", min_instance_count=endpoint.fewest, max_instance_count=endpoint.most
    )
    variant = Config.ProductionVariantProperty(
        variant_name=VARIANT,
        instance_type=endpoint.instance_type,
        initial_instance_count=endpoint.fewest,
        managed_instance_scaling=managed,
        routing_config=Config.RoutingConfigProperty(routing_strategy="LEAST_OUTSTANDING_REQUESTS"),
        container_startup_health_check_timeout_in_seconds=600,
        inference_ami_version="al2-ami-sagemaker-inference-gpu-3-1",
    )
    return Config(stack, "EndpointConfig", execution_role_arn=role_arn, production_variants=[variant])


def endpoint(stack: Stack, endpoint: Endpoint, config: Config) -> Live:
    """The endpoint; an ensemble is updated by a canary."""
    return Live(
        stack,
        "Endpoint",
        endpoint_name=endpoint.name,
        endpoint_config_name=config.attr_endpoint_config_name,
        retain_all_variant_properties=True,
        deployment_config=_canary(endpoint) if endpoint.kind == "ensemble" else None,
    )


def _canary(endpoint: Endpoint) -> Live.DeploymentConfigProperty:
    routing = Live.TrafficRoutingConfigProperty(
        type="CANARY",
        canary_size=Live.CapacitySizeProperty(type="CAPACITY_PERCENT", value=10),
        wait_interval_in_seconds=300,
    )
    policy = Live.BlueGreenUpdatePolicyProperty(
        traffic_routing_configuration=routing,
        termination_wait_in_seconds=300,
        maximum_execution_timeout_in_seconds=3600,
    )
    alarm = Live.AlarmProperty(alarm_name=f"{endpoint.name}-slo")
    rollback = Live.AutoRollbackConfigProperty(alarms=[alarm])
    return Live.DeploymentConfigProperty(
        blue_green_update_policy=policy, auto_rollback_configuration=rollback
    )

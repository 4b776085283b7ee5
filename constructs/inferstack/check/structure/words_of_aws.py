"""Words of boto3, CloudFormation, Terraform, CDK and SageMaker's Python SDK for what a spec has another key
for, by the block in which they are written.

They are too different from the keys to be found by similarity, or similar to the wrong one: a `role` is no
role of `invokers`, and `output_path` no `s3_input_path`.
"""

from inferstack.format.kinds import KINDS

_ROLES = ("role", "role_arn", "iam_role", "iam_role_arn", "sagemaker_role", "execution_role_arn")
_KMS_KEYS = ("kms_key", "kms_key_id", "kms_key_arn", "volume_kms_key_id")
_IMAGES = ("image_uri", "image_url", "ecr_image", "container_image")
_MODEL_FILES = ("model_data", "model_uri", "model_artifact", "model_artifacts", "artifact_uri")
_VERSIONS = ("framework_version", "transformers_version")
_BASE_VERSIONS = ("pytorch_version", "tensorflow_version")
_COUNTS = ("instance_count", "num_instances", "desired_instance_count", "initial_count")
_WEIGHTS = ("weight", "variant_weight", "desired_weight")
_ENVIRONMENTS = ("env", "env_vars", "environment_variables")
_ACCELERATORS = ("gpu", "gpus", "num_gpus", "accelerators", "num_accelerators")
_CPUS = ("cpu", "cpus", "num_cpus", "cpu_cores")

_ASYNC = "endpoint_config.async_inference_config"
_CAPTURE = "endpoint_config.data_capture_config"
_SHIFT = "deployment_config.blue_green_update_policy.traffic_routing_configuration"
_ROLLBACK = "deployment_config.auto_rollback_configuration"

_OF_ASYNC = {
    "output_path": "output_config.s3_output_path",
    "failure_path": "output_config.s3_failure_path",
    "success_topic": "output_config.notification_config.success_topic",
    "error_topic": "output_config.notification_config.error_topic",
    "max_concurrent_invocations": "client_config.max_concurrent_invocations_per_instance",
    "kms_key": "output_config.kms_key_id",
}
_OF_A_VARIANT = {
    **dict.fromkeys(_COUNTS, "initial_instance_count"),
    **dict.fromkeys(_WEIGHTS, "initial_variant_weight"),
    "serverless_inference_config": "serverless_config",
    "memory_size": "serverless_config.memory_size_in_mb",
    "volume_size": "volume_size_in_gb",
    "model_data_download_timeout": "model_data_download_timeout_in_seconds",
    "container_startup_health_check_timeout": "container_startup_health_check_timeout_in_seconds",
    "health_check_timeout": "container_startup_health_check_timeout_in_seconds",
}
_OF_A_CONTAINER = {
    **dict.fromkeys(_IMAGES, "image"),
    **dict.fromkeys((*_MODEL_FILES, "artifact_url"), "model_data_url"),
    **dict.fromkeys(_ENVIRONMENTS, "environment"),
    **dict.fromkeys(_VERSIONS, "image.version"),
    **dict.fromkeys(_BASE_VERSIONS, "image.base_framework_version"),
    "model_package_arn": "model_package_name",
    "model_package_group_name": "model_package.group",
}
_OF_A_MODEL = {
    **_OF_A_CONTAINER,
    "subnet_ids": "vpc_config.subnets",
    "security_groups": "vpc_config.security_group_ids",
}
_OF_A_COMPONENTS_CONTAINER = {
    **dict.fromkeys(_IMAGES, "image"),
    **dict.fromkeys((*_MODEL_FILES, "model_data_url"), "artifact_url"),
    **dict.fromkeys(_ENVIRONMENTS, "environment"),
}
_OF_RESOURCES = {
    **dict.fromkeys(_ACCELERATORS, "number_of_accelerator_devices_required"),
    **dict.fromkeys(_CPUS, "number_of_cpu_cores_required"),
    "memory": "min_memory_required_in_mb",
}


def _below(block: str, words: dict[str, str]) -> dict[str, str]:
    return {word: f"{block}.{path}" for word, path in words.items()}


_OF_A_SPECIFICATION = {
    **_below("container", _OF_A_COMPONENTS_CONTAINER),
    **_below("compute_resource_requirements", _OF_RESOURCES),
    "resources": "compute_resource_requirements",
    "health_check_timeout": "startup_parameters.container_startup_health_check_timeout_in_seconds",
}
_OF_EACH_SPEC = {
    **dict.fromkeys(_ROLES, "execution_role"),
    "production_variants": "variants",
    **_below("variant", _OF_A_VARIANT),
    **dict.fromkeys(_KMS_KEYS, "endpoint_config.kms_key_id"),
    "async_config": _ASYNC,
    **_below(_ASYNC, {key: path for key, path in _OF_ASYNC.items() if key != "kms_key"}),
    "notification_config": f"{_ASYNC}.output_config.notification_config",
    "data_capture": _CAPTURE,
    "destination_s3_uri": f"{_CAPTURE}.destination_s3_uri",
    "sampling_percentage": f"{_CAPTURE}.initial_sampling_percentage",
    "rollback_alarms": f"endpoint.{_ROLLBACK}.alarms",
    "schedules": "autoscaling.scheduled_actions",
}
_OF_A_SPEC_WITH_A_MODEL = {
    **_OF_EACH_SPEC,
    "shadow_production_variants": "shadow_variants",
    **_below("model", {key: path for key, path in _OF_A_MODEL.items() if key != "env"}),
    "subnets": "model.vpc_config.subnets",
    "security_group_ids": "model.vpc_config.security_group_ids",
}
_NETWORK = ("subnets", "security_group_ids")

ELSEWHERE_CALLED: dict[str, dict[str, str]] = {
    **{kind.__name__: _OF_A_SPEC_WITH_A_MODEL for kind in KINDS},
    "InferenceComponentsSpec": {
        **_OF_EACH_SPEC,
        **{key: f"endpoint_config.vpc_config.{key}" for key in _NETWORK},
        "subnet_ids": "endpoint_config.vpc_config.subnets",
        "security_groups": "endpoint_config.vpc_config.security_group_ids",
    },
    "Model": _OF_A_MODEL,
    "NamedModel": _OF_A_MODEL,
    "PipelineContainer": _OF_A_CONTAINER,
    "ComponentContainer": _OF_A_COMPONENTS_CONTAINER,
    "ComponentSpecification": _OF_A_SPECIFICATION,
    "ComponentSpecificationForInstanceType": _OF_A_SPECIFICATION,
    "InferenceComponent": {
        **_below("specification", _OF_A_SPECIFICATION),
        "resource_requirements": "specification.compute_resource_requirements",
        **dict.fromkeys(("copies", "num_copies", "initial_copy_count"), "runtime_config.copy_count"),
        **dict.fromkeys(("min_copies", "min_copy_count", "min_capacity"), "autoscaling.min_capacity"),
        **dict.fromkeys(("max_copies", "max_copy_count", "max_capacity"), "autoscaling.max_capacity"),
        "variant": "variant_name",
    },
    "ComputeResourceRequirements": _OF_RESOURCES,
    "Variant": {**_OF_A_VARIANT, **dict.fromkeys(_KMS_KEYS, "endpoint_config.kms_key_id")},
    # SageMaker counts instances, Application Auto Scaling the capacity of whatever it scales.
    "ManagedInstanceScaling": {"min_capacity": "min_instance_count", "max_capacity": "max_instance_count"},
    "ScalableTargetAction": {"min_instance_count": "min_capacity", "max_instance_count": "max_capacity"},
    "Autoscaling": {
        **dict.fromkeys(("min_instance_count", "min_instances"), "min_capacity"),
        **dict.fromkeys(("max_instance_count", "max_instances"), "max_capacity"),
        **dict.fromkeys(("target_tracking", "target_tracking_policies"), "policies"),
        "step_scaling": "step_policies",
    },
    "ScalingPolicy": {
        **dict.fromkeys(("metric_name", "metric_type", "predefined_metric"), "metric"),
        "predefined_metric_type": "metric",
        "target": "target_value",
    },
    "StepPolicy": {"alarm_actions": "actions", "predefined_metric_type": "metric"},
    # Terraform repeats a block for each entry of the list.
    "CustomizedMetricSpecification": {"metric_query": "metrics"},
    "Alarms": {"alarm_actions": "actions"},
    "AlarmRule": {
        "alarm_actions": "actions",
        **dict.fromkeys(("metric_query", "metric_data_queries"), "metrics"),
        **dict.fromkeys(("description", "runbook"), "alarm_description"),
        "name": "alarm_name",
        "extended_statistic": "statistic",
        "variant": "variant_name",
    },
    "CompositeAlarm": {"alarm_actions": "actions"},
    "RollbackAlarm": {"metric_name": "metric"},
    "EndpointConfig": {
        **{key: f"async_inference_config.{path}" for key, path in _OF_ASYNC.items() if key != "kms_key"},
        "sampling_percentage": "data_capture_config.initial_sampling_percentage",
    },
    "AsyncInferenceConfig": _OF_ASYNC,
    "AsyncOutputConfig": {
        "output_path": "s3_output_path",
        **dict.fromkeys(("failure_path", "s3_error_path"), "s3_failure_path"),
    },
    "DataCaptureConfig": {"output_path": "destination_s3_uri", "enabled": "enable_capture"},
    "Endpoint": {
        "canary_size": f"{_SHIFT}.canary_size",
        "linear_step_size": f"{_SHIFT}.linear_step_size",
        "auto_rollback_config": _ROLLBACK,
        "rollback_alarms": f"{_ROLLBACK}.alarms",
    },
    "ExecutionRole": {
        **dict.fromkeys(("policy", "policies", "inline_policies"), "statements"),
        "managed_policies": "managed_policy_arns",
    },
}
"""By the name of a block's class: a word in snake_case, and the path of the key that it stands for, from this
block or else from the top of the spec.
"""

"""Keys that stand for the same thing under two names: AWS's of another block, or those of SageMaker's SDK.

No likeness leads from one to the other, so that they are listed.
"""

from collections.abc import Collection

from inferstack.spec.blocks.kinds import KINDS

CALLED_HERE = {
    # A model has `ModelDataUrl`, the container of an inference component `ArtifactUrl`.
    "artifact_url": "model_data_url",
    "model_data_url": "artifact_url",
    "model_data": "artifact_url",
    "env": "environment",
    "environment_variables": "environment",
    # SageMaker counts instances, Application Auto Scaling the capacity of whatever it scales.
    "min_capacity": "min_instance_count",
    "max_capacity": "max_instance_count",
    "min_instance_count": "min_capacity",
    "max_instance_count": "max_capacity",
    "production_variants": "variants",
    "shadow_production_variants": "shadow_variants",
    "role_arn": "execution_role",
    "cpu": "number_of_cpu_cores_required",
    "gpu": "number_of_accelerator_devices_required",
    "memory": "min_memory_required_in_mb",
}
"""Where a block has the second key, the first one means it."""
NAMED_BY = {
    "Variant": "variant_name",
    "ScalingPolicy": "policy_name",
    "StepPolicy": "policy_name",
    "ScheduledAction": "scheduled_action_name",
    "RollbackAlarm": "alarm_name",
    "Dashboard": "dashboard_name",
    **dict.fromkeys((kind.__name__ for kind in KINDS), "endpoint_name"),
}
"""Where a block has a name, `name` means that; likeness would lead to the name of something else."""

_NO_NAME = "remove it: {} get no name, so that an update can make the new one beside the old one"
_NO_MODEL_NAME = f"{_NO_NAME.format('models')}; under `models`, the key is what variants and components name"
_NO_CONFIG_NAME = _NO_NAME.format("endpoint configurations")
_NO_ALARM_NAME = "remove it: CloudFormation gives the alarm its name"
_ITS_KEY = "remove it: its name is the key that it stands under"
_FOR_A_MODEL = "for a model under `models`, which `model_name` names instead of `container`"
_ENDPOINT_NAME = "write `endpoint_name` at the top of the spec"
NOT_A_KEY_HERE = {
    ("Model", "primary_container"): "write what stands in it under `model` itself",
    ("Model", "mode"): (
        "remove it: `kind` sets it, `kind: multi-model` for MultiModel, `kind: single-model` for SingleModel"
    ),
    ("Model", "name"): _NO_MODEL_NAME,
    ("Model", "model_name"): _NO_MODEL_NAME,
    ("EndpointConfig", "name"): _NO_CONFIG_NAME,
    ("EndpointConfig", "endpoint_config_name"): _NO_CONFIG_NAME,
    ("Endpoint", "name"): _ENDPOINT_NAME,
    ("Endpoint", "endpoint_name"): _ENDPOINT_NAME,
    ("AlarmRule", "name"): _NO_ALARM_NAME,
    ("AlarmRule", "alarm_name"): _NO_ALARM_NAME,
    ("ComponentContainer", "model_data_source"): (
        f"write the URL of a tar.gz as `artifact_url`; plain files are {_FOR_A_MODEL}"
    ),
    ("ComponentContainer", "model_package_name"): f"a model package is {_FOR_A_MODEL}",
    ("ComponentContainer", "image_config"): f"a private registry is {_FOR_A_MODEL}",
    ("InferenceComponent", "name"): _ITS_KEY,
    ("InferenceComponent", "inference_component_name"): _ITS_KEY,
}
"""Keys that a block, given by the name of its class, does not have, and what to do about each."""


def said_otherwise(key: str, block: str, known: Collection[str]) -> str | None:
    """How to say in a block, given by the name of its class, what such a key says elsewhere."""
    name = NAMED_BY.get(block) if key == "name" else CALLED_HERE.get(key)
    return f"it is called `{name}` here" if name in known else NOT_A_KEY_HERE.get((block, key))

"""Keys that stand for the same thing under two names: AWS's of another block, or those of SageMaker's SDK.

No likeness leads from one to the other, so that they are listed.
"""

from collections.abc import Collection

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
_NOT_A_KEY_HERE = {
    ("Model", "primary_container"): "write what stands in it under `model` itself",
    ("ComponentContainer", "model_data_source"): (
        "write the URL of a tar.gz as `artifact_url`; a SageMaker model that has plain files "
        "is named by `model_name`, instead of `container`"
    ),
    ("InferenceComponent", "inference_component_name"): "remove it: its name is the key that it stands under",
}


def said_otherwise(key: str, block: str, known: Collection[str]) -> str | None:
    """How to say in a block, given by the name of its class, what such a key says elsewhere."""
    name = CALLED_HERE.get(key)
    return f"it is called `{name}` here" if name in known else _NOT_A_KEY_HERE.get((block, key))

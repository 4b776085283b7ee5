"""Specs in a few lines of YAML, and what they resolve to."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from inferstack.check.load import parse_spec
from inferstack.resolve import resolve_template

Template = dict[str, Any]
Resolved = Callable[..., Template]

BASES = {
    "single": """
        kind: single-model
        endpoint_name: one
        model: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/one/model.tar.gz}
        variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 2}
    """,
    "multi": """
        kind: multi-model
        endpoint_name: many
        model: {image: {framework: triton, version: "25.09"}, model_data_url: s3://models/many/}
        variant: {instance_type: ml.g5.xlarge, initial_instance_count: 2}
    """,
    "ensemble": """
        kind: ensemble
        endpoint_name: whole
        model: {image: {framework: triton, version: "25.09"}, model_data_url: s3://models/whole/model.tar.gz}
        variant: {instance_type: ml.g5.xlarge, initial_instance_count: 2,
          inference_ami_version: al2023-ami-sagemaker-inference-gpu-4-1}
        triton: {default_model: whole, repository: artifacts}
    """,
    "pipeline": """
        kind: pipeline
        endpoint_name: steps
        model:
          inference_execution_config: {mode: Serial}
          containers:
            - {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/steps/1.tar.gz, container_hostname: first}
            - {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/steps/2.tar.gz, container_hostname: second}
        variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 2}
    """,
    "components": """
        kind: inference-components
        endpoint_name: shared
        variant:
          instance_type: ml.g5.12xlarge
          initial_instance_count: 1
          managed_instance_scaling: {status: ENABLED, min_instance_count: 1, max_instance_count: 2}
        inference_components:
          chat:
            specification:
              container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://models/chat.tar.gz}
              compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}
    """,
}


def merged(base: Any, change: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    both = {key: merged(base.get(key), value) for key, value in change.items()}
    return {key: value for key, value in {**base, **both}.items() if value is not None}


def wordy_components(count: int) -> dict[str, Any]:
    """A spec whose inference components share an environment of 16 kB, which its template repeats."""
    data = yaml.safe_load(BASES["components"])
    (component,) = data["inference_components"].values()
    component["specification"]["compute_resource_requirements"] = {
        "number_of_cpu_cores_required": 0.25,
        "min_memory_required_in_mb": 128,
    }
    component["specification"]["container"]["environment"] = {f"TEXT_{i}": "x" * 1000 for i in range(16)}
    both = {"inference_components": {f"chat-{i}": component for i in range(count)}}
    return merged(merged(data, {"inference_components": {"chat": None}}), both)


def resolved(base: str, change: str = "{}", region: str | None = "us-east-1") -> Template:
    """The template of a base spec with a change merged in."""
    data = merged(yaml.safe_load(BASES[base]), yaml.safe_load(change))
    return resolve_template(
        parse_spec(data).spec, region=region, source_of=lambda path: "/".join(map(str, path))
    )


@pytest.fixture
def resolve() -> Resolved:
    """``resolve("single", "alarms: false")``: the same as a fixture."""
    return resolved


def of_type(template: Template, type_name: str) -> dict[str, Any]:
    """Properties of the resources of one type, by logical id."""
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == type_name
    }


def only(template: Template, type_name: str) -> Any:
    """Properties of the only resource of a type."""
    (found,) = of_type(template, type_name).values()
    return found

"""Everything that exists in the emulated account, according to the services themselves."""

from collections.abc import Mapping
from typing import Any

from emulator.clients import EmulatedAws

_ASKED: Mapping[str, tuple[str, str, str, dict[str, Any]]] = {
    "models": ("sagemaker", "list_models", "Models", {}),
    "endpoint configurations": ("sagemaker", "list_endpoint_configs", "EndpointConfigs", {}),
    "endpoints": ("sagemaker", "list_endpoints", "Endpoints", {}),
    "inference components": ("sagemaker", "list_inference_components", "InferenceComponents", {}),
    "scaling targets": (
        "application-autoscaling",
        "describe_scalable_targets",
        "ScalableTargets",
        {"ServiceNamespace": "sagemaker"},
    ),
    "scaling policies": (
        "application-autoscaling",
        "describe_scaling_policies",
        "ScalingPolicies",
        {"ServiceNamespace": "sagemaker"},
    ),
    "scheduled actions": (
        "application-autoscaling",
        "describe_scheduled_actions",
        "ScheduledActions",
        {"ServiceNamespace": "sagemaker"},
    ),
    "alarms": ("cloudwatch", "describe_alarms", "MetricAlarms", {}),
    "composite alarms": (
        "cloudwatch",
        "describe_alarms",
        "CompositeAlarms",
        {"AlarmTypes": ["CompositeAlarm"]},
    ),
    "dashboards": ("cloudwatch", "list_dashboards", "DashboardEntries", {}),
    "roles": ("iam", "list_roles", "Roles", {}),
    "topics": ("sns", "list_topics", "Topics", {}),
    "policies": ("iam", "list_policies", "Policies", {"Scope": "Local"}),
}
"""Kinds of things: the service, the operation, where they are in the answer, and what to ask for."""


def inventory(aws: EmulatedAws) -> dict[str, list[str]]:
    """Names or ARNs of everything that exists, by kind."""
    return {kind: sorted(_names(aws, *asked)) for kind, asked in _ASKED.items()}


def _names(aws: EmulatedAws, service: str, operation: str, key: str, request: dict[str, Any]) -> list[str]:
    found = getattr(aws.client(service), operation)(**request)[key]
    return [next(str(value) for name, value in it.items() if name.lower().endswith("arn")) for it in found]

"""The rules of SageMaker hosting that a schema cannot express, by topic.

Importing this package registers them all; :data:`RULES` is the catalogue by code, from which the
reference of codes follows.
"""

from inferstack.spec.rules import (
    adapters,
    alarms,
    artifacts,
    autoscaling,
    capacity,
    drivers,
    environment,
    execution_role,
    guardrails,
    ignore,
    images,
    inference_components,
    instances,
    multi_model,
    names,
    pipelines,
    regions,
    requirements,
    scaling_metrics,
    secrets,
    serverless,
    shadows,
    steps,
    triton_repository,
)
from inferstack.spec.rules.base import RULES, Finding, Rule

__all__ = [
    "RULES",
    "Finding",
    "Rule",
    "adapters",
    "alarms",
    "artifacts",
    "autoscaling",
    "capacity",
    "drivers",
    "environment",
    "execution_role",
    "guardrails",
    "ignore",
    "images",
    "inference_components",
    "instances",
    "multi_model",
    "names",
    "pipelines",
    "regions",
    "requirements",
    "scaling_metrics",
    "secrets",
    "serverless",
    "shadows",
    "steps",
    "triton_repository",
]

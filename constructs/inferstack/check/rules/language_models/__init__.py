"""What serves language models: the variables of engines, their GPUs and weights, and what they scale by."""

from inferstack.check.rules.language_models import (
    engine_metrics,
    gpus,
    memory,
    properties,
    signals,
    starting,
    values,
    variables,
    weights,
)

__all__ = [
    "engine_metrics",
    "gpus",
    "memory",
    "properties",
    "signals",
    "starting",
    "values",
    "variables",
    "weights",
]

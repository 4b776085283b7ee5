"""Scaling of instances, copies and provisioned concurrency."""

from inferstack.spec.rules.autoscaling import (
    customized_metrics,
    metrics,
    schedules,
    steps,
    targets,
)

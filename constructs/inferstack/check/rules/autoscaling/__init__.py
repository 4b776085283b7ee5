"""Scaling of instances, copies and provisioned concurrency."""

from inferstack.check.rules.autoscaling import metrics, schedules, steps, targets

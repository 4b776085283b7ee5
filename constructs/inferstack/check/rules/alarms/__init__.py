"""Alarms: what they watch, when they go off, and whom they notify."""

from inferstack.check.rules.alarms import (
    actions,
    composites,
    custom_metrics,
    definitions,
    spelt_out,
    thresholds,
)

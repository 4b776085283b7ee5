"""Alarms: what they watch, when they go off, and whom they tell."""

from inferstack.spec.rules.alarms import (
    actions,
    definitions,
    statistic_bounds,
)

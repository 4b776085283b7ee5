"""Alarms: what they watch, when they ring, whom they tell."""

from inferstack.spec.rules.alarms import (
    actions,
    definitions,
    statistic_bounds,
)

"""Metrics that are spelled out, in policies and alarms alike."""

from inferstack.spec.rules.metrics import (
    characters,
    expressions,
    spelt_out,
    sums,
    watched,
)

"""Metrics that somebody spells out, in policies and in alarms alike."""

from inferstack.spec.rules.metrics import (
    characters,
    expressions,
    spelt_out,
    sums,
    watched,
)

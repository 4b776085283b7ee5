"""Alarms: what they watch, when they go off, and whom they notify."""

from inferstack.check.rules.alarms import actions, custom_metrics, definitions, spelt_out, thresholds

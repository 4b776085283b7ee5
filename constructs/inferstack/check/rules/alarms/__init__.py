"""Alarms: what they watch, when they go off, and whom they tell."""

from inferstack.check.rules.alarms import actions, definitions, queries, spelt_out, sums, watched

"""What the reference shows as a default is what is made if a spec leaves the key out."""

import json
from typing import Any

import msgspec
import pytest
from support.resolving import Resolved

from inferstack.format.alarms import AlarmRule
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.base import Block
from inferstack.format.defaults import FIELD_DEFAULTS
from inferstack.format.inference_component import InferenceComponent

RULE = {"metric": "ModelLatency", "threshold": "500 ms"}
STEP = {**RULE, "adjustment_type": "ChangeInCapacity", "step_adjustments": [{"scaling_adjustment": 1}]}
LIMITS = {"min_capacity": 1, "max_capacity": 4}


def with_rule(written: dict[str, Any]) -> dict[str, Any]:
    return {"alarms": {"rules": [{**RULE, **written}]}}


def with_step(written: dict[str, Any]) -> dict[str, Any]:
    return {"autoscaling": {**LIMITS, "step_policies": [{**STEP, **written}]}}


def with_component(written: dict[str, Any]) -> dict[str, Any]:
    return {"inference_components": {"chat": written}}


PLACES = {
    AlarmRule: ("single", with_rule),
    StepPolicy: ("single", with_step),
    InferenceComponent: ("components", with_component),
}


@pytest.mark.parametrize(
    ("block", "field"), [(block, field) for block, fields in FIELD_DEFAULTS.items() for field in fields]
)
def test_to_write_a_default_down_changes_nothing(resolve: Resolved, block: type[Block], field: str) -> None:
    base, change = PLACES[block]
    written = {field: msgspec.to_builtins(FIELD_DEFAULTS[block][field].value)}
    assert resolve(base, json.dumps(change(written))) == resolve(base, json.dumps(change({})))

"""Alarms that exist, as a spec writes them: metrics, thresholds, and which of them roll an update back."""

from typing import Any

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COMPONENT_NAME, DIMENSION_NAMES, ENDPOINT_NAME, Metric
from inferstack.endpoint.deployed import Properties, entries
from inferstack.endpoint.of_answers import Existing
from inferstack.facts.quantity import MICROSECONDS_OF
from inferstack.format.base import Number

ACTIONS = {
    "AlarmActions": "actions",
    "OKActions": "ok_actions",
    "InsufficientDataActions": "insufficient_data_actions",
}
"""By property, the key of a spec."""


def dimensions_of(alarm: Properties) -> dict[str, str]:
    """The dimensions of an alarm's metric, by name."""
    return {it["Name"]: it["Value"] for it in entries(alarm.get("Dimensions"))}


def published_by_sagemaker(alarm: Properties) -> Metric | None:
    """The metric that an alarm watches, if SageMaker publishes it, but not one for each container."""
    names = set(dimensions_of(alarm))
    if not names & {ENDPOINT_NAME, COMPONENT_NAME}:
        return None
    for it in metrics.find(str(alarm.get("MetricName"))):
        if it.namespace == alarm.get("Namespace") and set(DIMENSION_NAMES[it.dimensions]) == names:
            return it
    return None


def time_of(number: Number, unit: str) -> str:
    """A time in milliseconds if that is a whole number, else in microseconds."""
    microseconds = number * MICROSECONDS_OF[unit]
    if microseconds % MICROSECONDS_OF["Milliseconds"]:
        return f"{microseconds} us"
    return f"{int(microseconds // MICROSECONDS_OF['Milliseconds'])} ms"


def with_unit(step: dict[str, Any], unit: str | None) -> dict[str, Any]:
    """A step whose bounds have the unit of the threshold."""
    if unit is None:
        return step
    bounds = {key: time_of(it, unit) for key, it in step.items() if key.startswith("metric_interval") and it}
    return step | bounds


def actions_of(alarm: Existing) -> dict[str, list[str]]:
    """What an alarm calls, by the key of a spec."""
    return {key: entries(alarm.properties.get(name)) for name, key in ACTIONS.items()}


def with_rollback_alarms(data: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
    """The spec with roll-back alarms named by their metric where they are its own, as a spec names them."""
    rules = {it["alarm_name"]: it for it in data["alarms"].get("rules", ()) if "alarm_name" in it}
    for block in (data.get("endpoint", {}), *data.get("inference_components", {}).values()):
        rollback = block.get("deployment_config", {}).get("auto_rollback_configuration")
        if rollback is None:
            continue
        named = [it["alarm_name"] for it in rollback["alarms"]]
        own = [rules[it] for it in named if it in rules]
        others = [it for it in named if it not in rules]
        if rules and {*named} >= {*rules} and not others:
            rollback["alarms"] = "own"
            continue
        by_metric = dict.fromkeys(it["metric"] for it in own if "metric" in it)
        left_out += [f"the roll-back alarm {it['alarm_name']}" for it in own if "metric" not in it]
        rollback["alarms"] = [{"metric": it} for it in by_metric] + [{"alarm_name": it} for it in others]
    return data

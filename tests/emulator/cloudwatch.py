"""CloudWatch: moto's, with requests checked against the service's model and its pages, and composite alarms.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
"""

import ast
import re
from typing import Any

from emulator.answering import Answering, Refused
from emulator.beliefs import believed
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult

_STATE = re.compile(r'(?:ALARM|OK|INSUFFICIENT_DATA)\("?([^"()]+)"?\)')
_MOST_CHILDREN = 100


class CloudWatch(Answering, CloudWatchResponse):
    """Alarms and dashboards."""

    checked = frozenset(
        {"PutMetricAlarm", "PutCompositeAlarm", "PutDashboard", "DeleteAlarms", "DeleteDashboards"}
    )

    def put_metric_alarm(self) -> Any:
        """moto's operation, for an alarm with exactly one statistic."""
        request = self.params
        if "MetricName" in request and ("Statistic" in request) == ("ExtendedStatistic" in request):
            raise Refused("ValidationError", "Exactly one of Statistic and ExtendedStatistic must be given.")
        return super().put_metric_alarm()

    def put_composite_alarm(self) -> Any:
        """Makes an alarm on the states of others, or changes it."""
        request, alarms = self.params, self.cloudwatch_backend.alarms
        children = _children(request["AlarmRule"])
        missing = [it for it in children if it.rpartition(":alarm:")[2] not in alarms]
        if missing:
            told = f"there is no alarm {', '.join(missing)}"
            raise Refused("ValidationError", believed("composite-children-exist", told))
        for key in ("AlarmActions", "OKActions", "InsufficientDataActions"):
            if any(":autoscaling:" in action for action in request.get(key, ())):
                raise Refused("ValidationError", f"{key} of a composite alarm cannot be a scaling policy")
        given = (
            "name",
            "namespace",
            "metric_name",
            "comparison_operator",
            "period",
            "threshold",
            "statistic",
        )
        blank: dict[str, Any] = dict.fromkeys(given)
        blank |= {"name": request["AlarmName"], "rule": request["AlarmRule"], "evaluation_periods": 0}
        self.cloudwatch_backend.put_metric_alarm(
            **blank,
            description=request.get("AlarmDescription"),
            dimensions=[],
            alarm_actions=request.get("AlarmActions", []),
            ok_actions=request.get("OKActions", []),
            insufficient_data_actions=request.get("InsufficientDataActions", []),
            actions_enabled=request.get("ActionsEnabled", True),
            tags=request.get("Tags"),
        )
        return ActionResult({})

    def describe_alarms(self) -> Any:
        """moto's operation; composite alarms are only returned to whoever asks for them."""
        asked = self.params.get("AlarmTypes", ["MetricAlarm"])
        found = super().describe_alarms().result
        return ActionResult(
            {
                "MetricAlarms": found["MetricAlarms"] if "MetricAlarm" in asked else [],
                "CompositeAlarms": found["CompositeAlarms"] if "CompositeAlarm" in asked else [],
            }
        )

    def delete_alarms(self) -> Any:
        """moto's operation; at most one composite alarm is deleted at once."""
        names = self.params.get("AlarmNames", [])
        alarms = self.cloudwatch_backend.alarms
        if sum(name in alarms and alarms[name].rule is not None for name in names) > 1:
            raise Refused("ValidationError", "Only one composite alarm can be deleted at a time")
        return super().delete_alarms()


def _children(rule: str) -> list[str]:
    """The alarms in an expression, which is one of Python's once its functions and words are replaced."""
    words = {"AND": "and", "OR": "or", "NOT": "not", "TRUE": "True", "FALSE": "False"}
    text = re.sub(r"[A-Z_]+", lambda found: words.get(found[0], found[0]), _STATE.sub("True", rule))
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        raise Refused("ValidationError", f"AlarmRule is not an expression: {rule}") from None
    if any(isinstance(it, ast.Name) for it in ast.walk(tree)):
        raise Refused("ValidationError", f"AlarmRule has words that it cannot have: {rule}")
    children = list(dict.fromkeys(_STATE.findall(rule)))
    if len(children) > _MOST_CHILDREN:
        raise Refused("ValidationError", f"AlarmRule has {len(children)} alarms")
    return children

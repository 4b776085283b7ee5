"""CDK's handles for the alarms that a spec makes."""

from __future__ import annotations

from functools import cached_property, partial
from typing import cast

import aws_cdk as cdk
from constructs import Construct

from inferstack.constructs.escape_hatches import AlarmL1s
from inferstack.constructs.handles import imported
from inferstack.constructs.measurement import Wanted, alarm_id
from inferstack.resolve.alarms import resolve_alarms
from inferstack.texts.placeholders import is_list_token

# The L1's property, by the method of CDK's alarms. On an imported alarm, these methods only fill a list.
_ACTIONS = {
    "add_alarm_action": "alarm_actions",
    "add_ok_action": "ok_actions",
    "add_insufficient_data_action": "insufficient_data_actions",
}


class AlarmHandles(AlarmL1s):
    """All alarms of a spec."""

    def alarm(
        self, metric_name: str, *, variant_name: str | None = None, inference_component: str | None = None
    ) -> cdk.aws_cloudwatch.AlarmBase:
        """The alarm that the spec puts on a metric, the first where there are several.

        ``metric_name`` is AWS's name, or for an alarm on an expression the `id` of what that returns. Actions
        that are added to the alarm come after those of the spec; adding one raises ValueError where the
        spec's are a list that only the deployment knows.

        Raises:
            ValueError: when there is none, or when several variants or inference components have one and
                none is chosen.
        """
        part = (
            None if it is None else self._tokens.lasting(it) for it in (variant_name, inference_component)
        )
        logical_id = alarm_id(Wanted(metric_name, *part), resolve_alarms(self._lasting))
        if logical_id not in self._alarms:
            self._alarms[logical_id] = _handle(self, imported(logical_id), self._l1(logical_id))
        return self._alarms[logical_id]

    @cached_property
    def _alarms(self) -> dict[str, cdk.aws_cloudwatch.AlarmBase]:
        return {}


def _handle(scope: Construct, construct_id: str, made: cdk.CfnResource) -> cdk.aws_cloudwatch.AlarmBase:
    """CDK's alarm for an L1: actions that are added to the alarm are added to the L1."""
    arn = made.get_att("Arn").to_string()
    handle = cast(
        "cdk.aws_cloudwatch.AlarmBase", cdk.aws_cloudwatch.Alarm.from_alarm_arn(scope, construct_id, arn)
    )
    for method, actions in _ACTIONS.items():
        setattr(handle, method, partial(_add, handle, made, actions))
    return handle


def _add(
    handle: cdk.aws_cloudwatch.AlarmBase,
    made: cdk.CfnResource,
    name: str,
    *actions: cdk.aws_cloudwatch.IAlarmAction,
) -> None:
    for action in actions:
        if not hasattr(action, "bind"):
            fix = "pass one of `aws_cloudwatch_actions`, such as `SnsAction(topic)`"
            raise TypeError(f"a {type(action).__name__} is no action of an alarm; {fix}")
    there = getattr(made, name)
    there = () if there is None else there
    if any(map(is_list_token, there)):
        raise ValueError(
            f"`{name}` of the alarm are a list that only the deployment knows, to which none can be added: "
            "name each in the spec, such as `cdk.Fn.select(0, …)`"
        )
    arns = [action.bind(handle, handle).alarm_action_arn for action in actions]
    setattr(made, name, [*there, *arns])

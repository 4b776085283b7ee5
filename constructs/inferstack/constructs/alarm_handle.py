"""CDK's handle for an alarm that a spec makes."""

from __future__ import annotations

from functools import partial
from typing import cast

import aws_cdk as cdk
from constructs import Construct

from inferstack.spec.texts.placeholders import is_list_token

# The L1's property, by the method of CDK's alarms. On an imported alarm, these methods only fill a list.
_ACTIONS = {
    "add_alarm_action": "alarm_actions",
    "add_ok_action": "ok_actions",
    "add_insufficient_data_action": "insufficient_data_actions",
}


def alarm_handle(scope: Construct, construct_id: str, made: cdk.CfnResource) -> cdk.aws_cloudwatch.AlarmBase:
    """CDK's alarm for an L1: actions that are added to the alarm are added to the L1."""
    imported = cdk.aws_cloudwatch.Alarm.from_alarm_arn(scope, construct_id, made.get_att("Arn").to_string())
    handle = cast("cdk.aws_cloudwatch.AlarmBase", imported)
    for method, actions in _ACTIONS.items():
        setattr(handle, method, partial(_add, handle, made, actions))
    return handle


def _add(
    handle: cdk.aws_cloudwatch.AlarmBase,
    made: cdk.CfnResource,
    name: str,
    *actions: cdk.aws_cloudwatch.IAlarmAction,
) -> None:
    there = getattr(made, name)
    there = () if there is None else there
    if any(map(is_list_token, there)):
        raise ValueError(
            f"`{name}` of the alarm are a list that only the deployment knows, to which none can be added: "
            "name each in the spec, such as `cdk.Fn.select(0, …)`"
        )
    arns = [action.bind(handle, handle).alarm_action_arn for action in actions]
    setattr(made, name, [*there, *arns])

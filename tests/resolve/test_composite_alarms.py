"""Composite alarms, alarms with names, alarms that are muted, and tags of single resources."""

from typing import Any

import pytest
from support.resolving import resolved

RULES = (
    "rules: [{metric: ModelLatency, threshold: 1 s, alarm_name: slow}, {metric: Invocations, threshold: 9}]"
)


def composite(rule: str, base: str = "single", rules: str = RULES) -> str:
    change = f"{{alarms: {{defaults: false, {rules}, composite_alarms: {{Any: {{alarm_rule: '{rule}'}}, Other: {{alarm_rule: 'TRUE'}}}}}}}}"
    found = resolved(base, change)["Resources"]
    (any_, _) = (it for it in found.values() if it["Type"] == "AWS::CloudWatch::CompositeAlarm")
    written = any_["Properties"]["AlarmRule"]
    text: str = written["Fn::Sub"] if isinstance(written, dict) else written
    for logical_id in sorted(found, key=len, reverse=True):
        text = text.replace(f"${{{logical_id}}}", logical_id.rstrip("0123456789ABCDEF"))
    return text


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("ALARM(slow)", 'ALARM("AlarmSlow")'),
        ("alarm( slow ) and not ok(Other)", 'ALARM("AlarmSlow") AND NOT OK("CompositeAlarmOther")'),
        ("(TRUE OR ALARM(ModelLatency/AllTraffic))", '(TRUE OR ALARM("AlarmSlow"))'),
        ('INSUFFICIENT_DATA("Invocations")', 'INSUFFICIENT_DATA("AlarmInvocationsSumAllTraffic")'),
        ("ALARM(arn:aws:cloudwatch:us-east-1:1:alarm:x)", 'ALARM("arn:aws:cloudwatch:us-east-1:1:alarm:x")'),
        (
            '(OK("arn:aws:cloudwatch:us-east-1:1:alarm:( x )"))',
            '(OK("arn:aws:cloudwatch:us-east-1:1:alarm:( x )"))',
        ),
    ],
)
def test_names_in_an_expression_become_references(written: str, made: str) -> None:
    assert composite(written) == made


def test_a_metric_of_several_alarms_stands_for_any_of_them() -> None:
    rules = "rules: [{metric: InvocationsPerCopy, threshold: 9}, {metric: InvocationsPerCopy, threshold: 5}]"
    text = composite("NOT ALARM(InvocationsPerCopy)", "components", rules)
    one = 'ALARM("AlarmInvocationsPerCopySumChat")'
    assert text == f"NOT ({one} OR {one})"


def test_an_alarm_with_a_placeholder_in_its_name_is_still_an_own_one() -> None:
    rules = "rules: [{metric: ModelLatency, threshold: 1 s, alarm_name: 'slow-${AWS::Region}'}]"
    assert composite("ALARM(slow-${AWS::Region})", rules=rules).startswith('ALARM("AlarmSlowAWSRegion')


def test_the_name_of_an_alarm_is_its_identity() -> None:
    def ids(threshold: str) -> set[str]:
        change = f"{{alarms: {{defaults: false, rules: [{{metric: ModelLatency, {threshold}, alarm_name: slow}}]}}}}"
        found = resolved("single", change)["Resources"]
        return {name for name, it in found.items() if it["Type"] == "AWS::CloudWatch::Alarm"}

    assert ids("threshold: 1 s") == ids("threshold: 9 s, statistic: p50")


@pytest.mark.parametrize(
    ("block", "rule", "made"),
    [
        ("", "", None),
        ("actions_enabled: false, ", "", False),
        ("actions_enabled: false, ", ", actions_enabled: true", True),
    ],
)
def test_alarms_are_muted_together_or_one_by_one(block: str, rule: str, made: bool | None) -> None:
    change = f"{{alarms: {{{block}defaults: false, rules: [{{metric: Invocations, threshold: 9{rule}}}]}}}}"
    found = resolved("single", change)["Resources"]
    (alarm,) = (it for it in found.values() if it["Type"] == "AWS::CloudWatch::Alarm")
    assert alarm["Properties"].get("ActionsEnabled") is made


def test_an_alarm_that_wakes_or_scales_is_never_muted() -> None:
    step = "{policy_name: p, metric: Invocations, threshold: 1, adjustment_type: ChangeInCapacity, step_adjustments: [{metric_interval_lower_bound: 0, scaling_adjustment: 1}]}"
    change = f"{{alarms: {{actions_enabled: false, defaults: false}}, autoscaling: {{min_capacity: 1, max_capacity: 2, step_policies: [{step}]}}}}"
    (alarm,) = (
        it
        for it in resolved("single", change)["Resources"].values()
        if it["Type"] == "AWS::CloudWatch::Alarm"
    )
    assert "ActionsEnabled" not in alarm["Properties"]


def tags(change: str, type_name: str, base: str = "single") -> dict[str, str]:
    found: dict[str, Any] = resolved(base, change)["Resources"]
    (it,) = (it for it in found.values() if it["Type"] == f"AWS::SageMaker::{type_name}")
    return {tag["Key"]: tag["Value"] for tag in it["Properties"].get("Tags", ())}


@pytest.mark.parametrize(
    ("base", "where", "type_name"),
    [
        ("single", "model: {tags: {team: speech}}", "Model"),
        ("single", "endpoint: {tags: {team: speech}}", "Endpoint"),
        ("single", "endpoint_config: {tags: {team: speech}}", "EndpointConfig"),
        ("components", "inference_components: {chat: {tags: {team: speech}}}", "InferenceComponent"),
    ],
)
def test_tags_of_one_resource_join_those_of_the_spec_and_win(base: str, where: str, type_name: str) -> None:
    change = f"{{tags: {{app: x, team: platform}}, {where}}}"
    assert tags(change, type_name, base) == {"app": "x", "team": "speech"}
    other = "EndpointConfig" if type_name != "EndpointConfig" else "Endpoint"
    assert tags(change, other, base) == {"app": "x", "team": "platform"}


def test_tags_of_one_resource_need_none_of_the_spec() -> None:
    assert tags("{model: {tags: {team: speech}}}", "Model") == {"team": "speech"}

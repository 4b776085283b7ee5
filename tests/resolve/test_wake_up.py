"""The policy that starts the first copy: for whom, once, and without taking back what another policy has asked for."""

from typing import Any

import pytest
from emulator.minutes import Copies, simulate
from support.resolving import Resolved, Template, of_type

POLICY, ALARM = "AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::CloudWatch::Alarm"
TO_ZERO = "inference_components: {chat: {autoscaling: {min_capacity: 0, max_capacity: 4%s}}}"
ADAPTERS = """
    alarms: false
    variant: {managed_instance_scaling: null}
    inference_components:
      chat: {autoscaling: {min_capacity: 0, max_capacity: 4}}
      chat-fr: {specification: {base_inference_component_name: chat, container: {artifact_url: "s3://models/fr.tar.gz"}}}
      chat-de: {specification: {base_inference_component_name: chat, container: {artifact_url: "s3://models/de.tar.gz"}}}
"""


def to_zero(resolve: Resolved, more: str = "") -> Template:
    change = TO_ZERO % (f", {more}" if more else "")
    return resolve("components", f"alarms: false\nvariant: {{managed_instance_scaling: null}}\n{change}")


def policies(template: Template, **step: Any) -> list[dict[str, Any]]:
    """The scaling policies, with other settings of the step."""
    found = [dict(it) for it in of_type(template, POLICY).values()]
    for it in found:
        if it["PolicyType"] == "StepScaling":
            it["StepScalingPolicyConfiguration"] = {**it["StepScalingPolicyConfiguration"], **step}
    return found


def test_one_copy_is_asked_for_while_the_first_one_starts(resolve: Resolved) -> None:
    found = policies(to_zero(resolve))
    asked = simulate(found, Copies(0, 4, start_minutes=14), lambda _: 4, 40)
    assert asked == [1] * 40


def test_with_a_cooldown_of_a_minute_it_would_climb_to_the_maximum(resolve: Resolved) -> None:
    found = policies(to_zero(resolve), Cooldown=60)
    assert max(simulate(found, Copies(0, 4, start_minutes=10), lambda _: 4, 10)) == 4


LOST = 25


def burst(minute: int) -> float:
    return 4 if minute < 15 else 20


@pytest.mark.parametrize(("adjustment", "kept"), [("ChangeInCapacity", True), ("ExactCapacity", False)])
def test_a_wake_up_takes_nothing_back_while_further_copies_start(
    resolve: Resolved, adjustment: str, kept: bool
) -> None:
    found = policies(to_zero(resolve), AdjustmentType=adjustment)
    asked = simulate(found, Copies(0, 4, start_minutes=10), burst, LOST + 3, lost_at=LOST - 1)
    before, after = asked[LOST - 2], asked[LOST]
    assert before == 4
    assert (after >= before) is kept


def test_a_request_after_the_silence_wakes_at_once(resolve: Resolved) -> None:
    def asks(minute: int) -> float:
        return 0 if 11 <= minute < 40 else 4

    asked = simulate(policies(to_zero(resolve)), Copies(0, 4, start_minutes=10), asks, 41)
    assert asked[39] == 0
    assert asked[40] == 1


def test_each_adapter_wakes_its_base(resolve: Resolved) -> None:
    template = resolve("components", ADAPTERS)
    alarms = of_type(template, ALARM).values()
    assert {it["Dimensions"][0]["Value"] for it in alarms} == {"chat", "chat-fr", "chat-de"}
    assert {it["MetricName"] for it in alarms} == {"NoCapacityInvocationFailures"}
    [action] = {str(it["AlarmActions"]) for it in alarms}
    [step] = [key for key, it in of_type(template, POLICY).items() if it["PolicyType"] == "StepScaling"]
    assert action == str([{"Ref": step}])


def test_a_base_whose_metric_misses_its_adapters_would_be_stopped_and_woken_in_turn(
    resolve: Resolved,
) -> None:
    found = policies(resolve("components", ADAPTERS))
    copies = Copies(0, 4, start_minutes=5)
    asked = simulate(found, copies, lambda _: 4, 90, counted=lambda _: 0)
    stopped = [minute for minute in range(1, 90) if (asked[minute - 1], asked[minute]) == (1, 0)]
    assert len(stopped) > 1
    assert all(1 in asked[minute : minute + 2] for minute in stopped[:-1])
    assert simulate(found, Copies(0, 4, start_minutes=5), lambda _: 4, 90) == [1] * 90


OWN = "{metrics: [{id: refused, metric_stat: {metric: {namespace: AWS/SageMaker, metric_name: NoCapacityInvocationFailures,"
OWN += " dimensions: [{name: InferenceComponentName, value: chat}]}, period: 60, stat: Sum}}],"
OWN += " threshold: 1, adjustment_type: ExactCapacity, step_adjustments:"
OWN += " [{metric_interval_lower_bound: 0, scaling_adjustment: 1}]}"


@pytest.mark.parametrize("written", ["wake_up: false", f"step_policies: [{OWN}]"])
def test_a_wake_up_of_the_users_own_replaces_it_and_false_turns_it_off(
    resolve: Resolved, written: str
) -> None:
    names = {it["PolicyName"] for it in of_type(to_zero(resolve, written), POLICY).values()}
    assert "WakeUp" not in names
    # What it has started is stopped as if it were the built-in one.
    assert "SageMakerInferenceComponentInvocationsPerCopy" in names

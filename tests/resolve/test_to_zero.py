"""What one line, `min_capacity: 0`, does for inference components."""

from typing import Any

import pytest
from support.resolving import Resolved, of_type, only

ONE_LINE = """
    variant: {managed_instance_scaling: %s}
    inference_components: {chat: {autoscaling: {min_capacity: 0, max_capacity: 2}}}
"""
FLEET = "AWS::SageMaker::EndpointConfig"
POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"


def managed(template: dict[str, Any]) -> Any:
    (variant,) = only(template, FLEET)["ProductionVariants"]
    return variant.get("ManagedInstanceScaling")


def test_one_line_makes_all_four_pieces(resolve: Resolved) -> None:
    template = resolve("components", ONE_LINE % "null")
    assert only(template, "AWS::ApplicationAutoScaling::ScalableTarget")["MinCapacity"] == 0
    assert managed(template) == {"Status": "ENABLED", "MinInstanceCount": 0, "MaxInstanceCount": 1}
    tracking, step = of_type(template, POLICY).values()
    assert tracking["TargetTrackingScalingPolicyConfiguration"] == {
        "PredefinedMetricSpecification": {
            "PredefinedMetricType": "SageMakerInferenceComponentInvocationsPerCopy"
        },
        "TargetValue": 5,
        "ScaleInCooldown": 300,
        "ScaleOutCooldown": 300,
    }
    assert step["StepScalingPolicyConfiguration"] == {
        "AdjustmentType": "ChangeInCapacity",
        "Cooldown": 900,
        "MetricAggregationType": "Maximum",
        "StepAdjustments": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}],
    }


def test_the_first_refused_request_wakes_it(resolve: Resolved) -> None:
    resources = resolve("components", ONE_LINE % "null")["Resources"]
    (alarm,) = (it["Properties"] for name, it in resources.items() if name.startswith("StepAlarm"))
    assert alarm["MetricName"] == "NoCapacityInvocationFailures"
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": "chat"}]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanOrEqualToThreshold", 1)
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 1)


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("{max_instance_count: 4}", {"MinInstanceCount": 0, "MaxInstanceCount": 4}),
        ("{min_instance_count: 1}", {"MinInstanceCount": 1}),
        ("{status: DISABLED}", {"Status": "DISABLED"}),
    ],
)
def test_what_the_spec_says_about_instances_stays(resolve: Resolved, said: str, made: Any) -> None:
    base = resolve("components", "variant: {managed_instance_scaling: null}")
    assert managed(base) is None
    nothing = "{status: null, min_instance_count: null, max_instance_count: null}"
    assert managed(resolve("components", ONE_LINE % _over(nothing, said))) == made


def _over(nothing: str, said: str) -> str:
    """A mapping that removes every key of ``nothing`` that ``said`` does not set."""
    keys = [part for part in nothing.strip("{}").split(", ") if part.split(":")[0] not in said]
    return "{" + ", ".join([*keys, said.strip("{}")]) + "}"


ECHO = """{specification: {
    container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://models/echo.tar.gz},
    compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}}}"""


def test_a_start_outside_of_managed_scaling_is_left_to_sagemaker(resolve: Resolved) -> None:
    limits = {"Status": "ENABLED", "MinInstanceCount": 3, "MaxInstanceCount": 4}
    change = "{status: ENABLED, min_instance_count: 3, max_instance_count: 4}"
    template = resolve("components", f"variant: {{managed_instance_scaling: {change}}}")
    variant = only(template, "AWS::SageMaker::EndpointConfig")["ProductionVariants"][0]
    assert variant["InitialInstanceCount"] < 3
    assert variant["ManagedInstanceScaling"] == limits


def test_a_fleet_with_a_component_that_stays_keeps_its_instances(resolve: Resolved) -> None:
    change = (ONE_LINE % "null").replace("{chat:", f"{{echo: {ECHO}, chat:")
    assert managed(resolve("components", change)) is None


def test_an_adapter_goes_with_its_base(resolve: Resolved) -> None:
    adapter = "{base_inference_component_name: chat, container: {artifact_url: 's3://models/fr.tar.gz'}}"
    change = (ONE_LINE % "null").replace("{chat:", f"{{chat-fr: {{specification: {adapter}}}, chat:")
    assert managed(resolve("components", change))["MinInstanceCount"] == 0


BY_THE_CLOCK = """
    alarms: false
    variant: {managed_instance_scaling: null}
    inference_components: {chat: {autoscaling: {min_capacity: 1, max_capacity: 2,
      policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}], scheduled_actions: [
        {scheduled_action_name: morning, schedule: 'cron(0 6 ? * MON-FRI *)', scalable_target_action: {min_capacity: 1, max_capacity: 2}},
        {scheduled_action_name: evening, schedule: 'cron(0 20 ? * MON-FRI *)', scalable_target_action: %s}]}}}
"""
NONE_AT_NIGHT = {"Status": "ENABLED", "MinInstanceCount": 0, "MaxInstanceCount": 1}


@pytest.mark.parametrize(
    ("at_night", "policies", "instances"),
    [
        ("{min_capacity: 0}", {"SageMakerInferenceComponentInvocationsPerCopy", "WakeUp"}, NONE_AT_NIGHT),
        (
            "{min_capacity: 0, max_capacity: 1}",
            {"SageMakerInferenceComponentInvocationsPerCopy", "WakeUp"},
            NONE_AT_NIGHT,
        ),
        (
            "{min_capacity: 0, max_capacity: 0}",
            {"SageMakerInferenceComponentInvocationsPerCopy"},
            NONE_AT_NIGHT,
        ),
        ("{min_capacity: 1, max_capacity: 1}", {"SageMakerInferenceComponentInvocationsPerCopy"}, None),
    ],
)
def test_no_copies_by_the_clock_are_no_copies(
    resolve: Resolved, at_night: str, policies: set[str], instances: Any
) -> None:
    template = resolve("components", BY_THE_CLOCK % at_night)
    assert {it["PolicyName"] for it in of_type(template, POLICY).values()} == policies
    assert managed(template) == instances
    woken = [
        it
        for it in of_type(template, "AWS::CloudWatch::Alarm").values()
        if it["MetricName"] == "NoCapacityInvocationFailures"
    ]
    assert len(woken) == ("WakeUp" in policies)


def test_the_wake_up_comes_from_the_schedule_that_brings_it(resolve: Resolved) -> None:
    resources = resolve("components", BY_THE_CLOCK % "{min_capacity: 0}")["Resources"]
    (alarm,) = (it for name, it in resources.items() if name.startswith("StepAlarm"))
    assert alarm["Metadata"]["inferstack:source"].endswith(
        "autoscaling/scheduled_actions/1/scalable_target_action/min_capacity"
    )


ASYNCHRONOUS = """
    alarms: false
    endpoint_config: {async_inference_config: {output_config: {s3_output_path: s3://results/one/}}}
    autoscaling: {min_capacity: 1, max_capacity: 4, policies: [{metric: ApproximateBacklogSizePerInstance, target_value: 4}],
      scheduled_actions: [{scheduled_action_name: night, schedule: 'cron(0 20 ? * * *)', scalable_target_action: %s}]}
"""


@pytest.mark.parametrize(
    ("at_night", "wakes"), [("{min_capacity: 0}", 1), ("{min_capacity: 0, max_capacity: 0}", 0)]
)
def test_no_instances_by_the_clock_are_woken_unless_they_are_off(
    resolve: Resolved, at_night: str, wakes: int
) -> None:
    alarms = of_type(resolve("single", ASYNCHRONOUS % at_night), "AWS::CloudWatch::Alarm").values()
    assert [it["MetricName"] for it in alarms] == ["HasBacklogWithoutCapacity"] * wakes


def test_an_instance_has_minutes_to_start_before_a_backlog_adds_another_one(resolve: Resolved) -> None:
    policies = of_type(resolve("single", ASYNCHRONOUS % "{min_capacity: 0}"), POLICY).values()
    (step,) = (it for it in policies if it["PolicyType"] == "StepScaling")
    assert step["StepScalingPolicyConfiguration"]["Cooldown"] == 900

"""What one line, `min_capacity: 0`, makes of inference components."""

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
    }
    assert step["StepScalingPolicyConfiguration"] == {
        "AdjustmentType": "ChangeInCapacity",
        "Cooldown": 60,
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
    """A mapping in which everything that is not said is removed."""
    keys = [part for part in nothing.strip("{}").split(", ") if part.split(":")[0] not in said]
    return "{" + ", ".join([*keys, said.strip("{}")]) + "}"


ECHO = """{specification: {
    container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://models/echo.tar.gz},
    compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}}}"""


def test_a_fleet_with_a_component_that_stays_keeps_its_instances(resolve: Resolved) -> None:
    change = (ONE_LINE % "null").replace("{chat:", f"{{echo: {ECHO}, chat:")
    assert managed(resolve("components", change)) is None


def test_an_adapter_goes_with_its_base(resolve: Resolved) -> None:
    adapter = "{base_inference_component_name: chat, container: {artifact_url: 's3://models/fr.tar.gz'}}"
    change = (ONE_LINE % "null").replace("{chat:", f"{{chat-fr: {{specification: {adapter}}}, chat:")
    assert managed(resolve("components", change))["MinInstanceCount"] == 0

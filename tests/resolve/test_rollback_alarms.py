"""The spec's own alarms that roll back an update of the endpoint or of a component."""

from typing import Any

import pytest
from support.resolving import Resolved, of_type, only

GUARDED = """
    endpoint:
      deployment_config:
        blue_green_update_policy: {traffic_routing_configuration: {type: ALL_AT_ONCE, wait_interval_in_seconds: 300}}
        auto_rollback_configuration: {alarms: %s}
"""
COMPONENT = """
    inference_components:
      chat:
        deployment_config:
          rolling_update_policy: {maximum_batch_size: {type: COPY_COUNT, value: 1}, wait_interval_in_seconds: 300}
          auto_rollback_configuration: {alarms: %s}
      echo:
        specification:
          container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://models/echo.tar.gz}
          compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}
"""


def rollback(template: dict[str, Any], resource: str) -> list[Any]:
    config = template["Resources"][resource]["Properties"]["DeploymentConfig"]
    return [alarm["AlarmName"] for alarm in config["AutoRollbackConfiguration"]["Alarms"]]


def metrics(template: dict[str, Any], names: list[Any]) -> list[str]:
    return [template["Resources"][name["Ref"]]["Properties"]["MetricName"] for name in names]


def component_id(template: dict[str, Any], name: str) -> str:
    (found,) = (
        logical_id
        for logical_id, resource in template["Resources"].items()
        if resource["Properties"].get("InferenceComponentName") == name
    )
    return found


def statements(template: dict[str, Any]) -> dict[str, Any]:
    return {it["Sid"]: it for it in only(template, "AWS::IAM::ManagedPolicy")["PolicyDocument"]["Statement"]}


def test_one_word_stands_for_all_alarms_of_the_spec(resolve: Resolved) -> None:
    template = resolve("single", GUARDED % "own")
    alarms = [it for it, r in template["Resources"].items() if r["Type"] == "AWS::CloudWatch::Alarm"]
    assert rollback(template, "Endpoint") == [{"Ref": logical_id} for logical_id in alarms]


def test_the_alarm_of_a_step_policy_undoes_nothing(resolve: Resolved) -> None:
    step = """
    autoscaling:
      min_capacity: 1
      max_capacity: 3
      step_policies:
        - metric: ModelLatency
          threshold: 200 ms
          adjustment_type: ChangeInCapacity
          step_adjustments: [{metric_interval_lower_bound: 0, scaling_adjustment: 1}]
    """
    template = resolve("single", GUARDED % "own" + step)
    assert "ModelLatency" not in metrics(template, rollback(template, "Endpoint"))


def test_a_metric_stands_for_the_alarms_on_it_and_a_name_for_itself(resolve: Resolved) -> None:
    template = resolve("single", GUARDED % "[{alarm_name: slo}, {metric: Invocation5XXErrors}]")
    first, second = rollback(template, "Endpoint")
    assert metrics(template, [first]) == ["Invocation5XXErrors"]
    assert second == "slo"


def test_a_component_is_undone_by_alarms_about_itself(resolve: Resolved) -> None:
    template = resolve("components", COMPONENT % "own")
    names = rollback(template, component_id(template, "chat"))
    assert names
    for name in names:
        assert template["Resources"][name["Ref"]]["Properties"]["Dimensions"] == [
            {"Name": "InferenceComponentName", "Value": "chat"}
        ]


def test_the_endpoint_of_components_is_undone_by_the_alarms_of_all(resolve: Resolved) -> None:
    template = resolve("components", COMPONENT % "own" + GUARDED % "[{metric: Invocation5XXErrors}]")
    assert metrics(template, rollback(template, "Endpoint")) == ["Invocation5XXErrors"] * 2


def test_the_role_may_look_at_the_alarms_that_undo_an_update_and_at_no_others(resolve: Resolved) -> None:
    template = resolve("single", GUARDED % "[{alarm_name: slo}, {metric: Invocation5XXErrors}]")
    (own, _) = rollback(template, "Endpoint")
    look = statements(template)["LookAtRollbackAlarms"]
    assert look["Action"] == ["cloudwatch:DescribeAlarms"]
    assert look["Resource"] == [
        {"Fn::GetAtt": [own["Ref"], "Arn"]},
        {"Fn::Sub": "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:slo"},
    ]
    assert "LookAtRollbackAlarms" not in statements(resolve("single"))


def test_an_alarm_whose_name_iam_could_take_for_a_pattern_is_that_alarm(resolve: Resolved) -> None:
    template = resolve("single", GUARDED % "[{alarm_name: 'slo-*-${AWS::Region}-?${aws:username}'}]")
    (name,) = statements(template)["LookAtRollbackAlarms"]["Resource"]
    # CloudFormation turns `${!*}` into `${*}`, which for IAM is an asterisk.
    assert name["Fn::Sub"].endswith(":alarm:slo-${!*}-${AWS::Region}-${!?}${!$}{aws:username}")


def test_no_resource_waits_for_itself(resolve: Resolved) -> None:
    template = resolve("components", COMPONENT % "own" + GUARDED % "[{metric: Invocation5XXErrors}]")
    resources = template["Resources"]
    waits = {name: references(resource) & resources.keys() for name, resource in resources.items()}
    while ready := {name for name, others in waits.items() if not others}:
        waits = {name: others - ready for name, others in waits.items() if name not in ready}
    assert waits == {}


def references(value: Any) -> set[str]:
    match value:
        case {"Ref": str() as name} | {"Fn::GetAtt": [str() as name, _]}:
            return {name}
        case {"DependsOn": list() as names, **rest}:
            return {*names, *references(rest)}
        case dict():
            return {found for item in value.values() for found in references(item)}
        case list():
            return {found for item in value for found in references(item)}
        case _:
            return set()


OWN = """
    alarms:
      rules:
        - {namespace: Acme, metric_name: WrongAnswers, statistic: Sum, threshold: 5%s}
"""


def test_a_metric_of_your_own_undoes_an_update(resolve: Resolved) -> None:
    template = resolve("single", GUARDED % "[{metric: WrongAnswers}]" + OWN % "")
    assert metrics(template, rollback(template, "Endpoint")) == ["WrongAnswers"]


def test_a_metric_that_tells_about_a_component_undoes_updates_of_that_one(resolve: Resolved) -> None:
    template = resolve("components", COMPONENT % "own" + OWN % ", inference_component: chat")
    assert "WrongAnswers" in metrics(template, rollback(template, component_id(template, "chat")))
    template = resolve("components", COMPONENT % "own" + OWN % ", inference_component: echo")
    assert "WrongAnswers" not in metrics(template, rollback(template, component_id(template, "chat")))


SHADOWED = """
    models: {today: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/1.tar.gz}}
    model: null
    variant: {model_name: today}
    shadow_variants: [{variant_name: Next, model_name: today, instance_type: ml.m5.large, initial_instance_count: 1, initial_variant_weight: 1}]
"""


@pytest.mark.parametrize("chosen", ["own", "[{metric: Invocation5XXErrors}]"])
def test_what_a_shadow_does_undoes_nothing(resolve: Resolved, chosen: str) -> None:
    template = resolve("single", SHADOWED + GUARDED % chosen)
    names = [it["Ref"] for it in rollback(template, "Endpoint")]
    watched = [template["Resources"][name]["Properties"]["Dimensions"] for name in names]
    assert names
    assert {"Name": "VariantName", "Value": "Next"} not in [one for it in watched for one in it]
    shadows = [
        it
        for it in of_type(template, "AWS::CloudWatch::Alarm").values()
        if {"Name": "VariantName", "Value": "Next"} in it["Dimensions"]
    ]
    assert shadows

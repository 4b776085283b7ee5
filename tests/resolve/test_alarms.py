"""Alarms watch the right number in the right unit."""

from typing import Any

import pytest
from support.resolving import Resolved, of_type

from inferstack.catalog import metrics
from inferstack.defaults import DEFAULT_ALARMS

ALARM = "AWS::CloudWatch::Alarm"


def alarms(template: dict[str, Any], metric: str) -> list[dict[str, Any]]:
    return [alarm for alarm in of_type(template, ALARM).values() if alarm["MetricName"] == metric]


def all_alarms(template: dict[str, Any]) -> list[dict[str, Any]]:
    return list(of_type(template, ALARM).values())


EXPRESSION = """
    alarms:
      rules:
        - metrics:
            - {id: failed, return_data: false, metric_stat: {stat: Sum, period: 300,
                metric: {namespace: Acme, metric_name: Failed}}}
            - {id: share, expression: failed * 100, return_data: true}
          threshold: 5
"""


def test_every_default_alarm_watches_a_metric_that_its_kinds_publish() -> None:
    for default in DEFAULT_ALARMS:
        for kind in default.kinds:
            assert metrics.find(default.rule.metric, kind), (default.rule.metric, kind)


def test_a_latency_is_given_to_cloudwatch_in_microseconds(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: ModelLatency, statistic: p99, threshold: 500 ms}]}"
    (alarm,) = alarms(resolve("single", change), "ModelLatency")
    assert alarm["Threshold"] == 500_000
    assert alarm["Unit"] == "Microseconds"
    assert alarm["ExtendedStatistic"] == "p99"
    assert "Statistic" not in alarm


def test_a_share_is_of_all_gpus_of_the_instance(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: GPUUtilization, threshold: 90 %}]}"
    (alarm,) = alarms(resolve("single", change), "GPUUtilization")
    assert alarm["Threshold"] == 360


def test_a_share_of_a_normalized_metric_is_as_it_stands(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: GPUMemoryUtilizationNormalized, threshold: 95 %}]}"
    (alarm,) = alarms(resolve("components", change), "GPUMemoryUtilizationNormalized")
    assert alarm["Threshold"] == 95
    assert alarm["Namespace"] == "/aws/sagemaker/InferenceComponents"
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": "chat"}]


def test_a_metric_of_the_fleet_is_watched_on_the_variant(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: DiskUtilization, threshold: 80}]}"
    (alarm,) = alarms(resolve("components", change), "DiskUtilization")
    assert alarm["Namespace"] == "/aws/sagemaker/Endpoints"
    assert {d["Name"] for d in alarm["Dimensions"]} == {"EndpointName", "VariantName"}


def test_a_rule_of_your_own_replaces_the_default_for_its_metric(resolve: Resolved) -> None:
    (default,) = alarms(resolve("single"), "DiskUtilization")
    (own,) = alarms(
        resolve("single", "alarms: {rules: [{metric: DiskUtilization, threshold: 50}]}"), "DiskUtilization"
    )
    assert (default["Threshold"], own["Threshold"]) == (90, 50)


def test_two_rules_on_one_metric_make_two_alarms(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: DiskUtilization, threshold: 50}, {metric: DiskUtilization, threshold: 80}]}"
    assert [a["Threshold"] for a in alarms(resolve("single", change), "DiskUtilization")] == [50, 80]


def test_defaults_can_be_left_out(resolve: Resolved) -> None:
    template = resolve(
        "single", "alarms: {defaults: false, rules: [{metric: DiskUtilization, threshold: 50}]}"
    )
    assert len(of_type(template, ALARM)) == 1
    assert not of_type(resolve("single", "alarms: false"), ALARM)


def test_a_fleet_without_gpus_has_no_gpu_alarm(resolve: Resolved) -> None:
    cpu = resolve("single", "variant: {instance_type: ml.m5.large}")
    assert alarms(resolve("single"), "GPUMemoryUtilization")
    assert not alarms(cpu, "GPUMemoryUtilization")


def test_a_rule_can_be_for_one_variant(resolve: Resolved) -> None:
    change = """
        variant: null
        variants:
          - {variant_name: A, instance_type: ml.m5.large, initial_instance_count: 1}
          - {variant_name: B, instance_type: ml.m5.large, initial_instance_count: 1}
        alarms: {rules: [{metric: DiskUtilization, threshold: 50, variant_name: B}]}
    """
    (alarm,) = alarms(resolve("single", change), "DiskUtilization")
    assert {"Name": "VariantName", "Value": "B"} in alarm["Dimensions"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("actions", "AlarmActions"),
        ("ok_actions", "OKActions"),
        ("insufficient_data_actions", "InsufficientDataActions"),
    ],
)
def test_every_alarm_tells_the_topics(resolve: Resolved, key: str, name: str) -> None:
    topic = "arn:aws:sns:us-east-1:111122223333:oncall"
    found = of_type(resolve("single", f"alarms: {{{key}: ['{topic}']}}"), ALARM)
    assert found
    assert all(alarm[name] == [topic] for alarm in found.values())


def test_an_alarm_has_one_kind_of_statistic(resolve: Resolved) -> None:
    for base in ("single", "multi", "components"):
        for alarm in of_type(resolve(base), ALARM).values():
            assert ("Statistic" in alarm) != ("ExtendedStatistic" in alarm)


@pytest.mark.parametrize(
    ("operator", "words"), [("LessThanThreshold", "falls to"), ("GreaterThanThreshold", "reaches")]
)
def test_a_description_says_which_way_the_number_goes(resolve: Resolved, operator: str, words: str) -> None:
    change = f"alarms: {{rules: [{{metric: CPUUtilization, threshold: 5, comparison_operator: {operator}}}]}}"
    (alarm,) = alarms(resolve("single", change), "CPUUtilization")
    assert f"{words} 5" in alarm["AlarmDescription"]


def test_a_metric_of_your_own_is_watched_as_it_is_written(resolve: Resolved) -> None:
    change = """
        alarms:
          rules:
            - namespace: Acme/Serving
              metric_name: QueueDepth
              dimensions: [{name: Service, value: "one-${AWS::Region}"}]
              statistic: p90
              threshold: 0
    """
    (alarm,) = alarms(resolve("single", change), "QueueDepth")
    assert alarm == {
        "AlarmDescription": "p90 of QueueDepth of one reaches 0.",
        "Namespace": "Acme/Serving",
        "MetricName": "QueueDepth",
        "Dimensions": [{"Name": "Service", "Value": {"Fn::Sub": "one-${AWS::Region}"}}],
        "ExtendedStatistic": "p90",
        "Period": 60,
        "EvaluationPeriods": 3,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "Threshold": 0,
        "TreatMissingData": "notBreaching",
    }


def test_an_expression_says_all_about_its_metrics_itself(resolve: Resolved) -> None:
    (alarm,) = (it for it in all_alarms(resolve("single", EXPRESSION)) if "Metrics" in it)
    assert alarm["AlarmDescription"] == "share of one reaches 5."
    assert [it["Id"] for it in alarm["Metrics"]] == ["failed", "share"]
    assert alarm["Metrics"][0]["MetricStat"]["Period"] == 300
    # CloudWatch refuses these beside `Metrics`.
    assert not alarm.keys() & {"Namespace", "MetricName", "Dimensions", "Unit", "Statistic", "Period"}


def test_metrics_of_your_own_leave_the_default_alarms_as_they_are(resolve: Resolved) -> None:
    before, after = resolve("single"), resolve("single", EXPRESSION)
    assert of_type(before, ALARM).items() < of_type(after, ALARM).items()
    assert len(all_alarms(after)) == len(all_alarms(before)) + 1

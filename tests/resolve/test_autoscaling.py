"""What scales, on which metric, and which dimensions that metric is found by."""

import pytest
import yaml
from support.resolving import BASES, Resolved, merged, of_type, only

from inferstack.check.load import parse_spec
from inferstack.resolve.autoscaling import resolve_autoscaling, resolve_component_scaling

TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
# Changes to a base spec, with a place for policies of either kind.
FLEET = "autoscaling: {min_capacity: 1, max_capacity: 5, %s}"
COPIES = "inference_components: {chat: {autoscaling: {min_capacity: 1, max_capacity: 4, %s}}}"
TO_NO_COPY = COPIES.replace("min_capacity: 1", "min_capacity: 0")
CPU = FLEET % "policies: [{metric: CPUUtilization, target_value: 60}]"
PER_COPY = "policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}]"


def tracked(resolve: Resolved, base: str, change: str) -> dict[str, object]:
    configuration: dict[str, object] = only(resolve(base, change), POLICY)[
        "TargetTrackingScalingPolicyConfiguration"
    ]
    return configuration


def step(watched: str, *, threshold: int | str, change: str = "ChangeInCapacity") -> str:
    """A step policy that adds one, or sets the capacity to one."""
    adjustments = f"adjustment_type: {change}, step_adjustments: [{{metric_interval_lower_bound: 0, scaling_adjustment: 1}}]"
    return f"step_policies: [{{{watched}, threshold: {threshold}, {adjustments}}}]"


def test_gpu_utilization_is_a_customized_metric_of_the_variant(resolve: Resolved) -> None:
    change = FLEET % "policies: [{metric: GPUUtilization, target_value: 60}]"
    assert tracked(resolve, "multi", change) == {
        "CustomizedMetricSpecification": {
            "Namespace": "/aws/sagemaker/Endpoints",
            "MetricName": "GPUUtilization",
            "Dimensions": [
                {"Name": "EndpointName", "Value": "many"},
                {"Name": "VariantName", "Value": "AllTraffic"},
            ],
            "Statistic": "Average",
            "Unit": "Percent",
        },
        "TargetValue": 60,
    }


def test_a_predefined_metric_needs_no_dimensions(resolve: Resolved) -> None:
    policy = "{metric: SageMakerVariantInvocationsPerInstance, target_value: 70.5, scale_in_cooldown: 0}"
    assert tracked(resolve, "single", FLEET % f"policies: [{policy}]") == {
        "PredefinedMetricSpecification": {"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"},
        "TargetValue": 70.5,
        "ScaleInCooldown": 0,
    }


def test_a_variant_is_scaled_by_its_instances(resolve: Resolved) -> None:
    template = resolve("single", CPU)
    assert only(template, TARGET) == {
        "ServiceNamespace": "sagemaker",
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
        "ResourceId": "endpoint/one/variant/AllTraffic",
        "MinCapacity": 1,
        "MaxCapacity": 5,
    }
    assert template["Resources"]["ScalableTargetAllTraffic"]["DependsOn"] == ["Endpoint"]


def test_a_component_is_scaled_by_its_copies_once_it_exists(resolve: Resolved) -> None:
    template = resolve("components", COPIES % PER_COPY)
    target = only(template, TARGET)
    assert target["ResourceId"] == "inference-component/chat"
    assert target["ScalableDimension"] == "sagemaker:inference-component:DesiredCopyCount"
    (component,) = of_type(template, "AWS::SageMaker::InferenceComponent")
    (target_id,) = of_type(template, TARGET)
    assert template["Resources"][target_id]["DependsOn"] == [component]
    assert len(of_type(template, POLICY)) == 1


def test_serverless_scales_its_provisioned_concurrency(resolve: Resolved) -> None:
    change = """
        model: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"}
        variant:
          instance_type: null
          initial_instance_count: null
          serverless_config: {memory_size_in_mb: 2048, max_concurrency: 20, provisioned_concurrency: 2}
        autoscaling:
          min_capacity: 2
          max_capacity: 10
          policies: [{metric: SageMakerVariantProvisionedConcurrencyUtilization, target_value: 0.7}]
    """
    target = only(resolve("single", change), TARGET)
    assert target["ScalableDimension"] == "sagemaker:variant:DesiredProvisionedConcurrency"


def test_what_may_have_no_copies_is_woken_by_the_first_refused_request(resolve: Resolved) -> None:
    template = resolve("components", f"alarms: false\n{TO_NO_COPY % PER_COPY}")
    steps = {name: p for name, p in of_type(template, POLICY).items() if p["PolicyType"] == "StepScaling"}
    ((policy_id, policy),) = steps.items()
    assert policy["StepScalingPolicyConfiguration"]["StepAdjustments"] == [
        {"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}
    ]
    alarm = only(template, "AWS::CloudWatch::Alarm")
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/SageMaker", "NoCapacityInvocationFailures")
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": "chat"}]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanOrEqualToThreshold", 1)
    assert alarm["AlarmActions"] == [{"Ref": policy_id}]


def test_the_alarm_of_a_step_policy_calls_the_policy_first_and_has_no_actions_of_the_other_alarms(
    resolve: Resolved,
) -> None:
    topics = {
        state: f"arn:aws:sns:eu-west-1:111122223333:{state}" for state in ("busy", "calm", "blind", "others")
    }
    watched = f"metric: CPUUtilization, actions: [{topics['busy']}], ok_actions: [{topics['calm']}], insufficient_data_actions: [{topics['blind']}]"
    own = step(watched, threshold="60 %")
    template = resolve("single", f"alarms: {{defaults: false, actions: [{topics['others']}]}}\n{FLEET % own}")
    ((policy_id, _),) = of_type(template, POLICY).items()
    alarm = only(template, "AWS::CloudWatch::Alarm")
    assert alarm["AlarmActions"] == [{"Ref": policy_id}, topics["busy"]]
    assert (alarm["OKActions"], alarm["InsufficientDataActions"]) == ([topics["calm"]], [topics["blind"]])


def test_a_step_policy_of_your_own_takes_the_place_of_the_wake_up(resolve: Resolved) -> None:
    own = step("metric: NoCapacityInvocationFailures", threshold=1, change="ExactCapacity")
    found = of_type(resolve("components", TO_NO_COPY % own), POLICY).values()
    (policy,) = (it for it in found if it["PolicyType"] == "StepScaling")
    assert policy["StepScalingPolicyConfiguration"]["AdjustmentType"] == "ExactCapacity"


def test_a_step_policy_on_another_metric_wakes_nothing_and_leaves_the_wake_up(resolve: Resolved) -> None:
    other = step("metric: ModelLatency", threshold="200 ms")
    policies = of_type(resolve("components", TO_NO_COPY % other), POLICY).values()
    assert {it["PolicyName"] for it in policies} == {"ModelLatency", "WakeUp"}


@pytest.mark.parametrize(
    ("watched", "threshold", "bound", "counted"),
    [
        ("ModelLatency", "2 s", "500 ms", (2_000_000, 500_000)),
        ("GPUUtilization", "60 %", "20 %", (240, 80)),
        ("GPUUtilization", "240", "20 %", (240, 80)),
        ("GPUUtilization", "240", "80", (240, 80)),
        ("MemoryUtilization", "60 %", "12.5 %", (60, 12.5)),
    ],
)
def test_the_bounds_of_a_step_are_counted_as_its_threshold(
    resolve: Resolved, watched: str, threshold: str, bound: str, counted: tuple[float, float]
) -> None:
    steps = f"[{{metric_interval_lower_bound: 0, metric_interval_upper_bound: {bound}, scaling_adjustment: 1}}, {{metric_interval_lower_bound: {bound}, scaling_adjustment: 2}}]"
    policy = f"{{metric: {watched}, threshold: {threshold}, adjustment_type: ChangeInCapacity, step_adjustments: {steps}}}"
    four_gpus = "alarms: false\nvariant: {instance_type: ml.g5.12xlarge}\n"
    template = resolve("single", four_gpus + FLEET % f"step_policies: [{policy}]")
    alarm, made = only(template, "AWS::CloudWatch::Alarm"), only(template, POLICY)
    first, second = made["StepScalingPolicyConfiguration"]["StepAdjustments"]
    assert (alarm["Threshold"], first["MetricIntervalUpperBound"]) == counted
    assert first["MetricIntervalLowerBound"] == 0
    assert second == {"ScalingAdjustment": 2, "MetricIntervalLowerBound": counted[1]}


def test_steps_below_a_threshold_have_bounds_below_zero(resolve: Resolved) -> None:
    steps = "[{metric_interval_upper_bound: -5 %, scaling_adjustment: -2}, {metric_interval_lower_bound: -5 %, metric_interval_upper_bound: 0 %, scaling_adjustment: -1}]"
    policy = f"{{metric: CPUUtilization, threshold: 20 %, comparison_operator: LessThanThreshold, adjustment_type: ChangeInCapacity, step_adjustments: {steps}}}"
    two_cpus = "variant: {instance_type: ml.m5.large}\n"
    made = only(resolve("single", two_cpus + FLEET % f"step_policies: [{policy}]"), POLICY)
    assert made["StepScalingPolicyConfiguration"]["StepAdjustments"] == [
        {"ScalingAdjustment": -2, "MetricIntervalUpperBound": -10},
        {"ScalingAdjustment": -1, "MetricIntervalLowerBound": -10, "MetricIntervalUpperBound": 0},
    ]


def test_several_policies_share_one_target(resolve: Resolved) -> None:
    requests = "{metric: SageMakerVariantInvocationsPerInstance, target_value: 100}"
    gpus = "{metric: GPUUtilization, target_value: 240, disable_scale_in: true}"
    template = resolve("single", FLEET % f"policies: [{requests}, {gpus}]")
    policies = of_type(template, POLICY)
    assert len(of_type(template, TARGET)) == 1
    assert {p["ScalingTargetId"]["Ref"] for p in policies.values()} == {"ScalableTargetAllTraffic"}
    assert {p["PolicyName"] for p in policies.values()} == {
        "SageMakerVariantInvocationsPerInstance",
        "GPUUtilization",
    }


@pytest.mark.parametrize(("base", "change"), [("single", CPU), ("components", "{}")])
def test_counts_that_scaling_reached_survive_an_update(resolve: Resolved, base: str, change: str) -> None:
    assert only(resolve(base, change), "AWS::SageMaker::Endpoint")["RetainAllVariantProperties"] is True


def test_a_fleet_of_fixed_size_is_not_retained(resolve: Resolved) -> None:
    assert "RetainAllVariantProperties" not in only(resolve("single"), "AWS::SageMaker::Endpoint")


TWO = """
    variant: null
    variants:
      - {variant_name: A, instance_type: ml.m5.large, initial_instance_count: 1, initial_variant_weight: 9, autoscaling: SCALING}
      - {variant_name: B, instance_type: ml.m5.large, initial_instance_count: 1, initial_variant_weight: 1}
""".replace(
    "SCALING", "{min_capacity: 1, max_capacity: 2, policies: [{metric: CPUUtilization, target_value: 50}]}"
)
WEIGHTS = [{"VariantPropertyType": "DesiredWeight"}]


@pytest.mark.parametrize(
    ("said", "excluded"),
    [
        ("", WEIGHTS),
        ("endpoint: {retain_all_variant_properties: true}", None),
        ("endpoint: {retain_all_variant_properties: false}", None),
        (
            "endpoint: {exclude_retained_variant_properties: [{variant_property_type: DesiredInstanceCount}]}",
            [{"VariantPropertyType": "DesiredInstanceCount"}],
        ),
    ],
)
def test_weights_are_those_of_the_spec_unless_it_says_otherwise(
    resolve: Resolved, said: str, excluded: object
) -> None:
    endpoint = only(resolve("single", f"{TWO}    {said}\n"), "AWS::SageMaker::Endpoint")
    assert endpoint.get("ExcludeRetainedVariantProperties") == excluded


def test_one_variant_alone_has_no_weight_to_keep(resolve: Resolved) -> None:
    endpoint = only(resolve("single", CPU), "AWS::SageMaker::Endpoint")
    assert "ExcludeRetainedVariantProperties" not in endpoint


def test_the_spec_decides_about_retaining(resolve: Resolved) -> None:
    endpoint = only(
        resolve("components", "endpoint: {retain_all_variant_properties: false}"), "AWS::SageMaker::Endpoint"
    )
    assert endpoint["RetainAllVariantProperties"] is False


def test_a_metric_of_your_own_reaches_the_policy_as_it_is_written(resolve: Resolved) -> None:
    policies = """policies: [{target_value: 70, policy_name: Busy, customized_metric_specification: {metrics: [
        {id: busy, return_data: false, metric_stat: {stat: Sum,
          metric: {namespace: Acme, metric_name: Busy, dimensions: [{name: Service, value: churn}]}}},
        {id: share, expression: busy * 100, return_data: true}]}}]"""
    (policy,) = of_type(resolve("single", FLEET % policies), POLICY).values()
    assert policy["PolicyName"] == "Busy"
    assert policy["TargetTrackingScalingPolicyConfiguration"] == {
        "CustomizedMetricSpecification": {
            "Metrics": [
                {
                    "Id": "busy",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "Acme",
                            "MetricName": "Busy",
                            "Dimensions": [{"Name": "Service", "Value": "churn"}],
                        },
                        "Stat": "Sum",
                    },
                    "ReturnData": False,
                },
                {"Id": "share", "Expression": "busy * 100", "ReturnData": True},
            ]
        },
        "TargetValue": 70,
    }


def test_steps_follow_an_expression_over_metrics_of_your_own(resolve: Resolved) -> None:
    metrics = """metrics: [
        {id: busy, return_data: false, metric_stat: {stat: Sum, period: 60, metric: {namespace: Acme, metric_name: Busy}}},
        {id: share, expression: busy * 100}]"""
    resources = resolve("single", FLEET % step(metrics, threshold=70))["Resources"]
    assert resources["StepPolicyAllTrafficShare"]["Properties"]["PolicyName"] == "share"
    alarm = resources["StepAlarmAllTrafficShare"]["Properties"]
    assert alarm["AlarmActions"] == [{"Ref": "StepPolicyAllTrafficShare"}]
    assert [it["Id"] for it in alarm["Metrics"]] == ["busy", "share"]
    assert alarm["Threshold"] == 70
    assert "Period" not in alarm


def test_no_policy_is_lost_however_it_is_called(resolve: Resolved) -> None:
    names = ["CPU", "上"]
    held = "policies: [{metric: CPUUtilization, target_value: 60}, {metric: GPUUtilization, target_value: 60, policy_name: %s}]"
    steps = step(f"metric: CPUUtilization, policy_name: {names[0]}", threshold=20)
    other = step(f"metric: GPUUtilization, policy_name: {names[1]}.", threshold=20)
    both = f"{steps[:-1]}, {other.removeprefix('step_policies: [')}"
    template = resolve("single", FLEET % f"{held % names[1]}, {both}")
    assert {it["PolicyName"] for it in of_type(template, POLICY).values()} == {
        "CPUUtilization",
        *names,
        f"{names[1]}.",
    }


def test_the_scaling_of_components_can_be_made_alone() -> None:
    policy = {"metric": "SageMakerInferenceComponentInvocationsPerCopy", "target_value": 5}
    block = {"min_capacity": 1, "max_capacity": 2, "policies": [policy]}
    change = {"inference_components": {"chat": {"autoscaling": block}}}
    components = parse_spec(merged(yaml.safe_load(BASES["components"]), change)).spec
    assert resolve_component_scaling(components) == resolve_autoscaling(components)
    of_variant = {**block, "policies": [{"metric": "CPUUtilization", "target_value": 50}]}
    single = parse_spec(merged(yaml.safe_load(BASES["single"]), {"autoscaling": of_variant})).spec
    assert resolve_component_scaling(single) == {}

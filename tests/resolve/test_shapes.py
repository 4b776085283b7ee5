"""Shapes beyond one model on one fleet."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.resolving import Resolved, of_type, only

from inferstack.check.load import load_spec
from inferstack.resolve import resolve_template

BASES = Path(__file__).parents[1] / "check" / "wrong_specs" / "bases"


def resolved(base: str) -> dict[str, Any]:
    loaded = load_spec(BASES / f"{base}.yaml")
    return resolve_template(loaded.spec, region="eu-west-1", source_of=str)


def test_a_pipelines_containers_stand_in_order() -> None:
    model = only(resolved("pipeline"), "AWS::SageMaker::Model")
    assert [it["ContainerHostname"] for it in model["Containers"]] == ["features", "trees"]
    assert model["InferenceExecutionConfig"] == {"Mode": "Serial"}
    assert "PrimaryContainer" not in model


def test_a_pipelines_role_reads_the_files_of_every_container() -> None:
    policy = str(only(resolved("pipeline"), "AWS::IAM::ManagedPolicy"))
    assert "fraud/features.tar.gz" in policy
    assert "fraud/trees.tar.gz" in policy


def test_a_shadow_hosts_its_own_model_beside_production() -> None:
    config = only(resolved("shadow"), "AWS::SageMaker::EndpointConfig")
    (production,), (shadow,) = config["ProductionVariants"], config["ShadowProductionVariants"]
    assert production["ModelName"] == {"Fn::GetAtt": ["ModelToday", "ModelName"]}
    assert shadow["ModelName"] == {"Fn::GetAtt": ["ModelNext", "ModelName"]}
    assert shadow["VariantName"] == "Next"


def test_a_step_policy_is_set_off_by_an_alarm_of_its_own() -> None:
    template = resolved("steps")
    policy = template["Resources"]["StepPolicyAllTrafficModelLatency"]["Properties"]
    assert policy["PolicyType"] == "StepScaling"
    assert policy["StepScalingPolicyConfiguration"]["StepAdjustments"][1] == {
        "ScalingAdjustment": 3,
        "MetricIntervalLowerBound": 100000,
    }
    alarm = template["Resources"]["StepAlarmAllTrafficModelLatency"]["Properties"]
    assert alarm["Threshold"] == 200_000
    assert alarm["EvaluationPeriods"] == 3
    assert alarm["AlarmActions"] == [{"Ref": "StepPolicyAllTrafficModelLatency"}]


def test_a_step_policys_share_is_of_all_vcpus() -> None:
    alarm = resolved("steps")["Resources"]["StepAlarmAllTrafficIdle"]["Properties"]
    assert alarm["Threshold"] == 40
    assert alarm["ComparisonOperator"] == "LessThanThreshold"


def test_limits_change_by_the_clock() -> None:
    target = only(resolved("steps"), "AWS::ApplicationAutoScaling::ScalableTarget")
    first, second = target["ScheduledActions"]
    assert first["ScalableTargetAction"] == {"MinCapacity": 4}
    assert first["Timezone"] == "Europe/Berlin"
    assert second["ScheduledActionName"] == "evening"


def test_an_asynchronous_fleet_without_instances_is_woken_by_the_first_request() -> None:
    template = resolved("asynchronous")
    assert only(template, "AWS::ApplicationAutoScaling::ScalableTarget")["MinCapacity"] == 0
    alarm = template["Resources"]["StepAlarmAllTrafficWakeUp"]["Properties"]
    assert alarm["MetricName"] == "HasBacklogWithoutCapacity"
    assert alarm["Dimensions"] == [
        {"Name": "EndpointName", "Value": only(template, "AWS::SageMaker::Endpoint")["EndpointName"]}
    ]


@pytest.mark.parametrize("base", [path.stem for path in sorted(BASES.glob("*.yaml"))])
def test_every_key_of_a_spec_reaches_the_template(base: str) -> None:
    """Values are unique enough to be found again: each scalar of the SageMaker blocks is in the template."""
    data = yaml.safe_load((BASES / f"{base}.yaml").read_text("utf-8"))
    template = str(resolved(base))
    for block in ("model", "models", "variant", "variants", "shadow_variants", "endpoint_config", "endpoint"):
        for value in scalars(data.get(block)):
            # What exists elsewhere becomes a function.
            for part in re.split(r"\$\{[^{}]*\}", str(value)):
                assert part in template, value


def scalars(value: Any, key: str = "") -> list[Any]:
    # A framework image becomes a URI, the name of a model in the spec a reference, and Triton's models an archive.
    if key in {"image", "model_name", "model_name_override", "triton"}:
        return []
    match value:
        case dict():
            return [found for name, item in value.items() for found in scalars(item, name)]
        case list():
            return [found for item in value for found in scalars(item)]
        case None:
            return []
        case _:
            return [value]


def test_a_pool_with_a_model_of_its_own_refers_to_that_model(resolve: Resolved) -> None:
    change = """
        model: null
        models:
          any: {image: {framework: pytorch, version: "2.6", py_version: py312}, model_data_url: s3://models/any.tar.gz}
          inferentia: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/inf.tar.gz}
        variant:
          model_name: any
          instance_type: null
          instance_pools:
            - {instance_type: ml.inf2.xlarge, priority: 1, model_name_override: inferentia}
            - {instance_type: ml.g5.xlarge, priority: 2}
    """
    template = resolve("single", change)
    first, second = only(template, "AWS::SageMaker::EndpointConfig")["ProductionVariants"][0]["InstancePools"]
    assert first["ModelNameOverride"] == {"Fn::GetAtt": ["ModelInferentia", "ModelName"]}
    assert "ModelNameOverride" not in second
    assert "gpu" in template["Resources"]["ModelAny"]["Properties"]["PrimaryContainer"]["Image"]


def test_names_that_could_be_read_in_two_ways_stay_apart(resolve: Resolved) -> None:
    change = """
        variant: null
        variants:
          - {variant_name: A, instance_type: ml.m5.large, initial_instance_count: 1, autoscaling: {min_capacity: 1,
              max_capacity: 2, policies: [{metric: CPUUtilization, policy_name: BC, target_value: 50}]}}
          - {variant_name: AB, instance_type: ml.m5.large, initial_instance_count: 1, autoscaling: {min_capacity: 1,
              max_capacity: 2, policies: [{metric: CPUUtilization, policy_name: C, target_value: 50}]}}
    """
    assert len(of_type(resolve("single", change), "AWS::ApplicationAutoScaling::ScalingPolicy")) == 2


def test_a_fleet_of_components_without_gpus_has_no_alarm_on_gpus(resolve: Resolved) -> None:
    change = """
        variant: {instance_type: ml.m5.4xlarge}
        inference_components: {chat: {specification: {compute_resource_requirements:
          {number_of_accelerator_devices_required: null, number_of_cpu_cores_required: 1}}}}
    """
    found = of_type(resolve("components", change), "AWS::CloudWatch::Alarm").values()
    assert found
    assert not [alarm for alarm in found if alarm["MetricName"].startswith("GPU")]


@pytest.mark.parametrize("base", [path.stem for path in sorted(BASES.glob("*.yaml"))])
def test_a_template_is_what_json_has(base: str) -> None:
    """No tuple from one of the format's classes gets through: whoever reads the template expects lists."""
    template = resolved(base)
    assert json.loads(json.dumps(template)) == template

"""Mistakes that deploy tools let through: here each is refused before synthesis, or cannot be written.

They are the wrong templates that cfn-lint, CloudFormation's validator or the API's parameter check accept
and that fail, hang or mislead once deployed.
"""

import pytest
from support.resolving import Resolved, of_type, only

from inferstack.problems import SpecError

SCALED = "policies: [{metric: SageMakerVariantInvocationsPerInstance, target_value: 5}]"
REFUSED = {
    "8 accelerators for a copy on an instance with 4": (
        "components",
        """
        inference_components: {chat: {specification: {compute_resource_requirements:
          {number_of_accelerator_devices_required: 8, min_memory_required_in_mb: 1024}}}}
        """,
        "IS412",
    ),
    "a multi-model endpoint that is serverless": (
        "multi",
        """
        variant: {instance_type: null, initial_instance_count: null,
          serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}}
        """,
        "IS302",
    ),
    "a multi-model endpoint that names one archive": (
        "multi",
        "model: {model_data_url: s3://models/m.tar.gz}",
        "IS300",
    ),
    "a least capacity above the most": (
        "single",
        f"autoscaling: {{min_capacity: 5, max_capacity: 2, {SCALED}}}",
        "IS500",
    ),
    "scaling a real-time variant to zero": (
        "single",
        f"autoscaling: {{min_capacity: 0, max_capacity: 2, {SCALED}}}",
        "IS501",
    ),
    "a metric of copies on instances": (
        "single",
        """
        autoscaling: {min_capacity: 1, max_capacity: 2,
          policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}]}
        """,
        "IS511",
    ),
    "managed scaling without inference components": (
        "single",
        "variant: {managed_instance_scaling: {status: ENABLED, min_instance_count: 1, max_instance_count: 3}}",
        "IS401",
    ),
    "a model on a variant of inference components": ("components", "variant: {model_name: net}", "IS400"),
    "a component without memory": (
        "components",
        """
        inference_components: {chat: {specification: {compute_resource_requirements: {min_memory_required_in_mb: null}}}}
        """,
        "IS410",
    ),
    "a volume on an instance with its own disk": ("single", "variant: {volume_size_in_gb: 100}", "IS263"),
    "a latency limit in milliseconds taken for microseconds": (
        "single",
        "alarms: {rules: [{metric: ModelLatency, threshold: 500}]}",
        "IS803",
    ),
    "a name that blocks the model's replacement": ("single", "model: {model_name: fixed}", "IS101"),
    "two containers in two ways": ("single", "model: {containers: []}", "IS320"),
    "a misspelt key": ("single", "variant: {instance_typ: ml.m5.large}", "IS101"),
    "a canary of most of the fleet": (
        "single",
        """
        endpoint: {deployment_config: {blue_green_update_policy: {traffic_routing_configuration:
          {type: CANARY, canary_size: {type: CAPACITY_PERCENT, value: 80}, wait_interval_in_seconds: 60}}}}
        """,
        "IS613",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_it_is_refused_before_synthesis(resolve: Resolved, mistake: str) -> None:
    base, change, code = REFUSED[mistake]
    with pytest.raises(SpecError) as refusal:
        resolve(base, change)
    assert code in {problem.code for problem in refusal.value.problems}


@pytest.mark.parametrize("base", ["single", "multi", "components"])
def test_a_role_is_never_missing(resolve: Resolved, base: str) -> None:
    template = resolve(base)
    holders = [*of_type(template, "AWS::SageMaker::Model").values()] or [
        only(template, "AWS::SageMaker::EndpointConfig")
    ]
    assert all("ExecutionRoleArn" in holder for holder in holders)


def test_what_scales_is_what_the_endpoint_has(resolve: Resolved) -> None:
    change = (
        f"{{variant: {{variant_name: Blue}}, autoscaling: {{min_capacity: 1, max_capacity: 2, {SCALED}}}}}"
    )
    template = resolve("single", change)
    (variant,) = only(template, "AWS::SageMaker::EndpointConfig")["ProductionVariants"]
    endpoint = only(template, "AWS::SageMaker::Endpoint")["EndpointName"]
    target = only(template, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["ResourceId"] == f"endpoint/{endpoint}/variant/{variant['VariantName']}"


def test_whoever_names_a_resource_in_plain_text_waits_for_it(resolve: Resolved) -> None:
    change = f"autoscaling: {{min_capacity: 1, max_capacity: 2, {SCALED}}}"
    template = resolve("single", change)
    (target,) = of_type(template, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert template["Resources"][target]["DependsOn"] == ["Endpoint"]


@pytest.mark.parametrize("base", ["single", "multi", "components"])
def test_every_alarm_has_a_statistic(resolve: Resolved, base: str) -> None:
    alarms = of_type(resolve(base), "AWS::CloudWatch::Alarm")
    assert alarms
    assert all("Statistic" in alarm or "ExtendedStatistic" in alarm for alarm in alarms.values())

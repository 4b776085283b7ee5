"""Alarms watch the right number in the right unit."""

import json
from typing import Any

import pytest
import yaml
from support.resolving import BASES, Resolved, of_type

from inferstack.catalog import document, metrics
from inferstack.facts.alarms import server_in
from inferstack.format.default_alarms import DEFAULT_ALARMS
from inferstack.format.model import FrameworkImage

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


def test_every_default_alarm_watches_a_metric_that_its_endpoints_publish() -> None:
    for default in DEFAULT_ALARMS:
        for hosting in default.hostings:
            assert metrics.find(default.rule.metric, hosting), (default.rule.metric, hosting)


def test_a_latency_is_given_to_cloudwatch_in_microseconds(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: ModelLatency, statistic: p99, threshold: 500 ms}]}"
    (alarm,) = alarms(resolve("single", change), "ModelLatency")
    assert alarm["Threshold"] == 500_000
    assert alarm["Unit"] == "Microseconds"
    assert alarm["ExtendedStatistic"] == "p99"
    assert "Statistic" not in alarm


@pytest.mark.parametrize(
    ("statistic", "threshold", "expected"),
    [
        ("TM(10%:90%)", "500 ms", 500_000),
        ("ts90", "2 s", 2_000_000),
        ("PR(:500000)", "95 %", 95),
        ("PR(100:2000)", "0.5", 0.5),
        ("TC(10%:90%)", "40", 40),
        ("tc99", "40", 40),
        ("SampleCount", "40", 40),
    ],
)
def test_what_counts_data_points_has_a_limit_in_data_points(
    resolve: Resolved, statistic: str, threshold: str, expected: float
) -> None:
    rule = f"{{metric: ModelLatency, statistic: '{statistic}', threshold: {threshold}}}"
    (alarm,) = alarms(resolve("single", f"alarms: {{rules: [{rule}]}}"), "ModelLatency")
    assert alarm["Threshold"] == expected
    assert alarm["Unit"] == "Microseconds"
    assert alarm.get("ExtendedStatistic", alarm.get("Statistic")) == statistic


def test_a_share_of_the_data_points_is_no_share_of_the_devices(resolve: Resolved) -> None:
    rule = "{metric: GPUUtilization, statistic: 'PR(:90)', threshold: 50 %}"
    (alarm,) = alarms(resolve("single", f"alarms: {{rules: [{rule}]}}"), "GPUUtilization")
    assert alarm["Threshold"] == 50


@pytest.mark.parametrize(
    ("config", "of_instances", "of_requests"),
    [
        ("{metric_publish_frequency_in_seconds: 300}", 300, 60),
        ("{metric_publish_frequency_in_seconds: 300, enable_enhanced_metrics: true}", 300, 300),
        ("{metric_publish_frequency_in_seconds: 10, enable_enhanced_metrics: true}", 60, 60),
        ("{enable_enhanced_metrics: true}", 60, 60),
    ],
)
def test_a_period_is_long_enough_to_find_data(
    resolve: Resolved, config: str, of_instances: int, of_requests: int
) -> None:
    rules = (
        "[{metric: GPUUtilization, threshold: 90 %}, {metric: DiskUtilization, threshold: 90 %, period: 60}]"
    )
    template = resolve(
        "single", f"{{endpoint_config: {{metrics_config: {config}}}, alarms: {{rules: {rules}}}}}"
    )
    periods = {alarm["MetricName"]: alarm["Period"] for alarm in all_alarms(template)}
    assert periods["Invocation5XXErrors"] == of_requests
    assert periods["GPUUtilization"] == periods["MemoryUtilization"] == of_instances
    assert periods["DiskUtilization"] == 60


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


@pytest.mark.parametrize(("named", "name"), [(True, "second"), (False, "container-2")])
def test_each_of_several_containers_is_watched_by_its_name(resolve: Resolved, named: bool, name: str) -> None:
    containers = yaml.safe_load(BASES["pipeline"])["model"]["containers"]
    if not named:
        containers = [{key: it[key] for key in ("image", "model_data_url")} for it in containers]
    rules = [{"metric": "ContainerLatency", "threshold": "500 ms"}]
    change = json.dumps({"model": {"containers": containers}, "alarms": {"rules": rules}})
    _, second = alarms(resolve("pipeline", change), "ContainerLatency")
    dimensions = {it["Name"]: it["Value"] for it in second["Dimensions"]}
    assert dimensions == {"EndpointName": "steps", "VariantName": "AllTraffic", "ContainerName": name}
    assert second["Threshold"] == 500_000


def test_only_what_publishes_a_metric_is_watched(resolve: Resolved) -> None:
    model = yaml.safe_load(BASES["single"])["model"]
    hosts = {"Cpu": "ml.m5.xlarge", "Gpu": "ml.g5.xlarge"}
    variants = [
        {"variant_name": name, "model_name": "net", "instance_type": host, "initial_instance_count": 1}
        for name, host in hosts.items()
    ]
    rules = [{"metric": "GPUUtilization", "threshold": "90 %"}]
    several = {"model": None, "variant": None, "models": {"net": model}, "variants": variants}
    template = resolve("single", json.dumps({**several, "alarms": {"rules": rules}}))
    (alarm,) = alarms(template, "GPUUtilization")
    assert {"Name": "VariantName", "Value": "Gpu"} in alarm["Dimensions"]


def test_a_rule_of_your_own_replaces_the_default_for_its_metric(resolve: Resolved) -> None:
    (default,) = alarms(resolve("single"), "DiskUtilization")
    (own,) = alarms(
        resolve("single", "alarms: {rules: [{metric: DiskUtilization, threshold: 50}]}"), "DiskUtilization"
    )
    assert own["Threshold"] == 50
    assert default["Threshold"] != 50


def test_the_usual_statistic_written_out_makes_no_other_alarm(resolve: Resolved) -> None:
    change = "alarms: {{rules: [{{metric: ModelLatency, threshold: 2 s{}}}]}}"
    usual, said, other = (
        set(of_type(resolve("single", change.format(it)), ALARM))
        for it in ("", ", statistic: p99", ", statistic: p90")
    )
    assert usual == said != other


def test_two_rules_on_one_metric_make_two_alarms(resolve: Resolved) -> None:
    change = "alarms: {rules: [{metric: DiskUtilization, threshold: 50}, {metric: DiskUtilization, threshold: 80}]}"
    assert [a["Threshold"] for a in alarms(resolve("single", change), "DiskUtilization")] == [50, 80]


def test_defaults_can_be_left_out(resolve: Resolved) -> None:
    template = resolve(
        "single", "alarms: {defaults: false, rules: [{metric: DiskUtilization, threshold: 50}]}"
    )
    assert len(of_type(template, ALARM)) == 1
    assert not of_type(resolve("single", "alarms: false"), ALARM)


def test_a_request_that_fails_in_s3_and_never_reaches_the_container_is_noticed(resolve: Resolved) -> None:
    change = "endpoint_config: {async_inference_config: {output_config: {s3_output_path: s3://results/one/}}}"
    (alarm,) = alarms(resolve("single", change), "InvocationFailures")
    assert (alarm["Statistic"], alarm["Threshold"], alarm["DatapointsToAlarm"]) == ("Sum", 1, 3)
    assert alarm["Dimensions"] == [
        {"Name": "EndpointName", "Value": "one"},
        {"Name": "VariantName", "Value": "AllTraffic"},
    ]
    assert not alarms(resolve("single"), "InvocationFailures")


def test_models_that_are_kept_until_there_is_no_room_may_fill_memory_and_disk(resolve: Resolved) -> None:
    def watched(config: str) -> set[str]:
        change = f"model: {{multi_model_config: {config}}}"
        return {alarm["MetricName"] for alarm in all_alarms(resolve("multi", change))}

    kept = watched("{model_cache_setting: Enabled}")
    assert kept == watched("null") == watched("{}") == {"Invocation5XXErrors", "ModelLoadingWaitTime"}
    fill_up = {"MemoryUtilization", "DiskUtilization", "GPUMemoryUtilization"}
    assert watched("{model_cache_setting: Disabled}") == kept | fill_up


def test_a_container_of_a_pipeline_may_fill_memory_and_disk_with_its_many_models(resolve: Resolved) -> None:
    def watched(config: str) -> set[str]:
        image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"
        many = f"mode: MultiModel, model_data_url: s3://models/many/, multi_model_config: {config}"
        containers = f"[{{image: '{image}', container_hostname: first}}, {{image: '{image}', container_hostname: many, {many}}}]"
        return {
            alarm["MetricName"]
            for alarm in all_alarms(resolve("pipeline", f"model: {{containers: {containers}}}"))
        }

    kept = watched("{model_cache_setting: Enabled}")
    assert kept == watched("{}")
    fill_up = {"MemoryUtilization", "DiskUtilization", "GPUMemoryUtilization"}
    assert watched("{model_cache_setting: Disabled}") - kept == fill_up


def test_a_fleet_without_gpus_has_no_gpu_alarm(resolve: Resolved) -> None:
    cpu = resolve("single", "variant: {instance_type: ml.m5.large}")
    assert alarms(resolve("single"), "GPUMemoryUtilization")
    assert not alarms(cpu, "GPUMemoryUtilization")


UNKNOWN = "variant: {instance_type: ml.dl1.24xlarge}"


def test_of_devices_that_nobody_knows_no_share_is_watched_by_default(resolve: Resolved) -> None:
    watched = {it["MetricName"] for it in of_type(resolve("single", UNKNOWN), ALARM).values()}
    assert "MemoryUtilization" in watched
    assert "GPUMemoryUtilization" not in watched


def test_a_share_that_sums_over_nothing_needs_no_devices(resolve: Resolved) -> None:
    rule = f"{UNKNOWN}\nalarms: {{rules: [{{metric: GPUUtilizationNormalized, threshold: 95 %}}]}}"
    limits = {
        it["MetricName"]: it["Threshold"] for it in of_type(resolve("components", rule), ALARM).values()
    }
    assert limits["GPUUtilizationNormalized"] == 95
    assert "GPUMemoryUtilizationNormalized" in limits


def test_a_number_of_ones_own_on_devices_that_nobody_knows_is_watched(resolve: Resolved) -> None:
    rule = f"{UNKNOWN}\nalarms: {{rules: [{{metric: GPUUtilization, threshold: 50}}]}}"
    limits = {it["MetricName"]: it["Threshold"] for it in of_type(resolve("single", rule), ALARM).values()}
    assert limits["GPUUtilization"] == 50


GPU_MEMORY = "GPUMemoryUtilization"
REGISTRY = "763104351884.dkr.ecr.us-east-1.amazonaws.com"


@pytest.mark.parametrize(
    "image",
    [
        '{framework: djl-lmi, version: "0.36.0"}',
        '{framework: huggingface-llm, version: "3.3.6"}',
        '{framework: vllm, version: "0.30.0"}',
        '{framework: sglang-server, version: "1"}',
        '{framework: tensorflow, version: "2.19"}',
        f"{REGISTRY}/huggingface-tensorflow-inference:2.11.1-transformers4.26.0-gpu-py39-cu112-ubuntu20.04",
        f"{REGISTRY}/djl-inference:0.33.0-lmi15.0.0-cu128",
        f"{REGISTRY}/djl-inference:0.33.0-tensorrtllm0.21.0-cu128",
        f"{REGISTRY}/huggingface-pytorch-tgi-inference:2.7.0-tgi3.3.6-gpu-py311-cu124-ubuntu22.04",
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/chat/vllm@sha256:" + 64 * "0",
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/nim-llama3-8b-instruct:1.0.0",
        '"${ssm:/images/llm}"',
    ],
)
def test_gpu_memory_that_the_server_takes_at_its_start_has_no_default_alarm(
    resolve: Resolved, image: str
) -> None:
    template = resolve("single", f"model: {{image: {image}}}")
    assert alarms(resolve("single"), GPU_MEMORY)
    assert not alarms(template, GPU_MEMORY)
    assert len(all_alarms(template)) == len(all_alarms(resolve("single"))) - 1


@pytest.mark.parametrize(
    "image",
    [
        '{framework: triton, version: "25.09"}',
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/film:1",
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/tgim-palmist:1",
        f"{REGISTRY}/djl-inference:0.24.0-fastertransformer5.3.0-cu118",
    ],
)
def test_gpu_memory_that_fills_with_the_traffic_has_one(resolve: Resolved, image: str) -> None:
    assert alarms(resolve("single", f"model: {{image: {image}}}"), GPU_MEMORY)


PACKAGE = "arn:aws:sagemaker:us-east-1:111122223333:model-package/llm/7"


@pytest.mark.parametrize(
    ("base", "change"),
    [
        ("single", f"model: {{image: null, model_data_url: null, model_package_name: '{PACKAGE}'}}"),
        ("single", "{model: null, variant: {model_name: llm-of-the-pipeline}}"),
        (
            "components",
            "inference_components: {chat: {specification: {container: null, model_name: llm-of-the-pipeline}}}",
        ),
    ],
)
def test_gpu_memory_is_not_watched_where_nothing_tells_what_takes_it(
    resolve: Resolved, base: str, change: str
) -> None:
    watched = {"single": GPU_MEMORY, "components": f"{GPU_MEMORY}Normalized"}[base]
    assert alarms(resolve(base), watched)
    assert not alarms(resolve(base, change), watched)


def test_a_rule_of_your_own_on_gpu_memory_is_made_for_any_server(resolve: Resolved) -> None:
    change = """
        model: {image: {framework: vllm, version: "0.30.0"}}
        alarms: {rules: [{metric: GPUMemoryUtilization, threshold: 99 %}]}
    """
    (alarm,) = alarms(resolve("single", change), GPU_MEMORY)
    assert alarm["Threshold"] == 396


def test_one_container_that_takes_the_gpu_takes_it_for_its_pipeline(resolve: Resolved) -> None:
    container = "{image: {framework: vllm, version: '0.30.0'}, container_hostname: %s}"
    change = f"model: {{containers: [{container % 'first'}, {{image: '{REGISTRY}/net:1', container_hostname: second}}]}}"
    assert alarms(resolve("pipeline"), GPU_MEMORY)
    assert not alarms(resolve("pipeline", change), GPU_MEMORY)


def test_each_variant_and_each_component_is_looked_at_by_itself(resolve: Resolved) -> None:
    two = """
        model: null
        models:
          llm: {image: {framework: vllm, version: "0.30.0"}, model_data_url: s3://models/llm/model.tar.gz}
          net: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/net/model.tar.gz}
        variant: null
        variants:
          - {variant_name: A, model_name: llm, instance_type: ml.g5.12xlarge, initial_instance_count: 2}
          - {variant_name: B, model_name: net, instance_type: ml.g5.12xlarge, initial_instance_count: 2}
    """
    (alarm,) = alarms(resolve("single", two), GPU_MEMORY)
    assert {"Name": "VariantName", "Value": "B"} in alarm["Dimensions"]
    components = """
        inference_components:
          served:
            specification:
              container: {image: {framework: djl-lmi, version: "0.36.0"}, artifact_url: s3://models/served.tar.gz}
              compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}
          adapter:
            specification:
              base_inference_component_name: served
              container: {artifact_url: s3://models/adapter.tar.gz}
          modelled:
            specification:
              model_name: llm
              compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}
        models:
          llm: {image: {framework: vllm, version: "0.30.0"}, model_data_url: s3://models/llm/model.tar.gz}
    """
    (alarm,) = alarms(resolve("components", components), f"{GPU_MEMORY}Normalized")
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": "chat"}]


def test_a_published_image_is_known_by_its_framework_as_well_as_by_its_name() -> None:
    for framework, lines in document("images.json")["frameworks"].items():
        rows = [row for line in lines.values() for rows in line["versions"].values() for row in rows]
        for row in rows:
            names = {f"{REGISTRY}/{row['repository']}:{tag}" for tag in row["tags"].values()}
            image = FrameworkImage(framework=framework, version="1", base_framework_version=row.get("base"))
            takes = server_in(image) is not None
            assert {server_in(name) is not None for name in names} == {takes}, (framework, row)


@pytest.mark.parametrize(
    ("variable", "watched"),
    [
        ("OPTION_ROLLING_BATCH", 0),
        ("SM_VLLM_MODEL", 0),
        ("SM_NUM_GPUS", 0),
        ("NIM_MAX_MODEL_LEN", 0),
        ("NGC_API_KEY", 0),
        ("OPTION_ENTRYPOINT", 1),
        ("MODEL", 1),
    ],
)
def test_a_private_image_is_known_by_what_its_server_reads(
    resolve: Resolved, variable: str, watched: int
) -> None:
    change = f"""
        variant: {{instance_type: ml.g5.xlarge}}
        model: {{environment: {{{variable}: "1"}}}}
    """
    assert len(alarms(resolve("single", change), GPU_MEMORY)) == watched


def test_a_rule_can_be_for_one_variant_and_the_others_keep_the_default(resolve: Resolved) -> None:
    change = """
        variant: null
        variants:
          - {variant_name: A, instance_type: ml.m5.large, initial_instance_count: 1}
          - {variant_name: B, instance_type: ml.m5.large, initial_instance_count: 1}
        alarms: {rules: [{metric: DiskUtilization, threshold: 50, variant_name: B}]}
    """
    found = alarms(resolve("single", change), "DiskUtilization")
    assert [(it["Dimensions"][1]["Value"], it["Threshold"]) for it in found] == [("A", 90), ("B", 50)]


def test_a_rule_can_be_for_one_component_and_the_others_keep_the_default(resolve: Resolved) -> None:
    rule = "{metric: Invocation5XXErrors, threshold: 50, inference_component: chat}"
    found = alarms(
        resolve("components", f"{ADAPTER}\n    alarms: {{rules: [{rule}]}}"), "Invocation5XXErrors"
    )
    assert [(it["Dimensions"][0]["Value"], it["Threshold"]) for it in found] == [("lora", 0.01), ("chat", 50)]


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


def test_a_rule_may_tell_somebody_else_or_nobody(resolve: Resolved) -> None:
    change = """
        alarms:
          actions: ["arn:aws:sns:us-east-1:111122223333:page"]
          ok_actions: ["arn:aws:sns:us-east-1:111122223333:calm"]
          rules:
            - {metric: CPUUtilization, threshold: 80 %, actions: ["arn:aws:sns:us-east-1:111122223333:mail"]}
            - {metric: DiskUtilization, threshold: 80 %, actions: [], ok_actions: []}
    """
    told = {
        it["MetricName"]: [
            one.rpartition(":")[2] for key in ("AlarmActions", "OKActions") for one in it.get(key, ())
        ]
        for it in all_alarms(resolve("single", change))
    }
    assert told["MemoryUtilization"] == ["page", "calm"]
    assert told["CPUUtilization"] == ["mail", "calm"]
    assert told["DiskUtilization"] == []


def test_a_rule_may_say_what_to_do(resolve: Resolved) -> None:
    runbook = "See https://wiki/disk of ${AWS::Region}"
    rule = f"{{metric: DiskUtilization, threshold: 80 %, alarm_description: '{runbook}'}}"
    (alarm,) = alarms(resolve("single", f"alarms: {{rules: [{rule}]}}"), "DiskUtilization")
    assert alarm["AlarmDescription"] == {"Fn::Sub": runbook}


def test_an_alarm_has_one_kind_of_statistic(resolve: Resolved) -> None:
    for base in ("single", "multi", "components"):
        found = of_type(resolve(base), ALARM)
        assert found
        for alarm in found.values():
            assert ("Statistic" in alarm) != ("ExtendedStatistic" in alarm)


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        ("GreaterThanOrEqualToThreshold", "reaches"),
        ("GreaterThanThreshold", "exceeds"),
        ("LessThanThreshold", "falls below"),
        ("LessThanOrEqualToThreshold", "falls to"),
    ],
)
def test_a_description_says_which_way_the_number_goes(resolve: Resolved, operator: str, words: str) -> None:
    change = f"alarms: {{rules: [{{metric: CPUUtilization, threshold: 5, comparison_operator: {operator}}}]}}"
    (alarm,) = alarms(resolve("single", change), "CPUUtilization")
    assert f"{words} 5" in alarm["AlarmDescription"]


@pytest.mark.parametrize("base", ["single", "multi", "pipeline", "components"])
def test_a_description_names_the_endpoint(resolve: Resolved, base: str) -> None:
    template = resolve(base, "endpoint_name: ranks-of-prod")
    descriptions = [it["AlarmDescription"] for it in of_type(template, ALARM).values()]
    assert [it for it in descriptions if "ranks-of-prod" not in it] == []


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
    # CloudWatch refuses these keys beside `Metrics`.
    assert not alarm.keys() & {"Namespace", "MetricName", "Dimensions", "Unit", "Statistic", "Period"}


def test_metrics_of_your_own_leave_the_default_alarms_as_they_are(resolve: Resolved) -> None:
    before, after = resolve("single"), resolve("single", EXPRESSION)
    assert of_type(before, ALARM).items() < of_type(after, ALARM).items()
    assert len(all_alarms(after)) == len(all_alarms(before)) + 1


ADAPTER = """
    inference_components:
      lora:
        specification:
          base_inference_component_name: chat
          container: {artifact_url: "s3://models/adapters/lora/"}
"""


def of_component(template: dict[str, Any], name: str) -> set[str]:
    named = {"Name": "InferenceComponentName", "Value": name}
    return {alarm["MetricName"] for alarm in all_alarms(template) if named in alarm["Dimensions"]}


def test_an_adapter_has_no_alarm_that_says_what_the_one_of_its_base_says(resolve: Resolved) -> None:
    template = resolve("components", ADAPTER)
    assert of_component(template, "lora") == {"Invocation5XXErrors"}
    assert of_component(template, "chat") == {
        "Invocation5XXErrors",
        "NoCapacityInvocationFailures",
        "GPUMemoryUtilizationNormalized",
    }


@pytest.mark.parametrize(("limits", "threshold"), [("max_memory_required_in_mb: 8192", 180), ("", None)])
def test_memory_of_a_component_is_compared_with_what_it_may_take(
    resolve: Resolved, limits: str, threshold: int | None
) -> None:
    needs = f"{{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096, {limits}}}"
    change = f"inference_components: {{chat: {{specification: {{compute_resource_requirements: {needs}}}}}}}"
    template = resolve("components", change)
    assert [it["Threshold"] for it in alarms(template, "MemoryUtilizationNormalized")] == (
        [] if threshold is None else [threshold]
    )
    [of_instances] = alarms(template, "MemoryUtilization")
    assert of_instances["Threshold"] == 90


def test_refused_requests_count_if_callers_retry_every_five_minutes(resolve: Resolved) -> None:
    (alarm,) = alarms(resolve("components", "{}"), "NoCapacityInvocationFailures")
    assert (alarm["Period"], alarm["EvaluationPeriods"], alarm["Statistic"]) == (300, 3, "Sum")


def test_failures_are_a_share_so_that_traffic_alone_sets_nothing_off(resolve: Resolved) -> None:
    (alarm,) = alarms(resolve("single", "{}"), "Invocation5XXErrors")
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Average", 0.01)


def test_requests_to_an_adapter_may_be_refused_while_its_base_has_no_copies(resolve: Resolved) -> None:
    to_zero = f"{ADAPTER}      chat: {{autoscaling: {{min_capacity: 0, max_capacity: 2}}}}\n"
    assert of_component(resolve("components", to_zero), "lora") == {
        "Invocation5XXErrors",
        "NoCapacityInvocationFailures",
    }


def test_a_rule_of_your_own_goes_for_adapters_too(resolve: Resolved) -> None:
    rule = f"{ADAPTER}    alarms: {{rules: [{{metric: NoCapacityInvocationFailures, threshold: 1}}]}}\n"
    assert "NoCapacityInvocationFailures" in of_component(resolve("components", rule), "lora")

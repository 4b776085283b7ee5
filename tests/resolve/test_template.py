"""The template as a whole: names, order, places, outputs."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st
from support.resolving import BASES, Resolved, of_type, only

from inferstack.catalog import cloudformation, metrics
from inferstack.facts.quantity import is_time
from inferstack.format.default_alarms import DASHBOARD_WIDGETS, DEFAULT_ALARMS, DefaultAlarm, Widget
from inferstack.resolve.dashboard import ascii_json
from inferstack.resolve.resource import Resource, at_deployment

ALL = pytest.mark.parametrize("base", ["single", "multi", "components"])


@ALL
def test_models_and_configurations_have_no_name_of_their_own(resolve: Resolved, base: str) -> None:
    template = resolve(base)
    assert all("ModelName" not in model for model in of_type(template, "AWS::SageMaker::Model").values())
    assert "EndpointConfigName" not in only(template, "AWS::SageMaker::EndpointConfig")


@ALL
def test_the_same_spec_gives_the_same_bytes(resolve: Resolved, base: str) -> None:
    assert json.dumps(resolve(base)) == json.dumps(resolve(base))


def test_one_version_on_two_kinds_of_processors_is_looked_up_for_each(resolve: Resolved) -> None:
    change = """
        model: null
        models:
          x86: {image: {framework: pytorch, version: 2.6.0}, model_data_url: s3://models/one/model.tar.gz}
          arm: {image: {framework: pytorch, version: 2.6.0}, model_data_url: s3://models/one/model.tar.gz}
        variant: {model_name: x86, instance_type: ml.c6i.xlarge}
        shadow_variants:
          - {variant_name: B, model_name: arm, instance_type: ml.c7g.xlarge, initial_instance_count: 1, initial_variant_weight: 1}
    """
    accounts = resolve("single", change, region=None)["Mappings"]
    assert list(accounts) == ["ImageAccountsPytorch260", "ImageAccountsPytorch260Arm64"]
    # Only one of the two is published there.
    assert ["me-west-1" in it for it in accounts.values()] == [True, False]


@ALL
def test_every_resource_says_where_it_comes_from(resolve: Resolved, base: str) -> None:
    assert all("inferstack:source" in r["Metadata"] for r in resolve(base)["Resources"].values())


def test_no_widget_has_more_metrics_than_cloudwatch_takes(resolve: Resolved) -> None:
    def adapter(number: int) -> dict[str, Any]:
        files = {"artifact_url": f"s3://models/{number}.tar.gz"}
        return {"specification": {"base_inference_component_name": "chat", "container": files}}

    change = json.dumps({"inference_components": {f"a{i}": adapter(i) for i in range(130)}, "alarms": False})
    body = only(resolve("components", change), "AWS::CloudWatch::Dashboard")["DashboardBody"]
    widgets = [it["properties"] for it in json.loads(body["Fn::Sub"])["widgets"]]
    errors = [it for it in widgets if it["title"] == "Errors a minute"]
    assert len(errors) == 2
    assert max(len(it["metrics"]) for it in widgets) == 500
    drawn = [json.dumps(line) for it in errors for line in it["metrics"]]
    assert len(drawn) == len(set(drawn)) > 500
    assert sum(len(it["metrics"]) for it in widgets) <= 2500


def test_a_component_made_elsewhere_or_renamed_is_another_resource(resolve: Resolved) -> None:
    def component(change: str) -> str:
        (found,) = of_type(resolve("components", change), "AWS::SageMaker::InferenceComponent")
        return found

    moved = "inference_components: {chat: {runtime_config: {copy_count: 2}}}"
    ids = {component("{}"), component("endpoint_name: other"), component("variant: {variant_name: Other}")}
    assert len(ids) == 3
    assert component(moved) == component("{}")


def test_an_adapter_comes_after_its_base(resolve: Resolved) -> None:
    change = """
        inference_components:
          lora:
            specification:
              base_inference_component_name: chat
              container: {artifact_url: s3://models/lora.tar.gz}
    """
    template = resolve("components", change)
    base, adapter = of_type(template, "AWS::SageMaker::InferenceComponent")
    assert template["Resources"][adapter]["DependsOn"] == [base]
    properties = template["Resources"][adapter]["Properties"]
    assert "RuntimeConfig" not in properties
    assert "ComputeResourceRequirements" not in properties["Specification"]
    assert "VariantName" not in properties
    assert "VariantName" in template["Resources"][base]["Properties"]


def test_only_components_start_under_the_configurations_role(resolve: Resolved) -> None:
    assert "ExecutionRoleArn" in only(resolve("components"), "AWS::SageMaker::EndpointConfig")
    assert "ExecutionRoleArn" not in only(resolve("single"), "AWS::SageMaker::EndpointConfig")


def test_a_multi_model_container_says_so(resolve: Resolved) -> None:
    assert only(resolve("multi"), "AWS::SageMaker::Model")["PrimaryContainer"]["Mode"] == "MultiModel"
    assert "Mode" not in only(resolve("single"), "AWS::SageMaker::Model")["PrimaryContainer"]


def test_each_variant_hosts_the_model_that_it_names(resolve: Resolved) -> None:
    change = """
        model: null
        models:
          old: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/old.tar.gz}
          new: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://models/new.tar.gz}
        variant: null
        variants:
          - {variant_name: A, model_name: old, instance_type: ml.m5.large, initial_instance_count: 1, initial_variant_weight: 1}
          - {variant_name: B, model_name: new, instance_type: ml.m5.large, initial_instance_count: 1, initial_variant_weight: 0}
    """
    variants = only(resolve("single", change), "AWS::SageMaker::EndpointConfig")["ProductionVariants"]
    assert [v["ModelName"]["Fn::GetAtt"][0] for v in variants] == ["ModelOld", "ModelNew"]
    assert [v["InitialVariantWeight"] for v in variants] == [1, 0]


def test_tags_are_on_everything_that_can_carry_them(resolve: Resolved) -> None:
    template = resolve("components", "tags: {team: ml, cost: '42'}")
    for resource in template["Resources"].values():
        expected = [{"Key": "cost", "Value": "42"}, {"Key": "team", "Value": "ml"}]
        taggable = cloudformation.is_taggable(resource["Type"])
        assert resource["Properties"].get("Tags") == (expected if taggable else None)


def test_in_a_known_region_the_image_is_plain_text(resolve: Resolved) -> None:
    template = resolve("multi", region="eu-west-1")
    image = only(template, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]
    assert image == "763104351884.dkr.ecr.eu-west-1.amazonaws.com/sagemaker-tritonserver:25.09-py3"
    assert "Mappings" not in template


def test_in_an_unknown_region_the_account_is_looked_up(resolve: Resolved) -> None:
    template = resolve("multi", region=None)
    text, variables = only(template, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]["Fn::Sub"]
    assert text == "${Account}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/sagemaker-tritonserver:25.09-py3"
    mapping = variables["Account"]["Fn::FindInMap"][0]
    assert template["Mappings"][mapping]["us-east-1"] == {"Account": "763104351884"}


def test_a_cpu_instance_gets_the_cpu_image(resolve: Resolved) -> None:
    template = resolve("multi", "variant: {instance_type: ml.c6i.xlarge}")
    assert only(template, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"].endswith(":25.09-py3-cpu")


def test_tritons_environment_follows_from_the_spec_and_the_users_wins(resolve: Resolved) -> None:
    change = "model: {environment: {SAGEMAKER_TRITON_PING_MODE: ready, OTHER: '1'}}"
    environment = only(resolve("multi", change), "AWS::SageMaker::Model")["PrimaryContainer"]["Environment"]
    assert environment == {
        "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
        "SAGEMAKER_TRITON_PING_MODE": "ready",
        "OTHER": "1",
    }


def test_outputs_name_what_clients_need(resolve: Resolved) -> None:
    outputs = resolve("components")["Outputs"]
    assert {"EndpointName", "EndpointArn", "DashboardUrl"} <= set(outputs)
    assert any(name.startswith("InferenceComponentChat") for name in outputs)
    assert "DashboardUrl" not in resolve("components", "dashboard: false")["Outputs"]


def test_a_component_is_known_to_clients_by_its_name_and_not_by_the_lower_case_of_its_arn(
    resolve: Resolved,
) -> None:
    chat = yaml.safe_load(BASES["components"])["inference_components"]["chat"]
    made = resolve("components", yaml.safe_dump({"inference_components": {"chat": None, "MyChat": chat}}))
    (value,) = (it["Value"] for name, it in made["Outputs"].items() if name.startswith("InferenceComponent"))
    (component,) = of_type(made, "AWS::SageMaker::InferenceComponent")
    assert value == {"Fn::Select": [0, ["MyChat", {"Ref": component}]]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("{}", "SageMaker endpoint one (single-model), made by inferstack"),
        ("endpoint_name: '${Token[TOKEN.7]}'", "SageMaker endpoint (single-model), made by inferstack"),
        ("description: Of the growth team", "Of the growth team"),
    ],
)
def test_a_stack_is_described_by_what_is_known_before_it_is_deployed(
    resolve: Resolved, change: str, said: str
) -> None:
    assert resolve("single", change)["Description"] == said


def test_the_dashboard_draws_only_what_the_endpoint_publishes(resolve: Resolved) -> None:
    def drawn(base: str, change: str = "{}") -> set[str]:
        return {line[1] for line in _lines(resolve(base, change))}

    assert {"LoadedModelCount", "ModelUnloadingTime"} <= drawn("multi")
    assert "LoadedModelCount" not in drawn("single")
    assert "InvocationsPerCopy" in drawn("components")
    assert "GPUUtilization" in drawn("single")
    assert "GPUUtilization" not in drawn("single", "variant: {instance_type: ml.m5.large}")
    assert "ServerlessConcurrentExecutionsUtilization" not in drawn("single")
    capacity = "{memory_size_in_mb: 2048, max_concurrency: 20}"
    serverless = (
        f"variant: {{instance_type: null, initial_instance_count: null, serverless_config: {capacity}}}"
    )
    assert "ServerlessConcurrentExecutionsUtilization" in drawn("single", serverless)


def test_each_container_of_a_pipeline_has_its_latency_on_the_dashboard(resolve: Resolved) -> None:
    drawn = [(*it[:-1], it[-1]["stat"]) for it in _lines(resolve("pipeline")) if "ContainerName" in it]
    where = ("EndpointName", "steps", "VariantName", "AllTraffic", "ContainerName")
    assert drawn == [
        ("AWS/SageMaker", "ContainerLatency", *where, container, statistic)
        for statistic in ("p50", "p99")
        for container in ("first", "second")
    ]


def test_requests_are_drawn_for_components_and_not_for_the_variant_that_has_no_data(
    resolve: Resolved,
) -> None:
    of_variant = [it for it in _lines(resolve("components")) if "VariantName" in it]
    assert {it[0] for it in of_variant} == {"/aws/sagemaker/Endpoints"}
    assert "ModelLatency" in {it[1] for it in _lines(resolve("single")) if "VariantName" in it}


@pytest.mark.parametrize(
    ("image", "drawn"),
    [
        ("{framework: vllm, version: 0.30.0}", 1),
        ("{framework: huggingface-tei, version: 1.9.3}", 0),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/vllm:1", 0),
    ],
)
def test_requests_at_once_are_drawn_where_a_language_model_is_known(
    image: str, drawn: int, resolve: Resolved
) -> None:
    template = resolve("single", f"{{model: {{image: {image}}}, variant: {{instance_type: ml.g5.xlarge}}}}")
    found = [it for it in _lines(template) if it[1] == "ConcurrentRequestsPerModel"]
    assert len(found) == drawn


def test_requests_at_once_are_drawn_for_each_component_with_a_language_model(resolve: Resolved) -> None:
    container = "{image: {framework: vllm, version: 0.30.0}}"
    template = resolve(
        "components", f"inference_components: {{chat: {{specification: {{container: {container}}}}}}}"
    )
    [line] = [it for it in _lines(template) if it[1] == "ConcurrentRequestsPerCopy"]
    assert line[2] == "InferenceComponentName"


def _lines(template: dict[str, Any]) -> list[list[Any]]:
    """The lines of all graphs: namespace, metric, dimensions, style."""
    body: Any = only(template, "AWS::CloudWatch::Dashboard")["DashboardBody"]["Fn::Sub"]
    return [line for w in json.loads(body)["widgets"] for line in w["properties"].get("metrics", ())]


def test_the_dashboard_begins_with_the_states_of_the_alarms(resolve: Resolved) -> None:
    def shown(change: str) -> tuple[list[Any], int]:
        """Alarms, height and place of the widgets for them, and where the graphs begin."""
        template = resolve("single", change)
        body: Any = only(template, "AWS::CloudWatch::Dashboard")["DashboardBody"]["Fn::Sub"]
        widgets = json.loads(body)["widgets"]
        states = [it for it in widgets if it["type"] == "alarm"]
        assert {it["properties"]["title"] for it in states} <= {"Alarms"}
        named = [it for widget in states for it in widget["properties"]["alarms"]]
        assert named == [f"${{{it}.Arn}}" for it in of_type(template, "AWS::CloudWatch::Alarm")]
        graphs = min(it["y"] for it in widgets if it["type"] == "metric")
        return [(len(it["properties"]["alarms"]), it["height"], it["y"]) for it in states], graphs

    rules = [{"metric": "CPUUtilization", "threshold": index} for index in range(1, 102)]
    assert shown("{alarms: false}") == ([], 0)
    assert shown("{}") == ([(4, 3, 0)], 3)
    many = yaml.safe_dump({"alarms": {"defaults": False, "rules": rules}})
    assert shown(many) == ([(100, 6, 0), (1, 3, 6)], 9)


@pytest.mark.parametrize("default", DEFAULT_ALARMS, ids=lambda default: default.rule.metric)
def test_what_a_default_alarm_watches_is_on_the_dashboard(default: DefaultAlarm) -> None:
    drawn = [line for widget in DASHBOARD_WIDGETS for line in widget.metrics]
    assert (default.rule.metric, default.rule.statistic) in drawn


def test_every_metric_of_the_dashboard_exists() -> None:
    drawn = [name for widget in DASHBOARD_WIDGETS for name, _ in widget.metrics]
    assert [name for name in drawn if not metrics.find(name)] == []


@pytest.mark.parametrize("widget", DASHBOARD_WIDGETS, ids=lambda widget: widget.title)
def test_what_shares_an_axis_is_all_time_or_no_time(widget: Widget) -> None:
    found = [metric for name, _ in widget.metrics for metric in metrics.find(name)]
    assert len({is_time(metric) for metric in found}) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain ${x}", "plain ${x}"),
        ("a-${AWS::Region}", {"Fn::Sub": "a-${AWS::Region}"}),
        ("${HOME}/${AWS::Region}", {"Fn::Sub": "${!HOME}/${AWS::Region}"}),
        ({"k": ["${AWS::Region}"]}, {"k": [{"Fn::Sub": "${AWS::Region}"}]}),
        ({"Fn::Sub": "${AWS::Region}"}, {"Fn::Sub": "${AWS::Region}"}),
        (0, 0),
        (False, False),
    ],
)
def test_only_pseudo_parameters_are_filled_in_at_deployment(value: Any, expected: Any) -> None:
    assert at_deployment(value) == expected


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("cn-north-1", "console.amazonaws.cn"),
        ("us-gov-west-1", "console.amazonaws-us-gov.com"),
        ("us-east-1", "console.aws.amazon.com"),
        (None, "console.aws.amazon.com"),
    ],
)
def test_the_dashboard_is_in_the_console_of_the_partition(
    resolve: Resolved, region: str | None, host: str
) -> None:
    outputs = resolve("single", region=region)["Outputs"]
    assert f".{host}/cloudwatch/" in outputs["DashboardUrl"]["Value"]["Fn::Sub"]


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53) | st.lists(st.text())))
@example({"\x7f": "\x7f"})
def test_a_dashboards_body_is_written_as_json_is_everywhere(value: dict[str, Any]) -> None:
    assert ascii_json(value) == json.dumps(value, separators=(",", ":"))


def test_no_resource_is_lost_in_silence(resolve: Resolved, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Resource("AWS::SageMaker::Endpoint", {}, ())
    monkeypatch.setattr("inferstack.resolve.template.resolve_invokers", lambda _: {"Endpoint": endpoint})
    with pytest.raises(ValueError, match=r"^two resources have the logical id Endpoint$"):
        resolve("single")

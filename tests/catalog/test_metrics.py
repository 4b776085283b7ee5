from itertools import chain
from pathlib import Path
from typing import get_args

import pytest
import yaml
from botocore.session import get_session

from inferstack.catalog import cloudformation, metrics
from inferstack.catalog.metrics import Hosting, Metric

EVERY = tuple(metric for name in metrics.names() for metric in metrics.find(name))


def enum(service: str, shape: str) -> set[str]:
    return set(get_session().get_service_model(service).shape_for(shape).enum)


def only(name: str, hosting: Hosting) -> Metric:
    [metric] = metrics.find(name, hosting)
    return metric


def test_every_name_is_on_a_page_of_aws_and_none_of_those_is_missing() -> None:
    pages = yaml.safe_load(Path(__file__).with_name("metric_pages.yaml").read_text("utf-8"))
    listed = [name for lines in pages.values() for name in chain(*lines)]
    assert len(listed) == len(set(listed))
    assert set(metrics.names()) == set(listed), "metric_pages.yaml and metrics.csv name different metrics"


@pytest.mark.parametrize(
    ("name", "hosting", "namespace", "dimensions", "unit"),
    [
        ("Invocations", "instances", "AWS/SageMaker", "variant", "None"),
        ("ModelLatency", "async", "AWS/SageMaker", "variant", "Microseconds"),
        ("OverheadLatency", "serverless", "AWS/SageMaker", "variant", "Microseconds"),
        ("FirstChunkLatency", "instances", "AWS/SageMaker", "variant", "Microseconds"),
        ("MidStreamErrors", "inference-components", "AWS/SageMaker", "variant", "None"),
        ("ModelCacheHit", "multi-model", "AWS/SageMaker", "variant", "None"),
        ("LoadedModelCount", "multi-model", "/aws/sagemaker/Endpoints", "variant", "None"),
        ("GPUUtilization", "multi-model", "/aws/sagemaker/Endpoints", "variant", "Percent"),
        ("InvocationsPerCopy", "inference-components", "AWS/SageMaker", "component", "None"),
        ("NoCapacityInvocationFailures", "inference-components", "AWS/SageMaker", "component", "None"),
        (
            "MemoryUtilizationNormalized",
            "inference-components",
            "/aws/sagemaker/InferenceComponents",
            "component",
            "Percent",
        ),
        ("ContainerLatency", "instances", "AWS/SageMaker", "container", "Microseconds"),
        ("ApproximateBacklogSizePerInstance", "async", "AWS/SageMaker", "endpoint", "Count"),
        ("HasBacklogWithoutCapacity", "async", "AWS/SageMaker", "endpoint", "None"),
        ("ApproximateAgeOfOldestRequest", "async", "AWS/SageMaker", "endpoint", "Seconds"),
        ("TotalProcessingTime", "async", "AWS/SageMaker", "variant", "Milliseconds"),
    ],
)
def test_a_metric_is_where_cloudwatch_has_it(
    name: str, hosting: Hosting, namespace: str, dimensions: str, unit: str
) -> None:
    metric = only(name, hosting)
    assert (metric.namespace, metric.dimensions, metric.unit) == (namespace, dimensions, unit)


@pytest.mark.parametrize(
    ("name", "hosting"),
    [
        ("Invocations", "async"),
        ("OverheadLatency", "async"),
        ("GPUUtilization", "serverless"),
        ("ModelCacheHit", "instances"),
        ("GPUUtilizationNormalized", "instances"),
        ("NoCapacityInvocationFailures", "instances"),
        ("ApproximateBacklogSize", "instances"),
        ("Invokations", None),
    ],
)
def test_a_metric_that_an_endpoint_does_not_publish_is_not_found(name: str, hosting: Hosting | None) -> None:
    assert metrics.find(name, hosting) == ()
    assert name not in metrics.names(hosting)


def test_a_name_may_mean_a_variant_or_a_component() -> None:
    found = metrics.find("GPUMemoryUtilizationNormalized", "inference-components")
    assert {metric.dimensions for metric in found} == {"variant", "component"}
    assert len({metric.namespace for metric in found}) == 2


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("CPUUtilization", "vcpu"),
        ("GPUUtilization", "gpu"),
        ("GPUMemoryUtilization", "gpu"),
        ("MemoryUtilization", None),
    ],
)
def test_sums_over_devices_are_marked(name: str, device: str | None) -> None:
    assert only(name, "instances").per_device == device


@pytest.mark.parametrize(
    ("name", "hosting", "most"),
    [
        ("GPUUtilization", "instances", 100),
        ("DiskUtilization", "instances", 100),
        ("ModelCacheHit", "multi-model", 1),
        ("ServerlessConcurrentExecutionsUtilization", "serverless", 1),
        ("ServerlessProvisionedConcurrencyUtilization", "serverless", 1),
        ("Invocations", "serverless", None),
        ("ModelLatency", "instances", None),
    ],
)
def test_a_percentage_ends_at_100_and_a_share_at_1(name: str, hosting: Hosting, most: int | None) -> None:
    assert only(name, hosting).most == most


def test_whatever_is_a_utilization_has_an_end() -> None:
    # A copy may use more than the memory that it has reserved.
    without = {it.name for it in EVERY if "Utilization" in it.name and it.most is None}
    assert without == {"MemoryUtilizationNormalized"}


def test_what_is_known_of_a_metric_by_its_name_is_about_a_metric_that_exists() -> None:
    known = metrics._SHARES | metrics._ONE_OR_ZERO | metrics._DO_NOT_FALL
    assert known - set(metrics.names()) == set()


def test_a_sum_over_gpus_is_about_gpus_and_measured_on_instances() -> None:
    for metric in EVERY:
        if metric.per_device == "gpu":
            assert metric.is_about_gpus
        if metric.is_about_gpus:
            assert metric.is_of_instances


def test_a_predefined_metric_is_for_endpoints_that_publish_what_it_follows() -> None:
    for predefined in metrics.PREDEFINED_SCALING_METRICS:
        assert any(metrics.find(predefined.metric, hosting) for hosting in predefined.hostings)
    for name in (
        "SageMakerVariantInvocationsPerInstance",
        "SageMakerVariantProvisionedConcurrencyUtilization",
    ):
        found = metrics.find_predefined(name)
        assert found is not None
        assert found.hostings == {
            hosting for hosting in get_args(Hosting) if metrics.find(found.metric, hosting)
        }


def test_normalized_metrics_are_no_sums() -> None:
    assert {it.per_device for it in EVERY if it.name.endswith("Normalized")} == {None}


def test_units_and_statistics_are_cloudwatchs() -> None:
    shape = cloudwatch_units()
    for metric in EVERY:
        assert metric.unit in shape
        assert metric.statistic in {"Average", "Sum", "Maximum", "Minimum", "p99"}
        assert metric.description.endswith(".")


def cloudwatch_units() -> set[str]:
    return enum("cloudwatch", "StandardUnit")


def test_every_latency_and_no_other_metric_has_a_unit_of_time() -> None:
    timed = {metric.name for metric in EVERY if metric.unit.endswith("seconds") or metric.unit == "Seconds"}
    named = {name for name in metrics.names() if name.endswith(("Latency", "Time"))}
    assert timed == named | {"TimeInBacklog", "ApproximateAgeOfOldestRequest"}


def test_no_metric_is_listed_twice() -> None:
    assert len({(metric.name, metric.namespace, metric.dimensions) for metric in EVERY}) == len(EVERY)


def test_every_kind_of_endpoint_has_metrics() -> None:
    for hosting in get_args(Hosting):
        assert "ModelLatency" in metrics.names(hosting)


def test_predefined_scaling_metrics_are_all_that_the_api_has() -> None:
    ours = {metric.name for metric in metrics.PREDEFINED_SCALING_METRICS}
    assert ours == {name for name in enum("application-autoscaling", "MetricType") if "SageMaker" in name}


def test_predefined_scaling_metrics_belong_to_dimensions_that_can_be_scaled() -> None:
    target = cloudformation.shape("AWS::ApplicationAutoScaling::ScalableTarget")["scalable_dimension"]
    for metric in metrics.PREDEFINED_SCALING_METRICS:
        assert metric.scalable_dimension in target.schema["enum"]
        component = metric.name.startswith("SageMakerInferenceComponent")
        assert metric.scalable_dimension.startswith("sagemaker:inference-component") is component
        assert metrics.find_predefined(metric.name) is metric
    assert metrics.find_predefined("SageMakerVariantCPU") is None

import aws_cdk as cdk
import pytest
from support.cdk import endpoint, stack

from inferstack.constructs import InferenceEndpoint


def described(metric: cdk.aws_cloudwatch.Metric) -> tuple[str, str, dict[str, str], str, float]:
    seconds = metric.period.to_seconds()
    return metric.namespace, metric.metric_name, dict(metric.dimensions), metric.statistic, seconds


VARIANT = {"EndpointName": "one", "VariantName": "AllTraffic"}


@pytest.mark.parametrize(
    ("method", "namespace", "name", "statistic"),
    [
        ("metric_invocations", "AWS/SageMaker", "Invocations", "Sum"),
        ("metric_model_latency", "AWS/SageMaker", "ModelLatency", "p99"),
        ("metric_overhead_latency", "AWS/SageMaker", "OverheadLatency", "Average"),
        ("metric_client_errors", "AWS/SageMaker", "Invocation4XXErrors", "Sum"),
        ("metric_server_errors", "AWS/SageMaker", "Invocation5XXErrors", "Sum"),
        ("metric_gpu_utilization", "/aws/sagemaker/Endpoints", "GPUUtilization", "Average"),
        ("metric_gpu_memory_utilization", "/aws/sagemaker/Endpoints", "GPUMemoryUtilization", "Average"),
        ("metric_cpu_utilization", "/aws/sagemaker/Endpoints", "CPUUtilization", "Average"),
        ("metric_memory_utilization", "/aws/sagemaker/Endpoints", "MemoryUtilization", "Average"),
    ],
)
def test_a_metric_knows_where_it_is(method, namespace, name, statistic):
    metric = getattr(endpoint("single"), method)()
    assert described(metric) == (namespace, name, VARIANT, statistic, 60)


@pytest.mark.parametrize(
    ("name", "unit"), [("ModelLatency", "MICROSECONDS"), ("GPUUtilization", "PERCENT"), ("Invocations", None)]
)
def test_a_unit_is_named_where_the_number_means_nothing_without(name, unit):
    found = endpoint("single").metric(name).unit
    assert (None if found is None else found.name) == unit


def test_statistic_and_period_can_be_chosen():
    metric = endpoint("single").metric_model_latency(statistic="p50", period=cdk.Duration.minutes(5))
    assert described(metric)[3:] == ("p50", 300)


def test_a_name_that_a_component_publishes_means_the_component():
    metric = endpoint("components").metric_invocations()
    assert dict(metric.dimensions) == {"InferenceComponentName": "chat"}


def test_the_fleet_of_components_can_be_asked_for():
    metric = endpoint("components").metric("GPUUtilizationNormalized", variant_name="AllTraffic")
    assert dict(metric.dimensions) == {"EndpointName": "shared", "VariantName": "AllTraffic"}


TWO_VARIANTS = """
variant: null
variants:
  - {variant_name: a, instance_type: ml.g5.xlarge, initial_instance_count: 1}
  - {variant_name: b, instance_type: ml.g5.xlarge, initial_instance_count: 1}
"""


def test_of_several_variants_one_must_be_chosen():
    made = endpoint("single", TWO_VARIANTS)
    assert dict(made.metric_invocations(variant_name="b").dimensions)["VariantName"] == "b"
    with pytest.raises(ValueError, match="choose one of variant_name='a' or variant_name='b'"):
        made.metric_invocations()
    with pytest.raises(ValueError, match="Invocations of 'c' stands for none"):
        made.metric_invocations(variant_name="c")


def test_an_unknown_metric_is_an_error_that_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean `GPUUtilization`"):
        endpoint("single").metric("GpuUtilisation")


def test_a_metric_of_another_kind_of_endpoint_is_unknown():
    with pytest.raises(ValueError, match="such an endpoint publishes no metric `LoadedModelCount`"):
        endpoint("single").metric("LoadedModelCount")
    assert endpoint("multi").metric("LoadedModelCount").metric_name == "LoadedModelCount"


def imported(**options: object) -> InferenceEndpoint:
    return InferenceEndpoint.from_endpoint_name(stack(), "Old", "Old-One", **options)


def test_an_imported_endpoint_has_metrics_and_arns():
    made = imported()
    assert made.endpoint_name == "Old-One"
    arn = made.node.scope.resolve(made.endpoint_arn)
    assert arn["Fn::Join"][1][-1] == ":sagemaker:us-east-1:111122223333:endpoint/old-one"
    assert dict(made.metric_invocations().dimensions) == {
        "EndpointName": "Old-One",
        "VariantName": "AllTraffic",
    }


def test_an_imported_endpoint_can_have_components():
    made = imported(inference_components=["chat", "draw"])
    assert dict(made.metric_invocations(inference_component="draw").dimensions) == {
        "InferenceComponentName": "draw"
    }
    user = cdk.aws_iam.User(made.node.scope, "User")
    grant = made.grant_invoke(user)
    resources = made.node.scope.resolve(grant.principal_statement.resources)
    assert [it["Fn::Join"][1][-1].rpartition(":")[2] for it in resources] == [
        "endpoint/old-one",
        "inference-component/chat",
        "inference-component/draw",
    ]


def test_an_alarm_can_be_made_of_a_metric():
    made = endpoint("single")
    alarm = made.metric_gpu_utilization().create_alarm(made, "Own", threshold=90, evaluation_periods=3)
    assert alarm.metric.namespace == "/aws/sagemaker/Endpoints"

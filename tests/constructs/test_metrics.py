import aws_cdk as cdk
import pytest
from support.cdk import endpoint, spec, stack, synthesised
from support.resolving import only

from inferstack.constructs import IInferenceEndpoint, InferenceEndpoint, MetricOptions
from inferstack.resolve.invokers import CALL_WITH_TOKEN, INVOKE


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


OPTIONS = {
    "label": "Slow",
    "color": "#00ff00",
    "visible": False,
    "id": "slow",
    "unit": cdk.aws_cloudwatch.Unit.SECONDS,
    "dimensions_map": {"EndpointName": "other"},
    "account": "444455556666",
    "region": "eu-west-1",
    "stack_account": "444455556666",
    "stack_region": "eu-west-1",
    "statistic": "p50",
    "period": cdk.Duration.minutes(5),
}


def test_every_option_of_cdk_reaches_the_metric():
    made = endpoint("single")
    assert OPTIONS.keys() == cdk.aws_cloudwatch.MetricOptions.__jsii_name_mapping__.keys()
    assert OPTIONS.keys() | {"variant_name", "inference_component"} == MetricOptions.__annotations__.keys()
    metric = made.metric_model_latency(**OPTIONS)
    assert described(metric)[2:] == ({"EndpointName": "other"}, "p50", 300)
    assert metric.unit is cdk.aws_cloudwatch.Unit.SECONDS
    assert drawn(metric, cdk.Stack.of(made)) == {
        "label": "Slow",
        "color": "#00ff00",
        "visible": False,
        "id": "slow",
        "accountId": "444455556666",
        "region": "eu-west-1",
        "stat": "p50",
    }
    elsewhere = made.metric_invocations(stack_account="444455556666", stack_region="eu-west-1")
    assert (elsewhere.account, elsewhere.region) == ("444455556666", "eu-west-1")


def test_an_option_that_is_none_is_as_if_it_were_absent():
    metric = endpoint("single").metric_model_latency(statistic=None, period=None, unit=None)
    assert described(metric)[3:] == ("p99", 60)
    assert metric.unit is cdk.aws_cloudwatch.Unit.MICROSECONDS


def test_a_misspelt_option_is_an_error_that_names_it():
    with pytest.raises(TypeError, match="no option 'statistik'; did you mean `statistic`"):
        endpoint("single").metric_model_latency(statistik="p50")
    with pytest.raises(TypeError, match="no option 'threshold'"):
        endpoint("single").metric("Invocations", threshold=3)


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
    with pytest.raises(ValueError, match="Invocations of 'c' is none"):
        made.metric_invocations(variant_name="c")


def test_an_unknown_metric_is_an_error_that_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean `GPUUtilization`"):
        endpoint("single").metric("GpuUtilisation")


def test_a_metric_of_another_kind_of_endpoint_is_unknown():
    with pytest.raises(ValueError, match="such an endpoint publishes no metric `LoadedModelCount`"):
        endpoint("single").metric("LoadedModelCount")
    assert endpoint("multi").metric("LoadedModelCount").metric_name == "LoadedModelCount"


@pytest.mark.parametrize("name", ["GPUUtilization", "GPUMemoryUtilization"])
def test_without_a_gpu_there_are_no_metrics_of_gpus(name):
    made = endpoint("single", {"variant": {"instance_type": "ml.m5.large"}})
    with pytest.raises(
        ValueError, match=f"no metric `{name}`, since its instances have no GPU; choose .*`CPUUtil"
    ):
        made.metric(name)
    with pytest.raises(ValueError, match=r"no metric `GPUUtil`; it publishes `CPUUtilization`"):
        made.metric("GPUUtil")


def test_of_several_variants_the_one_with_gpus_publishes_metrics_of_gpus():
    made = endpoint("single", TWO_VARIANTS.replace("ml.g5.xlarge", "ml.m5.large", 1))
    assert dict(made.metric_gpu_utilization().dimensions)["VariantName"] == "b"
    with pytest.raises(ValueError, match=r"GPUUtilization of 'a' is none .* choose one of variant_name='b'"):
        made.metric_gpu_utilization(variant_name="a")


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
    assert made.inference_component_name("draw") == "draw"
    assert made.inference_component_arn("draw").endswith(":inference-component/draw")
    with pytest.raises(ValueError, match="no inference component `drew`; did you mean `draw`"):
        made.inference_component_arn("drew")
    user = cdk.aws_iam.User(made.node.scope, "User")
    grant = made.grant_invoke(user)
    resources = made.node.scope.resolve(grant.principal_statement.resources)
    assert [it["Fn::Join"][1][-1].rpartition(":")[2] for it in resources] == [
        "endpoint/old-one",
        "inference-component/chat",
        "inference-component/draw",
    ]
    # Nothing is known of its engine, nor whether it is asynchronous.
    actions = [action for it in grant.principal_statements for action in it.actions]
    assert actions == [*INVOKE]
    by_token = made.grant_invoke(user, openai_route=True).principal_statements
    assert [it.actions for it in by_token] == [[*INVOKE], [CALL_WITH_TOKEN]]


def two_regions() -> tuple[cdk.Stack, cdk.Stack]:
    app = cdk.App(analytics_reporting=False)
    regions = ("us-east-1", "eu-west-1")
    one, other = (
        cdk.Stack(app, region, env=cdk.Environment(account="111122223333", region=region))
        for region in regions
    )
    return one, other


def drawn(metric: cdk.aws_cloudwatch.Metric, scope: cdk.Stack) -> object:
    """What a widget in a stack contains about the metric beside its name."""
    widget = cdk.aws_cloudwatch.GraphWidget(left=[metric])
    (shown,) = scope.resolve(widget.to_json())[0]["properties"]["metrics"]
    return shown[-1]


def made_or_named(scope: cdk.Stack, is_imported: bool) -> IInferenceEndpoint:
    if is_imported:
        return InferenceEndpoint.from_endpoint_name(scope, "Net", "one")
    return InferenceEndpoint(scope, "Net", spec=spec("single"))


@pytest.mark.parametrize("is_imported", [False, True])
def test_a_metric_is_of_the_endpoints_account_and_region(is_imported):
    here, there = two_regions()
    metric = made_or_named(here, is_imported).metric_server_errors()
    assert (metric.account, metric.region) == ("111122223333", "us-east-1")
    assert drawn(metric, there)["region"] == "us-east-1"
    with pytest.raises(RuntimeError, match="AlarmRegionMismatch"):
        metric.create_alarm(there, "Alarm", threshold=1, evaluation_periods=1)


def test_a_metric_at_home_is_written_without_account_and_region():
    made = endpoint("single", "alarms: false")
    metric = made.metric_server_errors()
    metric.create_alarm(made, "Own", threshold=1, evaluation_periods=1)
    alarm = only(synthesised(made), "AWS::CloudWatch::Alarm")
    assert alarm["MetricName"] == "Invocation5XXErrors"
    assert "region" not in drawn(metric, cdk.Stack.of(made))


def test_a_metric_of_a_stack_for_any_place_names_none():
    metric = InferenceEndpoint(stack(region=None), "Net", spec=spec("single")).metric_server_errors()
    assert (metric.account, metric.region) == (None, None)


def test_an_endpoint_is_where_its_stack_is():
    made = endpoint("single")
    assert (made.env.account, made.env.region) == ("111122223333", "us-east-1")


def test_an_alarm_can_be_made_of_a_metric():
    made = endpoint("single")
    alarm = made.metric_gpu_utilization().create_alarm(made, "Own", threshold=90, evaluation_periods=3)
    assert alarm.metric.namespace == "/aws/sagemaker/Endpoints"


ARN = "arn:aws-cn:sagemaker:cn-north-1:444455556666:endpoint/old-one"


def test_an_endpoint_known_by_its_arn_is_where_the_arn_says():
    here = stack()
    made = InferenceEndpoint.from_endpoint_arn(here, "Old", ARN)
    assert (made.endpoint_arn, made.endpoint_name, made.stack) == (ARN, "old-one", here)
    assert (made.env.account, made.env.region) == ("444455556666", "cn-north-1")
    metric = made.metric_invocations()
    assert (metric.account, metric.region) == ("444455556666", "cn-north-1")


def test_a_name_can_be_given_beside_the_arn_and_components_are_where_it_is():
    made = InferenceEndpoint.from_endpoint_attributes(
        stack(),
        "Old",
        endpoint_arn=ARN,
        endpoint_name="Old-One",
        variant_names=["A"],
        inference_components=["chat"],
    )
    assert made.endpoint_name == "Old-One"
    assert dict(made.metric("CPUUtilization").dimensions) == {"EndpointName": "Old-One", "VariantName": "A"}
    assert made.inference_component_arn("chat") == ARN.replace("endpoint/old-one", "inference-component/chat")


def test_an_arn_may_be_a_token():
    here = stack()
    made = InferenceEndpoint.from_endpoint_arn(here, "Old", cdk.Fn.import_value("Arn"))
    assert here.resolve(made.endpoint_arn) == {"Fn::ImportValue": "Arn"}
    assert "Fn::Select" in here.resolve(made.endpoint_name)
    assert made.metric_invocations().region is None


def test_without_an_arn_attributes_are_those_of_the_stacks_place():
    made = InferenceEndpoint.from_endpoint_attributes(stack(), "Old", endpoint_name="one")
    assert (made.env.account, made.env.region) == ("111122223333", "us-east-1")


@pytest.mark.parametrize(
    "arn", ["arn:aws:sns:us-east-1:111122223333:oncall", "one", ARN.replace("endpoint/", "model/")]
)
def test_the_arn_of_something_else_is_refused(arn):
    with pytest.raises(ValueError, match="is not the ARN of an endpoint"):
        InferenceEndpoint.from_endpoint_arn(stack(), "Old", arn)


def test_an_endpoint_needs_a_name_or_an_arn():
    with pytest.raises(ValueError, match="the endpoint `Old` needs its name or its ARN"):
        InferenceEndpoint.from_endpoint_attributes(stack(), "Old")


def test_every_endpoint_has_a_stack():
    for made in (endpoint("single"), imported()):
        assert made.stack is cdk.Stack.of(made)


def test_name_and_arn_are_those_of_one_endpoint():
    with pytest.raises(
        ValueError, match='old-one" is not that of the endpoint `other`; pass both of one endpoint'
    ):
        InferenceEndpoint.from_endpoint_attributes(stack(), "Old", endpoint_arn=ARN, endpoint_name="other")
    token = cdk.Fn.import_value("Name")
    InferenceEndpoint.from_endpoint_attributes(stack(), "Old", endpoint_arn=ARN, endpoint_name=token)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [({}, "Invocations stands for several of the"), ({"variant_name": "C"}, "of 'C' is none of the")],
)
def test_whether_none_is_chosen_or_another_is_needed_is_said(chosen, said):
    made = InferenceEndpoint.from_endpoint_name(stack(), "Old", "one", variant_names=["A", "B"])
    with pytest.raises(
        ValueError, match=f"{said} endpoint's; choose one of variant_name='A' or variant_name='B'"
    ):
        made.metric("Invocations", **chosen)


@pytest.mark.parametrize(
    ("metric", "chosen", "said"),
    [
        (
            "InvocationsPerCopy",
            {},
            "InvocationsPerCopy is none of the endpoint's; name its `inference_components`",
        ),
        (
            "ApproximateBacklogSize",
            {"variant_name": "A"},
            "of 'A' is none of the endpoint's; leave the part out",
        ),
    ],
)
def test_what_to_name_is_said_where_there_is_nothing_to_choose_from(metric, chosen, said):
    made = InferenceEndpoint.from_endpoint_name(stack(), "Old", "one", variant_names=["A"])
    with pytest.raises(ValueError, match=said):
        made.metric(metric, **chosen)


@pytest.mark.parametrize("option", ["variant_names", "inference_components"])
def test_a_text_is_no_list_of_names(option):
    with pytest.raises(TypeError, match=rf"`{option}` is the text 'base'; write a list: `\['base'\]`"):
        imported(**{option: "base"})


@pytest.mark.parametrize("name", ["", "a b!", "-a", "a-", "x" * 64])
def test_a_name_has_the_form_that_sagemaker_wants(name):
    with pytest.raises(ValueError, match=r"`endpoint_name` has .*, which is not a valid name; write 1 to 63"):
        InferenceEndpoint.from_endpoint_name(stack(), "Old", name)
    with pytest.raises(ValueError, match=r"`inference_components` has .* not a valid name"):
        imported(inference_components=["base", name])


def test_an_arn_is_no_name():
    with pytest.raises(ValueError, match=r"`endpoint_name` has the ARN .*; pass it to `from_endpoint_arn`"):
        InferenceEndpoint.from_endpoint_name(stack(), "Old", ARN)
    component = ARN.replace("endpoint/old-one", "inference-component/base")
    with pytest.raises(ValueError, match=r'`inference_components` has the ARN .*; write "base"'):
        imported(inference_components=[component])


def test_names_that_only_the_deployment_knows_are_taken():
    token = cdk.Fn.import_value("Name")
    made = InferenceEndpoint.from_endpoint_name(stack(), "Old", token, inference_components=[token])
    assert made.inference_component_arn(token)

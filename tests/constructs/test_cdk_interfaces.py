"""CDK's own constructs that take SageMaker's endpoints take ours, which Node then calls."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from aws_cdk import (
    aws_apigateway as apigateway,
    aws_ec2 as ec2,
    aws_iam as iam,
    aws_sagemaker as sagemaker,
)
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct, IConstruct
from jsii._kernel import _get_overides
from support.cdk import endpoint, synthesised
from support.resolving import of_type, only

from inferstack.constructs import IInferenceEndpoint, InferenceEndpoint
from inferstack.constructs.cdk_interfaces import Connectable, Grantable, OfSageMaker

INTERFACES = {Connectable: ec2.IConnectable, Grantable: iam.IGrantable, OfSageMaker: sagemaker.IEndpoint}
ENDPOINT = "AWS::SageMaker::Endpoint"


def members(interface: type) -> dict[str, str]:
    """Node's names of an interface's members, by Python's; without those of every construct."""
    there = {name: getattr(interface, name) for name in dir(interface) if name not in dir(IConstruct)}
    functions = {name: getattr(it, "fget", it) for name, it in there.items()}
    return {name: it.__jsii_name__ for name, it in functions.items() if hasattr(it, "__jsii_name__")}


@pytest.mark.parametrize("ours", INTERFACES, ids=lambda it: it.__name__)
def test_an_interface_has_the_names_that_cdk_has(ours: type) -> None:
    assert ours.__jsii_type__ == INTERFACES[ours].__jsii_type__
    assert members(ours) == members(INTERFACES[ours])


def imported() -> IInferenceEndpoint:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account="111122223333", region="us-east-1"))
    return InferenceEndpoint.from_endpoint_name(stack, "Chat", "support-llm", inference_components=["base"])


def test_api_gateway_invokes_an_endpoint_of_the_app() -> None:
    made = endpoint("single")
    apigateway.RestApi(made.stack, "Api").root.add_method("POST", apigateway.SagemakerIntegration(made))
    template = synthesised(made)
    (logical_id,) = of_type(template, ENDPOINT)
    called = only(template, "AWS::ApiGateway::Method")["Integration"]["Uri"]["Fn::Join"][1]
    assert called[-2:] == [{"Fn::GetAtt": [logical_id, "EndpointName"]}, "/invocations"]
    (invoke,) = only(template, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    assert "sagemaker:InvokeEndpoint" in invoke["Action"]
    assert invoke["Resource"] == {"Ref": logical_id}


def test_api_gateway_invokes_an_imported_endpoint() -> None:
    chat = imported()
    apigateway.RestApi(chat.stack, "Api").root.add_method("POST", apigateway.SagemakerIntegration(chat))
    template = synthesised(chat)
    called = only(template, "AWS::ApiGateway::Method")["Integration"]["Uri"]["Fn::Join"][1]
    assert called[-1].endswith("/endpoints/support-llm/invocations")
    (invoke,) = only(template, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    assert len(invoke["Resource"]) == 2


@pytest.mark.parametrize(
    ("make", "cdks"),
    [(lambda: endpoint("single"), CfnInclude), (imported, Construct)],
    ids=["made", "imported"],
)
def test_node_may_call_every_member_of_the_interface(
    make: Callable[[], IInferenceEndpoint], cdks: type
) -> None:
    called = {getattr(it, "method", None) or it.property for it in _get_overides(cdks, make())}
    # What CDK's class has already, it also answers in Node.
    assert {*members(OfSageMaker).values()} - called <= {*members(cdks).values()}


def test_a_reference_leads_to_the_endpoint() -> None:
    for ours in (endpoint("single"), imported()):
        assert ours.endpoint_ref.endpoint_arn == ours.endpoint_arn


ROLE = "arn:aws:iam::111122223333:role/ml"


def test_an_endpoint_of_the_app_is_retained_with_what_it_runs_on() -> None:
    made = endpoint("single", {"execution_role": ROLE})
    made.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
    kept = {it["Type"]: it for it in synthesised(made)["Resources"].values() if "DeletionPolicy" in it}
    assert kept.keys() == {ENDPOINT, f"{ENDPOINT}Config", "AWS::SageMaker::Model"}
    # What an update replaces would otherwise stay forever.
    assert [name for name, it in kept.items() if "UpdateReplacePolicy" in it] == [ENDPOINT]


@pytest.mark.parametrize(
    ("base", "change", "what"),
    [("single", {}, "role"), ("components", {"execution_role": ROLE}, "inference components")],
)
def test_an_endpoint_is_not_retained_without_what_it_needs(
    base: str, change: dict[str, str], what: str
) -> None:
    made = endpoint(base, change)
    with pytest.raises(ValueError, match=f"would stay without its {what}; "):
        made.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
    made.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
    assert only(synthesised(made), ENDPOINT)


def test_an_imported_endpoint_is_not_the_apps_to_retain() -> None:
    with pytest.raises(ValueError, match="support-llm"):
        imported().apply_removal_policy(cdk.RemovalPolicy.RETAIN)

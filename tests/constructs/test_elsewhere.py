"""Values from elsewhere in constructs: the same as in a template, beside one another, and in CDK's own handles."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from support.cdk import spec

from inferstack.check.load import LoadedSpec
from inferstack.constructs import EndpointAlarms, InferenceEndpoint
from inferstack.problems import SpecError
from inferstack.resolve.template import template_of
from inferstack_stacks import EndpointStack

FROM_ELSEWHERE: dict[str, Any] = {
    "parameters": {"Release": {"default": "7"}},
    "model": {
        "model_data_url": "s3://${import:bucket}/${parameter:Release}/model.tar.gz",
        "vpc_config": {"subnets": "${ssm:/subnets}", "security_group_ids": ["${ssm:/group}"]},
    },
    "alarms": {"actions": ["${ssm:/topic}"]},
}


def one(**change: Any) -> LoadedSpec:
    return spec("single", {**FROM_ELSEWHERE, **change})


def stack_of(*specs: LoadedSpec) -> tuple[cdk.Stack, list[InferenceEndpoint]]:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
    return stack, [InferenceEndpoint(stack, f"E{i}", spec=it) for i, it in enumerate(specs)]


def test_the_stack_of_one_endpoint_has_the_template_that_render_prints() -> None:
    given = one(
        exports={"endpoint_name": "one-name"}, invokers={"role": {"trusted": ["lambda.amazonaws.com"]}}
    )
    made = Template.from_stack(EndpointStack(cdk.App(), "Stack", spec=given)).to_json()
    assert made == template_of(given)


def test_two_endpoints_in_a_stack_have_parameters_of_their_own() -> None:
    stack, _ = stack_of(one(), one(endpoint_name="two"))
    made = Template.from_stack(stack).to_json()
    assert sorted(it["Default"] for it in made["Parameters"].values()) == sorted(
        ["7", "/subnets", "/group", "/topic"] * 2
    )
    used = str([it["Properties"] for it in made["Resources"].values()])
    assert all(f"'{name}'" in used or f"${{{name}}}" in used for name in made["Parameters"])


def test_a_parameter_of_a_construct_can_be_reached() -> None:
    _, (endpoint,) = stack_of(one())
    assert endpoint.get_parameter("Release").default == "7"


def test_rules_are_for_a_group_from_the_parameter_store() -> None:
    stack, (endpoint,) = stack_of(one())
    endpoint.connections.allow_from_any_ipv4(cdk.aws_ec2.Port.tcp(443))
    made = Template.from_stack(stack).to_json()
    (rule,) = (it for it in made["Resources"].values() if it["Type"] == "AWS::EC2::SecurityGroupIngress")
    group = rule["Properties"]["GroupId"]["Ref"]
    assert made["Parameters"][group]["Default"] == "/group"


def test_what_is_granted_to_a_role_of_another_stack_goes_to_that_role() -> None:
    stack, (endpoint,) = stack_of(one(execution_role="${import:role}"))
    cdk.aws_s3.Bucket(stack, "Bucket").grant_read(endpoint)
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    assert "{'Fn::ImportValue': 'role'}" in str(policy["Properties"]["Roles"])


def test_outputs_of_a_stack_of_the_app_are_the_apps() -> None:
    with pytest.raises(SpecError, match="IS192"):
        stack_of(one(exports={"endpoint_name": "one-name"}))


def test_a_part_has_only_the_parameters_that_it_uses() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
    EndpointAlarms(stack, "Alarms", spec=one(exports={"endpoint_name": "one-name"}))
    (parameter,) = Template.from_stack(stack).to_json()["Parameters"].values()
    assert parameter["Default"] == "/topic"


def test_the_l1s_of_the_role_are_not_those_of_invokers() -> None:
    role = {"role": {"trusted": ["lambda.amazonaws.com"]}}
    _, (made, named) = stack_of(
        one(invokers=role), one(endpoint_name="two", invokers=role, execution_role="${import:role}")
    )
    assert "sagemaker.amazonaws.com" in str(made.cfn_role.assume_role_policy_document)
    assert len(made.cfn_policies) == 1
    assert list(named.cfn_policies) == []
    with pytest.raises(ValueError, match="makes no AWS::IAM::Role"):
        _ = named.cfn_role


@pytest.mark.parametrize("roles", [["#{Token[TOKEN.1]}"]])
def test_a_list_of_roles_known_at_deployment_cannot_be_that_of_the_policy(roles: list[str]) -> None:
    with pytest.raises(SpecError, match="IS113"):
        one(invokers={"roles": roles})


def test_a_parameter_is_declared_before_the_deployment() -> None:
    with pytest.raises(SpecError, match="IS112"):
        one(parameters={"Release": {"default": "${Token[TOKEN.1]}"}})

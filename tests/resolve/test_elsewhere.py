"""Values from elsewhere in the template; what other stacks import; who may invoke."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from cfnlint.helpers import VALID_PARAMETER_TYPES, VALID_PARAMETER_TYPES_LIST
from support.pages import code_blocks
from support.resolving import Resolved, of_type, only

from inferstack.check.load import parse_spec
from inferstack.format.elsewhere import LISTS, TEXTS, ParameterType, is_list_type
from inferstack.resolve import resolve_template
from inferstack.resolve.invokers import CALL_WITH_TOKEN

PAGE = Path(__file__).parents[2] / "docs" / "elsewhere.md"
MODEL, POLICY = "AWS::SageMaker::Model", "AWS::IAM::ManagedPolicy"
VALUES = {
    "${import:a-b}": {"Fn::ImportValue": "a-b"},
    "${parameter:P}": {"Ref": "P"},
    "x-${parameter:P}/${AWS::Region}": {"Fn::Sub": "x-${P}/${AWS::Region}"},
    "${import:a}-${import:b}": {
        "Fn::Sub": [
            "${Import1}-${Import2}",
            {"Import1": {"Fn::ImportValue": "a"}, "Import2": {"Fn::ImportValue": "b"}},
        ]
    },
    "${parameter:P}-${literal}": {"Fn::Sub": "${P}-${!literal}"},
    "${saml:sub}": "${saml:sub}",
}


@pytest.mark.parametrize("text", VALUES)
def test_a_text_becomes_a_function_that_fills_it_in(resolve: Resolved, text: str) -> None:
    change = {"parameters": {"P": {}}, "model": {"environment": {"IT": text}}}
    template = resolve(
        "single", json.dumps(change) if "parameter:" in text else json.dumps({"model": change["model"]})
    )
    assert only(template, MODEL)["PrimaryContainer"]["Environment"]["IT"] == VALUES[text]


def test_a_value_of_the_parameter_store_is_a_parameter_of_the_stack(resolve: Resolved) -> None:
    change = {
        "model": {"environment": {"ONE": "${ssm:/a/b}", "SAME": "${ssm:/a/b}", "OTHER": "x${ssm:/a-b}"}}
    }
    template = resolve("single", json.dumps(change))
    stored = {it["Default"]: name for name, it in template["Parameters"].items()}
    assert list(stored) == ["/a/b", "/a-b"]
    assert {it["Type"] for it in template["Parameters"].values()} == {"AWS::SSM::Parameter::Value<String>"}
    environment = only(template, MODEL)["PrimaryContainer"]["Environment"]
    assert environment["ONE"] == environment["SAME"] == {"Ref": stored["/a/b"]}
    assert environment["OTHER"] == {"Fn::Sub": f"x${{{stored['/a-b']}}}"}


def test_one_text_stands_for_a_whole_list(resolve: Resolved) -> None:
    network = {"subnets": "${ssm:/subnets}", "security_group_ids": "${import:groups}"}
    template = resolve("single", json.dumps({"model": {"vpc_config": network}}))
    ((name, parameter),) = template["Parameters"].items()
    assert parameter["Type"] == "AWS::SSM::Parameter::Value<List<String>>"
    assert only(template, MODEL)["VpcConfig"] == {
        "Subnets": {"Ref": name},
        "SecurityGroupIds": {"Fn::Split": [",", {"Fn::ImportValue": "groups"}]},
    }


def test_an_entry_of_a_list_stays_one(resolve: Resolved) -> None:
    network = {"subnets": ["${import:a}"], "security_group_ids": ["${ssm:/g}"]}
    found = only(resolve("single", json.dumps({"model": {"vpc_config": network}})), MODEL)["VpcConfig"]
    assert found["Subnets"] == [{"Fn::ImportValue": "a"}]
    assert [list(it) for it in found["SecurityGroupIds"]] == [["Ref"]]


def test_a_text_of_a_stage_stands_for_a_list_too() -> None:
    data = yaml.safe_load(code_blocks(PAGE, "yaml")[0])
    data["stages"]["prod"] = {"model": {"vpc_config": {"subnets": "${import:prod-subnets}"}}}
    loaded = parse_spec(data, stage="prod")
    template = resolve_template(loaded.spec, region="eu-west-1", source_of=str)
    assert only(template, MODEL)["VpcConfig"]["Subnets"] == {
        "Fn::Split": [",", {"Fn::ImportValue": "prod-subnets"}]
    }


def statements(template: Mapping[str, Any]) -> dict[str, Any]:
    policies = [it for name, it in of_type(template, POLICY).items() if name.startswith("ExecutionPolicy")]
    return {it["Sid"]: it for policy in policies for it in policy["PolicyDocument"]["Statement"]}


def test_the_role_reads_from_a_bucket_of_another_stack(resolve: Resolved) -> None:
    template = resolve("single", json.dumps({"model": {"model_data_url": "s3://${import:b}/a/model.tar.gz"}}))
    made = statements(template)
    assert made["ReadModelFiles"]["Resource"] == [
        {
            "Fn::Sub": [
                "arn:${AWS::Partition}:s3:::${Import1}/a/model.tar.gz",
                {"Import1": {"Fn::ImportValue": "b"}},
            ]
        }
    ]
    assert made["ListModelFiles"]["Condition"] == {"StringLike": {"s3:prefix": ["a/model.tar.gz"]}}


def test_the_role_uses_a_key_of_another_stack(resolve: Resolved) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/${ssm:/key-id}"
    template = resolve("single", json.dumps({"endpoint_config": {"kms_key_id": key}}))
    (name,) = template["Parameters"]
    whole = {"Fn::Sub": key.replace("ssm:/key-id", name)}
    assert statements(template)["UseKeys"]["Resource"] == [whole]
    assert statements(template)["GrantKeys"]["Resource"] == [whole]
    assert only(template, "AWS::SageMaker::EndpointConfig")["KmsKeyId"] == whole


def test_a_role_of_another_stack_is_used_and_none_is_made(resolve: Resolved) -> None:
    template = resolve("single", json.dumps({"execution_role": "${import:role}"}))
    assert not any(it["Type"].startswith("AWS::IAM") for it in template["Resources"].values())
    assert only(template, MODEL)["ExecutionRoleArn"] == {"Fn::ImportValue": "role"}


def test_parameters_are_declared_as_they_are_written(resolve: Resolved) -> None:
    declared = {
        "type": "Number",
        "default": 2,
        "allowed_values": [1, 2],
        "min_value": 1,
        "description": "How many",
    }
    change = {"parameters": {"Workers": declared}, "model": {"environment": {"N": "${parameter:Workers}"}}}
    assert resolve("single", json.dumps(change))["Parameters"] == {
        "Workers": {
            "Type": "Number",
            "Default": "2",
            "Description": "How many",
            "AllowedValues": ["1", "2"],
            "MinValue": 1,
        }
    }


def test_types_of_parameters_are_cloudformations() -> None:
    types = set(ParameterType.__args__)  # type: ignore[attr-defined]
    assert types <= set(VALID_PARAMETER_TYPES)
    assert {it for it in types if is_list_type(it)} == types & set(VALID_PARAMETER_TYPES_LIST)


# ---------------------------------------------------------------- for others


def test_exports_are_names_of_outputs(resolve: Resolved) -> None:
    change = {"exports": {"endpoint_name": "one-name", "endpoint_arn": "one-${AWS::Region}"}}
    outputs = resolve("single", json.dumps(change))["Outputs"]
    assert outputs["EndpointName"]["Export"] == {"Name": "one-name"}
    assert outputs["EndpointArn"]["Export"] == {"Name": {"Fn::Sub": "one-${AWS::Region}"}}


def test_invokers_may_do_what_grant_invoke_grants(resolve: Resolved) -> None:
    template = resolve("components", json.dumps({"invokers": {"roles": ["web"], "openai_route": True}}))
    (component,) = of_type(template, "AWS::SageMaker::InferenceComponent")
    policy = template["Resources"]["InvokerPolicy"]["Properties"]
    invoke, token = policy["PolicyDocument"]["Statement"]
    assert (invoke["Action"], invoke["Resource"]) == (_ANY_TIME, [{"Ref": "Endpoint"}, {"Ref": component}])
    assert (token["Action"], token["Resource"]) == ([CALL_WITH_TOKEN], ["*"])
    assert policy["Roles"] == ["web"]
    assert policy["Description"] == "Allows invoking the SageMaker endpoint of this stack"
    assert template["Outputs"]["InvokerPolicyArn"]["Value"] == {"Ref": "InvokerPolicy"}


_SERVES_LANGUAGE_MODELS = {"image": {"framework": "huggingface-vllm", "version": "0.21.0"}}
_ASYNC = {"async_inference_config": {"output_config": {"s3_output_path": "s3://films/out/"}}}
_ANY_TIME = ["sagemaker:InvokeEndpoint", "sagemaker:InvokeEndpointWithResponseStream"]
_QUEUED = ["sagemaker:InvokeEndpointAsync"]


@pytest.mark.parametrize(
    ("change", "actions", "by_token"),
    [
        ({}, _ANY_TIME, False),
        ({"model": _SERVES_LANGUAGE_MODELS}, _ANY_TIME, True),
        ({"model": _SERVES_LANGUAGE_MODELS, "invokers": {"openai_route": False}}, _ANY_TIME, False),
        # Of an image of one's own, only the spec can say so.
        ({"invokers": {"openai_route": True}}, _ANY_TIME, True),
        ({"endpoint_config": _ASYNC}, _QUEUED, False),
        ({"model": _SERVES_LANGUAGE_MODELS, "endpoint_config": _ASYNC}, _QUEUED, False),
    ],
)
def test_invokers_may_do_what_the_endpoint_answers(
    change: dict[str, Any], actions: list[str], by_token: bool, resolve: Resolved
) -> None:
    template = resolve("single", json.dumps({"invokers": {}, **change}))
    invoke, *rest = template["Resources"]["InvokerPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert invoke["Action"] == actions
    assert [it["Action"] for it in rest] == ([[CALL_WITH_TOKEN]] if by_token else [])


@pytest.mark.parametrize(
    ("key", "named", "condition"),
    [
        ("1234abcd-12ab-34cd-56ef-1234567890ab", "1234abcd-12ab-34cd-56ef-1234567890ab", {}),
        ("alias/studio", "*", {"ForAnyValue:StringEquals": {"kms:ResourceAliases": ["alias/studio"]}}),
    ],
)
def test_invokers_of_an_asynchronous_endpoint_exchange_files_in_the_bucket_of_the_stack(
    key: str, named: str, condition: dict[str, Any], resolve: Resolved
) -> None:
    asynchronous = {"create": {"bucket": {}}, "output_config": {"kms_key_id": key}}
    change = {"invokers": {}, "endpoint_config": {"async_inference_config": asynchronous}}
    policy = resolve("single", json.dumps(change))["Resources"]["InvokerPolicy"]["Properties"][
        "PolicyDocument"
    ]
    _, put, get, use = policy["Statement"]
    assert (put["Action"], put["Resource"]) == (["s3:PutObject"], [_in_bucket("requests")])
    assert (get["Action"], get["Resource"]) == (
        ["s3:GetObject"],
        [_in_bucket("responses"), _in_bucket("failures")],
    )
    assert use["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert use["Resource"] == [
        {"Fn::Sub": f"arn:${{AWS::Partition}}:kms:${{AWS::Region}}:${{AWS::AccountId}}:key/{named}"}
    ]
    assert use.get("Condition", {}) == condition


def test_invokers_get_no_right_to_a_bucket_that_others_made(resolve: Resolved) -> None:
    asynchronous = {"output_config": {"s3_output_path": "s3://films/out/", "kms_key_id": "alias/studio"}}
    change = {"invokers": {}, "endpoint_config": {"async_inference_config": asynchronous}}
    policy = resolve("single", json.dumps(change))["Resources"]["InvokerPolicy"]["Properties"][
        "PolicyDocument"
    ]
    assert [it["Sid"] for it in policy["Statement"]] == ["Invoke"]


def _in_bucket(folder: str) -> dict[str, str]:
    return {"Fn::Sub": f"${{AsyncBucket.Arn}}/{folder}/*"}


def test_the_role_of_invokers_trusts_only_those_who_are_named(resolve: Resolved) -> None:
    trusted = ["lambda.amazonaws.com", "111122223333", "${import:caller}"]
    template = resolve("single", json.dumps({"invokers": {"role": {"trusted": trusted}}}))
    (statement,) = template["Resources"]["InvokerRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    account = {"Fn::Sub": "arn:${AWS::Partition}:iam::111122223333:root"}
    caller = {"Fn::ImportValue": "caller"}
    assert statement["Principal"] == {"Service": ["lambda.amazonaws.com"], "AWS": [account, caller]}
    assert template["Resources"]["InvokerPolicy"]["Properties"]["Roles"] == [{"Ref": "InvokerRole"}]


def test_nothing_waits_for_the_policy_of_invokers(resolve: Resolved) -> None:
    template = resolve("single", json.dumps({"invokers": {}}))
    waiting = [name for it in template["Resources"].values() for name in it.get("DependsOn", ())]
    assert waiting
    assert "InvokerPolicy" not in waiting


# ---------------------------------------------------------------- the page


def test_the_spec_of_the_page_is_right() -> None:
    for stage in ("test", "prod"):
        assert parse_spec(yaml.safe_load(code_blocks(PAGE, "yaml")[0]), stage=stage).warnings == ()


def test_the_page_names_every_place() -> None:
    rows = dict(re.findall(r"^\| ([^|`]+) \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert set(TEXTS) <= rows.keys()
    for what, ends in TEXTS.items():
        for end in ends:
            words = [it for it in end.split(".") if it != "*"]
            assert f"`{words[-1]}`" in rows[what] or f"`{'.'.join(words[-2:])}`" in rows[what], (what, end)
    assert all(f"`{it}`" in PAGE.read_text("utf-8") for it in LISTS)

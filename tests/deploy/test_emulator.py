"""The emulator is no more lenient than AWS, and says which of its refusals AWS has not confirmed."""

import re
import urllib.request
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from emulator.beliefs import BELIEFS
from emulator.clients import EmulatedAws
from emulator.deploying import deploy

EMULATOR = Path(__file__).parents[1] / "emulator"


def test_every_belief_is_one_that_the_emulator_acts_on() -> None:
    code = "".join(it.read_text("utf-8") for it in EMULATOR.rglob("*.py") if it.name != "beliefs.py")
    cited = {*re.findall(r'believed\(\s*"([a-z-]+)"', code), *re.findall(r'the belief "([a-z-]+)"', code)}
    assert cited == BELIEFS.keys()


def test_nothing_but_this_machine_can_be_reached(aws: EmulatedAws) -> None:
    with pytest.raises(OSError, match=r"may not connect|refused"):
        urllib.request.urlopen("http://192.0.2.1/", timeout=5)


WRONG = {
    "an enum": {"Image": "net:1", "Mode": "Multi"},
    "a bound": {"Image": "x" * 300},
    "a pattern": {"Image": "net:1", "ModelDataUrl": "ftp://models/a.tar.gz"},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_request_is_held_against_the_services_own_model(aws: EmulatedAws, what: str) -> None:
    with pytest.raises(ClientError, match=r"CreateModel: \.PrimaryContainer"):
        aws.client("sagemaker").create_model(ModelName="net", PrimaryContainer=WRONG[what])


def test_a_type_that_it_does_not_know_is_refused(aws: EmulatedAws) -> None:
    template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
    with pytest.raises(ClientError, match=r"Unrecognized resource types: \[AWS::SQS::Queue\]"):
        deploy(aws, "stack", template)


TEMPLATES = {
    "Unresolved resource dependencies": {
        "A": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Ref": "B"}}}
    },
    "Circular dependency": {
        "A": {"Type": "AWS::SNS::Topic", "DependsOn": "B"},
        "B": {"Type": "AWS::SNS::Topic", "DependsOn": "A"},
    },
    "At least one Resources member": {},
}


@pytest.mark.parametrize("said", TEMPLATES)
def test_a_template_that_cannot_be_deployed_is_refused_before_anything_is_done(
    aws: EmulatedAws, said: str
) -> None:
    with pytest.raises(ClientError, match=said):
        deploy(aws, "stack", {"Resources": TEMPLATES[said]})
    assert aws.client("cloudformation").list_stacks()["StackSummaries"] == []


def test_roles_are_made_for_those_only_who_say_that_they_know(aws: EmulatedAws) -> None:
    template = (
        '{"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}}}'
    )
    with pytest.raises(ClientError, match=r"Requires capabilities : \[CAPABILITY_IAM\]"):
        aws.client("cloudformation").create_stack(StackName="stack", TemplateBody=template)


def test_a_parameter_can_come_from_the_parameter_store(aws: EmulatedAws) -> None:
    aws.client("ssm").put_parameter(Name="/topic", Value="from-store", Type="String")
    template = {
        "Parameters": {"Name": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/topic"}},
        "Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Ref": "Name"}}}},
        "Outputs": {"Arn": {"Value": {"Ref": "A"}}},
    }
    assert deploy(aws, "stack", template) == "CREATE_COMPLETE"
    [stack] = aws.client("cloudformation").describe_stacks(StackName="stack")["Stacks"]
    assert stack["Outputs"][0]["OutputValue"].endswith(":from-store")

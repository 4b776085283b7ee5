"""The emulator is no more lenient than AWS, and says which of its refusals AWS has not confirmed."""

import re
import urllib.request
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from emulator.beliefs import BELIEFS
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, destroy, failures

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


NETWORK = {
    "Net": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "Group": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "models", "VpcId": {"Ref": "Net"}},
    },
}


def test_what_is_only_recorded_is_held_against_the_registry_and_has_its_ids(aws: EmulatedAws) -> None:
    values = {
        "Net": {"Ref": "Net"},
        "Group": {"Ref": "Group"},
        "GroupId": {"Fn::GetAtt": ["Group", "GroupId"]},
    }
    outputs = {name: {"Value": value} for name, value in values.items()}
    assert deploy(aws, "stack", {"Resources": NETWORK, "Outputs": outputs}) == "CREATE_COMPLETE"
    [stack] = aws.client("cloudformation").describe_stacks(StackName="stack")["Stacks"]
    found = {it["OutputKey"]: it["OutputValue"] for it in stack["Outputs"]}
    assert re.fullmatch(r"vpc-\w{17}", found["Net"])
    assert found["GroupId"] == found["Group"]
    wrong = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlocks": ["10.0.0.0/16"]}}
    assert deploy(aws, "other", {"Resources": {"Net": wrong}}) == "ROLLBACK_COMPLETE"
    [reason] = failures(aws, "other")
    assert "'CidrBlocks' was unexpected" in reason


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


NAMED = {"A": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Fn::ImportValue": "topic-name"}}}}
GIVING = {
    "Resources": {"B": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "given"}}},
    "Outputs": {"Name": {"Value": "imported", "Export": {"Name": "topic-name"}}},
}


def test_a_stack_imports_what_another_one_exports(aws: EmulatedAws) -> None:
    with pytest.raises(ClientError, match="No export named topic-name found"):
        deploy(aws, "taking", {"Resources": NAMED})
    assert deploy(aws, "giving", GIVING) == "CREATE_COMPLETE"
    assert deploy(aws, "taking", {"Resources": NAMED}) == "CREATE_COMPLETE"
    (topic,) = (
        it for it in aws.client("sns").list_topics()["Topics"] if it["TopicArn"].endswith(":imported")
    )
    assert topic
    (export,) = aws.client("cloudformation").list_exports()["Exports"]
    assert (export["Name"], export["Value"]) == ("topic-name", "imported")


def test_an_export_that_is_imported_stays_as_it_is(aws: EmulatedAws) -> None:
    deploy(aws, "giving", GIVING)
    deploy(aws, "taking", {"Resources": NAMED})
    other = {"Value": "other", "Export": {"Name": "topic-name"}}
    for outputs in ({}, {"Name": other}):
        assert deploy(aws, "giving", {**GIVING, "Outputs": outputs}) == "UPDATE_ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match="in use by taking"):
        destroy(aws, "giving")
    assert destroy(aws, "taking") == destroy(aws, "giving") == "DELETE_COMPLETE"


def test_no_two_stacks_export_one_name(aws: EmulatedAws) -> None:
    deploy(aws, "giving", GIVING)
    again = {**GIVING, "Resources": {"C": {"Type": "AWS::SNS::Topic"}}}
    assert deploy(aws, "again", again) == "ROLLBACK_COMPLETE"


def test_a_stored_list_is_a_list(aws: EmulatedAws) -> None:
    aws.client("ssm").put_parameter(Name="/topics", Value="one,two", Type="StringList")
    listed = {"Type": "AWS::SSM::Parameter::Value<List<String>>", "Default": "/topics"}
    second = {"Fn::Select": [1, {"Ref": "Names"}]}
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": second}}
    template = {"Parameters": {"Names": listed}, "Resources": {"A": topic}}
    assert deploy(aws, "stack", template) == "CREATE_COMPLETE"
    (found,) = aws.client("sns").list_topics()["Topics"]
    assert found["TopicArn"].endswith(":two")
    topic["Properties"] = {"TopicName": {"Fn::Sub": "x-${Names}"}}
    with pytest.raises(ClientError, match="Names in Fn::Sub expression is a list"):
        deploy(aws, "stack", template)

import json

import aws_cdk as cdk
import pytest
from support.cdk import crossings, spec, template
from support.resolving import only

from inferstack.spec.names_across_files import stack_name
from inferstack_stacks import EndpointStack


def made(base: str = "single", change: str = "{}", **options: object) -> EndpointStack:
    return EndpointStack(cdk.App(), "Stack", spec=spec(base, change), **options)


def test_a_stack_holds_the_endpoint_and_nothing_of_cdks():
    result = template(made())
    assert result.keys() == {"AWSTemplateFormatVersion", "Description", "Resources", "Outputs"}
    assert "aws:cdk" not in json.dumps(result)
    assert {"Model", "EndpointConfig", "Endpoint"} <= result["Resources"].keys()


def test_a_stack_has_the_description_of_its_spec():
    assert template(made(change="description: Ours."))["Description"] == "Ours."


def test_a_stack_has_outputs():
    assert {"EndpointName", "EndpointArn"} <= template(made())["Outputs"].keys()


@pytest.mark.parametrize(("endpoint", "stack"), [("bert", "bert"), ("B-1", "B-1"), ("7b", "endpoint-7b")])
def test_a_stack_has_the_endpoints_name_where_it_may(endpoint, stack):
    assert stack_name(endpoint) == stack
    assert made(change=f"endpoint_name: {endpoint}").stack_name == stack


def test_logical_ids_do_not_depend_on_the_place_in_the_app():
    stage = cdk.Stage(cdk.App(), "Prod")
    nested = EndpointStack(stage, "Elsewhere", spec=spec("single"))
    artifact = stage.synth().get_stack_artifact(nested.artifact_id)
    assert artifact.template["Resources"].keys() == template(made())["Resources"].keys()


@pytest.mark.parametrize(
    ("named", "otherwise", "expected"),
    [
        ("{}", None, ("unknown-account", "unknown-region")),
        ("{}", ("111122223333", "us-east-1"), ("111122223333", "us-east-1")),
        ("env: {region: us-east-1}", ("111122223333", "us-west-2"), ("111122223333", "us-east-1")),
        (
            "env: {account: '444455556666', region: us-east-1}",
            ("111122223333", "us-west-2"),
            ("444455556666", "us-east-1"),
        ),
    ],
)
def test_the_spec_says_where_to_and_env_fills_in(named, otherwise, expected):
    env = None if otherwise is None else cdk.Environment(account=otherwise[0], region=otherwise[1])
    stack = made(change=named, env=env)
    environment = cdk.App.of(stack).synth().get_stack_by_name("one").environment
    assert (environment.account, environment.region) == expected


def test_a_region_that_only_env_names_decides_the_image():
    stack = made("multi", env=cdk.Environment(region="eu-west-1"))
    assert ".eu-west-1." in only(template(stack), "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]


def test_building_a_stack_crosses_to_node_three_times():
    app, one = cdk.App(), spec("multi")
    made("multi")
    with crossings() as asked:
        EndpointStack(app, "Stack", spec=one, env=cdk.Environment(region="us-east-1"))
    warnings = 2 * len(one.warnings)
    assert asked[:3] == ["CreateRequest"] * 3
    assert len(asked) == 3 + warnings


def test_another_synthesizer_can_be_given():
    result = template(made(synthesizer=cdk.DefaultStackSynthesizer(qualifier="mine")))
    assert result["Parameters"]["BootstrapVersion"]["Default"] == "/cdk-bootstrap/mine/version"

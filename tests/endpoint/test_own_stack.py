"""The endpoints of a stack in which other resources stand, too, found by metadata and logical ids."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk.assertions import Template
from constructs import Construct
from support.resolving import BASES

from inferstack.constructs import EndpointAlarms, InferenceEndpoint
from inferstack.endpoint.own_stack import OwnStackEndpoint, endpoints_of
from inferstack.spec import load_spec, parse_spec

EXAMPLES = sorted((Path(__file__).parents[1] / "shapes").glob("*.yaml"))
REGION = "us-east-1"


def stack_with(*ids: str, spec: Any, scope: str | None = None, region: str = REGION) -> cdk.Stack:
    """A stack with a topic, and endpoints under these ids."""
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region=region))
    around = stack if scope is None else Construct(stack, scope)
    cdk.aws_sns.Topic(stack, "Topic")
    for number, construct_id in enumerate(ids):
        given = spec if len(ids) == 1 else parse_spec({**spec, "endpoint_name": f"e{number}"})
        InferenceEndpoint(around, construct_id, spec=given)
    return stack


def found_in(stack: cdk.Stack) -> list[OwnStackEndpoint]:
    return endpoints_of(Template.from_stack(stack).to_json())


def plain(spec: Any, region: str = REGION) -> dict[str, Any]:
    """The endpoint's resources where it has the stack to itself."""
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region=region))
    InferenceEndpoint(stack, "Endpoint", spec=spec, preserve_logical_ids=True)
    resources: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    return resources


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda it: it.stem)
def test_an_endpoint_among_others_reads_as_if_it_had_the_stack_to_itself(example: Path) -> None:
    loaded = load_spec(example, region=REGION, overrides={"exports": None})
    region = loaded.spec.region or REGION
    [found] = found_in(stack_with("Churn", spec=loaded, scope="Team", region=region))
    assert found.construct == "TeamChurn"
    assert found.sections["Resources"] == plain(loaded, region)


SPEC: dict[str, Any] = yaml.safe_load(BASES["single"])


@pytest.mark.parametrize(
    ("construct_id", "begins"),
    [
        ("Endpoint", "Endpoint"),
        ("MyEndpoint", "MyEndpoint"),
        ("Model", "Model"),
        ("EndpointConfig", "EndpointConfig"),
        ("ExecutionRole", "ExecutionRole"),
        ("a-b.c d", "abcd"),
        ("DEADBEEF", "DEADBEEF"),
    ],
)
def test_what_cdk_leaves_out_of_ids_is_known(construct_id: str, begins: str) -> None:
    spec = parse_spec(SPEC)
    [found] = found_in(stack_with(construct_id, spec=spec))
    assert found.construct == begins
    assert found.sections["Resources"].keys() == plain(spec).keys()


def test_an_id_may_begin_with_that_of_another_endpoint() -> None:
    stack = stack_with("Churn", "ChurnEndpoint", "ChurnModel", spec=SPEC)
    every = found_in(stack)
    assert [it.construct for it in every] == ["Churn", "ChurnEndpoint", "ChurnModel"]
    assert len({frozenset(it.sections["Resources"]) for it in every}) == 3
    names = [it.sections["Resources"]["Endpoint"]["Properties"]["EndpointName"] for it in every]
    assert names == ["e0", "e1", "e2"]


def test_a_part_of_another_spec_is_left_out_whatever_its_id_begins_with() -> None:
    [alone] = found_in(stack_with("Churn", spec=parse_spec(SPEC)))
    stack = stack_with("Churn", spec=parse_spec(SPEC))
    other = load_spec(Path(__file__).parents[2] / "model_specs/bert-large.yaml", region=REGION)
    EndpointAlarms(stack, "ChurnOncall", spec=other)
    assert found_in(stack) == [alone]


def test_an_endpoint_may_be_the_default_child_of_a_construct() -> None:
    spec = parse_spec(SPEC)
    [found] = found_in(stack_with("Default", spec=spec, scope="Team"))
    assert (found.construct, found.sections["Resources"]) == ("Team", plain(spec))


def test_parameters_are_under_the_names_of_the_spec() -> None:
    url = {"model_data_url": "s3://acme-models/${parameter:Release}/model.tar.gz"}
    more = {"model": {**SPEC["model"], **url}, "parameters": {"Release": {"type": "String", "default": "7"}}}
    [found] = found_in(stack_with("Churn", spec=parse_spec({**SPEC, **more})))
    assert found.sections["Parameters"]["Release"]["Default"] == "7"
    assert "${Release}" in str(found.sections["Resources"]["Model"])


@pytest.mark.parametrize(
    "resources",
    [
        {"Endpoint": {"Type": "AWS::SageMaker::Endpoint", "Metadata": {"inferstack:source": "a.yaml: x"}}},
        {"ChurnEndpoint1A2B3C4D": {"Type": "AWS::SageMaker::Endpoint"}},
        {"Topic": {"Type": "AWS::SNS::Topic"}},
    ],
)
def test_other_templates_hold_none(resources: dict[str, Any]) -> None:
    assert endpoints_of({"Resources": resources}) == []

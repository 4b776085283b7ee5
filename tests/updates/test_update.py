"""What CloudFormation does with resources between two templates, whatever the resources are for."""

from datetime import date
from typing import Any

import pytest

from inferstack.updates.update import Fate, compare, differences

MODEL, CONFIG = "AWS::SageMaker::Model", "AWS::SageMaker::EndpointConfig"


def resource(type_name: str, **properties: Any) -> dict[str, Any]:
    return {"Type": type_name, "Properties": properties}


def fate(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    return {logical_id: str(change.fate) for logical_id, change in compare(before, after).items()}


def test_resources_come_and_go() -> None:
    one, other = {"A": resource(MODEL)}, {"B": resource(MODEL)}
    assert fate(one, other) == {"B": "added", "A": "removed"}


def test_metadata_and_dependencies_change_nothing() -> None:
    before = resource(MODEL, ExecutionRoleArn="x")
    after = {**before, "Metadata": {"inferstack:source": "a.yaml:9"}, "DependsOn": ["B"]}
    assert fate({"A": before}, {"A": after}) == {"A": "unchanged"}


def test_what_can_be_set_on_creation_only_replaces() -> None:
    before = {"A": resource(MODEL, ExecutionRoleArn="x", Tags=[])}
    assert fate(before, {"A": resource(MODEL, ExecutionRoleArn="y", Tags=[])}) == {"A": "replaced"}
    assert fate(before, {"A": resource(MODEL, ExecutionRoleArn="x", Tags=[1])}) == {"A": "updated"}


REFERENCES = {
    "Ref": {"Ref": "A"},
    "an attribute": {"Fn::GetAtt": ["A", "ModelName"]},
    "an attribute, short": {"Fn::GetAtt": "A.ModelName"},
    "a text": {"Fn::Sub": "x-${A}-y"},
    "an attribute in a text": {"Fn::Sub": "x-${A.ModelName}-y"},
    "a variable of a text": {"Fn::Sub": ["${name}", {"name": {"Ref": "A"}}]},
    "deep inside": {"Fn::Join": ["", ["x", {"Ref": "A"}]]},
}
NO_REFERENCES = {
    "another resource": {"Ref": "B"},
    "a pseudo parameter": {"Fn::Sub": "${AWS::Region}"},
    "a text that is left alone": {"Fn::Sub": "${!A}"},
    "a variable of that name": {"Fn::Sub": ["${A}", {"A": "x"}]},
    "the name as a text": "A",
}


@pytest.mark.parametrize("how", REFERENCES)
def test_what_refers_to_a_replaced_resource_changes_with_it(how: str) -> None:
    config = resource(CONFIG, ProductionVariants=[{"ModelName": REFERENCES[how]}])
    endpoint = resource("AWS::SageMaker::Endpoint", EndpointConfigName={"Ref": "C"})
    before = {"E": endpoint, "C": config, "A": resource(MODEL, ModelName="x")}
    after = {**before, "A": resource(MODEL, ModelName="y")}
    assert fate(before, after) == {"E": "updated", "C": "replaced", "A": "replaced"}
    assert compare(before, after)["C"].follows == ("A",)


@pytest.mark.parametrize("how", NO_REFERENCES)
def test_what_refers_to_something_else_does_not(how: str) -> None:
    config = resource(CONFIG, ProductionVariants=[{"ModelName": NO_REFERENCES[how]}])
    before = {"C": config, "A": resource(MODEL, ModelName="x"), "B": resource(MODEL)}
    after = {**before, "A": resource(MODEL, ModelName="y")}
    assert fate(before, after) == {"C": "unchanged", "A": "replaced", "B": "unchanged"}


def test_an_update_in_place_changes_nothing_else() -> None:
    before = {"C": resource(CONFIG, KmsKeyId={"Ref": "A"}), "A": resource(MODEL, Tags=[1])}
    after = {**before, "A": resource(MODEL, Tags=[2])}
    assert fate(before, after) == {"C": "unchanged", "A": "updated"}


SAME = [
    (1, "1"),
    (2.0, 2),
    (True, "true"),
    (date(2012, 10, 17), "2012-10-17"),
    ({"Fn::GetAtt": "A.B.C"}, {"Fn::GetAtt": ["A", "B.C"]}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
]
OTHER = [(1, 2), (0, False), (0, None), ([1], [1, 1]), ({"Ref": "A"}, {"Ref": "B"}), ({}, []), ("", None)]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_cloudformation_reads_alike_is_the_same(one: Any, other: Any) -> None:
    assert list(differences(one, other)) == []


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_cloudformation_tells_apart_is_not(one: Any, other: Any) -> None:
    assert list(differences(one, other)) == [()]


def test_differences_are_told_as_deep_as_they_are() -> None:
    before = {"Variants": [{"Name": "a", "Count": 1}], "Old": 1, "Size": [1, 2], "Key": {"Ref": "A"}}
    after = {"Variants": [{"Name": "a", "Count": 2}], "New": 1, "Size": [1], "Key": {"Ref": "B"}}
    found = list(differences(before, after))
    assert found == [("Variants", 0, "Count"), ("Old",), ("Size",), ("Key",), ("New",)]


def test_a_resource_without_properties_is_one() -> None:
    assert fate({"A": {"Type": MODEL}}, {"A": resource(MODEL)}) == {"A": str(Fate.UNCHANGED)}

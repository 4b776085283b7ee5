"""A part of a template stands alone: nothing in it refers to what is left out."""

import json
from collections.abc import Set as AbstractSet
from typing import Any

import pytest
from support.resolving import Resolved, Template

from inferstack.resolve.template import part_of, waits_for

SPEC = """
    inference_components:
      chat:
        runtime_config: {copy_count: 2}
        autoscaling:
          min_capacity: 2
          max_capacity: 4
          policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}]
        specification: {container: {environment: {STORED: "${ssm:/stored}"}}}
        deployment_config:
          rolling_update_policy: {maximum_batch_size: {type: COPY_COUNT, value: 1}, wait_interval_in_seconds: 300}
          auto_rollback_configuration: {alarms: own}
    tags: {team: "${ssm:/team}"}
"""
POLICY, COMPONENT = "ExecutionPolicy", "InferenceComponent"


@pytest.fixture
def template(resolve: Resolved) -> Template:
    return resolve("components", SPEC, region=None)


def ids(template: Template, *beginnings: str) -> AbstractSet[str]:
    return {it for it in template["Resources"] if it.startswith(beginnings)}


def stored(template: Template) -> dict[str, str]:
    return {it["Default"]: name for name, it in template["Parameters"].items()}


def test_the_endpoint_is_named_and_not_referred_to(template: Template) -> None:
    part = part_of(template, ids(template, "Scalable", COMPONENT), "live")
    (component,) = (it for name, it in part["Resources"].items() if name.startswith(COMPONENT))
    assert component["Properties"]["EndpointName"] == "live"
    assert "Endpoint" not in json.dumps(part).replace("EndpointName", "")


def test_what_is_left_out_is_not_waited_for(template: Template) -> None:
    component, target = ids(template, COMPONENT), ids(template, "Scalable")
    both, alone = (part_of(template, it, "live")["Resources"] for it in (component | target, target))
    (name,) = target
    assert both[name]["DependsOn"] == [*component]
    assert "DependsOn" not in alone[name]


def test_who_makes_the_part_knows_what_each_of_its_resources_waits_for(template: Template) -> None:
    (component,), (target,) = ids(template, COMPONENT), ids(template, "Scalable")
    assert set(waits_for(template, {component, target})) == {(component, "Endpoint")}
    assert set(waits_for(template, {target})) == {(target, component)}
    assert not list(waits_for(template, set(template["Resources"])))


def test_alarms_that_are_left_out_may_be_any(template: Template) -> None:
    def looked_at(part: Template) -> list[Any]:
        (policy,) = (it for name, it in part["Resources"].items() if name.startswith(POLICY))
        statements = policy["Properties"]["PolicyDocument"]["Statement"]
        (found,) = (it["Resource"] for it in statements if it["Sid"] == "LookAtRollbackAlarms")
        return list(found)

    alarms = ids(template, "Alarm")
    any_alarm = {"Fn::Sub": "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"}
    assert any_alarm in looked_at(part_of(template, ids(template, POLICY), "live"))
    with_them = looked_at(part_of(template, ids(template, POLICY) | alarms, "live"))
    assert {it["Fn::GetAtt"][0] for it in with_them} <= alarms


def test_only_the_parameters_of_the_part_stay(template: Template) -> None:
    part = part_of(template, ids(template, COMPONENT), "live")
    assert stored(part).keys() == {"/stored", "/team"}
    assert stored(part).items() <= stored(template).items()
    # Policies have neither tags nor an environment.
    assert "Parameters" not in part_of(template, ids(template, POLICY), "live")


def test_only_the_mappings_of_the_part_stay(resolve: Resolved) -> None:
    whole = resolve("multi", "autoscaling: null", region=None)
    assert part_of(whole, {"Model"}, "live")["Mappings"] == whole["Mappings"]
    assert "Mappings" not in part_of(whole, {"EndpointConfig"}, "live")

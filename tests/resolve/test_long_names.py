"""Names that become part of logical ids may be as long as one: the ids stay short enough for CloudFormation."""

from typing import Any

import pytest

from inferstack.check.load import parse_spec
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template
from inferstack.resolve.resource import (
    LONGEST_ID,
    get_att,
    is_arn,
    lasting_token,
    logical_id,
    pascal,
    ref,
    short_hash,
)

LONG = "a" * 240
STEP = {
    "adjustment_type": "ChangeInCapacity",
    "step_adjustments": [{"metric_interval_lower_bound": 0, "scaling_adjustment": 1}],
}
OWN = {"namespace": "Acme", "statistic": "Average", "threshold": 1}


def spec(**blocks: Any) -> dict[str, Any]:
    return {
        "kind": "single-model",
        "endpoint_name": "churn",
        "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/own:1"},
        "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2, "variant_name": "v" * 63},
        **blocks,
    }


def resources(**blocks: Any) -> dict[str, Any]:
    loaded = parse_spec(spec(**blocks))
    made: dict[str, Any] = resolve_template(loaded.spec, region=None, source_of=loaded.source_of)["Resources"]
    return made


def scaling(**policies: Any) -> dict[str, Any]:
    return {"autoscaling": {"min_capacity": 1, "max_capacity": 2, **policies}}


CASES = {
    "alarms": {"alarms": {"rules": [{**OWN, "metric_name": f"{LONG}{last}"} for last in "bcd"]}},
    "policies": scaling(
        policies=[
            {"metric": "CPUUtilization", "target_value": 140, "policy_name": f"{LONG}b"},
            {"metric": "MemoryUtilization", "target_value": 50, "policy_name": f"{LONG}c"},
        ]
    ),
    "steps": scaling(step_policies=[{**OWN, **STEP, "metric_name": f"{LONG}{last}"} for last in "bc"]),
}


@pytest.mark.parametrize("blocks", CASES.values(), ids=CASES)
def test_ids_with_long_names_are_as_long_as_cloudformation_takes_them(blocks: dict[str, Any]) -> None:
    made = resources(**blocks)
    names = [it["Properties"] for it in made.values()]
    long = [it for it in names if LONG in it.get("MetricName", it.get("PolicyName", ""))]
    # Each has its own id.
    assert len(long) >= 2
    assert max(map(len, made)) == LONGEST_ID
    for actions in (it.get("AlarmActions", []) for it in names):
        assert {it["Ref"] for it in actions} <= made.keys()


def test_ids_that_are_short_enough_stay_as_they_are() -> None:
    made = resources(alarms={"rules": [{**OWN, "metric_name": "Lag" * 30}]})
    assert any(name.startswith("AlarmLagLag") and len(name) < LONGEST_ID for name in made)
    assert logical_id("A" * LONGEST_ID) == "A" * LONGEST_ID


@pytest.mark.parametrize("name", ["", "a" * 256])
def test_a_metric_of_ones_own_has_a_name_that_cloudwatch_takes(name: str) -> None:
    metric = {"namespace": "Acme", "metric_name": name, "statistic": "Average"}
    policy = {"customized_metric_specification": metric, "target_value": 3}
    with pytest.raises(SpecError) as refusal:
        parse_spec(spec(**scaling(policies=[policy])))
    assert [it.code for it in refusal.value.problems] == ["IS107"]


@pytest.mark.parametrize("written", [pascal, short_hash])
def test_ids_tell_tokens_apart_by_what_they_stand_for_and_not_by_their_numbers(written: Any) -> None:
    one, same = (f"net-{lasting_token(f'${{Token[TOKEN.{number}]}}', ref('Net'))}" for number in (7, 1234))
    other = f"net-{lasting_token('${Token[TOKEN.7]}', ref('Other'))}"
    assert written(one) == written(same) != written(other)


def test_only_what_is_an_arn_for_certain_is_taken_for_one() -> None:
    token = "${Token[TOKEN.7]}"
    meanings = get_att("Key", "Arn"), get_att("Key", "KeyId"), ref("Key")
    assert [is_arn(lasting_token(token, meaning)) for meaning in meanings] == [True, False, False]
    assert not is_arn(token)

"""What a size changes in each shape of spec, and what cannot be written."""

from decimal import Decimal
from typing import Any

import pytest

from inferstack.check.load import parse_spec
from inferstack.endpoint.cost import NO_PRICES
from inferstack.facts.scaling import TRACKED
from inferstack.format.objective import Objective
from inferstack.sizing.into_spec import NotWritableError, SpecChanges, changes_for, sized_variant
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.sizes import sizes

IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/bert:1"
MODEL = {"image": IMAGE, "model_data_url": "s3://models/bert.tar.gz"}
OBJECTIVE = Objective(requests_per_minute=1000, lowest_requests_per_minute=150)
FLEET = {"instance_type": "ml.m5.xlarge", "initial_instance_count": 1}


def changes(which: str | None = None, objective: Objective = OBJECTIVE, **keys: Any) -> SpecChanges:
    data = {"kind": "single-model", "endpoint_name": "bert", "model": MODEL, "variant": FLEET}
    spec = parse_spec({key: it for key, it in {**data, **keys}.items() if it is not None}).spec
    sized = sized_variant(spec, objective, which)
    measured = Measurement(
        configuration="base", instance_type="ml.g5.xlarge", requests_per_minute=Decimal(100), users=8
    )
    (size,) = sizes([measured], sized.demand, NO_PRICES)
    return changes_for(spec, sized, size)


INSTANCES = {("variant", "instance_type"): "ml.g5.xlarge", ("variant", "initial_instance_count"): 10}
POLICY = {"metric": TRACKED, "target_value": 100}


def test_scaling_is_made_where_the_demand_varies() -> None:
    scaling = {"min_capacity": 2, "max_capacity": 10, "policies": [POLICY]}
    assert changes() == SpecChanges({**INSTANCES, ("autoscaling",): scaling})


def test_language_models_scale_by_concurrent_requests() -> None:
    asked = Objective(concurrency=80, lowest_concurrency=16)
    policy = {"metric": "SageMakerVariantConcurrentRequestsPerModelHighResolution", "target_value": 8}
    scaling = {"min_capacity": 2, "max_capacity": 10, "policies": [policy]}
    assert changes(objective=asked) == SpecChanges({**INSTANCES, ("autoscaling",): scaling})
    policies = [{"metric": "CPUUtilization", "target_value": 50}, {**policy, "target_value": 3}]
    found = changes(objective=asked, autoscaling={"min_capacity": 1, "max_capacity": 3, "policies": policies})
    assert found.values["autoscaling", "policies", 1, "target_value"] == 8


def test_a_steady_demand_needs_no_scaling() -> None:
    assert changes(objective=Objective(requests_per_minute=1000)) == SpecChanges(INSTANCES)


def test_the_scaling_of_a_spec_gets_limits_and_a_target() -> None:
    policies = [{"metric": "CPUUtilization", "target_value": 50}, {"metric": TRACKED, "target_value": 7}]
    found = changes(autoscaling={"min_capacity": 1, "max_capacity": 3, "policies": policies})
    assert found.values == {
        **INSTANCES,
        ("autoscaling", "min_capacity"): 2,
        ("autoscaling", "max_capacity"): 10,
        ("autoscaling", "policies", 1, "target_value"): 100,
    }
    (said,) = found.left
    assert "check the target of `CPUUtilization`" in said


def test_a_policy_is_added_where_none_follows_the_requests() -> None:
    policies = [{"metric": "CPUUtilization", "target_value": 50}]
    found = changes(autoscaling={"min_capacity": 1, "max_capacity": 3, "policies": policies})
    assert found.values["autoscaling", "policies", 1] == POLICY


def test_scheduled_limits_are_left_and_said() -> None:
    night = {
        "scheduled_action_name": "night",
        "schedule": "cron(0 22 * * ? *)",
        "scalable_target_action": {"max_capacity": 1},
    }
    scaling = {"min_capacity": 1, "max_capacity": 3, "policies": [POLICY], "scheduled_actions": [night]}
    assert changes(autoscaling=scaling).left == ("`scheduled_actions` still set limits of their own",)


def test_each_of_several_variants_gets_its_share_of_the_requests() -> None:
    variants = [
        {**FLEET, "variant_name": name, "initial_variant_weight": weight}
        for name, weight in (("Old", 9), ("New", 1))
    ]
    found = changes("New", variant=None, variants=variants)
    assert found.values["variants", 1, "initial_instance_count"] == 1
    found = changes("Old", variant=None, variants=variants)
    assert found.values["variants", 0, "initial_instance_count"] == 9
    assert found.values["variants", 0, "autoscaling"]["max_capacity"] == 9
    with pytest.raises(NotWritableError, match="the variants `Old` and `New`: choose one with `--variant`"):
        changes(variant=None, variants=variants)
    with pytest.raises(NotWritableError, match="no variant `Newer`, only `Old` and `New`"):
        changes("Newer", variant=None, variants=variants)
    variants[1]["initial_variant_weight"] = 0
    with pytest.raises(NotWritableError, match="`New` has weight 0"):
        changes("New", variant=None, variants=variants)


def test_an_asynchronous_endpoint_keeps_its_scaling_by_the_queue() -> None:
    config = {"async_inference_config": {"output_config": {"s3_output_path": "s3://out/"}}}
    policy = {"metric": "ApproximateBacklogSizePerInstance", "target_value": 5}
    scaling = {"min_capacity": 0, "max_capacity": 3, "policies": [policy]}
    found = changes(endpoint_config=config, autoscaling=scaling)
    assert found.values == {**INSTANCES, ("autoscaling", "max_capacity"): 10}
    assert found.left == (
        "an asynchronous endpoint scales by its queue, so no target is written",
        "`min_capacity` is still 0",
    )


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        ({"serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": 5}}, "is serverless"),
        (
            {
                "instance_pools": [
                    {"instance_type": "ml.g5.xlarge", "priority": 1},
                    {"instance_type": "ml.g6.xlarge", "priority": 2},
                ],
                "initial_instance_count": 1,
            },
            "has `instance_pools`",
        ),
    ],
)
def test_a_variant_without_one_type_of_instance_cannot_be_written(variant: Any, why: str) -> None:
    with pytest.raises(NotWritableError, match=why):
        changes(variant=variant)

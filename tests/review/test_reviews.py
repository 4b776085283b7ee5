"""The review as data: what exists, what changes from what to what, and that nothing is told twice."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from support.resolving import BASES, merged
from support.reviews import CASES, FOLDER, PRICES, all_examples, golden, in_json, write_spec
from support.template_pairs import PAIRS, Pair
from support.updating import template_of

import inferstack.review
from inferstack.catalog.metrics import PREDEFINED_SCALING_METRICS
from inferstack.check.files import load_specs
from inferstack.endpoint.components import Placement
from inferstack.endpoint.fleets import Serverless
from inferstack.endpoint.of_spec import instance_counts
from inferstack.endpoint.permissions import _WORDS, few
from inferstack.endpoint.scaling import PREDEFINED
from inferstack.endpoint.stack import readable
from inferstack.facts.role import is_our_sid
from inferstack.review import Fate, Finding, Review, review
from inferstack.review.policies import broken, policy_of
from inferstack.updates import UPDATE_RULES
from inferstack.updates.effects import MEANINGS, WORST_FIRST

ROOT = Path(__file__).parents[2]
PACKAGE = "arn:aws:sagemaker:us-east-1:111122223333:model-package/net/1"
SCHEMA = json.loads((Path(inferstack.review.__file__).parent / "review.schema.json").read_text("utf-8"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def of_change(before: Any, after: Any) -> Review:
    """The review of a spec, given as data, against another."""
    for name, data in (("base", before), ("specs", after)):
        Path(name).mkdir(exist_ok=True)
        write_spec(Path(name, "one.yaml"), data)
    return review("specs", "base", prices=PRICES)


def changed(base: str, before: Any, after: Any) -> Review:
    whole = yaml.safe_load(BASES[base])
    return of_change(merged(whole, before), merged(whole, after))


def found(reviewed: Review, effect: str) -> list[Finding]:
    return [it for it in reviewed.findings if it.effect == effect]


# ---------------------------------------------------------------- golden


def test_no_review_of_something_that_is_gone_is_left() -> None:
    assert {*golden()} == {*FOLDER.iterdir()}


def test_every_review_has_the_form_of_the_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for reviewed in (all_examples(), *(case.review() for case in CASES)):
        Draft202012Validator(SCHEMA).validate(in_json(reviewed))


def test_the_schema_says_what_each_effect_means() -> None:
    said = SCHEMA["$defs"]["Finding"]["properties"]["effect"]["oneOf"]
    assert {it["const"]: it["description"] for it in said} == MEANINGS
    assert set(MEANINGS) == set(WORST_FIRST)


# ---------------------------------------------------------------- what exists


def test_instances_are_counted_as_list_counts_them() -> None:
    specs = {it.spec.endpoint_name: instance_counts(it.spec) for it in load_specs(ROOT / "model_specs")}
    shapes = ROOT / "tests/shapes"
    reviews = [*all_examples().endpoints, *review(shapes).endpoints]
    specs |= {it.spec.endpoint_name: instance_counts(it.spec) for it in load_specs(shapes)}
    for it in reviews:
        assert it.after is not None
        counts = specs[it.after.name]
        fleets = [fleet.instances for fleet in it.after.fleets if fleet.instances is not None]
        assert (counts is None) == (fleets == [])
        assert counts in (None, it.after.cost.instance_hours)


def test_every_shape_of_endpoint_can_be_reviewed() -> None:
    reviewed = review([ROOT / "tests/shapes", ROOT / "docs/examples/kinds"], region="us-east-1")
    assert not reviewed.failed
    Draft202012Validator(SCHEMA).validate(in_json(reviewed))


def test_costs_are_exact() -> None:
    cost = next(
        it.after.cost for it in all_examples().endpoints if it.key == "churn-by-customer" and it.after
    )
    assert cost.per_hour is not None
    assert cost.per_month is not None
    assert (cost.per_hour.min, cost.per_hour.max) == (Decimal("0.25"), Decimal("0.75"))
    assert cost.per_month.max == Decimal("547.50")
    assert (cost.currency, cost.unpriced) == ("USD", ())


def test_what_has_no_price_is_named_and_missing_in_the_sum() -> None:
    [total] = [it for it in all_examples().totals if it.is_sum]
    assert total.cost.per_hour is not None
    priced = [
        it.after.cost.per_hour for it in all_examples().endpoints if it.after and it.after.cost.per_hour
    ]
    assert total.cost.per_hour.max == sum(it.max for it in priced)
    assert total.cost.unpriced == ("ml.g6e.2xlarge",)
    ends = [it.after.cost.instance_hours.max or 0 for it in all_examples().endpoints if it.after is not None]
    assert total.cost.instance_hours.max == sum(ends)


def spec(name: str, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = merged(yaml.safe_load(BASES["single"]), {"endpoint_name": name, **changes})
    return data


def test_quotas_are_summed_by_account_and_region() -> None:
    Path("specs").mkdir()
    scaled = {"min_capacity": 1, "max_capacity": 5}
    write_spec(Path("specs/a.yaml"), spec("a"))
    write_spec(Path("specs/b.yaml"), spec("b", autoscaling=scaled))
    write_spec(Path("specs/c.yaml"), spec("c", env={"account": "111122223333"}))
    quotas = review("specs", region="us-east-1").quotas
    assert [(it.name, it.account, it.region, it.needed, it.while_updating) for it in quotas] == [
        ("ml.g5.12xlarge for endpoint usage", None, "us-east-1", 7, 14),
        ("ml.g5.12xlarge for endpoint usage", "111122223333", "us-east-1", 2, 4),
    ]


def test_a_rolling_update_needs_one_batch_more() -> None:
    batch = {"type": "CAPACITY_PERCENT", "value": 50}
    rolling = {"maximum_batch_size": batch, "wait_interval_in_seconds": 0}
    config = {"deployment_config": {"rolling_update_policy": rolling}}
    Path("specs").mkdir()
    write_spec(Path("specs/a.yaml"), spec("a", endpoint=config, variant={"initial_instance_count": 5}))
    [quota] = review("specs").quotas
    assert (quota.needed, quota.while_updating) == (5, 8)


def test_only_what_is_updated_is_doubled() -> None:
    for name in ("base", "specs"):
        Path(name).mkdir()
        write_spec(Path(name, "a.yaml"), spec("a"))
        write_spec(Path(name, "b.yaml"), spec("b", model={"environment": {"A": name}}))
    [quota] = review("specs", "base").quotas
    assert (quota.needed, quota.while_updating, quota.endpoints) == (4, 6, ("a", "b"))


def needed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Instances by type, always and while a change of one variant is deployed."""
    for name, variant in (("base", before), ("specs", after)):
        Path(name).mkdir()
        write_spec(Path(name, "a.yaml"), spec("a", variant=variant))
    quotas = review("specs", "base").quotas
    return {it.name.split()[0]: (it.needed, it.while_updating) for it in quotas}


def test_a_fleet_of_a_fixed_size_begins_with_its_new_one() -> None:
    found = needed({"initial_instance_count": 4}, {"initial_instance_count": 3})
    assert found == {"ml.g5.12xlarge": (3, 7)}


def test_another_instance_type_has_a_quota_of_its_own() -> None:
    other = {"instance_type": "ml.g5.24xlarge", "initial_instance_count": 2}
    assert needed({"initial_instance_count": 4}, other) == {"ml.g5.24xlarge": (2, 2)}


@pytest.mark.parametrize(("most", "meanwhile"), [(20, 20), (5, 8)])
def test_a_fleet_that_scales_has_its_new_limits_only_after_an_update(most: int, meanwhile: int) -> None:
    for name, limit in (("base", 4), ("specs", most)):
        Path(name).mkdir()
        scaling = {"min_capacity": 1, "max_capacity": limit}
        image = {"environment": {"A": name}}
        write_spec(Path(name, "a.yaml"), spec("a", autoscaling=scaling, model=image))
    reviewed = review("specs", "base")
    assert [(it.needed, it.while_updating) for it in reviewed.quotas] == [(most, meanwhile)]
    assert any("up to 4 more ml.g5.12xlarge" in it.message for it in reviewed.findings)


def test_copies_are_placed_at_each_level() -> None:
    travel = next(it.after for it in all_examples().endpoints if it.key == "travel-chat")
    assert travel is not None
    [fleet] = travel.fleets
    levels = {it.level: (it.instances, it.needed) for it in fleet.placements}
    assert levels == {"min": (1, 0), "start": (1, 1), "max": (4, 4)}
    [start] = [it for it in fleet.placements if it.level == "start"]
    assert [(it.count, it.copies, it.free.accelerators) for it in start.layouts] == [
        (1, {"llama2-america": 1, "llama2-europe": 1}, 0)
    ]
    assert (start.without_room, fleet.never_fits) == ({}, ())


BALANCE = {"enforcement_mode": "PERMISSIVE", "max_imbalance": 1}


def placed_on(instances: int, strategy: str, copies: int = 3) -> Placement:
    """The start of a fleet of a fixed size, with copies of one component balanced over zones."""
    whole = yaml.safe_load(BASES["components"])
    [component] = whole["inference_components"].values()
    scheduling = {"placement_strategy": strategy, "availability_zone_balance": BALANCE}
    component["specification"] |= {"scheduling_config": scheduling}
    component["runtime_config"] = {"copy_count": copies}
    whole["variant"] = {"instance_type": "ml.g5.48xlarge", "initial_instance_count": instances}
    write_spec(Path("one.yaml"), whole)
    [endpoint] = review("one.yaml").endpoints
    assert endpoint.after is not None
    [fleet] = endpoint.after.fleets
    [found] = [it for it in fleet.placements if it.level == "start"]
    return found


def test_copies_are_placed_by_their_strategy_and_their_balance_over_zones() -> None:
    spread = placed_on(3, "SPREAD")
    assert [(it.count, sum(it.copies.values())) for it in spread.layouts] == [(3, 1)]
    assert (spread.needed, spread.unbalanced) == (3, ())
    packed = placed_on(3, "BINPACK")
    assert [(it.count, sum(it.copies.values())) for it in packed.layouts] == [(3, 1)]


def in_pools(accelerators: int, *instance_types: str) -> Review:
    """The review of a component whose copy needs more of one type than of the other."""
    whole = yaml.safe_load((ROOT / "tests/shapes/packed.yaml").read_text("utf-8"))
    several = whole["inference_components"]["embedder"]["specifications"]
    several[0]["compute_resource_requirements"]["number_of_accelerator_devices_required"] = accelerators
    pools = [{"instance_type": it, "priority": at} for at, it in enumerate(instance_types, start=1)]
    whole["variant"]["instance_pools"] = pools
    write_spec(Path("one.yaml"), whole)
    return review("one.yaml")


def test_copies_are_placed_on_the_preferred_type_of_pools() -> None:
    said = []
    for types in (("ml.g6.12xlarge", "ml.g6e.12xlarge"), ("ml.g6e.12xlarge", "ml.g6.12xlarge")):
        [endpoint] = in_pools(2, *types).endpoints
        assert endpoint.after is not None
        [fleet] = endpoint.after.fleets
        said += [it.layouts[0].free.accelerators for it in fleet.placements if it.level == "start"]
    assert said == [2, 3]


def test_what_another_type_of_pools_may_hold_is_not_told_of() -> None:
    assert found(in_pools(8, "ml.g6.12xlarge", "ml.g6e.12xlarge"), "never-fits") == []


def test_copies_on_a_single_instance_are_not_balanced_over_zones() -> None:
    assert len(placed_on(1, "SPREAD").unbalanced) == 1
    assert placed_on(1, "SPREAD", copies=1).unbalanced == ()


def test_very_many_instances_are_counted_not_drawn() -> None:
    found = placed_on(1_000_000, "SPREAD")
    assert (found.instances, found.needed) == (1_000_000, 3)


def test_every_predefined_metric_has_its_words() -> None:
    assert {it.name for it in PREDEFINED_SCALING_METRICS} == set(PREDEFINED)


def test_every_statement_of_ours_has_its_words() -> None:
    of_invokers = {"Invoke", "CallWithToken", "PutRequests", "GetResults", "UseKey", "UseKeyByAlias"}
    assert all(map(is_our_sid, set(_WORDS) - of_invokers))
    for it in (*all_examples().endpoints, *review(ROOT / "tests/shapes").endpoints):
        assert it.after is not None
        said = [one.sentence for one in it.after.permissions]
        assert said or all(one.model for one in it.after.containers), "models that exist have other roles"
        assert not [one for one in said if "Fn::" in one]


# ---------------------------------------------------------------- what changes


every_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.base}: {pair.title}")


@every_pair
def test_what_an_update_does_is_told_exactly_once(pair: Pair) -> None:
    before, after = pair.specs()
    Path("base").mkdir()
    Path("specs").mkdir()
    Path("base/one.template.json").write_text(json.dumps(template_of(before)))
    write_spec(Path("specs/one.yaml"), after.document.data)
    reviewed = review("specs", "base/one.template.json")
    told = [(it.code, it.place.path) for it in reviewed.findings if it.code in UPDATE_RULES]
    # A template does not say that its spec left the place open.
    assert sorted(told) == sorted(it for it in pair.said if it[0] != "IS857")
    said = Counter((it.message, it.place.path) for it in reviewed.findings)
    assert max(said.values(), default=1) == 1
    [one] = reviewed.endpoints
    assert (one.fate == "unchanged") == (not pair.does and not {*pair.says} - {"IS857"})
    assert (one.changes == ()) == (pair.does == [])


@every_pair
def test_whatever_changes_is_told_of(pair: Pair) -> None:
    before, after = (it.document.data for it in pair.specs())
    reviewed = of_change(before, after)
    told = [it for it in reviewed.findings if it.effect not in ("advice", "costly")]
    assert bool(told) == bool(pair.does or pair.says)


def test_the_worst_comes_first() -> None:
    for case in CASES:
        order = [(it.ignored is not None, WORST_FIRST.index(it.effect)) for it in case.review().findings]
        assert order == sorted(order)


def test_weights_are_told_from_digest_to_digest() -> None:
    urls = [f"s3://models/one/model-sha256-{it * 16}.tar.gz" for it in "ab"]
    before, after = ({"model": {"model_data_url": it}} for it in urls)
    [weights] = found(changed("single", before, after), "weights-changed")
    assert (weights.before, weights.after) == (f"sha256:{'a' * 16}", f"sha256:{'b' * 16}")
    assert weights.place.path == "model"


RULE = {"metric": "CPUUtilization", "threshold": "80 %", "evaluation_periods": 5}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, {"threshold": "90 %"}, "its threshold is looser"),
        ({}, {"threshold": "70 %"}, None),
        ({}, {"evaluation_periods": 9}, "it waits longer"),
        ({}, {"evaluation_periods": 4}, None),
        ({}, {"datapoints_to_alarm": 3}, None),
        ({}, {"period": 300}, "it waits longer"),
        ({"treat_missing_data": "breaching"}, {}, "missing data no longer counts as bad"),
        ({}, {"treat_missing_data": "breaching"}, None),
        (
            {"actions": ["arn:aws:sns:us-east-1:111122223333:a"]},
            {},
            "the alarm on CPUUtilization: `arn:aws:sns:us-east-1:111122223333:a` → nobody",
        ),
        ({}, {"actions": ["arn:aws:sns:us-east-1:111122223333:a"]}, None),
        (
            {"actions": ["arn:aws:sns:us-east-1:111122223333:a"]},
            {"actions": ["arn:aws:sns:us-east-1:111122223333:a"], "actions_enabled": False},
            "a`, but its actions are turned off",
        ),
        (
            {"comparison_operator": "LessThanThreshold"},
            {"comparison_operator": "LessThanThreshold", "threshold": "70 %"},
            "its threshold is looser",
        ),
        (
            {"comparison_operator": "LessThanThreshold"},
            {"comparison_operator": "LessThanThreshold", "threshold": "90 %"},
            None,
        ),
    ],
)
def test_an_alarm_that_comes_later_or_tells_fewer_is_loosened(
    before: Any, after: Any, said: str | None
) -> None:
    one, other = ({"alarms": {"defaults": False, "rules": [{**RULE, **it}]}} for it in (before, after))
    reviewed = changed("single", one, other)
    loosened = found(reviewed, "alarms-loosened")
    assert [said in it.sentence for it in loosened] == ([] if said is None else [True])
    assert [it.effect for it in reviewed.findings if it.severity == "warning" and it.code is None] == (
        [] if said is None else ["alarms-loosened"]
    )


def test_alarms_that_are_gone_are_loosened() -> None:
    one = {"alarms": {"defaults": False, "rules": [RULE]}}
    [gone] = found(changed("single", one, {"alarms": False, "dashboard": False}), "alarms-loosened")
    assert gone.code == "IS893"
    assert gone.message == (
        "an alarm is removed: Average of CPUUtilization of AllTraffic reaches 80 % of 48 vCPUs for 5 minutes"
    )


def test_what_one_line_changes_for_several_parts_is_told_once() -> None:
    whole = yaml.safe_load((ROOT / "model_specs/travel-chat.yaml").read_text("utf-8"))
    looser = {**whole, "alarms": {**whole["alarms"], "rules": []}}
    looser["alarms"]["rules"] = [{"metric": "ModelLatency", "statistic": "p99", "threshold": "9 s"}]
    looser["alarms"]["rules"][0] |= {"evaluation_periods": 5}
    told = [it.message for it in of_change(whole, looser).findings if it.effect == "alarms-loosened"]
    assert told[1:] == [
        "the alarm on ModelLatency of `llama2-europe` and `llama2-america`: its threshold is looser"
    ]
    assert told[0].startswith(
        "2 alarms are removed: Average of GPUMemoryUtilizationNormalized of llama2-europe and "
    )


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            {"metric": "SageMakerVariantInvocationsPerInstance", "target_value": 1500},
            "1,500 requests a minute per instance",
        ),
        (
            {"metric": "SageMakerVariantInvocationsPerInstance", "target_value": 1},
            "1 request a minute per instance",
        ),
        (
            {"metric": "CPUUtilization", "target_value": 2880, "disable_scale_in": True},
            "60 % CPUUtilization (only adds)",
        ),
        (
            {"metric": "InvocationsPerInstance", "target_value": 60},
            "a Sum of InvocationsPerInstance of 60",
        ),
    ],
)
def test_what_scaling_aims_at_is_said_in_words(policy: dict[str, Any], said: str) -> None:
    write_spec(
        Path("one.yaml"),
        spec("one", autoscaling={"min_capacity": 1, "max_capacity": 4, "policies": [policy]}),
    )
    [endpoint] = review("one.yaml", region="us-east-1").endpoints
    assert endpoint.after is not None
    assert [it.aims for it in endpoint.after.scaling] == [(f"aiming at {said}",)]


def test_serverless_settings_that_only_the_deployment_knows_are_said_to_be_unknown() -> None:
    assert Serverless(None, 20, None).sentence == "serverless, an unknown number of MB, 20 requests at once"
    assert Serverless(2048, 20, 2).sentence.endswith("20 requests at once, 2 of them always ready")


def test_where_no_connection_leads_anywhere_the_internet_is_not_named() -> None:
    whole = merged(yaml.safe_load(BASES["single"]), {"model": {"enable_network_isolation": True}})
    write_spec(Path("one.yaml"), whole)
    [endpoint] = review("one.yaml").endpoints
    assert endpoint.after is not None
    network = [it.sentence for it in endpoint.after.protections if it.topic == "network"]
    assert network == ["`Model` is in no VPC", "containers of `Model` have no network"]


STATEMENT = {"sid": "Own", "action": ["s3:GetObject"], "resource": ["arn:aws:s3:::data/a/*"]}


def statements(*those: dict[str, Any]) -> dict[str, Any]:
    return {"execution_role": {"statements": [*those]}}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, statements(STATEMENT), ["`s3:GetObject` on `s3://data/a/*`"]),
        (statements(STATEMENT), {}, []),
        (statements(STATEMENT), statements({**STATEMENT, "resource": ["arn:aws:s3:::data/a/b/*"]}), []),
        (
            statements(STATEMENT),
            statements({**STATEMENT, "resource": ["arn:aws:s3:::data/*"]}),
            ["`s3:GetObject` on `s3://data/*`"],
        ),
        (
            statements(STATEMENT),
            statements({**STATEMENT, "action": ["s3:GetObject", "s3:PutObject"]}),
            ["`s3:PutObject` on `s3://data/a/*`"],
        ),
        (statements({**STATEMENT, "action": ["s3:*"]}), statements(STATEMENT), []),
        (
            statements({**STATEMENT, "condition": {"Bool": {"aws:SecureTransport": "true"}}}),
            statements(STATEMENT),
            ["`s3:GetObject` on `s3://data/a/*`"],
        ),
        (
            statements(STATEMENT),
            statements({**STATEMENT, "condition": {"Bool": {"aws:SecureTransport": "true"}}}),
            [],
        ),
        ({}, {"model": {"model_data_url": "s3://models/two.tar.gz"}}, []),
        ({}, {"model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/other:1"}}, []),
        (
            {"execution_role": {"permissions_boundary": "arn:aws:iam::111122223333:policy/b"}},
            {},
            ["the permissions boundary of `ExecutionRole`"],
        ),
        (
            {},
            {"execution_role": "arn:aws:iam::111122223333:role/ml"},
            ["the endpoint runs under another role"],
        ),
        (
            {},
            {"invokers": {"role": {"trusted": ["444455556666"]}}},
            ["those who invoke the endpoint may also", "may assume `InvokerRole`"],
        ),
    ],
)
def test_a_role_is_widened_by_what_it_could_not_do(before: Any, after: Any, said: list[str]) -> None:
    wider = found(changed("single", before, after), "role-widened")
    assert len(wider) >= len(said)
    assert bool(wider) == bool(said)
    for words in said:
        assert [it for it in wider if words in it.message], [it.message for it in wider]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"model": {"enable_network_isolation": True}}, {}),
        (
            {
                "model": {
                    "vpc_config": {"subnets": ["subnet-0a1b2c3d"], "security_group_ids": ["sg-0a1b2c3d"]}
                }
            },
            {},
        ),
        (
            {"endpoint_config": {"kms_key_id": "alias/one"}, "variant": {"instance_type": "ml.m5.large"}},
            {"variant": {"instance_type": "ml.m5.large"}},
        ),
    ],
)
def test_less_protection_is_told_of_and_more_is_not(before: Any, after: Any) -> None:
    [lowered] = found(changed("single", before, after), "protection-lowered")
    assert lowered.severity == "warning"
    assert found(changed("single", after, before), "protection-lowered") == []


CAPTURE = {"destination_s3_uri": "s3://captured/", "capture_options": [{"capture_mode": "Input"}]}


@pytest.mark.parametrize(
    ("base", "change", "said"),
    [
        (
            "single",
            {"endpoint_config": {"data_capture_config": {**CAPTURE, "initial_sampling_percentage": 100}}},
            "every request",
        ),
        (
            "single",
            {"endpoint_config": {"data_capture_config": {**CAPTURE, "initial_sampling_percentage": 10}}},
            None,
        ),
        (
            "single",
            {"endpoint_config": {"metrics_config": {"enable_detailed_observability": True}}},
            "detailed observability",
        ),
        (
            "single",
            {"endpoint_config": {"metrics_config": {"enable_enhanced_metrics": True}}},
            "each instance, container and GPU",
        ),
        ("single", {"variant": {"initial_instance_count": 1}}, None),
        ("single", {}, "always runs 2 instances"),
        (
            "single",
            {
                "autoscaling": {"min_capacity": 1, "max_capacity": 4},
                "endpoint_config": {
                    "async_inference_config": {"output_config": {"s3_output_path": "s3://out/"}}
                },
            },
            "even while no request waits",
        ),
    ],
)
def test_what_is_dear_stands_out(base: str, change: Any, said: str | None) -> None:
    write_spec(Path("one.yaml"), merged(yaml.safe_load(BASES[base]), change))
    costly = [it.message for it in found(review("one.yaml"), "costly") if "more instances" not in it.message]
    ours = [it for it in costly if "always runs" not in it or said == "always runs 2 instances"]
    assert [said in it for it in ours] == ([] if said is None else [True])


def test_dashboards_beyond_the_free_ones_are_dear() -> None:
    Path("specs").mkdir()
    for name in "abcd":
        write_spec(Path(f"specs/{name}.yaml"), spec(f"one-{name}"))
    [costly] = [it for it in review("specs").findings if "dashboards" in it.message]
    assert costly.message.startswith("4 dashboards in an account: CloudWatch charges for all but the first 3")
    assert f"costly: {costly.message}" in [*broken([policy_of("costly")], review("specs"))]
    Path("specs/d.yaml").unlink()
    assert [it for it in review("specs").findings if "dashboards" in it.message] == []


def test_a_boundary_is_shown_before_and_after() -> None:
    arn = "arn:aws:iam::111122223333:policy/b"
    [wider] = found(changed("single", {"execution_role": {"permissions_boundary": arn}}, {}), "role-widened")
    assert (wider.before, wider.after) == (arn, "none")


def test_resources_are_called_what_people_call_them() -> None:
    arns = ("*", "arn:aws:s3:::models/one", "*")
    assert few(arns) == "everything and `s3://models/one`"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":iam"]]}, "arn:Partition:iam"),
        ({"Fn::Join": [",", ["a", {"Ref": "Subnet"}]]}, "a,Subnet"),
        ({"Fn::Sub": ["s3://${B}/${C}", {"B": {"Ref": "Bucket"}}]}, "s3://Bucket/${C}"),
        ({"Fn::GetAtt": ["Role", "Arn"]}, "Role"),
        ({"Fn::ImportValue": "topic"}, "${import:topic}"),
    ],
)
def test_functions_are_as_short_as_a_reader_needs_them(value: object, shown: str) -> None:
    assert readable(value) == shown


def test_changes_name_the_resources_and_their_fates() -> None:
    [one] = changed("single", {}, {"variant": {"initial_instance_count": 3}}).endpoints
    assert one.has_new_fleet
    assert [(it.logical_id, it.fate, it.properties, it.by) for it in one.changes] == [
        ("EndpointConfig", Fate.REPLACED, ("ProductionVariants",), "unknown"),
        ("Endpoint", Fate.UPDATED, (), "unknown"),
    ]


def test_neither_value_of_a_secret_is_shown() -> None:
    """A value that gives nothing away may be the secret that was in use before."""
    before = {"model": {"environment": {"DB_PASSWORD": "summer"}}}
    after = {"model": {"environment": {"DB_PASSWORD": "{{resolve:secretsmanager:db}}"}}}
    [told] = [it for it in found(changed("single", before, after), "changed") if "DB_PASSWORD" in it.message]
    assert "summer" not in told.message + repr(told)
    assert "(not shown)" in repr(told)


def test_an_image_is_of_the_region_that_was_named_whatever_ran_before() -> None:
    """A model package has no image whose region could tell; only images that follow the deployment do."""
    whole = yaml.safe_load(BASES["single"])
    package = {"model": {"image": None, "model_data_url": None, "model_package_name": PACKAGE}}
    framework = {"model": {"image": {"framework": "triton", "version": "25.09"}}}
    for name, change in (("base", package), ("specs", framework)):
        Path(name).mkdir()
        write_spec(Path(name, "one.yaml"), merged(whole, change))
    found = review("specs", "base", region="us-east-1", prices=PRICES)
    [one] = found.endpoints
    assert one.after is not None
    [container] = one.after.containers
    assert container.image is not None
    assert ".dkr.ecr.us-east-1." in container.image


@pytest.mark.parametrize("sid", ["WriteLogs1Part2", "CallWithToken", "PublishMetrics7Part1", "UseKey"])
def test_no_name_of_a_statement_hides_what_it_allows(sid: str) -> None:
    """These are like the names that inferstack gives, whose statements are harmless or shown elsewhere."""
    wide = {"execution_role": {"statements": [{"sid": sid, "action": ["s3:*"], "resource": ["*"]}]}}
    [widened] = found(changed("single", {}, wide), "role-widened")
    assert widened.message == "the role may also `s3:*` on everything"


def test_of_two_alarms_on_a_renamed_variant_the_one_that_goes_is_reported() -> None:
    rules = [{"metric": "ModelLatency", "threshold": it} for it in ("200 ms", "900 ms")]
    sides = [
        {"variant": {"variant_name": name}, "alarms": {"defaults": False, "rules": kept}}
        for name, kept in (("Blue", rules), ("Green", rules[1:]))
    ]
    [gone] = found(changed("single", *sides), "alarms-loosened")
    assert (gone.code, gone.message) == (
        "IS893",
        "an alarm is removed: p99 of ModelLatency of Blue reaches 200 ms for 3 minutes",
    )

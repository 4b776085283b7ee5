"""Rules, lists, reviews and quotas ask one picture: on whatever spec, they never disagree."""

import copy
from decimal import Decimal
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from support.resolving import BASES, merged

from inferstack.check.load import LoadedSpec, parse_spec
from inferstack.check.rules import RULES
from inferstack.endpoint.cost import NO_PRICES, Cost, Money, Prices, amount_text, of_fleet, together
from inferstack.endpoint.counts import NONE, Counts, counted, total
from inferstack.endpoint.of_spec import components, fleets, instance_counts
from inferstack.endpoint.of_template import Identity, Picture, picture_of
from inferstack.endpoint.place import NOWHERE
from inferstack.endpoint.quota import CONCURRENCY, needs, quota_name
from inferstack.endpoint.stack import Stack
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template

IDENTITY = Identity(stack="one", stage=None, account=None, region=None, kind=None, place=NOWHERE)


def picture(template: Any) -> Picture:
    return picture_of(
        Stack(template["Resources"], template, lambda _, __: NOWHERE, None), IDENTITY, NO_PRICES
    )


TOKEN = cdk.Token.as_number({"Ref": "Number"})


def template_of(loaded: LoadedSpec) -> Any:
    return _synthesised(resolve_template(loaded.spec, region=None, source_of=lambda _: ""))


def _synthesised(value: Any) -> Any:
    """What CDK puts where a token stands."""
    match value:
        case dict():
            return {key: _synthesised(item) for key, item in value.items()}
        case list():
            return [_synthesised(item) for item in value]
        case _:
            return {"Ref": "Number"} if value == TOKEN else value


def component(accelerators: int, memory: int, copies: int, scaling: tuple[int, int] | None) -> dict[str, Any]:
    needs_ = {"number_of_accelerator_devices_required": accelerators, "min_memory_required_in_mb": memory}
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"
    container = {"image": image, "artifact_url": "s3://models/a.tar.gz"}
    made: dict[str, Any] = {
        "specification": {"container": container, "compute_resource_requirements": needs_},
        "runtime_config": {"copy_count": copies},
    }
    if scaling is not None:
        low, more = scaling
        policy = {"metric": "SageMakerInferenceComponentInvocationsPerCopy", "target_value": 5}
        made["autoscaling"] = {"min_capacity": low, "max_capacity": max(1, low + more), "policies": [policy]}
    return made


COMPONENTS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.builds(
        component,
        st.integers(1, 4),
        st.sampled_from([1024, 20_000, 60_000, 130_000]),
        st.integers(1, 4) | st.just(TOKEN),
        st.none() | st.tuples(st.integers(0, 2), st.integers(0, 4)),
    ),
    min_size=1,
)
MANAGED = st.none() | st.builds(
    lambda low, more: {"status": "ENABLED", "min_instance_count": low, "max_instance_count": more},
    st.integers(0, 2) | st.just(TOKEN),
    st.integers(2, 6) | st.just(TOKEN),
)


@given(
    COMPONENTS,
    MANAGED,
    st.integers(1, 3) | st.just(TOKEN),
    st.sampled_from(["ml.g5.12xlarge", "ml.g6.12xlarge"]),
)
@settings(max_examples=30, deadline=None)
def test_what_is_read_from_a_spec_is_what_is_read_from_its_template(
    parts: dict[str, Any], managed: Any, start: int, instance_type: str
) -> None:
    variant = {"instance_type": instance_type, "initial_instance_count": start}
    if managed is not None:
        variant["managed_instance_scaling"] = managed
    spec = {"kind": "inference-components", "endpoint_name": "one", "variant": variant}
    try:
        loaded = parse_spec({**spec, "inference_components": parts})
    except SpecError:
        return
    drawn = picture(template_of(loaded))
    [fleet], [shown] = fleets(loaded.spec), drawn.fleets
    assert (fleet.by_scaling, fleet.instances) == (shown.by_scaling, shown.instances)
    assert (fleet.placements, fleet.never_fits) == (shown.placements, shown.never_fits)
    assert [(it.name, it.copies, it.needs) for it in components(loaded.spec)] == [
        (it.name, it.copies, it.needs) for it in drawn.components
    ]
    # What the picture shows and what the advice says.
    assert bool([*RULES["IS421"].check(loaded.spec)]) == (shown.shortage("start") is not None)
    # list, the table of the review, and the quota.
    assert instance_counts(loaded.spec) == drawn.cost.instance_hours == shown.instances
    [need] = needs((), drawn.fleets, replaces=False)
    most = None if shown.instances is None else shown.instances.max
    assert (need.quota, need.always) == (quota_name(instance_type), most)
    # The instances that exist at a level are those that are counted there.
    for placement in shown.placements:
        assert shown.instances is not None
        assert placement.instances == shown.instances.at(placement.level)


def whole(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = merged(yaml.safe_load(BASES["components"]), changes)
    return data


def test_copies_force_instances_that_scaling_alone_does_not_need() -> None:
    managed = {"status": "ENABLED", "min_instance_count": 0, "max_instance_count": 3}
    variant = {"initial_instance_count": 1, "managed_instance_scaling": managed}
    scaling = {"min_capacity": 1, "max_capacity": 2}
    chat = {"runtime_config": {"copy_count": 1}, "autoscaling": scaling}
    loaded = parse_spec(whole(variant=variant, inference_components={"chat": chat}))
    [fleet] = fleets(loaded.spec)
    assert (fleet.by_scaling, fleet.instances) == (Counts(0, 1, 3), Counts(1, 1, 3))


def test_two_copies_that_fit_beside_two_others_are_not_missed() -> None:
    """Placed one after the other, the largest first, one found no room."""
    parts = {"p": component(2, 60_000, 2, None), "q": component(1, 130_000, 2, None)}
    parts["q"]["specification"]["compute_resource_requirements"].pop("number_of_accelerator_devices_required")
    variant = {"instance_type": "ml.g5.12xlarge", "initial_instance_count": 2}
    spec = {"kind": "inference-components", "endpoint_name": "one", "variant": variant}
    loaded = parse_spec({**spec, "inference_components": parts})
    assert not [it for it in loaded.warnings if it.code == "IS421"]
    [start] = [it for it in fleets(loaded.spec)[0].placements if it.level == "start"]
    assert [(it.count, it.copies) for it in start.layouts] == [(2, {"p": 1, "q": 1})]


# ---------------------------------------------------------------- what only the deployment knows


@pytest.fixture
def unknown() -> Picture:
    """An endpoint whose number of instances is a parameter without a default."""
    template = copy.deepcopy(template_of(parse_spec(yaml.safe_load(BASES["single"]))))
    [variant] = template["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"]
    variant["InitialInstanceCount"] = {"Ref": "Count"}
    template["Parameters"] = {"Count": {"Type": "Number"}}
    return picture(template)


def test_an_unknown_number_is_never_zero(unknown: Picture) -> None:
    [fleet] = unknown.fleets
    assert fleet.instances == Counts.fixed(None)
    assert (str(fleet.instances), fleet.update.instances) == ("?", None)
    assert unknown.cost.instance_hours == Counts.fixed(None)
    [need] = needs(unknown.fleets, unknown.fleets, replaces=True)
    assert (need.always, need.meanwhile) == (None, None)


def test_what_is_added_to_an_unknown_number_is_unknown() -> None:
    assert total([Counts(1, None, 4), Counts(0, 1, 2)]) == Counts(1, None, 6)
    assert str(Counts(1, None, 4)) == "1-?-4"
    assert counted(Counts(1, None, 4), "copy", "copies") == "1 to 4 copies (? at the start)"
    assert counted(Counts.fixed(None), "copy", "copies") == "an unknown number of copies"


# ---------------------------------------------------------------- quotas and costs


def test_all_variants_of_an_update_run_side_by_side() -> None:
    models = {name: {"image": IMAGE, "model_data_url": f"s3://models/{name}.tar.gz"} for name in "abc"}

    def spec(names: str) -> Picture:
        fleet = {"instance_type": "ml.g5.xlarge", "initial_instance_count": 5}
        variants = [{"variant_name": it, "model_name": it, **fleet} for it in names]
        data = {"kind": "single-model", "endpoint_name": "one", "models": {it: models[it] for it in names}}
        return picture(template_of(parse_spec({**data, "variants": variants})))

    [need] = needs(spec("abc").fleets, spec("ab").fleets, replaces=True)
    assert (need.always, need.meanwhile) == (10, 25)
    [need] = needs(spec("a").fleets, spec("b").fleets, replaces=True)
    assert (need.always, need.meanwhile) == (5, 10)


IMAGE = "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"


def serverless(concurrency: int) -> Picture:
    settings = {"serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": concurrency}}
    data: dict[str, Any] = {"kind": "single-model", "endpoint_name": "one", "variant": settings}
    data["model"] = {"image": IMAGE, "model_data_url": "s3://models/a.tar.gz"}
    return picture(template_of(parse_spec(data)))


def test_concurrency_of_serverless_endpoints_is_a_quota() -> None:
    [need] = needs((), serverless(100).fleets, replaces=False)
    assert (need.quota, need.always) == (CONCURRENCY, 100)


def test_while_it_is_updated_a_serverless_endpoint_has_the_larger_concurrency() -> None:
    for before, after in ((100, 20), (20, 100)):
        [need] = needs(serverless(before).fleets, serverless(after).fleets, replaces=True)
        assert (need.always, need.meanwhile) == (after, 100)
    [need] = needs(serverless(100).fleets, serverless(20).fleets, replaces=False)
    assert need.meanwhile == 20


def test_known_amounts_are_summed_although_others_are_not() -> None:
    one = Cost(instance_hours=Counts.fixed(1), currency="USD", per_hour=Money(*[amount("1.005")] * 3))
    whole_ = together([one, Cost(instance_hours=Counts.fixed(2), unpriced=("ml.p5en.48xlarge",))])
    assert whole_.per_hour == one.per_hour
    assert (whole_.instance_hours, whole_.missing) == (Counts.fixed(3), ("ml.p5en.48xlarge",))
    assert together([]).instance_hours == NONE


def test_a_pool_costs_at_the_most_what_its_dearest_type_does() -> None:
    prices = Prices({"ml.g6.2xlarge": amount("1.25"), "ml.g5.2xlarge": amount("1.50")})
    for dearest_last in (
        ("ml.g6.2xlarge", "ml.g5.2xlarge"),
        ("ml.g6.2xlarge", "ml.g5.2xlarge", "ml.p5.48xlarge"),
    ):
        cost = of_fleet(Counts(1, 2, 4), dearest_last, prices)
        assert cost is not None
        assert cost.per_hour == Money(amount("1.25"), amount("2.50"), amount("6.00"))
        assert cost.unpriced == dearest_last[2:]
    cost = of_fleet(Counts(1, 2, 4), ("ml.g5.2xlarge", "ml.g6.2xlarge"), prices)
    assert cost is not None
    assert cost.per_hour == Money(amount("1.50"), amount("3.00"), amount("6.00"))


def test_a_pool_whose_preferred_type_has_no_price_has_no_cost() -> None:
    cost = of_fleet(
        Counts.fixed(2), ("ml.p5.48xlarge", "ml.g6.2xlarge"), Prices({"ml.g6.2xlarge": amount("1")})
    )
    assert cost is not None
    assert (cost.per_hour, cost.unpriced) == (None, ("ml.p5.48xlarge",))


def amount(text: str) -> Any:
    return Decimal(text)


def test_money_is_rounded_half_up() -> None:
    assert [amount_text(amount(it)) for it in ("0.125", "7.125", "1234.5")] == ["0.13", "7.13", "1,234.50"]

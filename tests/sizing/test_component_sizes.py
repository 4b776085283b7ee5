"""Fleets of inference components, compared with a calculator that shares no code with the library."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from inferstack.check.load import parse_spec
from inferstack.endpoint.cost import Prices
from inferstack.problems import FilePlace
from inferstack.sizing.component_sizes import fleet_question, fleets
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.traffic import Traffic
from inferstack.sizing.traffic_points import UNDATED

# 4 GPUs, 48 vCPUs, 192 GiB; 8 GPUs, 192 vCPUs, 768 GiB.
G5, LARGE = "ml.g5.12xlarge", "ml.g5.48xlarge"
PRICES = Prices({G5: Decimal("7.09"), LARGE: Decimal("20.36")})
IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/chat:1"


def component(gpus, memory, **more):
    needs = {"min_memory_required_in_mb": memory}
    if gpus:
        needs["number_of_accelerator_devices_required"] = gpus
    container = {"image": IMAGE, "artifact_url": "s3://models/m.tar.gz"}
    return {
        "specification": {"container": container, "compute_resource_requirements": needs},
        **more,
    }


def spec_of(components, objective=None, **variant):
    asked = {"requests_per_minute": 1, "latency": {"percentile": "P95", "value_in_milliseconds": 500}}
    return parse_spec(
        {
            "kind": "inference-components",
            "endpoint_name": "chat",
            "variant": {"instance_type": G5, "initial_instance_count": 1, **variant},
            "inference_components": components,
            "objective": asked | (objective or {}),
        }
    ).spec


def measured(name, rate, type_=G5, p95=100, **more):
    return Measurement(
        component=name,
        configuration="base",
        instance_type=type_,
        requests_per_minute=Decimal(rate),
        latencies={Decimal(95): Decimal(p95)},
        **more,
    )


def traffic_of(**requests):
    minutes = {name: tuple(map(Decimal, it)) for name, it in requests.items()}
    return Traffic(
        requests=minutes, start=UNDATED, named_at=dict.fromkeys(requests, FilePlace("traffic.csv"))
    )


def sized(spec, rows, **requests):
    traffic = traffic_of(**requests) if requests else None
    return fleets(fleet_question(spec, None, rows, traffic), PRICES)


# ---------------------------------------------------------------- the calculator


def copies_over(traffic, low, high, target):
    """Copies of each minute as the documentation says, from a list of all that has happened so far."""
    counts, wanted, removed = [], [], None
    first = min(max(-(-traffic[0] // target), low), high)
    for minute, asked in enumerate(traffic):
        counts.append(first if minute < 3 else wanted[minute - 3])
        now = wanted[-1] if wanted else first
        since = max((at + 1 for at, count in enumerate(counts) if not count), default=0)
        seen = list(zip(traffic, counts, strict=False))[since:][-15:]
        if not seen:
            # A refused request starts the first copy.
            wanted.append(max(now, min(asked, 1)))
            continue
        out = len(seen) >= 3 and all(requests > target * count for requests, count in seen[-3:])
        needs = min(max(-(-asked // target), low), high)
        if out and needs > now:
            now = needs
        elif len(seen) >= 15 and (removed is None or minute >= removed + 7):
            below = all(requests < Fraction(9, 10) * target * count for requests, count in seen)
            busiest = max(requests for requests, _ in seen)
            less = min(max(-(-busiest // target), low), high)
            if below and less < now:
                now, removed = less, minute
        wanted.append(now)
    return counts


def held(counts):
    """Instances of 4 GPUs for copies that take 2 and 1 of them: no GPU need be left idle between them."""
    two, one = counts
    return -(-(2 * two + one) // 4)


def held_by_memory(counts):
    """Of 192 GiB, a copy of 110,000 MiB leaves room for one of 60,000; of these alone, three fit."""
    large, small = counts
    return large + -(-max(0, small - large) // 3)


def each(*runs):
    return [amount for amount, minutes in runs for _ in range(minutes)]


TO_ZERO = {"autoscaling": {"min_capacity": 0, "max_capacity": 1}}
SCENARIOS = {
    "two on one fleet": (
        (component(2, 16_384), component(1, 16_384)),
        (each((200, 400), (900, 60), (100, 500)), each((50, 420), (700, 300), (50, 240))),
        held,
        1,
    ),
    "bound by memory": (
        (component(1, 110_000), component(1, 60_000)),
        (each((200, 300), (1_100, 90), (300, 330)), each((900, 200), (100, 200), (1_900, 320))),
        held_by_memory,
        1,
    ),
    "without accelerators": (
        (component(0, 110_000), component(0, 60_000)),
        (each((200, 300), (1_100, 90)), each((900, 200), (100, 190))),
        held_by_memory,
        1,
    ),
    "to zero": (
        (component(2, 16_384, **TO_ZERO), component(1, 16_384, **TO_ZERO)),
        (each((400, 720), (0, 720)), each((0, 700), (500, 60), (0, 680))),
        held,
        0,
    ),
}
RATE = 200


@pytest.mark.parametrize(("components", "traffic", "instances", "low"), SCENARIOS.values(), ids=SCENARIOS)
def test_the_fleet_is_that_of_a_calculator(components, traffic, instances, low):
    spec = spec_of(dict(zip(("a", "b"), components, strict=True)), {"safety_factor": 0.5})
    (fleet,) = sized(spec, [measured("a", RATE), measured("b", RATE)], a=traffic[0], b=traffic[1])
    target = RATE // 2
    most = [-(-max(it) // target) for it in traffic]
    fewest = [max(low, -(-min(it) // target)) for it in traffic]
    assert fleet.copies == {name: (fewest[at], most[at], most[at]) for at, name in enumerate(("a", "b"))}
    least = instances(fewest)
    over = [copies_over(it, fewest[at], most[at], target) for at, it in enumerate(traffic)]
    counts = [max(least, instances(minute)) for minute in zip(*over, strict=True)]
    assert (fleet.min_capacity, fleet.count) == (least, instances(most))
    assert fleet.average == Decimal(sum(counts)) / len(counts)
    assert fleet.per_hour == fleet.average * Decimal("7.09")
    short = [
        any(asked > RATE * count for asked, count in zip(*minute, strict=True))
        for minute in zip(zip(*traffic, strict=True), zip(*over, strict=True), strict=True)
    ]
    assert fleet.minutes_short == sum(short)
    assert fleet.changes.values["variant", "managed_instance_scaling"] == {
        "status": "ENABLED",
        "min_instance_count": least,
        "max_instance_count": instances(most),
    }


# ---------------------------------------------------------------- what always holds

TWO = {"a": component(2, 16_384), "b": component(1, 16_384)}
SPEC = spec_of(TWO)
ROWS = [measured(name, 100, type_, p95) for name in TWO for type_, p95 in ((G5, 300), (LARGE, 200))]
# With fewer than ten copies, scaling never keeps more than it needs.
HOURS = st.lists(st.tuples(*[st.integers(1, 900), st.integers(0, 900)] * 2), min_size=1, max_size=4)


@settings(max_examples=15, deadline=None)
@given(HOURS)
def test_more_traffic_never_costs_less(hours):
    less = {"a": [it[0] for it in hours for _ in range(60)], "b": [it[2] for it in hours for _ in range(60)]}
    more = {
        "a": [min(900, it[0] + it[1]) for it in hours for _ in range(60)],
        "b": [min(900, it[2] + it[3]) for it in hours for _ in range(60)],
    }
    cost, cost_of_more = (
        {it.instance_type: it.per_hour for it in sized(SPEC, ROWS, **of)} for of in (less, more)
    )
    assert cost.keys() == {G5, LARGE}
    assert all(cost[type_] <= cost_of_more[type_] for type_ in cost)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 500), st.integers(1, 500))
def test_a_tighter_limit_never_admits_more(one, other):
    def admitted(limit):
        latency = replace(SPEC.objective.latency, value_in_milliseconds=limit)
        spec = replace(SPEC, objective=replace(SPEC.objective, latency=latency))
        return {it.instance_type for it in sized(spec, ROWS, a=[1], b=[1]) if not it.objections}

    assert admitted(min(one, other)) <= admitted(max(one, other))


# ---------------------------------------------------------------- cases


def test_language_models_scale_by_concurrent_requests_per_copy():
    asked = {"objective": {"concurrency": 64, "lowest_concurrency": 8}}
    spec = spec_of({"a": component(1, 16_384, **asked), "b": component(1, 16_384)}, {"safety_factor": 0.5})
    rows = [measured("a", 120, users=16), measured("b", 100)]
    # 8 users of 16 are planned for: 8 copies, and 1 of the other.
    (fleet,) = sized(spec, rows, a=[10] * 60, b=[10] * 60)
    assert fleet.copies == {"a": (1, 8, 8), "b": (1, 1, 1)}
    assert (fleet.min_capacity, fleet.count) == (1, 3)
    scaling = fleet.changes.values["inference_components", "a", "autoscaling"]
    metric = "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution"
    assert scaling == {
        "min_capacity": 1,
        "max_capacity": 8,
        "policies": [{"metric": metric, "target_value": 8}],
    }
    # A request takes 8 seconds, so that a target of 8 at once is one of 60 a minute: one copy is enough.
    assert (fleet.average, fleet.left_out) == (1, ())


def test_the_fleet_that_costs_least_on_average_comes_first():
    day = each((100, 1_380), (3_000, 60))
    small, large = sized(SPEC, ROWS, a=day, b=day)
    assert (small.instance_type, large.instance_type) == (G5, LARGE)
    assert small.per_hour < large.per_hour
    assert (small.count, large.count) == (23, 12)


def test_what_an_instance_costs_does_not_choose_the_configuration_of_a_copy():
    slow, fast = (
        measured("a", 100, price_per_hour=Decimal(7)),
        replace(measured("a", 200), configuration="fast"),
    )
    (fleet,) = sized(SPEC, [slow, fast, measured("b", 100)], a=[200], b=[100])
    assert (fleet.components[0].size.title, fleet.copies["a"], fleet.per_hour) == ("fast", (1, 1, 1), 7)


@pytest.mark.parametrize(
    ("variant", "written"),
    [
        (
            {},
            {
                ("managed_instance_scaling",): {
                    "status": "ENABLED",
                    "min_instance_count": 2,
                    "max_instance_count": 5,
                }
            },
        ),
        (
            {"managed_instance_scaling": {"status": "ENABLED", "max_instance_count": 1}},
            {
                ("managed_instance_scaling", "min_instance_count"): 2,
                ("managed_instance_scaling", "max_instance_count"): 5,
            },
        ),
        ({"managed_instance_scaling": {"status": "DISABLED"}}, {}),
        (
            {
                "autoscaling": {
                    "min_capacity": 1,
                    "max_capacity": 2,
                    "policies": [{"metric": "CPUUtilization", "target_value": 50}],
                }
            },
            {("autoscaling", "min_capacity"): 2, ("autoscaling", "max_capacity"): 5},
        ),
    ],
)
def test_the_limits_of_the_fleet_are_written_where_it_has_them(variant, written):
    asked = {"requests_per_minute": 500, "lowest_requests_per_minute": 100}
    both = {name: {**it, "objective": asked} for name, it in TWO.items()}
    (fleet, _) = sized(spec_of(both, {"spare_instances": 1}, **variant), ROWS)
    # 5 copies of 2 GPUs and 5 of 1 take 4 instances, 1 of each takes 1, and one more is spare.
    path = ("variant",)
    at = {key[1:]: value for key, value in fleet.changes.values.items() if key[:1] == path}
    assert at == {("instance_type",): G5, ("initial_instance_count",): 5, **written}
    is_fixed = variant.get("managed_instance_scaling", {}).get("status") == "DISABLED"
    assert (fleet.min_capacity, fleet.count) == (5 if is_fixed else 2, 5)
    # Without traffic, the cost is that of the busiest minute.
    assert fleet.per_hour == 5 * Decimal("7.09")


def test_a_budget_is_for_an_average_hour_of_the_fleet():
    (within, _) = sized(spec_of(TWO, {"budget_per_hour": 7.09}), ROWS, a=[50] * 60, b=[50] * 60)
    assert within.objections == ()
    (over, *_) = sized(spec_of(TWO, {"budget_per_hour": 7.08}), ROWS, a=[50] * 60, b=[50] * 60)
    assert over.objections == ("7.09 an hour is over the budget of 7.08",)


def test_the_requests_of_adapters_are_those_of_their_base():
    adapter = {
        "specification": {
            "base_inference_component_name": "a",
            "container": {"artifact_url": "s3://models/adapter.tar.gz"},
        }
    }
    spec = spec_of({**TWO, "legal": adapter})
    fleet, _ = sized(spec, ROWS, a=[100], b=[100], legal=[250])
    assert fleet.copies == {"a": (4, 4, 4), "b": (1, 1, 1)}

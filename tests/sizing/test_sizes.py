"""The table of the post this project began with, and what must hold for every table."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inferstack.endpoint.cost import NO_PRICES, Prices
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.sizes import Demand, PercentileLimit, best, sizes

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
# https://aws.amazon.com/blogs/machine-learning/achieve-hyperscale-performance-for-model-serving-using-nvidia-triton-inference-server-on-amazon-sagemaker/
PUBLISHED = read_measurements(ROOT / "docs/examples/bert-large.csv")
POST = Demand(peak=Decimal(30_000), limits={"latency": PercentileLimit(Decimal(95), Decimal(500))})


def test_all_published_counts_and_costs_are_found_to_the_last_digit():
    with (HERE / "published_sizes.csv").open() as file:
        published = {
            (row["configuration"], row["instance_type"]): (row["count"], row["cost_per_hour"])
            for row in csv.DictReader(file)
        }
    found = {
        (it.measurement.configuration, it.measurement.instance_type): (
            str(it.count),
            f"{it.per_hour.normalize():f}",
        )
        for it in sizes(PUBLISHED, POST, NO_PRICES)
    }
    assert len(published) == 24
    assert found == published


def test_only_five_of_the_published_rows_meet_the_limit_of_their_own_post():
    ranked = sizes(PUBLISHED, POST, NO_PRICES)
    assert [not it.objections for it in ranked] == [True] * 5 + [False] * 19
    cheapest = best(ranked)
    assert (cheapest.count, cheapest.measurement.instance_type) == (23, "ml.g4dn.2xlarge")
    assert cheapest.per_hour == Decimal("21.62")
    assert cheapest.per_month == Decimal("21.62") * 730


def test_rows_over_the_limit_say_so():
    (dropped,) = [it for it in sizes(PUBLISHED, POST, NO_PRICES) if it.per_hour == Decimal("7.3640")]
    assert dropped.objections == ("783 ms is over the limit of 500 ms at P95",)


def test_a_safety_factor_lowers_the_target_and_raises_the_count():
    (size,) = sizes([one(requests=1335)], demand(30_000, safety_factor=Decimal("0.5")), NO_PRICES)
    assert (size.target_value, size.count) == (667, 45)


def test_spare_instances_come_on_top_at_every_demand():
    (size,) = sizes([one(requests=1000)], demand(30_000, lowest=Decimal(500), spare_instances=1), NO_PRICES)
    assert (size.min_capacity, size.count) == (2, 31)


@pytest.mark.parametrize(
    ("latencies", "is_met"),
    [
        ({95: 499}, True),
        ({95: 500}, True),
        ({95: 501}, False),
        ({99: 499}, True),
        ({90: 501}, False),
        ({90: 400}, False),
        ({99: 600}, False),
        ({}, False),
    ],
)
def test_another_percentile_is_enough_only_where_it_proves_something(latencies, is_met):
    (size,) = sizes([one(latencies=latencies)], POST, NO_PRICES)
    assert (not size.objections) == is_met


def test_a_latency_just_over_the_limit_is_not_shown_as_the_limit():
    (size,) = sizes([one(latencies={95: "500.3"})], POST, NO_PRICES)
    assert size.objections == ("500.3 ms is over the limit of 500 ms at P95",)


def test_unknown_latencies_are_told_from_high_ones():
    (unknown,) = sizes([one(latencies={90: 400})], POST, NO_PRICES)
    assert unknown.objections == ("no measured latency shows whether it is below the limit of 500 ms at P95",)


def test_the_price_of_a_row_comes_before_that_of_the_file():
    prices = Prices({"ml.g5.xlarge": Decimal(2)})
    own, other = sizes([one(price=Decimal(1)), one()], demand(100), prices)
    assert (own.per_hour, other.per_hour) == (1, 2)


def test_a_budget_is_a_limit():
    (size,) = sizes([one(price=Decimal(3))], demand(100, budget_per_hour=Decimal("2.5")), NO_PRICES)
    assert size.objections == ("3 an hour is over the budget of 2.5",)


def test_a_million_requests_cost_what_the_busiest_hour_costs_for_each():
    (size,) = sizes([one(requests=1000, price=Decimal(3))], demand(1000), NO_PRICES)
    assert size.per_million == Decimal(50)


def doubts(*measured):
    """By number of users: what is doubted."""
    return {it.measurement.users: it.doubts for it in sizes(measured, demand(1), NO_PRICES)}


@pytest.mark.parametrize(("users", "is_doubted"), [(2, True), (4, False), (None, False)])
def test_one_number_of_users_that_only_wait_does_not_tell_what_the_limit_was(users, is_doubted):
    # Two users who wait 100 ms send 1,200 requests a minute.
    found = doubts(one(requests=1000, latencies={50: 100, 95: 400}, users=users))
    said = ("one number of users only (2): measure with more to see whether the rate still rises",)
    assert found == {users: said if is_doubted else ()}


def closed(users, rate, configuration="base"):
    """A row of a closed loop, in which users always wait."""
    latency = Decimal(users) * 60_000 / rate
    return one(requests=rate, latencies={50: latency}, users=users, configuration=configuration)


def test_the_load_is_the_limit_only_where_more_users_get_clearly_more():
    found = doubts(closed(1, 1000), closed(4, 2000), closed(16, 2700), closed(64, 2720))
    assert found[1] == (
        "with 64 users it did 2720 requests a minute: at 1 user, the load was the limit, not the instance",
    )
    assert "at 4 users, the load was the limit" in found[4][0]
    assert (found[16], found[64]) == ((), ())


def test_a_rate_that_rises_with_the_last_step_may_rise_further():
    found = doubts(closed(1, 1000), closed(4, 2000), closed(16, 2101))
    assert found[16] == ("the rate still rose with the last step, from 4 to 16 users: measure with more",)
    assert doubts(closed(1, 1000), closed(4, 2000), closed(16, 2099))[16] == ()
    assert doubts(closed(1, 1000), closed(4, 2000), closed(16, 1500)) == {
        1: (
            "with 4 users it did 2000 requests a minute: at 1 user, the load was the limit, not the instance",
        ),
        4: (),
        16: (),
    }


def test_twenty_thousand_numbers_of_users_are_compared_at_once():
    rows = [closed(users, 1000 + min(users, 19_000)) for users in range(1, 20_001)]
    found = doubts(*rows)
    assert "with 18091 users" not in found[20_000]
    assert found[1][0].startswith("with 19000 users it did 20000 requests a minute: at 1 user")
    assert found[20_000] == ()


def test_numbers_of_users_are_compared_only_within_a_configuration():
    found = sizes([closed(4, 1000), closed(16, 5000, "other")], demand(1), NO_PRICES)
    assert all("one number of users only" in it.doubts[0] for it in found)
    assert {it.title for it in found} == {"base", "other"}


def test_a_configuration_that_was_measured_more_than_once_is_doubted_if_the_rates_differ():
    for users in (None, 4):
        rows = [one(requests=rate, latencies={}, users=users) for rate in (1000, 1049, 1050)]
        said = "it was measured more than once, from 1000 to 1050 requests a minute: the lowest counts; keep the row that is right"
        assert [it.doubts for it in sizes(rows, demand(1), NO_PRICES)] == [(said,)] * 3
        assert [it.doubts for it in sizes(rows[:2], demand(1), NO_PRICES)] == [(), ()]


def test_rows_of_a_configuration_are_told_apart_by_their_users():
    found = sizes([closed(1, 1000), closed(4, 2000), one(requests=5)], demand(1), NO_PRICES)
    assert {it.title for it in found} == {"base, 1 user", "base, 4 users", "base"}


MEASUREMENTS = st.builds(
    lambda requests, latency, price: one(requests=requests, latencies={95: latency}, price=price),
    st.decimals("0.1", 10_000, places=1),
    st.integers(1, 2_000),
    st.none() | st.decimals("0.01", 100, places=4),
)
TABLES = st.lists(MEASUREMENTS, min_size=1, max_size=8)
FACTORS = st.decimals("0.01", 1, places=2)
AMOUNTS = st.integers(1, 100_000)


@given(TABLES, AMOUNTS, AMOUNTS)
def test_more_demand_never_costs_less(table, one_amount, other):
    less, more = (
        {id(it.measurement): it for it in sizes(table, demand(amount), NO_PRICES)}
        for amount in sorted((one_amount, other))
    )
    for key, size in less.items():
        assert size.count <= more[key].count
        assert size.per_hour is None or size.per_hour <= more[key].per_hour


@given(TABLES, st.integers(1, 2_000), st.integers(1, 2_000))
def test_a_tighter_limit_never_admits_more_rows(table, one_limit, other):
    tight, loose = (
        sum(not it.objections for it in sizes(table, demand(10, limits={"latency": limit(ms)}), NO_PRICES))
        for ms in sorted((one_limit, other))
    )
    assert tight <= loose


@given(TABLES, AMOUNTS, FACTORS, FACTORS)
def test_a_lower_safety_factor_never_means_fewer_instances_or_a_higher_target(
    table, amount, one_factor, other
):
    low, high = (
        {id(it.measurement): it for it in sizes(table, demand(amount, safety_factor=factor), NO_PRICES)}
        for factor in sorted((one_factor, other))
    )
    for key, size in low.items():
        assert size.count >= high[key].count
        assert size.min_capacity >= high[key].min_capacity
        assert size.target_value <= high[key].target_value
        assert size.per_hour is None or size.per_hour >= high[key].per_hour
        # At its target, the fleet is never asked for more than the factor allows.
        assert size.count * size.usable >= amount


@given(TABLES, AMOUNTS, st.integers(0, 5), st.integers(0, 5))
def test_more_spare_instances_never_cost_less(table, amount, one_spare, other):
    few, many = (
        {id(it.measurement): it for it in sizes(table, demand(amount, spare_instances=spare), NO_PRICES)}
        for spare in sorted((one_spare, other))
    )
    for key, size in few.items():
        assert size.count <= many[key].count
        assert size.min_capacity <= many[key].min_capacity


@given(TABLES, AMOUNTS)
def test_the_count_is_the_smallest_that_meets_the_demand(table, amount):
    for size in sizes(table, demand(amount), NO_PRICES):
        each = size.measurement.requests_per_minute
        assert size.count * each >= amount
        assert size.count == 1 or (size.count - 1) * each < amount


@given(TABLES, AMOUNTS)
def test_the_first_is_the_cheapest_that_meets_the_demand(table, amount):
    ranked = sizes(table, demand(amount, limits={"latency": limit(500)}), NO_PRICES)
    costs = [it.per_hour for it in ranked if not it.objections and it.per_hour is not None]
    assert costs == sorted(costs)


def limit(milliseconds):
    return PercentileLimit(Decimal(95), Decimal(milliseconds))


BAD = {
    "the run was cancelled": {"ended_badly": ("the run was cancelled", "250 of 300 requests failed")},
    "a latency of 80 ms at P99, but 100 at P95": {
        "latencies": {Decimal(95): Decimal(100), Decimal(99): Decimal(80)}
    },
    "another measurement of the same load shows 1000 requests a minute, not 9000": {},
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_run_ranks_behind_all_others_and_says_nothing_about_them(fault):
    fast = replace(one(requests=9000, users=4), **BAD[fault])
    good, bad = sizes([fast, one(requests=1000, users=4)], demand(10_000), NO_PRICES)
    assert (good.count, good.objections, good.title) == (10, (), "base")
    assert bad.objections[0].startswith(fault)
    # A slow one takes nothing from the others, either.
    if BAD[fault]:
        slow = replace(one(requests=10, users=4), **BAD[fault])
        assert best(sizes([slow, one(requests=1000, users=4)], demand(10_000), NO_PRICES)).count == 10


def test_of_two_runs_of_one_load_the_slower_decides_about_the_limit():
    rows = [one(latencies={95: 400}, users=4), one(latencies={95: 900}, users=4)]
    assert best(sizes(rows, POST, NO_PRICES)) is None
    assert best(sizes([rows[0], replace(rows[1], users=8)], POST, NO_PRICES)).measurement.users == 4


def chat(users, rate, tokens=None, first=None, between=None):
    """A row of a language model."""
    return replace(
        one(requests=rate, users=users, latencies={}),
        tokens_per_second=None if tokens is None else Decimal(tokens),
        time_to_first_token={} if first is None else {Decimal(90): Decimal(first)},
        inter_token_latency={} if between is None else {Decimal(90): Decimal(between)},
    )


AT_90 = {ms: PercentileLimit(Decimal(90), Decimal(ms)) for ms in (30, 300)}
OF_LANGUAGE_MODELS = {
    # Users, tokens per second: instances at the busiest and the quietest, and the target.
    "concurrency": ({"concurrency": Decimal(100), "lowest_concurrency": Decimal(20)}, (4, 1, 32)),
    "a safety factor": ({"concurrency": Decimal(100), "safety_factor": Decimal("0.5")}, (7, 7, 16)),
    "tokens": ({"tokens_per_second": Decimal(4000)}, (4, 4, 32)),
    "the larger of both": ({"concurrency": Decimal(300), "tokens_per_second": Decimal(4000)}, (10, 10, 32)),
    "spare instances": ({"concurrency": Decimal(100), "spare_instances": 1}, (5, 5, 32)),
}


@pytest.mark.parametrize("what", OF_LANGUAGE_MODELS)
def test_language_models_are_counted_in_concurrent_requests_and_tokens(what):
    asked, expected = OF_LANGUAGE_MODELS[what]
    (size,) = sizes([chat(32, 100, tokens=1000)], demand(0, **asked), NO_PRICES)
    assert (size.count, size.min_capacity, size.target_value) == expected
    assert size.metric == "SageMakerVariantConcurrentRequestsPerModelHighResolution"


LIMITED = {
    "310 ms until the first token is over the limit of 300 ms at P90": {"first": 310},
    "31 ms between tokens is over the limit of 30 ms at P90": {"first": 200, "between": 31},
    "no measured latency between tokens shows whether it is below the limit of 30 ms at P90": {"first": 200},
    "its number of users is not known": {"users": None, "first": 200, "between": 20},
    "no tokens were measured": {"tokens": None, "first": 200, "between": 20},
}


@pytest.mark.parametrize("objection", LIMITED)
def test_language_models_have_limits_of_their_own(objection):
    asked = demand(
        0,
        concurrency=Decimal(64),
        tokens_per_second=Decimal(100),
        limits={"time_to_first_token": AT_90[300], "inter_token_latency": AT_90[30]},
    )
    row = {"users": 32, "rate": 100, "tokens": 1000, **LIMITED[objection]}
    (size,) = sizes([chat(**row)], asked, NO_PRICES)
    assert any(it.startswith(objection) for it in size.objections)
    (right,) = sizes(
        [chat(**{**row, "users": 32, "tokens": 1000, "first": 300, "between": 30})], asked, NO_PRICES
    )
    assert right.objections == ()


def test_what_cannot_be_counted_has_no_cost():
    asked = demand(0, concurrency=Decimal(64), budget_per_hour=Decimal(1))
    (size,) = sizes([replace(chat(None, 100), price_per_hour=Decimal(2))], asked, NO_PRICES)
    assert not size.is_counted
    assert (size.per_hour, size.peak_per_hour, size.per_month, size.per_million) == (None,) * 4
    assert len(size.objections) == 1


def demand(peak, **others):
    return Demand(peak=Decimal(peak), **others)


def one(*, requests=1000, latencies=None, price=None, users=None, configuration="base"):
    found = {95: 100} if latencies is None else latencies
    return Measurement(
        configuration=configuration,
        instance_type="ml.g5.xlarge",
        requests_per_minute=Decimal(requests),
        latencies={Decimal(at): Decimal(value) for at, value in found.items()},
        price_per_hour=price,
        users=users,
    )

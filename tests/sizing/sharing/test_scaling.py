"""Target tracking, steps and limits, minute by minute."""

from decimal import Decimal
from itertools import groupby

import pytest

from inferstack.sizing.sharing.scaling import CopyScaling, Limits, Tracking, needed, simulated
from inferstack.sizing.sharing.steps import Adjustment, Step, StepEvaluation


def tracking(low=1, high=10, changes=None, **policy):
    policy = {"target": Decimal(10), **policy}
    return CopyScaling(limits=Limits(low, high), tracking=(Tracking(**policy),), changes=changes or {})


def traffic(*runs):
    return [Decimal(rate) for rate, minutes in runs for _ in range(minutes)]


def changes(counts):
    """Each number of copies, with the minute from which it applies."""
    return [(next(run)[0], count) for count, run in groupby(enumerate(counts), key=lambda it: it[1])]


def held(requests, scaling, **options):
    return changes(simulated(requests, scaling, **options).held)


def test_three_minutes_above_the_target_add_what_the_last_one_needs():
    # Minutes 5 to 7 are above; 2 minutes later, from minute 10 on, there are 30 / 10 copies.
    assert held(traffic((10, 5), (30, 10)), tracking()) == [(0, 1), (10, 3)]


def test_two_minutes_above_add_nothing():
    assert held(traffic((10, 5), (30, 2), (10, 20)), tracking()) == [(0, 1)]


def test_data_every_ten_seconds_add_after_a_minute():
    assert held(traffic((10, 5), (30, 10)), tracking(out_points=1)) == [(0, 1), (8, 3)]


def test_fifteen_minutes_below_nine_tenths_remove_what_the_busiest_of_them_does_not_need():
    # 12 of 30 a minute is below 27. Minutes 5 to 19, one of which needs 2 copies; gone from minute 22 on.
    assert held(traffic((30, 5), (0, 9), (12, 1), (0, 12)), tracking())[:2] == [(0, 3), (22, 2)]


@pytest.mark.parametrize(("rate", "last"), [(190, 20), (185, 20), (180, 20), (179, 18)])
def test_only_what_is_far_below_the_target_counts(rate, last):
    # 20 copies for 200 a minute. 181 to 190 need 19, but only what is below 180, nine tenths, removes any.
    assert held(traffic((200, 5), (rate, 30)), tracking(high=30)) in ([(0, 20)], [(0, 20), (22, last)])
    assert held(traffic((200, 5), (rate, 30)), tracking(high=30))[-1][1] == last


def test_a_cooldown_holds_back_the_next_removal():
    # The first removal takes effect with minute 22. Its cooldown of 30 minutes is over after minute 51; what is
    # decided then applies 2 minutes later.
    requests = traffic((30, 5), (0, 9), (12, 1), (0, 60))
    assert held(requests, tracking(in_cooldown=30)) == [(0, 3), (22, 2), (54, 1)]
    assert held(requests, tracking(in_cooldown=0)) == [(0, 3), (22, 2), (32, 1)]


def test_a_policy_may_only_add():
    assert held(traffic((30, 5), (0, 60)), tracking(scales_in=False)) == [(0, 3)]


def test_the_largest_capacity_wins_and_all_must_agree_to_remove():
    policies = (Tracking(target=Decimal(10)), Tracking(target=Decimal(5)))
    scaling = CopyScaling(limits=Limits(1, 10), tracking=policies)
    assert held(traffic((10, 5), (30, 20)), scaling) == [(0, 2), (10, 6)]
    assert held(traffic((30, 5), (10, 30)), scaling) == [(0, 6), (22, 2)]
    # 93 a minute need 19 of 20 copies at a target of 5, but are above nine tenths of 100.
    scaling = CopyScaling(limits=Limits(1, 20), tracking=policies)
    assert held(traffic((100, 5), (93, 30)), scaling) == [(0, 20)]


def test_suspended_scaling_does_nothing():
    policies = (Tracking(target=Decimal(10)),)
    out = CopyScaling(limits=Limits(1, 10), tracking=policies, scales_out=False)
    assert held(traffic((10, 5), (30, 20)), out) == [(0, 1)]
    in_ = CopyScaling(limits=Limits(1, 10), tracking=policies, scales_in=False)
    assert held(traffic((30, 5), (10, 30)), in_) == [(0, 3)]


def test_limits_of_a_schedule_apply_at_once():
    scaling = tracking(changes={10: Limits(4, 8), 20: Limits(0, 2)})
    # From minute 20 on, 15 minutes below the target have passed as well, since minute 5.
    assert held(traffic((10, 60)), scaling)[:3] == [(0, 1), (10, 4), (20, 2)]
    assert needed(traffic((10, 30)), scaling) == (1,) * 10 + (4,) * 10 + (1,) * 10


def test_what_a_schedule_has_added_stays_until_a_policy_removes_it():
    # 10 a minute for 4 copies is below from minute 10 on, 15 times until minute 24.
    scaling = tracking(changes={10: Limits(4, 8), 20: Limits(1, 8)})
    assert held(traffic((10, 60)), scaling) == [(0, 1), (10, 4), (27, 1)]


def test_what_a_schedule_has_set_stays_though_policies_are_suspended():
    changes_ = {10: Limits(4, 8), 20: Limits(1, 8)}
    scaling = CopyScaling(limits=Limits(1, 8), changes=changes_, scales_out=False, scales_in=False)
    assert held(traffic((10, 30)), scaling) == [(0, 1), (10, 4)]


def test_no_requests_are_zero_requests_and_no_copies_are_no_data():
    assert held(traffic((10, 5), (0, 30)), tracking(low=0)) == [(0, 1), (22, 0)]
    # Nothing wakes it up.
    assert held(traffic((0, 5), (30, 30)), tracking(low=0)) == [(0, 0)]


def test_a_copy_that_starts_takes_room_before_it_answers():
    found = simulated(traffic((10, 5), (30, 60)), tracking(), startup=4)
    assert changes(found.held) == [(0, 1), (10, 3)]
    assert changes(found.serving) == [(0, 1), (14, 3)]


def test_the_first_minute_finds_what_it_needs():
    assert held(traffic((30, 3)), tracking()) == [(0, 3)]
    assert held(traffic((30, 3)), tracking(), startup=9) == [(0, 3)]
    assert held(traffic((3000, 3)), tracking()) == [(0, 10)]


def test_without_a_target_a_request_needs_a_copy():
    assert needed(traffic((0, 1), (Decimal("0.1"), 1), (30, 1)), CopyScaling(limits=Limits(0, 3))) == (
        0,
        1,
        1,
    )


@pytest.mark.parametrize(("target", "copies"), [("1e-100", 10), ("1e100", 1)])
def test_the_smallest_and_the_largest_target_give_a_number(target, copies):
    assert held(traffic((Decimal("1e9"), 3)), tracking(target=Decimal(target))) == [(0, copies)]


def test_an_endpoint_of_its_own_has_at_least_one_copy():
    scaling = tracking(low=0, changes={5: Limits(0, 0), 6: Limits(2, 3)}).at_least(1)
    assert (scaling.limits, scaling.changes) == (Limits(1, 10), {5: Limits(1, 1), 6: Limits(2, 3)})
    assert tracking(low=4).from_one().limits == Limits(1, 10)


# ---------------------------------------------------------------- steps


def step(**fields):
    usual = {
        "quantity": "per copy",
        "statistic": "Sum",
        "threshold": Decimal(10),
        "operator": "GreaterThanThreshold",
        "adjustment_type": "ChangeInCapacity",
        "adjustments": (Adjustment(2, Decimal(0)),),
        "cooldown": 5,
    }
    return Step(**{**usual, **fields})


def stepping(*steps, low=1, high=20):
    return CopyScaling(limits=Limits(low, high), steps=steps)


def test_a_step_adds_and_waits_for_its_cooldown():
    # Minute 5 is above. From minute 8 on there are 3 copies, for 100 requests: above still. The cooldown is
    # over after minute 12, so the next step is taken then and applies from minute 15 on.
    requests = traffic((10, 5), (100, 12))
    assert held(requests, stepping(step())) == [(0, 1), (8, 3), (15, 5)]


def test_a_larger_step_within_the_cooldown_adds_the_rest():
    steps = step(adjustments=(Adjustment(1, Decimal(0), Decimal(20)), Adjustment(4, Decimal(20))))
    requests = traffic((10, 5), (20, 1), (90, 6))
    assert held(requests, stepping(steps)) == [(0, 1), (8, 2), (9, 5)]


def test_a_step_may_remove():
    down = step(
        operator="LessThanThreshold",
        threshold=Decimal(5),
        adjustments=(Adjustment(-1, None, Decimal(0)),),
        evaluation=StepEvaluation(periods=3, to_alarm=2),
    )
    scaling = CopyScaling(
        limits=Limits(1, 9), steps=(down,), tracking=(Tracking(target=Decimal(10), scales_in=False),)
    )
    # 2 a minute and copy are below in minutes 5 and 6; then 3, once the cooldown is over, after minute 13.
    assert held(traffic((30, 5), (6, 12)), scaling) == [(0, 3), (9, 2), (16, 1)]


@pytest.mark.parametrize(
    ("kind", "amount", "least", "current", "wanted"),
    [
        ("ChangeInCapacity", -2, 1, 5, 3),
        ("ExactCapacity", 7, 1, 5, 7),
        ("PercentChangeInCapacity", 50, 1, 5, 7),
        ("PercentChangeInCapacity", 50, 4, 5, 9),
        ("PercentChangeInCapacity", -50, 1, 5, 3),
        ("PercentChangeInCapacity", 10, 1, 5, 6),
    ],
)
def test_what_an_adjustment_means(kind, amount, least, current, wanted):
    policy = step(adjustment_type=kind, adjustments=(Adjustment(amount, Decimal(0)),), least_change=least)
    assert policy.capacity(Decimal(10), current) == wanted
    assert policy.capacity(Decimal(9), current) is None


def test_bounds_belong_to_the_step_nearer_to_the_threshold():
    steps = (
        Adjustment(-2, None, Decimal(-5)),
        Adjustment(-1, Decimal(-5), Decimal(0)),
        Adjustment(1, Decimal(0), Decimal(5)),
        Adjustment(2, Decimal(5)),
    )
    policy = step(adjustments=steps)
    found = [policy.capacity(Decimal(10 + distance), 10) for distance in (-6, -5, -1, 0, 4, 5)]
    assert found == [8, 8, 9, 11, 11, 12]


def test_a_period_of_several_minutes_sums_them_on_the_clock():
    # 6 a minute are 30 in 5 minutes. The period of minutes 5 to 9 is the first above, known after minute 9.
    policy = step(quantity="requests", threshold=Decimal(29), evaluation=StepEvaluation(period=5))
    assert held(traffic((5, 7), (6, 3), (20, 5)), stepping(policy)) == [(0, 1)]
    assert held(traffic((5, 5), (6, 5), (5, 5)), stepping(policy)) == [(0, 1), (12, 3)]


def test_missing_data_may_count_as_above():
    policy = step(evaluation=StepEvaluation(missing_breaches=True))
    assert held(traffic((0, 6)), stepping(policy, low=0)) == [(0, 0), (3, 2)]
    assert held(traffic((0, 6)), stepping(step(), low=0)) == [(0, 0)]


def test_part_of_a_request_wakes_up_too():
    wake = step(
        quantity="refused",
        statistic="Maximum",
        threshold=Decimal(1),
        operator="GreaterThanOrEqualToThreshold",
        adjustments=(Adjustment(1, Decimal(0)),),
    )
    assert held(traffic((0, 3), (Decimal("0.2"), 6)), stepping(wake, low=0)) == [(0, 0), (6, 1)]

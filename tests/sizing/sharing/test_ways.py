"""What a shared fleet saves: the founding example and two others, counted by hand, and what always holds."""

from decimal import Decimal
from itertools import groupby

import pytest
from hypothesis import given, settings, strategies as st

from inferstack.endpoint.packing import Room, fewest_possible
from inferstack.endpoint.placement import HostFleet, Tenant, placed
from inferstack.sizing.sharing.scaling import CopyScaling, Limits, Tracking, needed, simulated
from inferstack.sizing.sharing.steps import Adjustment, Step
from inferstack.sizing.sharing.ways import ScaledModel, Service, Span, Ways, compared

# ml.g5.12xlarge: 4 GPUs, 48 vCPUs, 192 GiB.
G5 = Room.of(4, 48, 192 * 1024)
WAKE_UP = Step(
    quantity="refused",
    statistic="Maximum",
    threshold=Decimal(1),
    operator="GreaterThanOrEqualToThreshold",
    adjustment_type="ChangeInCapacity",
    adjustments=(Adjustment(1, Decimal(0)),),
    cooldown=15,
)
SCALING = CopyScaling(limits=Limits(0, 4), tracking=(Tracking(target=Decimal(5)),), steps=(WAKE_UP,))


def half_days(rate):
    """Europe from midnight, America from noon on."""
    rate, nothing = Decimal(rate), Decimal(0)
    return {"europe": [rate] * 720 + [nothing] * 720, "america": [nothing] * 720 + [rate] * 720}


def shared(rate, gpus):
    models = [ScaledModel(Tenant(name, Room.of(gpus, 0, 1024)), SCALING) for name in ("europe", "america")]
    return compared(half_days(rate), models, HostFleet(room=G5))


# Copies that follow demand at once. At 5 a minute each model has one copy for half a day: one instance all day
# is enough (1440 minutes), and two endpoints with at least one instance take twice as much.
# At 20 a minute there are 4 copies. With 2 GPUs each they fill 2 instances: 2 x 1440 = 2880. An endpoint of its
# own has 2 instances for half a day and 1 for the other: 2 x (2 x 720 + 720) = 4320, of which 2880 are 2/3.
# With 4 GPUs each: 4 x 1440 = 5760; 2 x (4 x 720 + 720) = 7200, of which 5760 are 4/5.
# Of a fixed size, each has as many instances all day as in its busy half: twice the shared fleet.
AT_ONCE = {
    (5, 4): (Ways(1440, 2880, 2880), "50.0", "50.0"),
    (20, 2): (Ways(2880, 4320, 5760), "33.3", "50.0"),
    (20, 4): (Ways(5760, 7200, 11520), "20.0", "50.0"),
}
# With the delays of policies. A copy of Europe is there until 15 minutes are below the target and 2 more have
# passed: from 12:00 to 12:16. A refused request of 12:00 wakes America after that minute and 2 more, at 12:03;
# at 20 a minute, the minutes 12:03, 12:04 and 12:05 are above the target, so that at 12:08 it has all 4 copies.
# 5 a minute: one instance more from 12:03 to 12:16, 1440 + 14.
# 2 GPUs: 4 copies of Europe and 1 of America take 3 instances from 12:03 to 12:07, then 8 copies take 4 until
# 12:16: 2880 + 5 x 1 + 9 x 2. Alone, Europe has 2 instances until 12:16 and then 1: 737 x 2 + 703 = 2177.
# America has one copy at noon, and 12:00 to 12:02 are above the target, so that it has 2 instances from 12:05:
# 725 + 715 x 2 = 2155.
# 4 GPUs: 5760 + 5 x 1 + 9 x 4. Alone, 737 x 4 + 703 = 3651 and 725 + 715 x 4 = 3585.
DELAYED = {
    (5, 4): (Ways(1454, 2880, 2880), "49.5", "49.5"),
    (20, 2): (Ways(2903, 2177 + 2155, 5760), "33.0", "49.6"),
    (20, 4): (Ways(5801, 3651 + 3585, 11520), "19.8", "49.6"),
}


@pytest.mark.parametrize("case", AT_ONCE)
def test_half_is_saved_of_fixed_fleets_and_less_of_those_that_scale_themselves(case):
    ways, of_autoscaled, of_fixed = AT_ONCE[case]
    found = shared(*case).at_once
    assert found == ways
    assert f"{found.saved(found.autoscaled):.1f}" == of_autoscaled
    assert f"{found.saved(found.fixed):.1f}" == of_fixed


@pytest.mark.parametrize("case", DELAYED)
def test_the_delays_of_policies_cost_about_half_a_point(case):
    ways, of_autoscaled, of_fixed = DELAYED[case]
    found = shared(*case).delayed
    assert found == ways
    assert f"{found.saved(found.autoscaled):.1f}" == of_autoscaled
    assert f"{found.saved(found.fixed):.1f}" == of_fixed


@pytest.mark.parametrize(("case", "once", "both"), [((5, 4), 1, 2), ((20, 2), 2, 4), ((20, 4), 4, 8)])
def test_demand_doubles_at_noon_for_17_minutes(case, once, both):
    # America asks from 12:00 on, and Europe's copies are there until 12:16.
    found = shared(*case)
    assert found.handover == Span(both, first=720, minutes=17)
    assert found.peak_at_once.instances == once
    # Fewer minutes have the instances for both: America has its copies later.
    assert (found.peak.instances, found.peak.first + found.peak.minutes) == (both, 737)
    assert found.peak.first == (723 if case[0] == 5 else 728)


def test_minutes_without_capacity_are_counted():
    found = shared(20, 4).services
    assert found["europe"] == Service(asked=720, without_copy=0, over_target=0)
    # 12:00 to 12:02 without a copy, 12:03 to 12:07 with one copy for 20 requests a minute.
    assert found["america"] == Service(asked=720, without_copy=3, over_target=5)


def test_a_fleet_that_is_too_small_is_said_and_the_peak_it_would_need():
    models = [ScaledModel(Tenant(name, Room.of(4, 0, 1024)), SCALING) for name in ("europe", "america")]
    found = compared(half_days(20), models, HostFleet(room=G5, high=7))
    # From 12:08 to 12:16 there are 8 copies for 7 instances.
    assert (found.short_of_room, found.peak.instances) == (9, 8)
    assert found.delayed.shared == 5760 + 5 * 1 + 9 * 3


# ---------------------------------------------------------------- what always holds

RATES = st.lists(st.integers(0, 40), min_size=1, max_size=6)


def hourly(rates):
    return [Decimal(rate) for rate in rates for _ in range(30)]


@settings(deadline=None, max_examples=40)
@given(RATES, st.integers(0, 5), st.integers(1, 10))
def test_more_demand_never_needs_less(rates, at, more):
    """Of fixed size and if copies follow at once; policies may be luckier with more."""
    before = hourly(rates)
    after = hourly([rate + more * (index == at) for index, rate in enumerate(rates)])
    model = ScaledModel(Tenant("a", Room.of(2, 0, 1)), msgspec_high(SCALING))
    less, most = (compared({"a": it}, [model], HostFleet(room=G5)) for it in (before, after))
    assert less.at_once.shared <= most.at_once.shared
    assert less.at_once.autoscaled <= most.at_once.autoscaled
    assert less.at_once.fixed <= most.at_once.fixed
    assert all(few <= many for few, many in zip(needed(before, SCALING), needed(after, SCALING), strict=True))


def msgspec_high(scaling):
    return CopyScaling(limits=Limits(0, 100), tracking=scaling.tracking, steps=scaling.steps)


@settings(deadline=None, max_examples=40)
@given(RATES, RATES, st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 3, 4]), st.booleans())
def test_no_minute_has_fewer_instances_than_possible(one, other, gpus, more_gpus, spread):
    length = min(len(one), len(other))
    requests = {"a": hourly(one[:length]), "b": hourly(other[:length])}
    strategy = "SPREAD" if spread else "BINPACK"
    components = [
        Tenant("a", Room.of(gpus, 1, 1), strategy),
        Tenant("b", Room.of(more_gpus, 0, 9), strategy),
    ]
    needs = {it.name: it.needs for it in components}
    held = {name: simulated(it, SCALING).held for name, it in requests.items()}
    for fleet in (
        HostFleet(room=G5),
        HostFleet(room=G5, consolidates=False),
        HostFleet(room=G5, step=1, wait=5),
    ):
        counts = placed(held, components, fleet).instances
        for minute, count in enumerate(counts):
            copies = {name: it[minute] for name, it in held.items()}
            assert count >= fewest_possible(copies, needs, G5)


@settings(deadline=None, max_examples=40)
@given(RATES)
def test_copies_stay_within_the_limits_and_take_a_while_to_change(rates):
    held = simulated(hourly(rates), SCALING).held
    assert all(0 <= it <= 4 for it in held)
    runs = [(count, len(list(run))) for count, run in groupby(held)]
    # At least 15 data points lie between two changes downwards.
    for (before, _), (count, length), (after, _) in zip(runs, runs[1:], runs[2:], strict=False):
        if before > count > after:
            assert length >= 5

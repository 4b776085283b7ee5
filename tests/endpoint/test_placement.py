"""Copies on instances, minute by minute: strategies, zones, and what is released."""

import random

import pytest

from inferstack.endpoint.packing import NeverFitsError, Room, Units, fewest_possible, packed_units
from inferstack.endpoint.placement import HostFleet, Tenant, imbalance, placed, settled

G5 = Room.of(4, 48, 192 * 1024)


def component(name="a", gpus=1, strategy="BINPACK", imbalance=None):
    return Tenant(name, Room.of(gpus, 0, 1), strategy, imbalance)


def counts(held, *components, **fleet):
    return placed(held, components, HostFleet(room=G5, **fleet))


def test_instances_come_when_copies_need_them_and_go_when_they_are_empty():
    found = counts({"a": [0, 1, 4, 5, 9, 4, 0]}, component())
    assert found.instances == (0, 1, 1, 2, 3, 1, 0)
    assert not any(found.without_room)


def test_a_fleet_stays_between_its_limits():
    found = counts({"a": [0, 5, 13, 0]}, component(), low=1, high=2)
    assert found.instances == (1, 2, 2, 1)
    assert found.without_room == (0, 0, 5, 0)


def test_without_consolidation_copies_stay_where_they_are():
    # Two of 3 GPUs and two of 1: one instance each for the large ones. Three of each: three instances. Without
    # the large ones, the small ones could be on one instance.
    held = {"large": [3, 0, 0], "small": [3, 3, 0]}
    both = component("large", 3), component("small", 1)
    assert counts(held, *both, consolidates=False).instances == (3, 3, 0)
    assert counts(held, *both).instances == (3, 1, 0)


def test_consolidation_waits_and_goes_step_by_step():
    held = {"large": [4] + [0] * 9, "small": [4] * 10}
    both = component("large", 3), component("small", 1)
    # The change is in minute 1: 3 minutes later one instance goes, and 3 minutes after that the next.
    assert counts(held, *both, step=1, wait=3).instances == (4, 4, 4, 4, 3, 3, 3, 2, 2, 2)
    assert counts(held, *both, step=2, wait=3).instances == (4, 4, 4, 4, 2, 2, 2, 1, 1, 1)
    assert counts(held, *both, step=5, wait=0).instances == (4, *[1] * 9)


@pytest.mark.parametrize(("strategy", "left"), [("BINPACK", 1), ("SPREAD", 2)])
def test_copies_fill_one_instance_before_the_next_or_are_spread(strategy, left):
    # Two large copies have made two instances, which hold two small ones: on the same, or one on each.
    held = {"large": [2, 2, 0], "small": [0, 2, 2]}
    both = component("large", 3), Tenant("small", Room.of(0.5, 0, 1), strategy)
    assert counts(held, *both, consolidates=False).instances == (2, 2, left)


def test_spread_copies_leave_the_instance_with_most_of_them():
    # Four on one instance and two on the other: of the two that stay, one is on each.
    found = counts({"a": [6, 2]}, component("a", 1, "SPREAD"), consolidates=False)
    assert found.instances == (2, 2)
    found = counts({"a": [6, 2]}, component("a", 1), consolidates=False)
    assert found.instances == (2, 1)


@pytest.mark.parametrize(("imbalance", "left"), [(None, 1), (0, 2), (1, 2), (2, 1)])
def test_zones_are_balanced_before_instances_are_filled(imbalance, left):
    # Three instances, in three zones, with a copy of 2 GPUs each. Two small copies go on the same, unless zones
    # may not differ by as much as that.
    held = {"large": [3, 0, 0, 0], "middle": [0, 3, 3, 0], "small": [0, 0, 2, 2]}
    components = (
        component("large", 3),
        component("middle", 2, "SPREAD"),
        component("small", 1, "BINPACK", imbalance),
    )
    assert counts(held, *components, consolidates=False).instances == (3, 3, 3, left)


def test_what_never_fits_is_named():
    with pytest.raises(NeverFitsError):
        counts({"a": [1]}, component("a", 5))


@pytest.mark.parametrize(
    ("strategy", "imbalance", "on_each"),
    [
        ("BINPACK", None, [3, 0, 0]),
        ("SPREAD", None, [1, 1, 1]),
        ("BINPACK", 0, [1, 1, 1]),
        ("BINPACK", 2, [2, 1, 0]),
    ],
)
def test_copies_settle_as_their_strategy_and_zones_want(strategy, imbalance, on_each):
    found = settled({"a": 3}, [component("a", 1, strategy, imbalance)], HostFleet(room=G5, low=3))
    assert [len(it) for it in found.instances] == on_each
    assert found.without_room == {}


def test_a_fleet_grows_for_copies_as_far_as_it_may():
    both = [component("large", 3), component("small", 2)]
    found = settled({"large": 2, "small": 2}, both, HostFleet(room=G5, low=1, high=2))
    assert found.instances == (("large",), ("large",))
    assert found.without_room == {"small": 2}


def test_zones_differ_by_the_copies_that_one_has_more():
    assert imbalance("a", [["a"], ["a", "b"], ["a"], ["a"]]) == 1
    assert imbalance("a", [["a", "a"], ["b"]]) == 2
    # On a single instance, all are in one zone.
    assert imbalance("a", [["a", "a"]]) == 2
    assert imbalance("a", []) == 0


# ---------------------------------------------------------------- random fleets


def fleet(seed):
    random_ = random.Random(seed)
    components = [
        Tenant(
            f"c{at}",
            Room.of(random_.randint(1, 4), random_.choice([0, 0.5, 4, 13]), random_.randint(128, 90_000)),
            random_.choice(["BINPACK", "SPREAD"]),
            random_.choice([None, 0, 1]),
        )
        for at in range(random_.randint(1, 6))
    ]
    return components, {it.name: [random_.randint(0, 4) for _ in range(6)] for it in components}


@pytest.mark.parametrize("seed", range(150))
def test_no_minute_has_fewer_instances_than_possible_or_more_than_packing_takes(seed):
    components, held = fleet(seed)
    needs = {it.name: it.needs for it in components}
    consolidated = placed(held, components, HostFleet(room=G5)).instances
    loose = placed(held, components, HostFleet(room=G5, consolidates=False)).instances
    for minute, count in enumerate(consolidated):
        copies = {name: it[minute] for name, it in held.items()}
        fewest = fewest_possible(copies, needs, G5)
        assert fewest <= count <= len(packed_units(copies, Units.of(needs, G5)))
        assert loose[minute] >= fewest

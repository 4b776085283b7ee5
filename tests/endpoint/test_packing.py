"""Packing: every copy has its room, and hardly any fleet could be much smaller."""

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from inferstack.endpoint.packing import NeverFitsError, Room, fewest_possible, packed

G5 = Room.of(4, 48, 192 * 1024)


def fleet(seed):
    """Up to eight components with up to five copies each, as they are on endpoints."""
    random_ = random.Random(seed)
    whole = random_.choice(
        [G5, Room.of(8, 192, 768 * 1024), Room.of(0, 64, 256 * 1024), Room.of(1, 8, 32 * 1024)]
    )
    names = [f"component-{at}" for at in range(random_.randint(1, 8))]
    needs = {
        name: Room.of(
            random_.randint(0 if random_.random() < 0.2 else 1, int(whole.accelerators))
            if whole.accelerators
            else 0,
            random_.choice([0, 0.25, 1, 2, 3, 4, 7, 12])
            if whole.cores > 12
            else random_.choice([0, 1, 2, 3]),
            random_.randint(128, int(whole.memory // random_.choice([2, 4, 8]))),
        )
        for name in names
    }
    return {name: random_.randint(0, 5) for name in names}, needs, whole


FLEETS = range(150)


@pytest.mark.parametrize("seed", FLEETS)
def test_never_fewer_than_possible(seed):
    assert len(packed(*fleet(seed))) >= fewest_possible(*fleet(seed))


def test_within_one_instance_of_a_lower_bound_in_90_of_100_fleets():
    # An exact solver, which was asked once, showed that the others cannot be smaller, or only by one instance.
    more = Counter(len(packed(*fleet(seed))) - fewest_possible(*fleet(seed)) for seed in FLEETS)
    assert more[0] + more[1] >= 0.9 * len(FLEETS), more


@pytest.mark.parametrize("seed", FLEETS)
def test_every_copy_is_on_an_instance_that_has_room_for_it(seed):
    copies, needs, whole = fleet(seed)
    instances = packed(copies, needs, whole)
    placed = Counter(name for it in instances for name in it.copies)
    assert placed == Counter({name: count for name, count in copies.items() if count})
    for it in instances:
        left = whole
        for name in it.copies:
            assert left.holds(needs[name])
            left = left.without(needs[name])
        assert left == it.left


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(1, 6)), max_size=5))
def test_small_fleets_are_packed_as_well_as_by_trying_everything(sizes):
    whole = Room.of(2, 4, 6)
    needs = {f"c{at}": Room.of(*size) for at, size in enumerate(sizes)}
    found = packed(dict.fromkeys(needs, 1), needs, whole)
    assert len(found) == by_trying_everything(list(needs.values()), whole)


def by_trying_everything(rooms, whole):
    best = len(rooms)
    for placement in product(range(len(rooms)), repeat=len(rooms)):
        left = [whole] * len(rooms)
        for room, at in zip(rooms, placement, strict=True):
            if not left[at].holds(room):
                break
            left[at] = left[at].without(room)
        else:
            best = min(best, len(set(placement)))
    return best


def test_a_tenth_of_a_core_ten_times_is_a_core():
    assert len(packed({"a": 10}, {"a": Room.of(0, 0.1, 1)}, Room.of(0, 1, 100))) == 1


def test_what_never_fits_is_named():
    with pytest.raises(NeverFitsError) as caught:
        packed(
            {"a": 1, "b": 1, "c": 0},
            {"a": Room.of(8, 1, 1), "b": Room.of(1, 1, 1), "c": Room.of(9, 1, 1)},
            G5,
        )
    assert caught.value.args == ("a",)


def test_nothing_takes_no_instance():
    assert packed({}, {}, G5) == []

"""Models of a multi-model endpoint: instances, and what must be loaded again."""

from decimal import Decimal

from hypothesis import given, strategies as st

from inferstack.sizing.sharing.multi_model import (
    ALL_MODELS,
    cold_starts,
    compared_instances,
    loads_of_uncached,
)
from inferstack.sizing.sharing.scaling import CopyScaling, Limits, Tracking
from inferstack.sizing.sharing.ways import Ways


def asked(pattern):
    """Requests by minute, from the models that are named in each."""
    minutes = pattern.split()
    names = sorted(set("".join(minutes)) - {"-"})
    return {name: [Decimal(name in minute) for minute in minutes] for name in names}


def test_what_was_not_used_for_longest_makes_room():
    # Room for two. a and b are loaded; c unloads a, since b was used later; a then unloads b.
    requests = asked("a b b c a c b")
    found = cold_starts(requests, dict.fromkeys("abc", 10), [1] * 7, 20)
    assert found.by_model == {"a": 2, "b": 2, "c": 1}
    assert (found.total, found.most_memory, found.never_fit) == (5, 20, ())


def test_sizes_count():
    # b of 15 takes the room of both others.
    found = cold_starts(asked("a c b ac"), {"a": 10, "b": 15, "c": 10}, [1] * 4, 20)
    assert found.by_model == {"a": 2, "b": 1, "c": 2}


def test_an_instance_that_goes_takes_its_models_along():
    # Each is on an instance of its own, until the second goes and comes back.
    found = cold_starts(asked("a b ab a ab"), {"a": 10, "b": 10}, [2, 2, 2, 1, 2], 10)
    assert (found.by_model, found.most_memory) == ({"a": 1, "b": 2}, 20)


def test_models_do_not_fit_between_instances():
    # Two of 15 and one of 10 take 40, but no instance of 20 has room for two of them.
    found = cold_starts(asked("a b c a b"), {"a": 15, "b": 15, "c": 10}, [2] * 5, 20)
    assert found.by_model == {"a": 2, "b": 1, "c": 1}
    assert cold_starts(asked("a"), {"a": 30}, [2], 20).never_fit == ("a",)


def test_a_model_larger_than_the_memory_is_named_and_loaded_for_every_minute():
    found = cold_starts(asked("a a b"), {"a": 30, "b": 5}, [1] * 3, 20)
    assert (found.never_fit, found.by_model) == (("a",), {"a": 2, "b": 1})


@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=12), st.integers(1, 5))
def test_as_a_list_of_the_latest_would_have_it(minutes, room):
    requests = {name: [Decimal(name in minute) for minute in minutes] for name in "abcde"}
    found = cold_starts(requests, dict.fromkeys("abcde", 1), [1] * len(minutes), room)
    latest, loads = [], 0
    for minute in minutes:
        for name in sorted(minute):
            loads += name not in latest
            latest = [*(it for it in latest if it != name), name][-room:]
    assert found.total == loads


def test_without_a_cache_every_request_loads():
    assert loads_of_uncached({"a": [Decimal(3), Decimal("2.5")], "b": [Decimal(0)] * 2}) == {"a": 5, "b": 0}


def test_one_endpoint_for_all_has_fewer_instances_than_one_for_each():
    # Together 10 a minute, for 5 a minute and instance: 2 instances. Alone, each needs one of its own.
    requests = {name: [Decimal(it)] * 60 for name, it in {"a": 6, "b": 2, "c": 2}.items()}
    scaling = CopyScaling(limits=Limits(1, 9), tracking=(Tracking(target=Decimal(5)),))
    found, counts = compared_instances(requests, scaling)
    assert found.at_once == found.delayed == Ways(2 * 60, 4 * 60, 4 * 60)
    assert counts == (2,) * 60
    assert found.services[ALL_MODELS].asked == 60

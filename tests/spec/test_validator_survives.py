"""Whatever is done to a spec, checking it ends with a spec or with a SpecError.

Two kinds of damage: anything anywhere, which mostly the structure refuses, and a value in the place of
another of its type, which the rules get to see.
"""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st

from inferstack.spec.check import parse_spec
from inferstack.spec.document import read_document
from inferstack.spec.problem import SpecError
from inferstack.spec.structure import structure_problems

FILES = sorted((Path(__file__).parent / "wrong_specs" / "bases").glob("*.yaml"))
SPECS: list[dict[str, Any]] = [read_document(file).data for file in FILES]
Place = tuple[str | int, ...]

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 2**31, 2**63, 10**400, 0.5, -0.0, 1e300, -1.8e308),
    *(
        float("inf"),
        float("nan"),
        "",
        " ",
        "x",
        "a" * 2000,
        "\x00",
        "\ud800",
        "null",
        "1",
        "%",
        "5 ms",
        "90 %",
    ),
    *("${AWS::Region}", "${AWS::Nothing}", "${stage}", "${Token[TOKEN.1]}", "#{Token[TOKEN.1]}", "${"),
    *("{{resolve:ssm:/a}}", "s3://", "s3:///", "s3://b/k", "ml.g5.xlarge", "ml.inf1.xlarge", "p99", "IS999"),
    *(
        [],
        {},
        [[]],
        [{}],
        {"": ""},
        {"x": None},
        ["#{Token[TOKEN.1]}"],
        [1, "1", None],
        {1: 2},
        (1,),
        object(),
    ),
)


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Every place in a spec but its top."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, below in entries:
        yield (*path, key)
        yield from places(below, (*path, key))


def at(spec: Any, path: Place) -> Any:
    for key in path:
        spec = spec[key]
    return spec


KEYS = sorted({path[-1] for spec in SPECS for path in places(spec) if isinstance(path[-1], str)})
LEAVES = [(path[-1], at(spec, path)) for spec in SPECS for path in places(spec)]


def damage(spec: dict[str, Any], choose: random.Random) -> None:
    """Deletes, replaces, copies or adds something somewhere."""
    path = choose.choice(list(places(spec)))
    parent, key = at(spec, path[:-1]), path[-1]
    match choose.randrange(5):
        case 0:
            del parent[key]
        case 1:
            parent[key] = copy.deepcopy(choose.choice(ODD[:-1]))
        case 2:
            parent[key] = copy.deepcopy(choose.choice(LEAVES)[1])
        case 3 if isinstance(parent, dict):
            parent[choose.choice(KEYS)] = copy.deepcopy(choose.choice((*ODD, parent[key])))
        case _ if isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))


def exchange(spec: dict[str, Any], choose: random.Random) -> None:
    """Puts another value of the same key, or a neighbouring number, in the place of one; or removes it."""
    path = choose.choice(list(places(spec)))
    parent, key, found = at(spec, path[:-1]), path[-1], at(spec, path)
    same_key = [value for other, value in LEAVES if other == key]
    match choose.randrange(4):
        case 0 if isinstance(found, int | float) and not isinstance(found, bool):
            parent[key] = choose.choice(
                (0, 1, 2, 5, 10, 50, 100, 1000, 5000, found + 1, found - 1, found * 10)
            )
        case 1 if isinstance(parent, dict):
            del parent[key]
        case 2 if isinstance(parent, dict):
            other = choose.choice(LEAVES)
            parent[other[0] if isinstance(other[0], str) else key] = copy.deepcopy(other[1])
        case _ if same_key:
            parent[key] = copy.deepcopy(choose.choice(same_key))


def is_checked(spec: Any) -> bool:
    """Whether it is a spec; anything but a SpecError fails the test."""
    try:
        parse_spec(spec)
    except SpecError as error:
        return not [str(problem) for problem in error.problems]
    return True


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(SPECS), st.randoms(use_true_random=False), st.integers(1, 4))
def test_a_damaged_spec_gives_problems_and_never_a_traceback(
    spec: dict[str, Any], choose: random.Random, times: int
) -> None:
    damaged = copy.deepcopy(spec)
    for _ in range(times if damaged else 0):
        damage(damaged, choose)
    is_checked(damaged)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.sampled_from(SPECS), st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_spec_with_exchanged_values_gives_problems_and_never_a_traceback(
    spec: dict[str, Any], choose: random.Random, times: int
) -> None:
    changed = copy.deepcopy(spec)
    for _ in range(times):
        if changed:
            exchange(changed, choose)
    is_checked(changed)


def test_exchanged_values_often_get_past_the_structure() -> None:
    choose, past = random.Random(7), 0
    for _ in range(200):
        changed = copy.deepcopy(choose.choice(SPECS))
        exchange(changed, choose)
        past += not structure_problems(_document(changed))
    assert past > 80


def _document(data: dict[str, Any]) -> Any:
    return type(read_document(FILES[0])).from_data(data)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.recursive(
        st.sampled_from(ODD),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=12,
    )
)
def test_data_that_is_no_spec_gives_problems(data: Any) -> None:
    assert not is_checked(data if isinstance(data, dict) else {"kind": data})
    assert not is_checked({"kind": "single-model", "endpoint_name": "x", "model": data, "variant": data})

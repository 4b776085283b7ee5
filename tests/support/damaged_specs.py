"""Right specs, and two ways to damage one.

`damage` puts anything anywhere, which the structure mostly refuses; `exchange` replaces a value by another of its
type, which gets as far as the rules.
"""

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from inferstack.source.document import read_document

HERE_BASES = Path(__file__).parents[1] / "check" / "wrong_specs" / "bases"
FILES = sorted(HERE_BASES.glob("*.yaml"))
SPECS: list[dict[str, Any]] = [read_document(file).data for file in FILES]
Place = tuple[str | int, ...]
Way = Callable[[dict[str, Any], random.Random], None]
"""Damages a spec in place."""

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
    """Every place in a spec except the top."""
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
    """Replaces a value by another value of the same key or a nearby number, or removes it."""
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


def damaged(spec: dict[str, Any], choose: random.Random, times: int, *ways: Way) -> dict[str, Any]:
    """A copy of a spec, damaged this many times in any of these ways, as long as anything is left of it."""
    copied = copy.deepcopy(spec)
    for _ in range(times):
        if copied:
            choose.choice(ways)(copied, choose)
    return copied

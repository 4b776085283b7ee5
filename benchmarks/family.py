"""The endpoints that everything here is measured on: a family of any size, the same on every run.

Four kinds alternate. Within a kind the numbers vary, so that no two specs or templates are equal and no cache
can answer for another endpoint.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

KINDS = ("single-model", "multi-model", "ensemble", "inference-components")

# Instance types by kind: those it needs. AWS documents multi-model endpoints only for a few types.
_INSTANCE_TYPES = {
    "single-model": ("ml.g5.2xlarge", "ml.g6.2xlarge", "ml.g6.4xlarge"),
    "multi-model": ("ml.g4dn.2xlarge", "ml.g4dn.4xlarge", "ml.g5.xlarge"),
    "ensemble": ("ml.g6.xlarge", "ml.g6.2xlarge", "ml.g5.xlarge"),
    "inference-components": ("ml.g5.12xlarge", "ml.g6.12xlarge", "ml.g6e.12xlarge"),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What differs between endpoints; everything else follows from the kind."""

    kind: str
    name: str
    instance_type: str
    fewest: int
    """How many instances to start with and to keep at least."""
    most: int
    target: int
    """Target of the scaling policy."""
    latency_ms: int
    """Threshold of the alarm on latency."""
    batch: int
    threads: int


def family(count: int) -> tuple[Endpoint, ...]:
    """The first ``count`` endpoints. A larger family begins with the smaller one."""
    return tuple(islice(_endpoints(), count))


def _endpoints() -> Iterator[Endpoint]:
    index = 0
    while True:
        kind = KINDS[index % len(KINDS)]
        types = _INSTANCE_TYPES[kind]
        turn = index // len(KINDS)
        yield Endpoint(
            kind=kind,
            name=f"{kind}-{index:05d}",
            instance_type=types[turn % len(types)],
            fewest=2 + turn % 3,
            most=8 + turn % 5,
            target=5 + turn % 40,
            latency_ms=100 + 5 * (turn % 50),
            batch=8 << turn % 4,
            threads=4 + turn % 12,
        )
        index += 1

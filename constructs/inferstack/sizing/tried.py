"""What a search tries on a model, and what it found, in the rows that people compare."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

import msgspec

from inferstack.sizing.search import Space, Trial, best_of
from inferstack.triton.measuring.configurations import THREADS, Configuration
from inferstack.triton.model import TritonModel

BATCHING, INSTANCES = "dynamic_batching", "instance_group"
TRIED = (BATCHING, INSTANCES)
"""What can be tried, by the key of the model's configuration."""
USERS = (1, 4, 16, 64)
"""Users at once, unless a command is told others."""
_BATCHES, _DELAYS = (4, 8, 16, 32), (0, 2_000)
# A Python model may wait for something else; the other backends compute on the processors of this machine.
_INSTANCES_THAT_WAIT = 4


def space_of(
    model: TritonModel,
    tried: Iterable[str],
    *,
    processors: int,
    users: Sequence[int] = USERS,
    smallest_batch: int = 1,
) -> Space:
    """What is tried on a model. Batches below ``smallest_batch`` would be too small for the requests, or for
    an ensemble.
    """
    largest = model.config.max_batch_size
    batching, several = BATCHING in tried and largest > 0, INSTANCES in tried
    sizes = sorted({largest, *_powers(_BATCHES[0], max(largest, _BATCHES[-1]))}) if batching else []
    instances = processors if model.backend in THREADS else max(_INSTANCES_THAT_WAIT, processors)
    return Space(
        batches=(0, *(it for it in sizes if it >= max(2, smallest_batch))),
        delays=_DELAYS if batching else (0,),
        instances=tuple(_powers(1, instances)) if several else (1,),
        threads=(0, *_powers(1, processors - 1)) if several and model.backend in THREADS else (0,),
        users=tuple(users),
    )


def _powers(first: int, last: int) -> Iterator[int]:
    """Powers of two from one number to another."""
    while first <= last:
        yield first
        first *= 2


class Row(msgspec.Struct, frozen=True):
    """The best that was measured of one kind; if nothing of it is within the limit, the fastest to answer."""

    name: str
    best: Trial
    within: bool


def rows(trials: Sequence[Trial], limit: float = inf) -> list[Row]:
    """The founding comparison: the best of each kind that was measured."""
    return [
        _row(kind, found, limit)
        for kind in KINDS
        if (found := [it for it in trials if kind_of(it.configuration) == kind])
    ]


def _row(name: str, trials: Sequence[Trial], limit: float) -> Row:
    best = best_of(trials, limit)
    return Row(name, min(trials, key=lambda it: it.latency) if best is None else best, best is not None)


KINDS = ("base", "batching", "instances", "both")
"""What people compare: as little as possible, dynamic batching, several instances or threads, and both."""


def kind_of(made: Configuration) -> str:
    """Which of :data:`KINDS` a configuration is."""
    return KINDS[(made.batch > 0) + 2 * (made.instances > 1 or made.threads > 0)]

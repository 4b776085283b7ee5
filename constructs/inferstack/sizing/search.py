"""The configuration of a model that answers most requests within a latency limit, in few measurements.

Four corners come first, which are also what people compare: as little as possible, dynamic batching,
several instances, and both; then batches that the users fill. From the best, settings are changed while
that helps, one at a time or two that make up for each other; not more than a quarter of the grid is
measured. How many users at once a configuration can serve within the limit follows from Little's law:
where it is saturated, its latency grows with the users.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf

import msgspec
from msgspec.structs import replace

from inferstack.format.objective import Objective
from inferstack.sizing.closed_loop import PERCENTILES
from inferstack.triton.measuring.configurations import THREADS, Configuration
from inferstack.triton.model import TritonModel

_BETTER = 1.01
"""Measurements that are closer than this say nothing."""
_LEAST_SHARE = 0.99
_MOST_FAILED = 0.01


class Goal(msgspec.Struct, frozen=True):
    """The latency limit of an objective, in milliseconds at a percentile; infinity without one."""

    percentile: float = 95.0
    limit: float = inf

    @classmethod
    def of(cls, objective: Objective | None) -> "Goal":
        """The goal that a spec's objective sets."""
        limit = None if objective is None else objective.latency
        if limit is None:
            return cls()
        return cls(float(limit.percentile.removeprefix("P")), float(limit.value_in_milliseconds))

    @property
    def percentiles(self) -> tuple[float, ...]:
        """The usual ones, and its own."""
        return tuple(sorted({*PERCENTILES, self.percentile}))


class Space(msgspec.Struct, frozen=True):
    """The values that are tried, each ascending. A batch of 0 is none; 0 threads are the backend's choice."""

    batches: tuple[int, ...] = (0,)
    delays: tuple[int, ...] = (0,)
    instances: tuple[int, ...] = (1,)
    threads: tuple[int, ...] = (0,)
    users: tuple[int, ...] = (1, 4, 16, 64)

    @property
    def configurations(self) -> Iterator[Configuration]:
        """All of them. Without batching, there is no delay."""
        for instances in self.instances:
            for threads in self.threads:
                for batch in self.batches:
                    for delay in self.delays if batch else (0,):
                        yield Configuration(batch, delay, instances, threads)

    @property
    def size(self) -> int:
        """Measurements of the whole grid."""
        return sum(1 for _ in self.configurations) * len(self.users)


class Trial(msgspec.Struct, frozen=True):
    """What a configuration did with so many users at once. ``latency`` is in milliseconds, at the limit's
    percentile; infinity for what failed.
    """

    configuration: Configuration
    users: int
    per_second: float
    latency: float
    failed: float = 0.0
    """The share of requests that failed."""

    def within(self, limit: float) -> bool:
        """Whether it is fast enough, and reliable."""
        return self.latency <= limit and self.failed <= _MOST_FAILED


Measure = Callable[[Configuration, int], Trial]


def search(space: Space, measure: Measure, limit: float = inf) -> list[Trial]:
    """Everything that was measured to find the best; :func:`best_of` says which that is."""
    found = _Search(space, measure, limit)
    with suppress(_Enough):
        found.run()
    return list(found.trials.values())


def best_of(trials: Sequence[Trial], limit: float = inf) -> Trial | None:
    """The one with the highest rate within the limit; of those that are as good, the one that needs least."""
    good = [it for it in trials if it.within(limit)]
    if not good:
        return None
    most = max(it.per_second for it in good)
    return min((it for it in good if it.per_second >= _LEAST_SHARE * most), key=_needs)


def _needs(trial: Trial) -> tuple[int, int, float, Configuration]:
    made = trial.configuration
    return made.instances, trial.users, trial.latency, made


Move = Mapping[str, int]
"""A step in each of some settings, up or down."""
_MOVES: tuple[Move, ...] = (
    {"threads": -1},
    {"threads": 1},
    {"batch": -1},
    {"batch": 1},
    {"instances": -1},
    {"instances": 1},
    {"instances": -1, "threads": 1},
    {"instances": 1, "threads": -1},
    {"batch": 1, "instances": -1},
    {"batch": -1, "instances": 1},
    {"delay": 1},
    {"delay": -1},
)
_CLIMBED, _PROMISING = 3, 0.5
_PARTS = (1, 2, 4)
_SHARE, _AT_LEAST = 0.25, 12
"""How much of the grid may be measured."""


class _Enough(Exception):  # noqa: N818 - the end of a search, no error
    pass


class _Search:
    def __init__(self, space: Space, measure: Measure, limit: float) -> None:
        self._space, self._measure, self._limit = space, measure, limit
        self.trials: dict[tuple[Configuration, int], Trial] = {}
        self._rates: dict[Configuration, float] = {}

    def run(self) -> None:
        for corner in self._corners():
            self._rate(corner)
        self._fill()
        fastest = sorted(self._rates, key=self._rate, reverse=True)
        for start in fastest[:_CLIMBED]:
            if self._rate(start) >= _PROMISING * max(self._rates.values()):
                self._climb(start)
        self._fill()
        self._fewer_users()

    def _fill(self) -> None:
        """Batches of the best that wait until users fill them: all users at once, or a part while others are
        computed. More users than the best has fill larger ones, which may even be faster.
        """
        best = best_of(list(self.trials.values()), self._limit)
        if best is None:
            return
        made, place = best.configuration, self._space.users.index(best.users)
        for users in self._space.users[place : place + 2]:
            for parts in _PARTS:
                share = users // made.instances // parts
                batch = max((it for it in self._space.batches if it <= share), default=0)
                if batch:
                    waiting = replace(made, batch=batch, delay=self._space.delays[-1])
                    self._note(self._trial(waiting, users))

    def _corners(self) -> Iterator[Configuration]:
        """Without and with each of the two. Several instances share the processors from the beginning."""
        space = self._space
        base = Configuration(space.batches[0], 0, space.instances[0], space.threads[0])
        for batch in dict.fromkeys((space.batches[0], space.batches[-1])):
            yield replace(base, batch=batch)
            if len(space.instances) > 1:
                yield replace(base, batch=batch, instances=space.instances[-1], threads=space.threads[:2][-1])

    def _climb(self, best: Configuration) -> None:
        """Changes one setting, or two that make up for each other, while the rate gets better."""
        before = None
        while before != best:
            before = best
            for move in _MOVES:
                best = self._along(best, move)

    def _along(self, best: Configuration, move: Move) -> Configuration:
        """Repeats a move while it helps."""
        while (tried := self._moved(best, move)) is not None:
            if self._rate(tried) <= self._rate(best) * _BETTER:
                break
            best = tried
        return best

    def _moved(self, at: Configuration, move: Move) -> Configuration | None:
        """One step further in each setting of a move; None at the end of what is tried."""
        for setting, step in move.items():
            values = self._values(at, setting)
            place = values.index(getattr(at, setting)) + step
            if not 0 <= place < len(values):
                return None
            at = replace(at, **{setting: values[place]})
        return at if at.batch else replace(at, delay=0)

    def _values(self, at: Configuration, setting: str) -> tuple[int, ...]:
        space = self._space
        if setting == "delay":
            return space.delays if at.batch else (0,)
        # Ascending: the backend's own choice is all processors.
        threads = (*space.threads[1:], space.threads[0])
        return {"threads": threads, "batch": space.batches, "instances": space.instances}[setting]

    def _rate(self, configuration: Configuration) -> float:
        """The highest rate of a configuration within the limit; 0 if it has none."""
        if configuration not in self._rates:
            self._rates[configuration] = 0.0
            for trial in self._by_users(configuration):
                self._note(trial)
        return self._rates[configuration]

    def _note(self, trial: Trial) -> None:
        rate = trial.per_second if trial.within(self._limit) else 0.0
        self._rates[trial.configuration] = max(rate, self._rates.get(trial.configuration, 0.0))

    def _by_users(self, configuration: Configuration) -> Iterator[Trial]:
        """Trials of a configuration with as many users as the limit may allow."""
        users = self._space.users
        place, tried = len(users) - 1 if self._limit == inf else self._likely(), set[int]()
        while place not in tried:
            tried.add(place)
            trial = self._trial(configuration, users[place])
            yield trial
            if self._limit < inf:
                place = _place(users, place, trial, self._limit)

    def _likely(self) -> int:
        """Where to begin: with as many users as the best so far."""
        best = best_of(list(self.trials.values()), self._limit)
        return self._space.users.index(best.users) if best is not None else len(self._space.users) // 2

    def _fewer_users(self) -> None:
        """Fewer users may get as much from the best configuration, and faster answers."""
        best = best_of(list(self.trials.values()), self._limit)
        place = 0 if best is None else self._space.users.index(best.users)
        while best is not None and place > 0:
            place -= 1
            fewer = self._trial(best.configuration, self._space.users[place])
            if fewer.per_second < _LEAST_SHARE * best.per_second:
                return

    def _trial(self, configuration: Configuration, users: int) -> Trial:
        key = (configuration, users)
        if key not in self.trials:
            if len(self.trials) >= max(_AT_LEAST, int(_SHARE * self._space.size)):
                raise _Enough
            self.trials[key] = self._measure(configuration, users)
        return self.trials[key]


def _place(users: Sequence[int], place: int, trial: Trial, limit: float) -> int:
    """The place of the most users that the limit allows, if the latency grows with the users."""
    if trial.latency == inf:
        return max(0, place - 1)
    allowed = trial.users * limit / trial.latency
    found = max((at for at, it in enumerate(users) if it <= allowed), default=0)
    if not trial.within(limit):
        return min(found, max(0, place - 1))
    # With more users than that, those that it has get larger batches first, and wait only then.
    made = trial.configuration
    room = trial.users < 2 * max(1, made.batch) * made.instances
    return max(found, min(place + 1, len(users) - 1) if room else place)


# ---------------------------------------------------------------- what is tried, and what was found

BATCHING, INSTANCES = "dynamic_batching", "instance_group"
TRIED = (BATCHING, INSTANCES)
"""What can be tried, by the key of the model's configuration."""
USERS = (1, 4, 16, 64)
"""Users at once, unless a command names others."""
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


class BestOfKind(msgspec.Struct, frozen=True):
    """The best that was measured of one kind; if nothing of it is within the limit, the fastest to answer."""

    name: str
    best: Trial
    within: bool


def rows(trials: Sequence[Trial], limit: float = inf) -> list[BestOfKind]:
    """The founding comparison: the best of each kind that was measured."""
    compared: list[BestOfKind] = []
    for kind in KINDS:
        measured = [it for it in trials if kind_of(it.configuration) == kind]
        if measured:
            best = best_of(measured, limit)
            fastest = min(measured, key=lambda it: it.latency)
            compared.append(BestOfKind(kind, fastest if best is None else best, best is not None))
    return compared


KINDS = ("base", "batching", "instances", "both")
"""What people compare: as little as possible, dynamic batching, several instances or threads, and both."""


def kind_of(made: Configuration) -> str:
    """Which of :data:`KINDS` a configuration is."""
    return KINDS[(made.batch > 0) + 2 * (made.instances > 1 or made.threads > 0)]

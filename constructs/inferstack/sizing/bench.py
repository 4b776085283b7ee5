"""Runs of load on a local server, one after the other, in one configuration or another."""

import asyncio
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.catalog import instances
from inferstack.problems.words import counted
from inferstack.sizing.closed_loop import LoadRun, Pace, closed_loop, rounded
from inferstack.sizing.measurement import Measurement, too_many_failed
from inferstack.sizing.search import Trial
from inferstack.triton.measuring.configurations import Configuration, configured
from inferstack.triton.measuring.sending import Request, users_of
from inferstack.triton.measuring.serving import CannotLoad, Serving
from inferstack.triton.measuring.statistics import Counted
from inferstack.triton.rehearsal.container import PORT
from inferstack.triton.rehearsal.layout import LocalConfig
from inferstack.triton.rehearsal.outcome import RehearsalRefused


class Point(msgspec.Struct, frozen=True):
    """One run, of which configuration, and what Triton counted meanwhile, by model."""

    name: str
    run: LoadRun
    counted: Mapping[str, Counted] = msgspec.field(default_factory=dict)
    configuration: Configuration | None = None
    trouble: str | None = None
    """Why there was no run."""
    note: str | None = None
    """Why the run may not mean what it seems to."""

    def trial(self, percentile: float) -> Trial:
        """What a search needs of it."""
        run = self.run
        made = self.configuration or Configuration()
        return Trial(made, run.users, run.per_second, run.latency(percentile), run.failed)

    def measurement(self, instance_type: str, instances: int = 1) -> Measurement:
        """What ``size`` needs of it: the share of one of the instances that answered together."""
        run = self.run
        return Measurement(
            configuration=self.name,
            instance_type=instance_type,
            requests_per_minute=rounded(run.per_second * 60 / instances),
            latencies={Decimal(f"{at:g}"): rounded(value) for at, value in run.latencies.items()},
            users=math.ceil(run.users / instances),
            ended_badly=tuple(too_many_failed(sum(run.errors.values()), run.sent)),
        )


class Bench:
    """A server under load. It is loaded again only for another configuration."""

    def __init__(self, served: Serving, request: Request, pace: Pace) -> None:
        self._served, self._request, self._pace = served, request, pace
        self._loaded: Configuration | None = None

    def try_once(self) -> None:
        """Sends one request.

        Raises:
            RehearsalRefused: when it fails, so that a load would show nothing.
        """
        failure = asyncio.run(self._once())
        if failure is not None:
            raise RehearsalRefused(f"`{self._served.answering}` does not answer: {failure}; try `rehearse`")

    def point(self, name: str, users: int, configuration: Configuration | None = None) -> Point:
        """A run with so many users, in the configuration that is loaded."""
        run, counted = asyncio.run(self._run(users))
        return Point(name, run, counted, configuration)

    def configured(self, model: str, wanted: Configuration, users: int) -> Point:
        """A run with a model in a configuration, which is loaded before."""
        try:
            self._configure(model, wanted)
        except CannotLoad as refused:
            nothing = LoadRun(users=users, seconds=0.0, answers=0, latencies={})
            return Point(wanted.name, nothing, {}, wanted, f"Triton does not load it: {refused}")
        return self.point(wanted.name, users, wanted)

    def _configure(self, model: str, wanted: Configuration) -> None:
        if wanted != self._loaded:
            self._loaded = None
            backend = self._served.model(model).backend
            self._served.configure({model: configured(self._served.config(model), backend, wanted)})
            self._loaded = wanted

    async def _once(self) -> str | None:
        host = self._served.host
        async with users_of(host.confinement, PORT, self._request, host.seconds) as send:
            return await send()

    async def _run(self, users: int) -> tuple[LoadRun, Mapping[str, Counted]]:
        before: dict[str, Counted] = {}
        host = self._served.host
        async with users_of(host.confinement, PORT, self._request, host.seconds) as send:
            run = await closed_loop(
                send, users, self._pace, warmed=lambda: before.update(self._served.statistics())
            )
        after = self._served.statistics()
        return run, {
            name: one
            for name, it in after.items()
            if (one := it.since(before.get(name, Counted()))).requests > 0
        }


# ---------------------------------------------------------------- what is doubtful about runs


def doubts_about(points: Sequence[Point]) -> Iterator[str]:
    """What is doubtful about runs; what many have in common is said once."""
    for point in points:
        who = f"{point.name}, {counted(point.run.users, 'user')}"
        for error, count in list(point.run.errors.items())[:1]:
            failed = f"{sum(point.run.errors.values())} of {point.run.sent} requests failed"
            yield f"{who}: {failed}, {count} of them with {error}"
        if point.note is not None:
            yield f"{who}: {point.note}"
    for name, why in {it.name: it.trouble for it in points if it.trouble is not None}.items():
        yield f"{name}: {why}"
    ran = [point.run for point in points if point.trouble is None]
    rough, busy = [it for it in ran if not it.steady], [it for it in ran if it.busy]
    if rough:
        which = _which(rough, ran)
        yield f"{which} not become steady, so the numbers are rough; --longest S gives more time"
    if busy:
        yield f"{_which(busy, ran)} used a whole processor for the users, so the server might do more"


def _which(some: Sequence[LoadRun], runs: Sequence[LoadRun]) -> str:
    return "the run has" if len(runs) == 1 else f"{len(some)} of {len(runs)} runs have"


# ---------------------------------------------------------------- what a run says about an instance

_ON_CPU = "its instances run on the CPU"


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def only_ratios(
    instance_types: Iterable[str], models: Iterable[tuple[str, LocalConfig]], here: int
) -> Iterator[str]:
    """Why numbers of this machine, with ``here`` processors, are none of the instances; nothing if they are
    close. ``models`` are those that were measured, by name.
    """
    types = list(dict.fromkeys(instance_types))
    if len(types) != 1:
        yield "the spec does not name exactly one instance type for it"
    for name in types:
        yield from _differs(name, here)
    for name, local in models:
        if local.run_by is not None:
            yield f"`{name}` is run by {local.run_by} instead of Triton's backend, which is faster"
        if _ON_CPU in local.changes:
            yield f"`{name}` asks for a GPU, but ran on the CPU"


def _differs(name: str, here: int) -> Iterator[str]:
    known = instances.find(name)
    if known is None:
        yield f"nothing is known about {name}"
    elif known.accelerator_devices:
        yield f"{name} has accelerators, but this machine used its CPU"
    elif known.vcpus != here:
        yield f"{name} has {known.vcpus} processors, but this machine {here}"

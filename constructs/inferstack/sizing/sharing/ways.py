"""What models on one shared fleet cost, compared with endpoints of their own.

    policies + traffic -> copies, minute by minute -> instances -> instance hours

Three ways to host the same models: on one fleet; each on an endpoint of its own that scales down to one
instance; each on one of the fixed size that its busiest minute needs.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec

from inferstack.endpoint.packing import Room, Units, copies_on, packed_units
from inferstack.endpoint.placement import HostFleet, Packing, Placed, Tenant, placed
from inferstack.sizing.sharing.scaling import Copies, CopyScaling, needed, simulated

MINUTES_AN_HOUR = 60
_MOST = 5_000
"""Copies at once, or instances, that can be packed minute by minute in a bearable time."""


class TooManyError(ValueError):
    """Says of what there is more than can be simulated."""


class ScaledModel(msgspec.Struct, frozen=True):
    """A model that shares a fleet: what a copy needs, and how copies scale."""

    component: Tenant
    scaling: CopyScaling

    @property
    def name(self) -> str:
        """The name of its component."""
        return self.component.name


class Span(msgspec.Struct, frozen=True):
    """The most instances, the first minute that has them, and how many minutes do."""

    instances: int
    first: int
    minutes: int

    @classmethod
    def of(cls, counts: Sequence[int]) -> "Span":
        """The span of a fleet whose instances are counted minute by minute."""
        most = max(counts)
        return cls(most, counts.index(most), counts.count(most))


class Ways(msgspec.Struct, frozen=True):
    """Instance minutes of the three ways."""

    shared: int
    autoscaled: int
    fixed: int

    def saved(self, other: int) -> Decimal:
        """What the shared fleet saves of another way, in percent; less than 0 if it takes more."""
        return Decimal(0) if not other else Decimal(100) * (other - self.shared) / other


class Service(msgspec.Struct, frozen=True):
    """What the requests to one model met: numbers of minutes."""

    asked: int
    without_copy: int
    """With requests, but no copy that answers."""
    over_target: int
    """With more requests for each copy than the target."""


class ModelSeries(msgspec.Struct, frozen=True):
    """A model minute by minute."""

    requests: Sequence[Decimal]
    copies: Copies
    needed: Sequence[int]
    """Copies as if they followed demand at once."""


class Series(msgspec.Struct, frozen=True):
    """The shared fleet minute by minute."""

    instances: Sequence[int]
    without_room: Sequence[int]
    """Copies that found no room."""
    models: Mapping[str, ModelSeries]


class Sharing(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison, with the delays that policies have, and as if copies followed demand at once."""

    delayed: Ways
    at_once: Ways
    peak: Span
    """The most instances, whether or not the spec allows as many."""
    peak_at_once: Span
    handover: Span
    """The most instances that hold both the copies that are still there and those that requests need."""
    short_of_room: int
    """Minutes in which copies found no room, since the fleet was at its largest."""
    services: Mapping[str, Service]
    series: Series


class OnFleet(NamedTuple):
    """The copies of each model minute by minute, and the instances that hold them."""

    copies: Mapping[str, Copies]
    placed: Placed


def on_fleet(
    requests: Mapping[str, Sequence[Decimal]],
    models: Sequence[ScaledModel],
    fleet: HostFleet,
    packing: Packing | None = None,
    *,
    startup: int = 0,
) -> OnFleet:
    """Simulates the models on one fleet.

    Raises:
        TooManyError: with thousands of copies or instances.
    """
    copies = {it.name: simulated(requests[it.name], it.scaling, startup=startup) for it in models}
    held = {name: it.held for name, it in copies.items()}
    check_counts(held, fleet)
    packing = _packing_with_memory() if packing is None else packing
    return OnFleet(copies, placed(held, [it.component for it in models], fleet, packing))


def compared(
    requests: Mapping[str, Sequence[Decimal]],
    models: Sequence[ScaledModel],
    fleet: HostFleet,
    *,
    startup: int = 0,
) -> Sharing:
    """Simulates the models on one fleet and on endpoints of their own.

    ``startup`` is how many minutes a copy takes to start.

    Raises:
        TooManyError: with thousands of copies or instances.
    """
    packing = _packing_with_memory()
    wanted = {it.name: needed(requests[it.name], it.scaling) for it in models}
    check_counts(wanted, fleet)
    copies, shared = on_fleet(requests, models, fleet, packing, startup=startup)
    held = {name: it.held for name, it in copies.items()}
    components, unlimited = [it.component for it in models], msgspec.structs.replace(fleet, high=None)
    at_once = placed(wanted, components, unlimited, packing)
    short = sum(it > 0 for it in shared.without_room)
    peak = placed(held, components, unlimited, packing) if short else shared
    alone = _alone(requests, models, fleet.room, startup, held)
    return Sharing(
        delayed=Ways(sum(shared.instances), alone.delayed, alone.fixed),
        at_once=Ways(sum(at_once.instances), alone.at_once, alone.fixed),
        peak=Span.of(peak.instances),
        peak_at_once=Span.of(at_once.instances),
        handover=Span.of(_both(held, wanted, packing, models, fleet)),
        short_of_room=short,
        services={it.name: service(requests[it.name], copies[it.name], it.scaling.target) for it in models},
        series=Series(
            shared.instances,
            shared.without_room,
            {name: ModelSeries(requests[name], it, wanted[name]) for name, it in copies.items()},
        ),
    )


def check_counts(copies: Mapping[str, Sequence[int]], fleet: HostFleet) -> None:
    """Raises a :class:`TooManyError` for thousands of copies at a time, or instances."""
    most = max(map(sum, zip(*copies.values(), strict=True)))
    if most > _MOST:
        raise TooManyError(f"{most:,} copies at once are more than can be simulated, {_MOST:,}")
    if fleet.low > _MOST:
        raise TooManyError(f"{fleet.low:,} instances are more than can be simulated, {_MOST:,}")


def _packing_with_memory() -> Packing:
    """The same copies occur again and again."""
    known: dict[tuple[tuple[str, int], ...], Sequence[Sequence[str]]] = {}

    def packing(copies: Mapping[str, int], units: Units) -> Sequence[Sequence[str]]:
        counts = tuple(sorted((name, count) for name, count in copies.items() if count))
        if counts not in known:
            known[counts] = packed_units(dict(counts), units)
        return known[counts]

    return packing


def _both(
    held: Mapping[str, Sequence[int]],
    wanted: Mapping[str, Sequence[int]],
    packing: Packing,
    models: Sequence[ScaledModel],
    fleet: HostFleet,
) -> list[int]:
    """Instances for the copies that are there together with those that requests need, minute by minute."""
    units = Units.of({it.name: it.component.needs for it in models}, fleet.room)
    counts = [
        [max(have, want) for have, want in zip(held[it.name], wanted[it.name], strict=True)] for it in models
    ]
    names = [it.name for it in models]
    return [
        max(len(packing(dict(zip(names, it, strict=True)), units)), fleet.low)
        for it in zip(*counts, strict=True)
    ]


class _Alone(NamedTuple):
    """Instance minutes of endpoints for one model each: with delays, at once, and of a fixed size."""

    delayed: int
    at_once: int
    fixed: int


def _alone(
    requests: Mapping[str, Sequence[Decimal]],
    models: Sequence[ScaledModel],
    room: Room,
    startup: int,
    held: Mapping[str, Sequence[int]],
) -> _Alone:
    """Each endpoint has at least one copy on at least one instance.

    ``held`` is what copies do on the shared fleet: the same, where they have that minimum there.
    """
    minutes = [0, 0, 0]
    for model in models:
        asked, scaling = requests[model.name], model.scaling.at_least(1)
        wanted = needed(asked, scaling)
        is_same = scaling == model.scaling
        delayed = held[model.name] if is_same else simulated(asked, scaling, startup=startup).held
        per_instance = max(1, copies_on(room, model.component.needs))
        for at, copies in enumerate((delayed, wanted, [max(wanted)] * len(wanted))):
            minutes[at] += sum(-(-count // per_instance) for count in copies)
    return _Alone(*minutes)


def service(requests: Sequence[Decimal], copies: Copies, target: Decimal | None) -> Service:
    """What requests met, in minutes."""
    pairs = list(zip(requests, copies.serving, strict=True))
    return Service(
        asked=sum(asked > 0 for asked, _ in pairs),
        without_copy=sum(asked > 0 and not serving for asked, serving in pairs),
        over_target=0
        if target is None
        else sum(serving > 0 and asked > target * serving for asked, serving in pairs),
    )

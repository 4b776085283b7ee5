"""Copies on the instances of a fleet, minute by minute: placed where there is room, released, moved together.

How copies are placed when some are added or removed, and how instances are taken away:
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InferenceComponentSchedulingConfig.html
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariantManagedInstanceScalingScaleInPolicy.html

What AWS does not document, and is assumed: the largest copies are placed first; a copy is removed from the
instance that is emptied soonest, with `SPREAD` from the one with most copies; instances are in turn in each
of the Availability Zones.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Literal

import msgspec

from inferstack.endpoint.packing import Room, Share, Units, fewest_units, packed_units

Strategy = Literal["BINPACK", "SPREAD"]
Packing = Callable[[Mapping[str, int], Units], Sequence[Sequence[str]]]
"""Puts copies on as few instances as it finds; the result names the copies on each."""

ZONES = 3
"""Availability Zones over which instances are spread, where copies are to be balanced over them."""


class Tenant(msgspec.Struct, frozen=True):
    """What a copy needs, and where it is placed.

    ``imbalance`` is by how many copies zones may differ; None if they need not be balanced.
    """

    name: str
    needs: Room
    strategy: Strategy = "BINPACK"
    imbalance: int | None = None


class HostFleet(msgspec.Struct, frozen=True, kw_only=True):
    """The instances that copies share, and how their number changes.

    With ``consolidates`` copies are moved onto fewer instances, at most ``step`` of which are released at a
    time, ``wait`` minutes after the last change at the earliest.
    """

    room: Room
    low: int = 0
    high: int | None = None
    consolidates: bool = True
    step: int | None = None
    wait: int = 0


class Settled(msgspec.Struct, frozen=True):
    """Where copies are that were placed on an empty fleet: the names of those on each instance."""

    instances: tuple[tuple[str, ...], ...]
    without_room: Mapping[str, int]
    """Copies that found no room, by name."""


def imbalance(name: str, instances: Sequence[Sequence[str]]) -> int:
    """By how many copies the zones differ that have the most and the fewest, of the names on each instance;
    with a single instance, all are in one zone.
    """
    counts = [it.count(name) for it in instances]
    zones = ZONES if len(counts) == 1 else min(ZONES, len(counts))
    in_each = [sum(counts[at::ZONES]) for at in range(zones)]
    return max(in_each, default=0) - min(in_each, default=0)


def settled(copies: Mapping[str, int], components: Sequence[Tenant], fleet: HostFleet) -> Settled:
    """Places copies on a fleet that has as few instances as it may, and grows if there is no room.

    Raises:
        NeverFitsError: when a copy needs more than an instance has.
    """
    state = _State(components, fleet, packed_units)
    state.place(copies)
    return Settled(tuple(tuple(it.copies) for it in state.instances), dict(state.waiting))


class Placed(msgspec.Struct, frozen=True):
    """A fleet minute by minute."""

    instances: tuple[int, ...]
    without_room: tuple[int, ...]
    """Copies that found no room."""


def placed(
    held: Mapping[str, Sequence[int]],
    components: Sequence[Tenant],
    fleet: HostFleet,
    packing: Packing = packed_units,
) -> Placed:
    """How many instances there are in each minute, and how many copies have no room on them."""
    state = _State(components, fleet, packing)
    instances, without = [], []
    for minute, counts in enumerate(zip(*(held[it.name] for it in components), strict=True)):
        state.update(minute, counts)
        instances.append(len(state.instances))
        without.append(state.waiting.total())
    return Placed(tuple(instances), tuple(without))


class _Instance:
    """An instance with its copies, and how many units of each amount are left."""

    def __init__(self, units: Units, copies: Sequence[str] = ()) -> None:
        self.left = list(units.whole)
        self.copies: list[str] = []
        for name, count in Counter(copies).items():
            self.add(name, units.needs[name], count)

    def add(self, name: str, needs: Share, count: int) -> None:
        """Places copies."""
        self.copies += [name] * count
        self.left = [has - count * taken for has, taken in zip(self.left, needs, strict=True)]

    def remove(self, name: str, needs: Share, count: int) -> None:
        """Removes copies."""
        for _ in range(count):
            self.copies.remove(name)
        self.left = [has + count * taken for has, taken in zip(self.left, needs, strict=True)]


class _State:
    """The instances with their copies, from one minute to the next."""

    def __init__(self, components: Sequence[Tenant], fleet: HostFleet, packing: Packing) -> None:
        self._fleet, self._packing = fleet, packing
        self._units = Units.of({it.name: it.needs for it in components}, fleet.room)
        by_size = sorted(components, key=lambda it: sum(self._units.needs[it.name]), reverse=True)
        self._components = by_size
        self._given_order = [it.name for it in components]
        self.instances = [_Instance(self._units) for _ in range(fleet.low)]
        self.waiting = Counter[str]()
        self._there = Counter[str]()
        self._counts: tuple[int, ...] | None = None
        self._changed = 0
        self._is_settled = False
        self._kept_empty = 0

    def update(self, minute: int, counts: tuple[int, ...]) -> None:
        """Removes and adds copies, then releases instances that are not needed."""
        if counts != self._counts:
            self._counts, self._changed, self._is_settled = counts, minute, False
            self.place(dict(zip(self._given_order, counts, strict=True)))
        may_consolidate = self._fleet.consolidates and not self._is_settled
        if may_consolidate and minute - self._changed >= self._fleet.wait:
            self._consolidate(minute)
        self._release()

    def place(self, wanted: Mapping[str, int]) -> None:
        """Removes and adds copies until there are so many of each."""
        for component in self._components:
            while (surplus := self._there[component.name] - wanted[component.name]) > 0:
                self._remove(component, surplus)
        self.waiting.clear()
        for component in self._components:
            while (missing := wanted[component.name] - self._there[component.name]) > 0:
                if not self._add(component, missing):
                    self.waiting[component.name] = missing
                    break

    def _remove(self, component: Tenant, most: int) -> None:
        """Removes copies from one instance; another has its turn when none is left on it, or after each."""
        name, count = component.name, 1
        having = [it for it in self.instances if name in it.copies]
        if component.strategy == "SPREAD":
            chosen = max(having, key=lambda it: it.copies.count(name))
        else:
            chosen = min(having, key=lambda it: len(it.copies))
            count = min(most, chosen.copies.count(name))
        chosen.remove(name, self._units.needs[name], count)
        self._there[name] -= count

    def _add(self, component: Tenant, most: int) -> bool:
        """Adds copies to one instance: as many as it holds, if that is the preference for each of them. There
        may be no room for any.
        """
        needs = one, two, three = self._units.needs[component.name]
        rooms = enumerate(it.left for it in self.instances)
        fitting = [at for at, (a, b, c) in rooms if a >= one and b >= two and c >= three]
        if fitting:
            full = self._full_zones(component)
            chosen = self.instances[min(fitting, key=lambda at: self._preference(component, at, full))]
        elif self._fleet.high is None or len(self.instances) < self._fleet.high:
            chosen = _Instance(self._units)
            self.instances.append(chosen)
        else:
            return False
        count = 1
        if component.strategy == "BINPACK" and component.imbalance is None:
            count = min([most, *(has // it for has, it in zip(chosen.left, needs, strict=True) if it > 0)])
        chosen.add(component.name, needs, count)
        self._there[component.name] += count
        return True

    def _preference(self, component: Tenant, at: int, full: Set[int]) -> tuple[bool, int, int]:
        """Zones within the imbalance first, then as the strategy says."""
        instance = self.instances[at]
        left, out_of_balance = sum(instance.left), at % ZONES in full
        if component.strategy == "SPREAD":
            return out_of_balance, instance.copies.count(component.name), -left
        return out_of_balance, 0, left

    def _full_zones(self, component: Tenant) -> Set[int]:
        """The zones in which a copy more goes beyond the imbalance."""
        if component.imbalance is None:
            return frozenset()
        zones = [0] * min(ZONES, len(self.instances))
        for number, it in enumerate(self.instances):
            zones[number % ZONES] += it.copies.count(component.name)
        fewest, most = min(zones), max(component.imbalance, 1)
        return {at for at, count in enumerate(zones) if count + 1 - fewest > most}

    def _consolidate(self, minute: int) -> None:
        """Moves copies onto fewer instances, if that takes some away."""
        counts = +self._there
        if len(self.instances) <= max(fewest_units(counts, self._units), self._fleet.low):
            self._is_settled = True
            return
        best = self._packing(counts, self._units)
        surplus = len(self.instances) - max(len(best), self._fleet.low)
        if surplus <= 0:
            self._is_settled = True
            return
        most = surplus if self._fleet.step is None else min(surplus, self._fleet.step)
        self._kept_empty = len(self.instances) - most - len(best)
        self.instances = [_Instance(self._units, names) for names in (*best, *[()] * self._kept_empty)]
        self._changed = minute

    def _release(self) -> None:
        """Releases empty instances, except those that the fleet keeps at least."""
        used = [it for it in self.instances if it.copies]
        if len(used) == len(self.instances) and len(used) >= self._fleet.low:
            self._kept_empty = 0
            return
        empty = min(len(self.instances) - len(used), self._kept_empty)
        self._kept_empty = max(empty, self._fleet.low - len(used), 0)
        self.instances = used + [_Instance(self._units) for _ in range(self._kept_empty)]

"""Where the copies of inference components fit: at the fewest, at the start, and at the most.

One placement decides: rules on specs, reviews and `inferstack share` ask it. Copies are placed on the
instances that the spec allows, by the placement strategy and the balance over zones of each component. What a
host keeps for itself is not known, so a copy that only just fits may not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from inferstack.catalog import instances
from inferstack.endpoint import placement
from inferstack.endpoint.components import Component, Layout, Needs, Placement, room_of
from inferstack.endpoint.counts import LEVELS, Counts, Level
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.packing import Instance, Room, fewest_possible, instance_with, packed
from inferstack.endpoint.placement import HostFleet, Tenant

MOST_COPIES = 500
"""Of one fleet: with more, where each is does not help anybody, and trying it takes long."""


def with_copies(fleet: Fleet, every: Sequence[Component]) -> Fleet:
    """The fleet with the copies of its components: where they are, and the instances that they force.

    All instances count as of the preferred type. SageMaker adds instances for copies only where managed
    instance scaling is enabled, and no more than that allows.
    """
    here = [it for it in every if it.variant == fleet.name and it.base is None]
    host = instances.find(fleet.instance_types[0]) if fleet.instance_types else None
    if not here or fleet.by_scaling is None:
        return fleet
    if host is None:
        return replace(fleet, instances=_forced(fleet, here, {}, None))
    room = room_of(host)
    tenants = {it.name: _tenant(it, it.needs) for it in here if it.needs is not None}
    never = tuple(name for name, tenant in tenants.items() if not room.holds(tenant.needs))
    fitting = {it.name: it.copies for it in here if it.name in tenants and it.name not in never}
    placements = tuple(_placements(fleet, fitting, tenants, room))
    return replace(
        fleet,
        placements=placements,
        instances=_forced(fleet, here, {it.level: it for it in placements}, room),
        # What is too large for the preferred type of several may be for another.
        never_fits=never if len(fleet.instance_types) == 1 else (),
    )


def _tenant(component: Component, needs: Needs) -> Tenant:
    strategy: placement.Strategy = "SPREAD" if component.placement_strategy == "SPREAD" else "BINPACK"
    return Tenant(component.name, needs.room, strategy, component.max_imbalance)


# ---------------------------------------------------------------- how many instances copies force


def _forced(
    fleet: Fleet, here: Sequence[Component], placements: Mapping[Level, Placement], room: Room | None
) -> Counts | None:
    """The counts of a fleet whose instances SageMaker adds for the copies on it."""
    allowed = fleet.by_scaling
    if allowed is None or not fleet.grows_with_copies:
        return allowed
    return Counts(*(_forced_at(level, allowed, here, placements, room) for level in LEVELS))


def _forced_at(
    level: Level,
    allowed: Counts,
    here: Sequence[Component],
    placements: Mapping[Level, Placement],
    room: Room | None,
) -> int | None:
    there, most = allowed.at(level), allowed.max
    if there is None or there == most:
        return there
    if level in placements:
        return placements[level].instances
    wanted = {it.name: it.copies.at(level) for it in here}
    if any(count is None for count in wanted.values()):
        return None
    copies = {name: count for name, count in wanted.items() if count}
    # Where copies cannot be placed, they take as many instances as no packing is below, and one at least.
    rooms = {it.name: it.needs.room for it in here if it.needs is not None and it.name in copies}
    rooms = {name: needs for name, needs in rooms.items() if room is not None and room.holds(needs)}
    fewest = fewest_possible({name: copies[name] for name in rooms}, rooms, room) if room and rooms else 0
    needed = max(there, fewest, min(1, len(copies)))
    return needed if most is None else min(needed, max(most, there))


# ---------------------------------------------------------------- where copies are


def _placements(
    fleet: Fleet, fitting: Mapping[str, Counts], tenants: Mapping[str, Tenant], room: Room
) -> Iterator[Placement]:
    """The placement at each level at which copies and instances are known."""
    for level in LEVELS:
        wanted = {name: copies.at(level) for name, copies in fitting.items()}
        # A rule reports a number below zero.
        known = {name: max(count, 0) for name, count in wanted.items() if count is not None}
        shared = _shared(fleet, level, room)
        if shared is not None and known and len(known) == len(wanted) and sum(known.values()) <= MOST_COPIES:
            yield _placement(level, shared, known, [tenants[name] for name in fitting])


def _shared(fleet: Fleet, level: Level, room: Room) -> HostFleet | None:
    """The instances that exist at a level, with those that SageMaker may add for the copies."""
    counts = Counts.fixed(0) if fleet.by_scaling is None else fleet.by_scaling
    there = counts.at(level)
    if there is None or (fleet.grows_with_copies and counts.max is None):
        return None
    most = max(there, counts.max or 0) if fleet.grows_with_copies else there
    return HostFleet(room=room, low=max(there, 0), high=max(most, 0))


def _placement(
    level: Level, host: HostFleet, copies: Mapping[str, int], tenants: Sequence[Tenant]
) -> Placement:
    """Instances with more copies first; those with nothing on them last."""
    needs = {it.name: it.needs for it in tenants}
    where = _where(host, copies, tenants)
    used = [instance_with(names, needs, host.room) for names in where if names]
    there = max(host.low, len(used) if host.high is None else min(len(used), host.high))
    empty = there - len(used)
    nothing = [Layout(empty, {}, Needs.of(host.room))] if empty > 0 else []
    beyond = Counter(name for it in used[there:] for name in it.copies)
    return Placement(
        level=level,
        instances=there,
        needed=len(used),
        layouts=(*_layouts(used), *nothing),
        without_room=dict(sorted(beyond.items())),
        unbalanced=tuple(it.name for it in tenants if _is_unbalanced(it, where)),
    )


def _where(host: HostFleet, copies: Mapping[str, int], tenants: Sequence[Tenant]) -> Sequence[Sequence[str]]:
    """The names of the copies on each instance, also on more than there may be."""
    # No more instances than copies can be used, but as many as there are zones tell of their balance.
    few = min(host.low, max(sum(copies.values()), placement.ZONES))
    settled = placement.settled(copies, tenants, replace(host, low=few))
    if not settled.without_room:
        return settled.instances
    # SageMaker may move copies onto fewer instances, so that only what fits on none of these has no room.
    return [it.copies for it in packed(copies, {it.name: it.needs for it in tenants}, host.room)]


def _is_unbalanced(tenant: Tenant, where: Sequence[Sequence[str]]) -> bool:
    """Whether zones differ by more than they should. A single copy is in one zone wherever it is."""
    return tenant.imbalance is not None and placement.imbalance(tenant.name, where) > max(tenant.imbalance, 1)


def _layouts(used: Sequence[Instance]) -> Iterator[Layout]:
    alike: dict[tuple[str, ...], list[Instance]] = {}
    for it in used:
        alike.setdefault(tuple(sorted(it.copies)), []).append(it)
    for names, those in alike.items():
        yield Layout(len(those), dict(Counter(names)), Needs.of(those[0].left))

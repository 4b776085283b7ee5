"""Where the copies of inference components fit: at the fewest, at the start, and at the most.

Placed as `inferstack pack` places them, on the instances that the spec allows, by the placement strategy and
the balance over zones of each component. What a host keeps for itself is not known, so a copy that only just
fits may not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from inferstack.catalog import instances
from inferstack.catalog.instances import InstanceType
from inferstack.endpoint import deployed, placement
from inferstack.endpoint.counts import InstanceCounts
from inferstack.endpoint.data import Component, Fleet, Layout, Level, Needs, Placement
from inferstack.endpoint.deployed import Properties, entries, mapping
from inferstack.endpoint.fleets import counts_of
from inferstack.endpoint.packing import Instance, Room, instance_with, packed
from inferstack.endpoint.stack import Stack

MOST_COPIES = 500
"""Of one fleet: with more, where each is tells nobody anything, and trying it takes long."""
_NEEDS = ("NumberOfAcceleratorDevicesRequired", "NumberOfCpuCoresRequired", "MinMemoryRequiredInMb")


def components(stack: Stack, fleets: Sequence[Fleet]) -> tuple[Component, ...]:
    """Every inference component, as it is on the preferred instance type of its variant."""
    found = deployed.components(stack.resources)
    preferred = {it.name: it.instance_types[0] for it in fleets if it.instance_types}
    return tuple(_component(stack, name, it, preferred.get(it.variant or "")) for name, it in found.items())


def _specification(component: deployed.Component, instance_type: str | None) -> Properties:
    every = (component.specification, *map(mapping, entries(component.properties.get("Specifications"))))
    return next((it for it in every if it and it.get("InstanceType", instance_type) == instance_type), {})


def _component(
    stack: Stack, name: str, component: deployed.Component, instance_type: str | None
) -> Component:
    specification = _specification(component, instance_type)
    target = deployed.scaled_components(stack.resources).get(name)
    start = stack.count(mapping(component.properties.get("RuntimeConfig")).get("CopyCount"))
    wanted = mapping(specification.get("ComputeResourceRequirements"))
    needs = [stack.number(wanted.get(key)) or 0.0 for key in _NEEDS]
    where = mapping(specification.get("SchedulingConfig"))
    balance = where.get("AvailabilityZoneBalance")
    return Component(
        name=name,
        variant=component.variant,
        base=component.base,
        copies=counts_of(stack, target, 1 if start is None else start),
        needs=Needs(*needs) if wanted else None,
        placement_strategy=deployed.text(where.get("PlacementStrategy")),
        max_imbalance=None if balance is None else stack.count(mapping(balance).get("MaxImbalance")) or 0,
        place=stack.place_of(component.logical_id, ()),
    )


def with_placements(fleet: Fleet, every: Sequence[Component]) -> Fleet:
    """The fleet with the places of the components on it, as if all instances were of its preferred type."""
    host = instances.find(fleet.instance_types[0]) if fleet.instance_types else None
    here = [it for it in every if it.variant == fleet.name and it.needs is not None]
    if host is None or fleet.instances is None or not here:
        return fleet
    room, placed = _room(host), {it.name: _placed(it, it.needs) for it in here if it.needs is not None}
    never = tuple(name for name, it in placed.items() if not room.holds(it.needs))
    fitting = {it.name: it.copies for it in here if it.name not in never}
    found = tuple(_placements(fleet, fitting, placed, room))
    # What is too large for the preferred type of several may be for another.
    return replace(fleet, placements=found, never_fits=never if len(fleet.instance_types) == 1 else ())


def _room(host: InstanceType) -> Room:
    return Room.of(host.accelerator_devices, host.vcpus, host.memory_mib)


def _placed(it: Component, needs: Needs) -> placement.Component:
    room = Room.of(needs.accelerators, needs.vcpus, needs.host_memory_mib)
    strategy: placement.Strategy = "SPREAD" if it.placement_strategy == "SPREAD" else "BINPACK"
    return placement.Component(it.name, room, strategy, it.max_imbalance)


def _placements(
    fleet: Fleet,
    fitting: Mapping[str, InstanceCounts],
    placed: Mapping[str, placement.Component],
    room: Room,
) -> Iterator[Placement]:
    level: Level
    for level in get_args(Level):
        copies = {name: int(getattr(of_name, level)) for name, of_name in fitting.items()}
        if sum(copies.values()) <= MOST_COPIES:
            yield _placement(level, _host(fleet, level, room), copies, [placed[name] for name in fitting])


def _host(fleet: Fleet, level: Level, room: Room) -> placement.Fleet:
    """The instances that are there at a level, with those that SageMaker may add for the copies."""
    counts = InstanceCounts(0, 0, 0) if fleet.instances is None else fleet.instances
    there = int(getattr(counts, level))
    most = max(there, counts.max) if fleet.grows_with_copies else there
    return placement.Fleet(room=room, low=there, high=most)


def _placement(
    level: Level, host: placement.Fleet, copies: Mapping[str, int], components: Sequence[placement.Component]
) -> Placement:
    """Instances with more copies first; those with nothing on them last."""
    needs = {it.name: it.needs for it in components}
    where = _where(host, copies, components)
    found = [instance_with(names, needs, host.room) for names in where if names]
    there = max(host.low, len(found) if host.high is None else min(len(found), host.high))
    empty = there - len(found)
    nothing = [Layout(empty, {}, _as_needs(host.room))] if empty > 0 else []
    beyond = Counter(name for it in found[there:] for name in it.copies)
    return Placement(
        level=level,
        instances=there,
        needed=len(found),
        layouts=(*_layouts(found), *nothing),
        without_room=dict(sorted(beyond.items())),
        unbalanced=tuple(it.name for it in components if _is_unbalanced(it, where)),
    )


def _where(
    host: placement.Fleet, copies: Mapping[str, int], components: Sequence[placement.Component]
) -> Sequence[Sequence[str]]:
    """The names of the copies on each instance, also on more than there may be."""
    # No more instances than copies can be used, but as many as there are zones tell of their balance.
    few = min(host.low, max(sum(copies.values()), placement.ZONES))
    found = placement.settled(copies, components, replace(host, low=few))
    if not found.without_room:
        return found.instances
    # SageMaker may move copies onto fewer instances, so that only what fits on none of these has no room.
    return [it.copies for it in packed(copies, {it.name: it.needs for it in components}, host.room)]


def _is_unbalanced(it: placement.Component, where: Sequence[Sequence[str]]) -> bool:
    """Whether zones differ by more than they should. A single copy is in one zone wherever it is."""
    return it.imbalance is not None and placement.imbalance(it.name, where) > max(it.imbalance, 1)


def _layouts(found: Sequence[Instance]) -> Iterator[Layout]:
    alike: dict[tuple[str, ...], list[Instance]] = {}
    for it in found:
        alike.setdefault(tuple(sorted(it.copies)), []).append(it)
    for names, those in alike.items():
        yield Layout(len(those), dict(Counter(names)), _as_needs(those[0].left))


def _as_needs(room: Room) -> Needs:
    return Needs(*map(float, room.amounts))

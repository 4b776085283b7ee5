"""Where the copies of inference components fit: at the fewest, at the start, and at the most.

Packed with the heuristic of :mod:`inferstack.sizing.packing`, on the instances that the spec allows. What a
host keeps for itself is not known, so a copy that only just fits may not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from inferstack.catalog import instances
from inferstack.catalog.instances import InstanceType
from inferstack.facts.scaling import InstanceCounts
from inferstack.review import deployed
from inferstack.review.deployed import Properties, mapping
from inferstack.review.page.data import Component, Fleet, Layout, Level, Needs, Placement
from inferstack.review.page.parts.fleets import counts_of
from inferstack.review.page.parts.stack import Stack
from inferstack.sizing.packing import Instance, Room, packed

MOST_COPIES = 500
"""Of one fleet: with more, where each is tells nobody anything, and trying it takes long."""
_NEEDS = ("NumberOfAcceleratorDevicesRequired", "NumberOfCpuCoresRequired", "MinMemoryRequiredInMb")


def components(stack: Stack) -> tuple[Component, ...]:
    """Every inference component."""
    found = deployed.components(stack.resources)
    scaled = deployed.scaled_components(stack.resources)
    return tuple(_component(stack, name, it, scaled.get(name)) for name, it in found.items())


def _component(
    stack: Stack, name: str, component: deployed.Component, target: Properties | None
) -> Component:
    start = stack.count(mapping(component.properties.get("RuntimeConfig")).get("CopyCount"))
    wanted = mapping(component.specification.get("ComputeResourceRequirements"))
    needs = [stack.number(wanted.get(key)) or 0.0 for key in _NEEDS]
    return Component(
        name=name,
        variant=component.variant,
        base=component.base,
        copies=counts_of(stack, target, 1 if start is None else start),
        needs=Needs(*needs) if wanted else None,
        place=stack.place_of(component.logical_id, ()),
    )


def counted(copies: InstanceCounts) -> str:
    """The number of copies with its noun."""
    return f"{copies} {'copy' if copies.max == 1 else 'copies'}"


def with_placements(fleet: Fleet, every: Sequence[Component]) -> Fleet:
    """The fleet with the places of the components on it, if its instances are of one known type."""
    host = instances.find(fleet.instance_types[0]) if len(fleet.instance_types) == 1 else None
    here = [it for it in every if it.variant == fleet.name and it.needs is not None]
    if host is None or fleet.instances is None or not here:
        return fleet
    room, needs = _room(host), {it.name: _needed(it.needs) for it in here if it.needs is not None}
    never = tuple(name for name, wanted in needs.items() if not room.holds(wanted))
    fitting = [it for it in here if it.name not in never]
    found = tuple(_placements(fleet, fitting, needs, room))
    return replace(fleet, placements=found, never_fits=never)


def _room(host: InstanceType) -> Room:
    return Room.of(host.accelerator_devices, host.vcpus, host.memory_mib)


def _needed(needs: Needs) -> Room:
    return Room.of(needs.accelerators, needs.vcpus, needs.host_memory_mib)


def _placements(
    fleet: Fleet, fitting: Sequence[Component], needs: Mapping[str, Room], room: Room
) -> Iterator[Placement]:
    level: Level
    for level in get_args(Level):
        copies = {it.name: int(getattr(it.copies, level)) for it in fitting}
        if sum(copies.values()) <= MOST_COPIES:
            found = packed(copies, needs, room)
            yield _placement(level, _there(fleet, level, len(found)), found, room)


def _there(fleet: Fleet, level: Level, needed: int) -> int:
    """How many instances there are at a level, with those that SageMaker adds for the copies."""
    if fleet.instances is None:
        return 0
    there = int(getattr(fleet.instances, level))
    return max(there, min(needed, fleet.instances.max)) if fleet.grows_with_copies else there


def _placement(level: Level, there: int, found: Sequence[Instance], room: Room) -> Placement:
    """Instances with more copies first; those with nothing on them last."""
    empty = there - len(found)
    nothing = [Layout(empty, {}, _as_needs(room))] if empty > 0 else []
    beyond = Counter(name for it in found[there:] for name in it.copies)
    return Placement(
        level=level,
        instances=there,
        needed=len(found),
        layouts=(*_layouts(found), *nothing),
        without_room=dict(sorted(beyond.items())),
    )


def _layouts(found: Sequence[Instance]) -> Iterator[Layout]:
    alike: dict[tuple[str, ...], list[Instance]] = {}
    for it in found:
        alike.setdefault(tuple(sorted(it.copies)), []).append(it)
    for names, those in alike.items():
        yield Layout(len(those), dict(Counter(names)), _as_needs(those[0].left))


def _as_needs(room: Room) -> Needs:
    return Needs(*map(float, room.amounts))

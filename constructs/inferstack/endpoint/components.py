"""Inference components: how many copies there are, what a copy needs, and where the copies are."""

import msgspec

from inferstack.catalog.instances import InstanceType
from inferstack.endpoint.counts import Counts, Level
from inferstack.endpoint.packing import Room
from inferstack.endpoint.place import Place
from inferstack.problems.words import listed


class Needs(msgspec.Struct, frozen=True):
    """What a copy reserves, or an instance has left."""

    accelerators: float
    """GPUs or Neuron devices."""
    vcpus: float
    """Virtual cores."""
    host_memory_mib: float
    """Memory of the host, not of its GPUs, in MiB."""

    def __str__(self) -> str:
        amounts = (
            (self.accelerators, accelerators_text(self.accelerators)),
            (self.vcpus, f"{self.vcpus:g} vCPUs"),
            (self.host_memory_mib, f"{self.host_memory_mib / 1024:,.4g} GiB host memory"),
        )
        return listed([text for amount, text in amounts if amount], last="and", quote="") or "nothing"

    @classmethod
    def of(cls, room: Room) -> "Needs":
        """The same amounts as plain numbers."""
        return cls(*map(float, room.amounts))

    @property
    def room(self) -> Room:
        """The same amounts as exact shares."""
        return Room.of(self.accelerators, self.vcpus, self.host_memory_mib)


def accelerators_text(count: float) -> str:
    """A number of accelerators: `1 accelerator`."""
    return "1 accelerator" if count == 1 else f"{count:g} accelerators"


def room_of(host: InstanceType) -> Room:
    """What an instance has for copies. What the host keeps for itself is not known."""
    return Room.of(host.accelerator_devices, host.vcpus, host.memory_mib)


class Layout(msgspec.Struct, frozen=True):
    """Instances with the same copies on them."""

    count: int
    """How many instances."""
    copies: dict[str, int]
    """Copies on each of them, by the component's name."""
    free: Needs
    """What each of them has left."""


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """How the copies of components fit on a fleet, by a heuristic; SageMaker may place them otherwise."""

    level: Level
    """Whether these are the fewest copies and instances, those at the start, or the most."""
    instances: int
    """Instances that exist."""
    needed: int
    """Instances that the copies take."""
    layouts: tuple[Layout, ...]
    """What is on the instances, also on those that do not exist."""
    without_room: dict[str, int]
    """Copies that have no place, by the component's name."""
    unbalanced: tuple[str, ...] = ()
    """Components whose copies are less balanced over Availability Zones than they should be."""


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """An inference component."""

    name: str
    """Name of the component."""
    variant: str | None
    """Name of the variant on whose instances it is."""
    base: str | None
    """The component that it is an adapter of."""
    copies: Counts
    """How many copies."""
    needs: Needs | None
    """What a copy reserves, on the preferred instance type of its variant; none for an adapter, or if only
    the deployment knows it.
    """
    placement_strategy: str | None = None
    """SPREAD over the instances, or BINPACK onto few of them."""
    max_imbalance: int | None = None
    """By how many copies Availability Zones may differ; none if copies need not be balanced over them."""
    place: Place
    """Where the spec has it."""

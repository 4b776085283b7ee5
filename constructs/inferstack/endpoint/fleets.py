"""Fleets: the variants of an endpoint, their instance types, and how many instances they have.

How many scaling allows is worked out here, whoever has read the variant; what copies of inference components
force beyond that, in :mod:`inferstack.endpoint.capacity`.
"""

from collections.abc import Sequence
from math import ceil
from typing import Literal

import msgspec

from inferstack.catalog import instances
from inferstack.endpoint.components import Placement
from inferstack.endpoint.cost import Cost
from inferstack.endpoint.counts import Counts, Level, least, most
from inferstack.endpoint.place import Place
from inferstack.problems.words import listed


class UpdateRoom(msgspec.Struct, frozen=True):
    """What runs beside the fleet while an update replaces it."""

    how: Literal["blue/green", "rolling", "none"]
    """Whether a whole fleet is made, or one batch after the other; nothing for serverless variants."""
    instances: int | None
    """How many instances more, at most; none if only the deployment knows it."""


class Serverless(msgspec.Struct, frozen=True):
    """Settings of a serverless variant."""

    memory_mb: int | None
    """Memory in MB."""
    max_concurrency: int | None
    """Requests at once, at most."""
    provisioned_concurrency: int | None
    """Requests at once that are paid for even if there are none."""

    @property
    def sentence(self) -> str:
        """The settings in words: `serverless, 2,048 MB, 20 requests at once, 2 of them always ready`."""
        memory, many = (
            "an unknown number of" if count is None else f"{count:,}"
            for count in (self.memory_mb, self.max_concurrency)
        )
        ready = self.provisioned_concurrency
        always = f", {ready:,} of them always ready" if ready else ""
        return f"serverless, {memory} MB, {many} requests at once{always}"


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """A variant: its instances, or its serverless settings."""

    name: str
    """Name of the variant."""
    is_shadow: bool
    """Whether it only gets copies of requests."""
    instance_types: tuple[str, ...]
    """The instance types it may use, the preferred one first."""
    hardware: str
    """What an instance of the preferred type has, in words; empty if that is not known."""
    instances: Counts | None
    """How many instances there are, with those that copies force; none for a serverless variant."""
    by_scaling: Counts | None
    """How many instances scaling alone allows; none for a serverless variant."""
    grows_with_copies: bool = False
    """Whether SageMaker itself adds instances when there are more copies."""
    serverless: Serverless | None = None
    """For a serverless variant."""
    weight: float | None = None
    """Its share of the requests, in relation to the weights of other variants."""
    cost: Cost | None = None
    """What its instances cost; none for a serverless variant."""
    update: UpdateRoom
    """What runs beside it during an update."""
    placements: tuple[Placement, ...] = ()
    """Where the copies of components fit, at each level, if all instances are of the preferred type; none
    without components, or on unknown instances.
    """
    never_fits: tuple[str, ...] = ()
    """Components of which a single copy needs more than an instance of the only type has."""
    place: Place
    """Where the spec has it."""

    def shortage(self, level: Level) -> "Shortage | None":
        """The copies without room at a level, as the picture shows them; None if all have room."""
        for placement in self.placements:
            if placement.level == level and placement.without_room:
                parts = [
                    f"{count} {'copy' if count == 1 else 'copies'} of `{name}`"
                    for name, count in placement.without_room.items()
                ]
                names = listed(parts, last="and", quote="")
                return Shortage(names, placement.needed, placement.instances)
        return None


class Shortage(msgspec.Struct, frozen=True):
    """Copies that find no room on a fleet."""

    copies: str
    """Which copies, in words: ``2 copies of `chat` ``."""
    needed: int
    """Instances that all copies take."""
    instances: int
    """Instances that there may be."""


class CapacityLimits(msgspec.Struct, frozen=True):
    """The fewest and the most instances or copies; None for a number that only the deployment knows."""

    low: int | None
    high: int | None

    @classmethod
    def over_time(cls, lows: Sequence[int | None], highs: Sequence[int | None]) -> "CapacityLimits":
        """The lowest minimum and the highest maximum of a scaling target and its scheduled actions."""
        return cls(least(lows), most(highs))


class Batch(msgspec.Struct, frozen=True):
    """The batch of a rolling update: a number of instances, or a share of them in percent."""

    size: float | None
    is_share: bool


class WrittenVariant(msgspec.Struct, frozen=True, kw_only=True):
    """A variant as it is written down, in a spec, a template or elsewhere."""

    name: str
    is_shadow: bool
    instance_types: tuple[str, ...]
    start: int | None
    """Instances at the start; None if only the deployment knows it."""
    target: CapacityLimits | None = None
    """CapacityLimits of a scaling target, if it has one."""
    managed: CapacityLimits | None = None
    """CapacityLimits of managed instance scaling, if that is enabled."""
    serverless: Serverless | None = None
    weight: float | None = None
    place: Place


def fleet_of(written: WrittenVariant, batch: Batch | None) -> Fleet:
    """The fleet of a variant, as scaling alone allows it. ``batch`` is that of a rolling update of its
    endpoint.
    """
    counts = None if written.serverless is not None else _by_scaling(written)
    types = written.instance_types
    return Fleet(
        name=written.name,
        is_shadow=written.is_shadow,
        instance_types=types,
        hardware=hardware(types[0]) if types else "",
        instances=counts,
        by_scaling=counts,
        grows_with_copies=written.managed is not None,
        serverless=written.serverless,
        weight=written.weight,
        update=update_room(counts, batch),
        place=written.place,
    )


def _by_scaling(written: WrittenVariant) -> Counts:
    """As few and as many as scaling allows: the limits of a target, or else of managed instance scaling."""
    limits = written.managed if written.target is None else written.target
    if limits is None:
        return Counts.fixed(written.start)
    return Counts(limits.low, written.start, limits.high)


def update_room(counts: Counts | None, batch: Batch | None) -> UpdateRoom:
    """A whole fleet as large as the present one may be, or one batch of a rolling update."""
    if counts is None:
        return UpdateRoom("none", 0)
    if batch is None:
        return UpdateRoom("blue/green", counts.max)
    if batch.size is None or counts.max is None:
        return UpdateRoom("rolling", counts.max)
    size = ceil(counts.max * batch.size / 100) if batch.is_share else int(batch.size)
    return UpdateRoom("rolling", min(size, counts.max))


def hardware(instance_type: str) -> str:
    """What an instance has, in words; empty if that is not known."""
    host = instances.find(instance_type)
    if host is None:
        return ""
    memory = f"{host.vcpus} vCPUs, {host.memory_mib / 1024:,g} GiB host memory"
    devices = host.accelerator_devices
    return f"{devices} x {host.gpu_name or host.accelerator_name}, {memory}" if devices else memory

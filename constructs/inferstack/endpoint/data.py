"""The review as data: what exists once specs are deployed, and what that changes. Every format is made of it.

Amounts of money are decimals, in JSON as text, so that no digit is lost. A sentence is one line in plain
words; it quotes names in backticks, and a format has to escape it. `review.schema.json` is generated from
these classes.
"""

from decimal import Decimal
from typing import Literal

import msgspec

from inferstack.endpoint.counts import InstanceCounts

VERSION = 1
"""Of this form of data. A new field does not change it; a field that goes, or means something else, does."""

Level = Literal["min", "start", "max"]


class Place(msgspec.Struct, frozen=True):
    """A place in a file: of a spec, or of the template that is compared with."""

    file: str
    """Name of the file, as it was given."""
    line: int = 0
    """Line, from 1; 0 where it is not known."""
    column: int = 0
    """Column, from 1; 0 where it is not known."""
    path: str = ""
    """Keys from the top of the spec, as in `variant.instance_type`."""


class Money(msgspec.Struct, frozen=True):
    """An amount at the fewest, the first and the most instances."""

    min: Decimal
    """With as few instances as scaling allows."""
    start: Decimal
    """With the instances at the start."""
    max: Decimal
    """With as many instances as scaling allows."""

    def times(self, factor: int) -> "Money":
        """The amounts for as many hours, say."""
        return Money(self.min * factor, self.start * factor, self.max * factor)


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What instances cost on demand; requests, storage, transfer and CloudWatch come on top."""

    instance_hours: InstanceCounts
    """Instance hours in an hour: the number of instances."""
    currency: str | None = None
    """Currency of the prices; none without prices."""
    per_hour: Money | None = None
    """Cost of an hour; none unless all prices are known."""
    per_month: Money | None = None
    """Cost of 730 hours; none unless all prices are known."""
    unpriced: tuple[str, ...] = ()
    """Instance types without a known price."""


class Needs(msgspec.Struct, frozen=True):
    """What a copy reserves, or an instance has left."""

    accelerators: float
    """GPUs or Neuron devices."""
    vcpus: float
    """Virtual cores."""
    host_memory_mib: float
    """Memory of the host, not of its GPUs, in MiB."""


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
    """Instances that are there."""
    needed: int
    """Instances that the copies take."""
    layouts: tuple[Layout, ...]
    """What is on the instances, also on those that are not there."""
    without_room: dict[str, int]
    """Copies that have no place, by the component's name."""
    unbalanced: tuple[str, ...] = ()
    """Components whose copies are less balanced over Availability Zones than they should be."""


class UpdateRoom(msgspec.Struct, frozen=True):
    """What runs beside the fleet while an update replaces it."""

    how: Literal["blue/green", "rolling", "none"]
    """Whether a whole fleet is made, or one batch after the other; nothing for serverless variants."""
    instances: int
    """How many instances more, at most."""


class Serverless(msgspec.Struct, frozen=True):
    """Settings of a serverless variant."""

    memory_mb: int | None
    """Memory in MB."""
    max_concurrency: int | None
    """Requests at once, at most."""
    provisioned_concurrency: int | None
    """Requests at once that are paid for even if there are none."""


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
    instances: InstanceCounts | None
    """How many instances; none for a serverless variant."""
    is_certain: bool = True
    """Whether the template has the numbers; otherwise those are guesses, since only the deployment knows."""
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
    without components, or on unknown instances."""
    never_fits: tuple[str, ...] = ()
    """Components of which a single copy needs more than an instance of the only type has."""
    place: Place
    """Where the spec has it."""


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """What runs: an image with its files."""

    name: str
    """Name of the model, container or component; of the variant that hosts a model which exists already."""
    image: str | None
    """URI of the image; none for an adapter, or a model package."""
    weights: str | None
    """URL of the model files."""
    digest: str | None
    """SHA-256 of the files, or its beginning, where the URL or the lock has it."""
    model_package: str | None = None
    """Version of the model registry, where it says what runs."""
    model: str | None = None
    """Name of a model that exists already, where that runs."""
    place: Place
    """Where the spec has it."""


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """An inference component."""

    name: str
    """Name of the component."""
    variant: str | None
    """Name of the variant on whose instances it is."""
    base: str | None
    """The component that it is an adapter of."""
    copies: InstanceCounts
    """How many copies."""
    needs: Needs | None
    """What a copy reserves, on the preferred instance type of its variant; none for an adapter."""
    placement_strategy: str | None = None
    """SPREAD over the instances, or BINPACK onto few of them."""
    max_imbalance: int | None = None
    """By how many copies Availability Zones may differ; none if copies need not be balanced over them."""
    place: Place
    """Where the spec has it."""


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """What scales, and by what."""

    of: str
    """Name of the variant or component."""
    unit: str
    """What is added and removed: instances, copies or provisioned concurrency."""
    min_capacity: int
    """As few as this."""
    max_capacity: int
    """As many as this."""
    aims: tuple[str, ...]
    """What adds and removes them, in words."""
    sentence: str
    """All of it in words."""
    place: Place
    """Where the spec has it."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm on a metric, or on other alarms."""

    logical_id: str
    """Its name in the template."""
    of: str
    """The part of the endpoint that it watches."""
    metric: str
    """The metric, or `an expression`, or `other alarms`."""
    threshold: str
    """The threshold in units that people use."""
    when: str
    """When it goes off, without what it watches."""
    tells: str
    """How many it tells."""
    sentence: str
    """All of it in words."""
    actions: int
    """How many topics or other actions it calls when it goes off."""
    place: Place
    """Where the spec has it."""


class Permission(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the endpoint's role, or whoever invokes the endpoint, may do."""

    who: Literal["role", "invokers"]
    """Who may do it."""
    sentence: str
    """What, in words."""
    actions: tuple[str, ...]
    """IAM's actions."""
    resources: tuple[str, ...]
    """ARNs, or patterns of ARNs."""
    condition: str | None = None
    """IAM's condition, as JSON."""


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """How something is protected, or that it is not."""

    topic: Literal["network", "encryption", "access"]
    """What it is about."""
    about: str
    """What is protected: the model, the volumes, the captured data, …"""
    sentence: str
    """How, in words."""
    is_on: bool
    """Whether there is any protection that the spec asks for."""
    place: Place
    """Where the spec has it."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint with everything of its stack."""

    name: str
    """Name of the endpoint."""
    stack: str
    """Name of the stack."""
    stage: str | None
    """The stage of the spec; none without."""
    account: str | None
    """The account, if the spec names it."""
    region: str | None
    """The region, if it is known."""
    kind: str | None
    """The `kind` of the spec; none for what is read from a template."""
    hosting: Literal["real-time", "asynchronous", "serverless"]
    """How requests are answered."""
    containers: tuple[Container, ...]
    """What runs."""
    fleets: tuple[Fleet, ...]
    """On what it runs, variant by variant."""
    components: tuple[Component, ...]
    """Inference components."""
    scaling: tuple[Scaling, ...]
    """What scales."""
    alarms: tuple[Alarm, ...]
    """What is watched."""
    permissions: tuple[Permission, ...]
    """What its role may do, and who may invoke it."""
    protections: tuple[Protection, ...]
    """Network, encryption and access."""
    cost: Cost
    """What all its instances cost."""
    resources: int
    """Number of resources of the stack."""
    dashboards: int
    """How many of them are dashboards."""
    place: Place
    """Where the spec has its name."""

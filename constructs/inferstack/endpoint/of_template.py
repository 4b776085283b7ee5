"""The picture of an endpoint, read from a template, whoever made it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from inferstack.catalog.resource_types import CONFIG_TYPE, DASHBOARD_TYPE
from inferstack.endpoint import cost, deployed, destinations
from inferstack.endpoint.alarms import Alarm, alarms
from inferstack.endpoint.capacity import with_copies
from inferstack.endpoint.components import Component, Needs
from inferstack.endpoint.containers import RunningContainer, containers
from inferstack.endpoint.cost import Cost, Prices
from inferstack.endpoint.counts import Counts
from inferstack.endpoint.deployed import Properties, PropertyPath, entries, mapping, shown
from inferstack.endpoint.fleets import Batch, CapacityLimits, Fleet, Serverless, WrittenVariant, fleet_of
from inferstack.endpoint.permissions import Permission, permissions
from inferstack.endpoint.place import Place
from inferstack.endpoint.protections import Protection, protections
from inferstack.endpoint.rollout import rollouts
from inferstack.endpoint.scaling import Scaling, scalings
from inferstack.endpoint.stack import Stack


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint with everything of its stack."""

    name: str
    """Name of the endpoint."""
    stack: str
    """Name of the stack."""
    stage: str | None
    """The stage of the spec; none without."""
    account: str | None
    """The account, if it is known."""
    region: str | None
    """The region, if it is known."""
    kind: str | None
    """The `kind` of the spec; none for what is read from a template."""
    hosting: Literal["real-time", "asynchronous", "serverless"]
    """How requests are answered."""
    containers: tuple[RunningContainer, ...]
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
    """Network, encryption, access, and how updates roll out and back."""
    capture: str | None
    """What is captured of requests and responses, and where to; none if nothing is."""
    asynchronous: str | None
    """Where asynchronous responses go; none for other endpoints."""
    cost: Cost
    """What all its instances cost."""
    resources: int
    """Number of resources of the stack."""
    dashboards: int
    """How many of them are dashboards."""
    place: Place
    """Where the spec has its name."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What a template does not say about its endpoint."""

    stack: str
    stage: str | None
    account: str | None
    region: str | None
    kind: str | None
    place: Place


def picture_of(stack: Stack, identity: Identity, prices: Prices) -> Picture:
    """The endpoint of a stack."""
    bare = tuple(fleets(stack))
    parts = components(stack, bare)
    whole = tuple(_costed(with_copies(fleet, parts), prices) for fleet in bare)
    return Picture(
        name=shown(deployed.endpoint(stack.resources).get("EndpointName")),
        stack=identity.stack,
        stage=identity.stage,
        account=identity.account,
        region=identity.region,
        kind=identity.kind,
        hosting=_hosting(stack, whole),
        containers=containers(stack),
        fleets=whole,
        components=parts,
        scaling=scalings(stack, whole),
        alarms=alarms(stack, whole),
        permissions=permissions(stack),
        protections=(*protections(stack), *rollouts(stack)),
        capture=destinations.capture(stack),
        asynchronous=destinations.asynchronous(stack),
        cost=cost.together([fleet.cost for fleet in whole if fleet.cost is not None]),
        resources=len(stack.resources),
        dashboards=len(stack.of_type(DASHBOARD_TYPE)),
        place=identity.place,
    )


def _costed(fleet: Fleet, prices: Prices) -> Fleet:
    return replace(fleet, cost=cost.of_fleet(fleet.instances, fleet.instance_types, prices))


def _hosting(stack: Stack, whole: Sequence[Fleet]) -> Literal["real-time", "asynchronous", "serverless"]:
    if mapping(deployed.config(stack.resources).get("AsyncInferenceConfig")):
        return "asynchronous"
    return "serverless" if any(fleet.serverless is not None for fleet in whole) else "real-time"


# ---------------------------------------------------------------- fleets

_KEYS = {"ProductionVariants": False, "ShadowProductionVariants": True}
"""Where variants are, and whether they are shadows."""


def fleets(stack: Stack) -> Iterator[Fleet]:
    """Every variant, shadows last, as scaling alone allows it."""
    logical_id, config = stack.first(CONFIG_TYPE)
    batch = _batch(stack)
    for key, is_shadow in _KEYS.items():
        for index, variant in enumerate(map(mapping, entries(config.get(key)))):
            written = _variant(stack, variant, (logical_id, (key, index)), is_shadow=is_shadow)
            yield fleet_of(written, batch)


def _variant(
    stack: Stack, variant: Properties, at: tuple[str, PropertyPath], *, is_shadow: bool
) -> WrittenVariant:
    name, serverless = shown(variant.get("VariantName")), variant.get("ServerlessConfig")
    start = stack.count(variant.get("InitialInstanceCount"))
    target = deployed.scaled_variants(stack.resources).get(name)
    return WrittenVariant(
        name=name,
        is_shadow=is_shadow,
        instance_types=tuple(deployed.instance_types(variant)),
        start=start,
        target=None if target is None or serverless is not None else limits(stack, target),
        managed=_managed(stack, mapping(variant.get("ManagedInstanceScaling")), start),
        serverless=None if serverless is None else _serverless(stack, mapping(serverless)),
        weight=stack.number(variant.get("InitialVariantWeight")),
        place=stack.place_of(*at),
    )


def limits(stack: Stack, target: Properties) -> CapacityLimits:
    """What a scaling target allows at any time, scheduled actions included."""
    limits = (target, *deployed.scheduled_limits(target))
    lows, highs = (
        [stack.count(it.get(key)) for it in limits if it is target or key in it]
        for key in ("MinCapacity", "MaxCapacity")
    )
    return CapacityLimits.over_time(lows, highs)


def _managed(stack: Stack, managed: Properties, start: int | None) -> CapacityLimits | None:
    if not managed or managed.get("Status") == "DISABLED":
        return None
    keys = ("MinInstanceCount", "MaxInstanceCount")
    return CapacityLimits(*(stack.count(managed[key]) if key in managed else start for key in keys))


def _serverless(stack: Stack, config: Properties) -> Serverless:
    keys = ("MemorySizeInMB", "MaxConcurrency", "ProvisionedConcurrency")
    return Serverless(*(stack.count(config.get(key)) for key in keys))


def _batch(stack: Stack) -> Batch | None:
    """The batch of a rolling update of the endpoint; None where a whole fleet is made at once."""
    rolling = mapping(deployed.endpoint(stack.resources).get("DeploymentConfig")).get("RollingUpdatePolicy")
    if rolling is None:
        return None
    batch = mapping(mapping(rolling).get("MaximumBatchSize"))
    return Batch(stack.number(batch.get("Value")), batch.get("Type") == "CAPACITY_PERCENT")


# ---------------------------------------------------------------- components

_NEEDS = ("NumberOfAcceleratorDevicesRequired", "NumberOfCpuCoresRequired", "MinMemoryRequiredInMb")


def components(stack: Stack, every: Sequence[Fleet]) -> tuple[Component, ...]:
    """Every inference component, as it is on the preferred instance type of its variant."""
    preferred = {it.name: it.instance_types[0] for it in every if it.instance_types}
    targets = deployed.scaled_components(stack.resources)
    return tuple(
        _component(stack, name, it, preferred.get(it.variant or ""), targets)
        for name, it in deployed.components(stack.resources).items()
    )


def _component(
    stack: Stack,
    name: str,
    component: deployed.TemplateComponent,
    instance_type: str | None,
    targets: Mapping[str, Properties],
) -> Component:
    specification = _specification(component, instance_type)
    runtime = mapping(component.properties.get("RuntimeConfig"))
    start = stack.count(runtime["CopyCount"]) if "CopyCount" in runtime else 1
    allowed = limits(stack, targets[name]) if name in targets else CapacityLimits(start, start)
    wanted = mapping(specification.get("ComputeResourceRequirements"))
    needs = [stack.number(wanted[key]) if key in wanted else 0.0 for key in _NEEDS]
    where = mapping(specification.get("SchedulingConfig"))
    balance = where.get("AvailabilityZoneBalance")
    return Component(
        name=name,
        variant=component.variant,
        base=component.base,
        copies=Counts(allowed.low, start, allowed.high),
        needs=Needs(*(it for it in needs if it is not None)) if wanted and None not in needs else None,
        placement_strategy=deployed.text(where.get("PlacementStrategy")),
        max_imbalance=None if balance is None else stack.count(mapping(balance).get("MaxImbalance")) or 0,
        place=stack.place_of(component.logical_id, ()),
    )


def _specification(component: deployed.TemplateComponent, instance_type: str | None) -> Properties:
    every = (component.specification, *map(mapping, entries(component.properties.get("Specifications"))))
    return next((it for it in every if it and it.get("InstanceType", instance_type) == instance_type), {})

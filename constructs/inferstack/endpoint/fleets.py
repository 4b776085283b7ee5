"""The variants of a template: instance types, how many instances, and what an update runs beside them."""

from collections.abc import Iterator
from math import ceil

from inferstack.catalog import instances
from inferstack.catalog.resource_types import CONFIG_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.counts import InstanceCounts
from inferstack.endpoint.data import Fleet, Serverless, UpdateRoom
from inferstack.endpoint.deployed import Properties, PropertyPath, entries, mapping, shown
from inferstack.endpoint.stack import Stack

_KEYS = {"ProductionVariants": False, "ShadowProductionVariants": True}
"""Where variants are, and whether they are shadows."""


def fleets(stack: Stack) -> tuple[Fleet, ...]:
    """Every variant, shadows last; without cost and placements, which follow from them."""
    return tuple(_fleets(stack))


def _fleets(stack: Stack) -> Iterator[Fleet]:
    logical_id, config = stack.first(CONFIG_TYPE)
    for key, is_shadow in _KEYS.items():
        for index, variant in enumerate(map(mapping, entries(config.get(key)))):
            yield _fleet(stack, variant, (logical_id, (key, index)), is_shadow=is_shadow)


def _fleet(stack: Stack, variant: Properties, at: tuple[str, PropertyPath], *, is_shadow: bool) -> Fleet:
    name, types = shown(variant.get("VariantName")), types_of(stack, variant)
    serverless = variant.get("ServerlessConfig")
    counts = None if serverless is not None else _counts(stack, name, variant)
    start = stack.count(variant.get("InitialInstanceCount"))
    return Fleet(
        name=name,
        is_shadow=is_shadow,
        instance_types=types,
        hardware=hardware(types[0]) if types else "",
        instances=counts,
        is_certain=serverless is not None or start is not None,
        grows_with_copies=mapping(variant.get("ManagedInstanceScaling")).get("Status") == "ENABLED",
        serverless=None if serverless is None else _serverless(stack, mapping(serverless)),
        weight=stack.number(variant.get("InitialVariantWeight")),
        update=_room(stack, counts),
        place=stack.place_of(*at),
    )


def types_of(stack: Stack, variant: Properties) -> tuple[str, ...]:
    """The instance types that a variant may use, the preferred one first."""
    pools = [mapping(it) for it in entries(variant.get("InstancePools"))]
    pools.sort(key=lambda it: stack.number(it.get("Priority")) or 0)
    found = [variant.get("InstanceType"), *(it.get("InstanceType") for it in pools)]
    return tuple(shown(it) for it in found if it is not None)


def hardware(instance_type: str) -> str:
    """What an instance has, in words; empty if that is not known."""
    host = instances.find(instance_type)
    if host is None:
        return ""
    memory = f"{host.vcpus} vCPUs, {host.memory_mib / 1024:,g} GiB host memory"
    devices = host.accelerator_devices
    return f"{devices} x {host.gpu_name or host.accelerator_name}, {memory}" if devices else memory


def _counts(stack: Stack, name: str, variant: Properties) -> InstanceCounts:
    """As few and as many as scaling allows at any time, as `inferstack list` counts them."""
    start = stack.count(variant.get("InitialInstanceCount"))
    start = 1 if start is None else start
    target = deployed.scaled_variants(stack.resources).get(name)
    if target is not None:
        return InstanceCounts(*_limits(stack, target, start))
    managed = mapping(variant.get("ManagedInstanceScaling"))
    if not managed or managed.get("Status") == "DISABLED":
        return InstanceCounts(start, start, start)
    low, high = (stack.count(managed.get(key)) for key in ("MinInstanceCount", "MaxInstanceCount"))
    return InstanceCounts(start if low is None else low, start, start if high is None else high)


def limits(stack: Stack, target: Properties) -> tuple[int | None, int | None]:
    """The lowest minimum and the highest maximum that a scaling target has, schedules included."""
    actions = (
        mapping(mapping(it).get("ScalableTargetAction")) for it in entries(target.get("ScheduledActions"))
    )
    said = [target, *actions]
    lows, highs = (
        [count for it in said if (count := stack.count(it.get(key))) is not None]
        for key in ("MinCapacity", "MaxCapacity")
    )
    return min(lows, default=None), max(highs, default=None)


def _limits(stack: Stack, target: Properties, start: int) -> tuple[int, int, int]:
    low, high = limits(stack, target)
    return start if low is None else low, start, start if high is None else high


def counts_of(stack: Stack, target: Properties | None, start: int) -> InstanceCounts:
    """As few and as many as a target allows; as many as at the start without one."""
    return (
        InstanceCounts(start, start, start)
        if target is None
        else InstanceCounts(*_limits(stack, target, start))
    )


def _serverless(stack: Stack, config: Properties) -> Serverless:
    keys = ("MemorySizeInMB", "MaxConcurrency", "ProvisionedConcurrency")
    return Serverless(*(stack.count(config.get(key)) for key in keys))


def serverless_text(found: Serverless) -> str:
    """The settings in words: `serverless, 2,048 MB, 20 requests at once, 2 of them always ready`."""
    memory, most = (
        "an unknown number of" if it is None else f"{it:,}" for it in (found.memory_mb, found.max_concurrency)
    )
    ready = found.provisioned_concurrency
    always = f", {ready:,} of them always ready" if ready else ""
    return f"serverless, {memory} MB, {most} requests at once{always}"


def _room(stack: Stack, counts: InstanceCounts | None) -> UpdateRoom:
    """A whole fleet as large as the present one may be, or one batch of a rolling update."""
    if counts is None:
        return UpdateRoom("none", 0)
    rollout = mapping(deployed.endpoint(stack.resources).get("DeploymentConfig"))
    rolling = rollout.get("RollingUpdatePolicy")
    if rolling is None:
        return UpdateRoom("blue/green", counts.max)
    batch = mapping(mapping(rolling).get("MaximumBatchSize"))
    size = stack.number(batch.get("Value"))
    if size is None:
        return UpdateRoom("rolling", counts.max)
    is_share = batch.get("Type") == "CAPACITY_PERCENT"
    most = ceil(counts.max * size / 100) if is_share else int(size)
    return UpdateRoom("rolling", min(most, counts.max))

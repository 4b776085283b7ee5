"""What a spec says about models that share instances: the fleet, what each copy needs, and how it scales."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.catalog import instances
from inferstack.catalog.metrics import COPY_COUNT
from inferstack.endpoint.packing import Room
from inferstack.endpoint.placement import HostFleet, Strategy, Tenant
from inferstack.facts.scaling import Scaled, first_copies, managed_scaling, scaled_parts
from inferstack.facts.walk import (
    Specification,
    bases_of_adapters,
    component_variants,
    components,
    instance_types,
    specifications,
    variant_scalings,
    variants,
)
from inferstack.format.inference_component import ComponentSpecificationForInstanceType, InferenceComponent
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import ManagedInstanceScaling, Variant
from inferstack.problems import SpecPath
from inferstack.sizing.sharing.policies import fixed, scaling_of
from inferstack.sizing.sharing.scaling import CopyScaling
from inferstack.sizing.sharing.ways import ScaledModel
from inferstack.sizing.traffic_points import Period


class CannotPackError(ValueError):
    """Says why the models of a spec cannot be packed."""


class SharedFleet(msgspec.Struct, frozen=True):
    """A fleet with the models on it."""

    name: str
    instance_type: str
    fleet: HostFleet
    models: tuple[ScaledModel, ...]
    adapters: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The base of each adapter, whose copies answer its requests."""
    left_out: tuple[str, ...] = ()
    """What of the spec is not simulated, in words."""


class Simulation(msgspec.Struct, frozen=True):
    """What traffic alone does not show."""

    period: Period
    seconds: Decimal | None = None
    """How long a request takes."""
    seconds_of: Mapping[str, Decimal] = {}
    """The same for components of which it is known."""


def hosts_of(spec: ModelSpec, simulation: Simulation) -> Iterator[SharedFleet]:
    """The fleets of a spec with inference components.

    Raises:
        CannotPackError: when an instance type is not known, or a copy does not fit.
    """
    for _, variant in variants(spec):
        if components_on(spec, variant):
            yield host_of(spec, variant, simulation)


def components_on(spec: ModelSpec, variant: Variant) -> Sequence[tuple[SpecPath, str, InferenceComponent]]:
    """The components whose copies run on a variant's instances, without adapters, as in ``components``."""
    return [
        (path, name, component)
        for path, name, component in components(spec)
        if component.base_name is None and variant in component_variants(spec, component)
    ]


def host_of(spec: ModelSpec, variant: Variant, simulation: Simulation) -> SharedFleet:
    """The fleet of a variant with the components on it.

    Raises:
        CannotPackError: as :func:`hosts_of`.
    """
    types = instance_types(variant)
    fleet, left_out = _fleet(spec, variant, room_of(types[0]))
    if len(types) > 1:
        left_out.append(f"{variant.variant_name}: only the first instance pool is simulated, {types[0]}")
    scaled = {it.name: it for it in scaled_parts(spec) if it.dimension == COPY_COUNT}
    models = []
    for _, name, component in components_on(spec, variant):
        scaling, more = _scaling(spec, scaled.get(name), component, simulation)
        left_out += more
        models.append(ScaledModel(component_of(name, component, types[0], fleet.room), scaling))
    bases = {it.name for it in models}
    adapters = {name: base for name, base in bases_of_adapters(spec).items() if base in bases}
    return SharedFleet(spec.endpoint_name, types[0], fleet, tuple(models), adapters, tuple(left_out))


def _scaling(
    spec: ModelSpec, scaled: Scaled | None, component: InferenceComponent, simulation: Simulation
) -> tuple[CopyScaling, Sequence[str]]:
    if scaled is None:
        return fixed(first_copies(component)), ()
    seconds = simulation.seconds_of.get(scaled.name, simulation.seconds)
    found = scaling_of(spec, scaled, simulation.period, seconds=seconds)
    return found.scaling, found.left_out


def room_of(instance_type: str) -> Room:
    """What an instance has.

    Raises:
        CannotPackError: when its hardware is not known.
    """
    hardware = instances.find(instance_type)
    if hardware is None:
        raise CannotPackError(
            f"the hardware of `{instance_type}` is not known, so nothing can be packed on it"
        )
    return Room.of(hardware.accelerator_devices, hardware.vcpus, hardware.memory_mib)


def component_of(name: str, component: InferenceComponent, instance_type: str, room: Room) -> Tenant:
    """What a copy needs on an instance type, and where it is placed.

    Raises:
        CannotPackError: when the component does not say it, or needs more than an instance has.
    """
    specification = _specification(component, instance_type)
    wanted = None if specification is None else specification.compute_resource_requirements
    if specification is None or wanted is None:
        raise CannotPackError(f"`{name}` does not say what a copy needs on `{instance_type}`")
    needs = Room.of(
        wanted.number_of_accelerator_devices_required or 0,
        wanted.number_of_cpu_cores_required or 0,
        wanted.min_memory_required_in_mb or 0,
    )
    if not room.holds(needs):
        raise CannotPackError(f"a copy of `{name}` needs more than a whole `{instance_type}` has")
    where = specification.scheduling_config
    if where is None:
        return Tenant(name, needs)
    strategy: Strategy = "SPREAD" if where.placement_strategy == "SPREAD" else "BINPACK"
    balance = where.availability_zone_balance
    return Tenant(name, needs, strategy, None if balance is None else balance.max_imbalance or 0)


def _specification(component: InferenceComponent, instance_type: str) -> Specification | None:
    for _, it in specifications((), component):
        if not isinstance(it, ComponentSpecificationForInstanceType) or it.instance_type == instance_type:
            return it
    return None


def _fleet(spec: ModelSpec, variant: Variant, room: Room) -> tuple[HostFleet, list[str]]:
    start = variant.initial_instance_count or 0
    scaling = next((it for _, scaled, it in variant_scalings(spec) if scaled is variant), None)
    if scaling is not None:
        note = f"{variant.variant_name}: instances follow copies here, not the variant's own policies"
        return HostFleet(room=room, low=scaling.min_capacity, high=scaling.max_capacity), [note]
    managed = managed_scaling(spec, variant)
    if managed is None or managed.status == "DISABLED":
        return HostFleet(room=room, low=start, high=start), []
    low, high = managed.min_instance_count, managed.max_instance_count
    return _managed(room, start if low is None else low, start if high is None else high, managed), []


def _managed(room: Room, low: int, high: int, managed: ManagedInstanceScaling) -> HostFleet:
    """With defaults of AWS's, which release one instance at a time, 20 minutes after the last change."""
    policy = managed.scale_in_policy
    if policy is None:
        return HostFleet(room=room, low=low, high=high)
    step, wait = policy.maximum_step_size, policy.cooldown_in_minutes
    return HostFleet(
        room=room,
        low=low,
        high=high,
        consolidates=policy.strategy == "CONSOLIDATION",
        step=1 if step is None else step,
        wait=20 if wait is None else wait,
    )


def one_host(hosts: Sequence[SharedFleet]) -> SharedFleet:
    """All models on one fleet, which has as many instances as they need.

    Raises:
        CannotPackError: when the fleets have different instance types, or two models the same name.
    """
    first = hosts[0]
    names = [model.name for host in hosts for model in host.models]
    for host in hosts:
        if host.instance_type != first.instance_type:
            raise CannotPackError(
                f"`{host.name}` runs on {host.instance_type} and `{first.name}` on {first.instance_type}: "
                "a shared fleet has one instance type"
            )
    for name in sorted({it for it in names if names.count(it) > 1}):
        raise CannotPackError(f"two specs have a component `{name}`")
    return SharedFleet(
        " + ".join(it.name for it in hosts),
        first.instance_type,
        msgspec.structs.replace(first.fleet, low=max(it.fleet.low for it in hosts), high=None),
        tuple(model for host in hosts for model in host.models),
        {adapter: base for host in hosts for adapter, base in host.adapters.items()},
        tuple(it for host in hosts for it in host.left_out),
    )

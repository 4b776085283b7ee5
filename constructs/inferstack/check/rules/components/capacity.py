"""Do the copies of inference components fit on the instances?

Creating a component that does not fit ends with "Not enough hardware resources", after minutes.
"""

from collections.abc import Iterator

import msgspec

from inferstack.catalog.instances import InstanceType
from inferstack.check.rules.base import error, warning
from inferstack.facts.scaling import first_copies
from inferstack.facts.walk import (
    component_variants,
    components,
    hosts,
    instance_types,
    variant_scalings,
    variants,
)
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.inference_component import ComputeResourceRequirements, InferenceComponent
from inferstack.format.kinds import InferenceComponentsSpec
from inferstack.format.variant import Variant
from inferstack.problems import Problem, SpecPath

_COMPONENTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-deploy-models.html"
_SCALING = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html"


class _Fleet(msgspec.Struct, frozen=True):
    """A variant with one instance type, and what a copy of each of its components reserves."""

    path: SpecPath
    variant: Variant
    host: InstanceType
    scaling: Autoscaling | None
    tenants: tuple[tuple[SpecPath, str, InferenceComponent, ComputeResourceRequirements], ...]

    def accelerators(self, copies: str) -> float:
        """Accelerators that all components need together, at the start or at most.

        Components of which not one copy fits are left out: that is reported by itself.
        """
        fitting = [it for it in self.tenants if _accelerators(it[3]) <= self.host.accelerator_devices]
        return sum(_accelerators(needs) * _copies(it)[copies] for _, _, it, needs in fitting)

    @property
    def most_instances(self) -> int | None:
        """The most instances that the fleet can have, or None if nothing here limits it."""
        if self.grows_with_copies:
            managed = self.variant.managed_instance_scaling
            return None if managed is None else managed.max_instance_count
        return self.variant.initial_instance_count if self.scaling is None else self.scaling.max_capacity

    @property
    def grows_with_copies(self) -> bool:
        """Whether SageMaker itself adds instances when there are more copies."""
        managed = self.variant.managed_instance_scaling
        return managed is not None and managed.status != "DISABLED"

    @property
    def first_instances(self) -> int | None:
        """The most instances that the first copies can have, or None if nothing here limits them.

        SageMaker's guide does not say that it adds instances for the first copies, too, but AWS's examples
        rely on it.
        """
        count = self.variant.initial_instance_count
        if count is None or not self.grows_with_copies:
            return count
        return None if self.most_instances is None else max(count, self.most_instances)

    @property
    def limit(self) -> str:
        """The key that allows a larger fleet."""
        if self.scaling is None:
            return "`max_instance_count` of `managed_instance_scaling`"
        return "`max_capacity` of its `autoscaling`"


def _fleets(spec: InferenceComponentsSpec) -> Iterator[_Fleet]:
    """Fleets with one instance type; with several, what fits depends on which ones the fleet gets."""
    scalings = {id(variant): scaling for _, variant, scaling in variant_scalings(spec)}
    for path, variant in variants(spec):
        known = list(hosts(variant))
        if len(instance_types(variant)) != 1 or not known:
            continue
        tenants = [
            (below, name, component, component.specification.compute_resource_requirements)
            for below, name, component in components(spec)
            if component.specification is not None and variant in component_variants(spec, component)
        ]
        reserving = tuple((p, n, c, needs) for p, n, c, needs in tenants if needs is not None)
        yield _Fleet(path, variant, known[0], scalings.get(id(variant)), reserving)


def _accelerators(needs: ComputeResourceRequirements) -> float:
    wanted = needs.number_of_accelerator_devices_required
    return 0 if wanted is None else wanted


def _copies(component: InferenceComponent) -> dict[str, int]:
    start = first_copies(component)
    return {
        "start": start,
        "most": start if component.autoscaling is None else component.autoscaling.max_capacity,
    }


@error("IS420", _COMPONENTS)
def first_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The initial copies must fit on the initial instances.

    By accelerators, counted over the whole fleet.
    """
    for fleet in _fleets(spec):
        count = _too_few(fleet)
        if count is not None:
            needed = fleet.accelerators("start")
            has = f"{count} x {fleet.host.name} has {count * fleet.host.accelerator_devices}"
            message = f"the initial copies need {needed:g} accelerators, but {has}"
            fix = "raise `initial_instance_count`, or start with fewer copies"
            yield Problem((*fleet.path, "initial_instance_count"), message, fix)


def _too_few(fleet: _Fleet) -> int | None:
    """How many instances the first copies can have if those lack accelerators, else None."""
    count, each = fleet.first_instances, fleet.host.accelerator_devices
    if not count or not each or fleet.accelerators("start") <= count * each:
        return None
    return count


@warning("IS421", _COMPONENTS)
def first_copies_can_be_placed(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """Each of the initial copies should fit into the space that the ones before it leave.

    First fit, largest first: accelerators, vCPUs and memory of each instance.
    """
    for fleet in _fleets(spec):
        count = fleet.variant.initial_instance_count
        if count is None or _too_few(fleet) is not None:
            continue
        left_over = _without_place(fleet, count)
        if left_over is not None:
            message = f"no instance has room left for a copy of `{left_over}` beside the others"
            yield Problem(
                (*fleet.path, "initial_instance_count"),
                message,
                "raise `initial_instance_count`, or reserve less for each copy",
            )


def _without_place(fleet: _Fleet, count: int) -> str | None:
    """The first component with a copy that finds no room, or None; skips what fits on no instance."""
    full = (fleet.host.accelerator_devices, fleet.host.vcpus, fleet.host.memory_mib)
    free = [list(full) for _ in range(min(count, 1000))]
    wanted = [(_demand(needs), name, _copies(it)["start"]) for _, name, it, needs in fleet.tenants]
    for demand, name, copies in sorted(wanted, reverse=True):
        if any(need > all_of_it for need, all_of_it in zip(demand, full, strict=True)):
            continue
        for _ in range(min(copies, 1000)):
            place = next((it for it in free if all(n <= f for n, f in zip(demand, it, strict=True))), None)
            if place is None:
                return name
            place[:] = [f - n for n, f in zip(demand, place, strict=True)]  # type: ignore[misc]
    return None


def _demand(needs: ComputeResourceRequirements) -> tuple[float, float, float]:
    cores, memory = needs.number_of_cpu_cores_required, needs.min_memory_required_in_mb
    return _accelerators(needs), 0 if cores is None else cores, 0 if memory is None else memory


@error("IS422", _SCALING)
def most_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component's maximum number of copies must fit on the largest fleet.

    Each component by itself, by accelerators: copies beyond the largest fleet can never start.
    """
    for fleet in _fleets(spec):
        for path, name, component, needs in fleet.tenants:
            each, most = _accelerators(needs), fleet.most_instances
            if (
                component.autoscaling is None
                or most is None
                or not 0 < each <= fleet.host.accelerator_devices
            ):
                continue
            on_one = int(fleet.host.accelerator_devices // each)
            room, wanted = on_one * most, component.autoscaling.max_capacity
            if wanted > room:
                message = f"{wanted} copies of `{name}` do not fit on {most} x {fleet.host.name}"
                fix = f"write {room}, or let the fleet grow to {-(-wanted // on_one)} with {fleet.limit}"
                yield Problem((*path, "autoscaling", "max_capacity"), message, fix)


@warning("IS423", _SCALING)
def all_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The maximum copies of all components should fit on the largest fleet together.

    They rarely peak at the same time, so this may be intended.
    """
    for fleet in _fleets(spec):
        most = fleet.most_instances
        there = None if most is None else most * fleet.host.accelerator_devices
        needed = fleet.accelerators("most")
        if there and len(fleet.tenants) > 1 and needed > there >= fleet.accelerators("start"):
            has = f"{most} x {fleet.host.name} has {there}"
            message = f"all copies together need {needed:g} accelerators, but {has}"
            yield Problem(
                fleet.path, message, "let the fleet grow, or ignore IS423 if they never peak together"
            )

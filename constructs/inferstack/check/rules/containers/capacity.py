"""Do the copies of inference components fit on the instances?

One copy must fit on an instance, and all copies on the fleet: creating a component that
does not fit ends with "Not enough hardware resources", after minutes.
"""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import instances
from inferstack.catalog.instances import InstanceType
from inferstack.check.rules.base import API, GUIDE, error, warning
from inferstack.facts.scaling import first_copies, maximums, most_capacity
from inferstack.facts.walk import (
    Specification,
    component_variants,
    components,
    hosts,
    instance_types,
    specifications,
    variant_scalings,
    variants,
    whole_specifications,
)
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.inference_component import ComputeResourceRequirements, InferenceComponent
from inferstack.format.kinds import InferenceComponentsSpec
from inferstack.format.variant import Variant
from inferstack.problems import Problem, SpecPath

_REQUIREMENTS = f"{API}/API_InferenceComponentComputeResourceRequirements.html"
_COMPONENTS = f"{GUIDE}/realtime-endpoints-deploy-models.html"
_SCALING = f"{GUIDE}/endpoint-auto-scaling.html"
# What the host, the agent and the container runtime keep for themselves. In one report a copy of 4 GiB was
# refused by 16 GiB, so the true reserve is unknown and can be more.
_USABLE_MEMORY = 0.9


class _Placement(msgspec.Struct, frozen=True):
    """What one copy needs on one instance type."""

    path: SpecPath
    name: str
    needs: ComputeResourceRequirements
    host: InstanceType


def _placements(spec: InferenceComponentsSpec) -> Iterator[_Placement]:
    for path, name, component in components(spec):
        for below, it in specifications(path, component):
            needs = it.compute_resource_requirements
            if needs is None:
                continue
            for host in _hosts(spec, component, it):
                yield _Placement((*below, "compute_resource_requirements"), name, needs, host)


def _hosts(
    spec: InferenceComponentsSpec, component: InferenceComponent, it: Specification
) -> Iterator[InstanceType]:
    own = getattr(it, "instance_type", None)
    if own is not None:
        found = instances.find(own)
        yield from () if found is None else (found,)
    else:
        for variant in component_variants(spec, component):
            yield from hosts(variant)


@error("IS410", _REQUIREMENTS)
def memory_is_given(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component must say how much memory a copy needs, unless it is an adapter.

    SageMaker places copies by their memory: it is the only requirement that must be given.
    """
    for path, name, it in whole_specifications(spec):
        needs = it.compute_resource_requirements
        if needs is None or needs.min_memory_required_in_mb is None:
            block, key = "compute_resource_requirements", "min_memory_required_in_mb"
            where, lacking = (path, block) if needs is None else ((*path, block), key)
            fix = "add `compute_resource_requirements: {min_memory_required_in_mb: …}`, 128 or more"
            yield Problem(where, f"`{name}` does not say how much memory a copy needs", fix, lacks=lacking)


@error("IS411", _REQUIREMENTS)
def memory_limits(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy's maximum memory cannot be below its minimum.

    Both count memory of the host, in MB.
    """
    for path, _, component in components(spec):
        for below, it in specifications(path, component):
            needs = it.compute_resource_requirements
            if needs is None:
                continue
            low, high = needs.min_memory_required_in_mb, needs.max_memory_required_in_mb
            if low is not None and high is not None and high < low:
                where = (*below, "compute_resource_requirements", "max_memory_required_in_mb")
                message = f"the maximum of {high} MB is below the minimum of {low} MB"
                yield Problem(where, message, f"write {low} or more")


@error("IS412", _REQUIREMENTS)
def accelerators_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more accelerators than an instance has.

    A copy never spans instances.
    """
    for it in _placements(spec):
        wanted, there = it.needs.number_of_accelerator_devices_required, it.host.accelerator_devices
        if wanted is not None and wanted > there:
            has = str(there) if there else "none"
            message = f"a copy of `{it.name}` needs {wanted} accelerators, but {it.host.name} has {has}"
            fix = (
                f"write at most {there}, or choose a larger instance type"
                if there
                else "remove it, or choose a type with accelerators"
            )
            yield Problem((*it.path, "number_of_accelerator_devices_required"), message, fix)


@error("IS413", _REQUIREMENTS)
def cores_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more vCPUs than an instance has.

    A copy never spans instances.
    """
    for it in _placements(spec):
        wanted = it.needs.number_of_cpu_cores_required
        if wanted is not None and wanted > it.host.vcpus:
            message = f"a copy of `{it.name}` needs {wanted} vCPUs, but {it.host.name} has {it.host.vcpus}"
            fix = f"write at most {it.host.vcpus}, or choose a larger type"
            yield Problem((*it.path, "number_of_cpu_cores_required"), message, fix)


@error("IS414", _REQUIREMENTS)
def memory_fits(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more memory than an instance has.

    A copy never spans instances. The host's memory counts, not the GPU's.
    """
    for it in _placements(spec):
        wanted = it.needs.min_memory_required_in_mb
        if wanted is not None and wanted > it.host.memory_mib:
            message = f"a copy of `{it.name}` needs {wanted} MB, but {it.host.name} has {it.host.memory_mib}"
            fix = f"write at most {it.host.memory_mib}, or choose a larger type"
            yield Problem((*it.path, "min_memory_required_in_mb"), message, fix)


@warning("IS415", "user reports")
def memory_leaves_a_reserve(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy should leave some memory for the host itself.

    How much the host keeps is not documented; a tenth is a guess on the small side.
    """
    for it in _placements(spec):
        wanted, usable = it.needs.min_memory_required_in_mb, int(it.host.memory_mib * _USABLE_MEMORY)
        if wanted is not None and usable < wanted <= it.host.memory_mib:
            message = f"a copy of `{it.name}` needs {wanted} of the {it.host.memory_mib} MB of {it.host.name}"
            fix = f"write less than {usable}, which leaves the host a tenth"
            yield Problem((*it.path, "min_memory_required_in_mb"), message, fix)


class _Fleet(msgspec.Struct, frozen=True):
    """A variant with one instance type, and what a copy of each of its components reserves."""

    path: SpecPath
    variant: Variant
    host: InstanceType
    scaling: Autoscaling | None
    tenants: tuple[tuple[SpecPath, str, InferenceComponent, ComputeResourceRequirements], ...]

    def accelerators(self, copies: str) -> float:
        """Accelerators that all components need together, at the start or at most.

        Components of which no copy fits are left out: they are reported separately.
        """
        fitting = [it for it in self.tenants if _accelerators(it[3]) <= self.host.accelerator_devices]
        return sum(_accelerators(needs) * _copies(it)[copies] for _, _, it, needs in fitting)

    @property
    def most_instances(self) -> int | None:
        """The most instances that the fleet can have, or None if nothing here limits it."""
        if self.grows_with_copies:
            managed = self.variant.managed_instance_scaling
            return None if managed is None else managed.max_instance_count
        return self.variant.initial_instance_count if self.scaling is None else most_capacity(self.scaling)

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
        "most": start if component.autoscaling is None else most_capacity(component.autoscaling),
    }


@error("IS420", _COMPONENTS)
def first_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The initial copies must fit on the initial instances.

    Accelerators are counted over the whole fleet. A component that does not fit fails after minutes, and the
    stack with it.
    """
    for fleet in _fleets(spec):
        count = _too_few(fleet)
        if count is not None:
            needed = fleet.accelerators("start")
            message = f"the initial copies need {needed:g} accelerators, but {_there(fleet, count)}"
            fix = "raise `initial_instance_count`, or start with fewer copies"
            yield Problem((*fleet.path, "initial_instance_count"), message, fix)


def _there(fleet: _Fleet, count: int) -> str:
    has = "has" if count == 1 else "have"
    return f"{count} x {fleet.host.name} {has} {count * fleet.host.accelerator_devices}"


def _too_few(fleet: _Fleet) -> int | None:
    """How many instances the first copies can have if those lack accelerators, else None."""
    count, each = fleet.first_instances, fleet.host.accelerator_devices
    if not count or not each or fleet.accelerators("start") <= count * each:
        return None
    return count


@warning("IS421", _COMPONENTS)
def first_copies_can_be_placed(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """Each of the initial copies should fit into the space that the ones before it leave.

    SageMaker does not spread a copy over instances. Tried here by first fit, the largest first, with
    accelerators, vCPUs and memory, on the instances that SageMaker may add for them, too.
    """
    for fleet in _fleets(spec):
        count = fleet.first_instances
        if count is None or _too_few(fleet) is not None:
            continue
        left_over = _without_place(fleet, count)
        if left_over is not None:
            message = f"no instance has room left for a copy of `{left_over}` beside the others"
            bound = fleet.limit if fleet.grows_with_copies else "`initial_instance_count`"
            fix = f"raise {bound}, or reserve less for each copy"
            yield Problem((*fleet.path, "initial_instance_count"), message, fix)


def _without_place(fleet: _Fleet, count: int) -> str | None:
    """The first component with a copy that cannot be placed, or None; skips what fits on no instance."""
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


@warning("IS422", _SCALING)
def most_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component's maximum number of copies should fit on the largest fleet.

    Copies beyond the largest fleet can never start, but AWS accepts a higher limit, in a schedule, too. Each
    component is looked at by itself, by accelerators.
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
            for where, wanted in maximums(component.autoscaling):
                if wanted > on_one * most:
                    message = f"{wanted} copies of `{name}` do not fit on {most} x {fleet.host.name}"
                    needed = f"{-(-wanted // on_one)} with {fleet.limit}"
                    fix = f"write {on_one * most}, or let the fleet grow to {needed}"
                    yield Problem((*path, "autoscaling", *where), message, fix)


@warning("IS423", _SCALING)
def all_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The maximum copies of all components should fit on the largest fleet together.

    Schedules that raise a maximum count, too. Components rarely peak at the same time, so this may be
    intended.
    """
    for fleet in _fleets(spec):
        most = 0 if fleet.most_instances is None else fleet.most_instances
        there = most * fleet.host.accelerator_devices
        needed = fleet.accelerators("most")
        if there and len(fleet.tenants) > 1 and needed > there >= fleet.accelerators("start"):
            message = f"all copies together need {needed:g} accelerators, but {_there(fleet, most)}"
            fix = "let the fleet grow, or ignore IS423 if they never peak together"
            yield Problem(fleet.path, message, fix)

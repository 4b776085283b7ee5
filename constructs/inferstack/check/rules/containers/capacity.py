"""Do the copies of inference components fit on the instances?

One copy must fit on an instance, and all copies on the fleet: creating a component that
does not fit ends with "Not enough hardware resources", after minutes.
"""

import math
from collections.abc import Iterator

import msgspec

from inferstack.catalog import instances
from inferstack.catalog.instances import InstanceType
from inferstack.check.rules.base import API, GUIDE, error, warning
from inferstack.endpoint.components import Component, room_of
from inferstack.endpoint.counts import Level
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_spec import components, fleets
from inferstack.endpoint.packing import copies_on
from inferstack.facts.scaling import maximums
from inferstack.facts.walk import (
    Specification,
    component_variants,
    components as written_components,
    hosts,
    specifications,
    variant_scalings,
    variants,
    whole_specifications,
)
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
    for path, name, component in written_components(spec):
        for below, specification in specifications(path, component):
            needs = specification.compute_resource_requirements
            if needs is None:
                continue
            for host in _hosts(spec, component, specification):
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
    for path, name, specification in whole_specifications(spec):
        needs = specification.compute_resource_requirements
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
    for path, _, component in written_components(spec):
        for below, specification in specifications(path, component):
            needs = specification.compute_resource_requirements
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
    for copy in _placements(spec):
        host, wanted = copy.host, copy.needs.number_of_accelerator_devices_required
        there = host.accelerator_devices
        if wanted is not None and wanted > there:
            has = str(there) if there else "none"
            message = f"a copy of `{copy.name}` needs {wanted} accelerators, but {host.name} has {has}"
            fix = (
                f"write at most {there}, or choose a larger instance type"
                if there
                else "remove it, or choose a type with accelerators"
            )
            yield Problem((*copy.path, "number_of_accelerator_devices_required"), message, fix)


@error("IS413", _REQUIREMENTS)
def cores_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more vCPUs than an instance has.

    A copy never spans instances.
    """
    for copy in _placements(spec):
        host, wanted = copy.host, copy.needs.number_of_cpu_cores_required
        if wanted is not None and wanted > host.vcpus:
            message = f"a copy of `{copy.name}` needs {wanted} vCPUs, but {host.name} has {host.vcpus}"
            fix = f"write at most {host.vcpus}, or choose a larger type"
            yield Problem((*copy.path, "number_of_cpu_cores_required"), message, fix)


@error("IS414", _REQUIREMENTS)
def memory_fits(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more memory than an instance has.

    A copy never spans instances. The host's memory counts, not the GPU's.
    """
    for copy in _placements(spec):
        host, wanted = copy.host, copy.needs.min_memory_required_in_mb
        if wanted is not None and wanted > host.memory_mib:
            message = f"a copy of `{copy.name}` needs {wanted} MB, but {host.name} has {host.memory_mib}"
            fix = f"write less than {_usable(host)}, which leaves the host a tenth, or choose a larger type"
            yield Problem((*copy.path, "min_memory_required_in_mb"), message, fix)


@warning("IS415", "user reports")
def memory_leaves_a_reserve(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy should leave some memory for the host itself.

    How much the host keeps is not documented; a tenth is a guess on the small side.
    """
    for copy in _placements(spec):
        host, wanted = copy.host, copy.needs.min_memory_required_in_mb
        usable = _usable(host)
        if wanted is not None and usable < wanted <= host.memory_mib:
            message = f"a copy of `{copy.name}` needs {wanted} of the {host.memory_mib} MB of {host.name}"
            fix = f"write less than {usable}, which leaves the host a tenth"
            yield Problem((*copy.path, "min_memory_required_in_mb"), message, fix)


def _usable(host: InstanceType) -> int:
    return int(host.memory_mib * _USABLE_MEMORY)


class _Hosted(msgspec.Struct, frozen=True):
    """A fleet of one known instance type, with the components that reserve room on it."""

    path: SpecPath
    variant: Variant
    host: InstanceType
    fleet: Fleet
    components: tuple[Component, ...]
    has_target: bool

    def accelerators(self, level: Level) -> float:
        """Accelerators that all copies need together at a level.

        Components of which no copy fits are left out: they are reported separately.
        """
        most = self.host.accelerator_devices
        copies = ((it.copies.at(level) or 0, it.needs) for it in self.components if it.needs is not None)
        return sum(count * needs.accelerators for count, needs in copies if needs.accelerators <= most)

    def alone(self, component: Component) -> int:
        """How many copies of a component fit on one instance that has nothing else."""
        return 0 if component.needs is None else copies_on(room_of(self.host), component.needs.room)

    @property
    def first_instances(self) -> int | None:
        """The most instances that the first copies can have.

        SageMaker's guide does not say that it adds instances for the first copies, too, but AWS's examples
        rely on it.
        """
        counts = self.fleet.by_scaling
        if counts is None or counts.start is None or not self.fleet.grows_with_copies:
            return None if counts is None else counts.start
        return None if counts.max is None else max(counts.start, counts.max)

    @property
    def limit(self) -> str:
        """The key that allows a larger fleet."""
        scaled = "`max_capacity` of its `autoscaling`"
        return scaled if self.has_target else "`max_instance_count` of `managed_instance_scaling`"

    def enlarged(self, needed: int) -> str:
        """How to let the first copies have as many instances: by the keys that stand in the way."""
        if not self.fleet.grows_with_copies:
            counts = self.fleet.by_scaling
            most = None if counts is None or not self.has_target else counts.max
            more = f", and {self.limit} as well" if most is not None and most < needed else ""
            return f"raise `initial_instance_count` to {needed}{more}"
        lack = self.fleet.shortage("max")
        later = "" if lack is None or lack.needed <= needed else f" ({lack.needed} for the maximum copies)"
        return f"let the fleet grow to {needed}{later} with {self.limit}"


def _hosted(spec: InferenceComponentsSpec) -> Iterator[_Hosted]:
    """Fleets with one instance type; with several, what fits depends on which ones the fleet gets."""
    by_name = {fleet.name: fleet for fleet in fleets(spec)}
    scaled = {id(variant) for _, variant, _ in variant_scalings(spec)}
    for path, variant in variants(spec):
        fleet = by_name[variant.variant_name]
        host = instances.find(fleet.instance_types[0]) if len(fleet.instance_types) == 1 else None
        if host is not None:
            here = tuple(
                it for it in components(spec) if it.variant == fleet.name and it.base is None and it.needs
            )
            yield _Hosted(path, variant, host, fleet, here, id(variant) in scaled)


@error("IS420", _COMPONENTS)
def first_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The initial copies must fit on the initial instances.

    Accelerators are counted over the whole fleet. A component that does not fit fails after minutes, and the
    stack with it.
    """
    for hosted in _hosted(spec):
        count = _too_few(hosted)
        if count is not None:
            needed = hosted.accelerators("start")
            instances_have = f"{count} x {hosted.host.name} {'has' if count == 1 else 'have'}"
            each = hosted.host.accelerator_devices
            message = f"the initial copies need {needed:g} accelerators, but {instances_have} {count * each}"
            lack = hosted.fleet.shortage("start")
            enough = math.ceil(needed / each) if lack is None else lack.needed
            fix = f"{hosted.enlarged(enough)}, or start with fewer copies"
            yield Problem((*hosted.path, "initial_instance_count"), message, fix)


def _too_few(hosted: _Hosted) -> int | None:
    """How many instances the first copies can have if those lack accelerators, else None."""
    count, each = hosted.first_instances, hosted.host.accelerator_devices
    if not count or not each or hosted.accelerators("start") <= count * each:
        return None
    return count


@warning("IS421", _COMPONENTS, effect="never-fits")
def first_copies_can_be_placed(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """Each of the initial copies should fit into the space that the ones before it leave.

    SageMaker does not spread a copy over instances. Tried with accelerators, vCPUs and memory, on the
    instances that SageMaker may add for them, too; `inferstack review` draws the same copy.
    """
    for hosted in _hosted(spec):
        lack = hosted.fleet.shortage("start")
        if lack is not None and _too_few(hosted) is None:
            message = f"no instance has room left for {lack.copies} alongside the others"
            fix = f"{hosted.enlarged(lack.needed)}, or reserve less for each copy"
            yield Problem((*hosted.path, "initial_instance_count"), message, fix)


@warning("IS422", _SCALING, effect="never-fits")
def most_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component's maximum number of copies should fit on the largest fleet.

    Copies beyond the largest fleet can never start, but AWS accepts a higher limit, in a schedule, too. Each
    component is looked at by itself.
    """
    written = {name: (path, component.autoscaling) for path, name, component in written_components(spec)}
    for hosted in _hosted(spec):
        most = None if hosted.fleet.by_scaling is None else hosted.fleet.by_scaling.max
        for component in hosted.components:
            path, scaling = written[component.name]
            on_one = hosted.alone(component)
            if scaling is None or most is None or not on_one:
                continue
            for where, wanted in maximums(scaling):
                if wanted > on_one * most:
                    message = (
                        f"{wanted} copies of `{component.name}` do not fit on {most} x {hosted.host.name}"
                    )
                    needed = f"{-(-wanted // on_one)} with {hosted.limit}"
                    fix = f"write {on_one * most}, or let the fleet grow to {needed}"
                    yield Problem((*path, "autoscaling", *where), message, fix)


@warning("IS423", _SCALING, effect="never-fits")
def all_copies_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The maximum copies of all components should fit on the largest fleet together.

    Schedules that raise a maximum count, too. Components rarely peak at the same time, so this may be
    intended.
    """
    for hosted in _hosted(spec):
        lack = hosted.fleet.shortage("max")
        if lack is not None and len(hosted.components) > 1 and hosted.fleet.shortage("start") is None:
            message = f"no room for {lack.copies} at maximum capacity"
            needed = f"{lack.needed} x {hosted.host.name} are needed, {lack.instances} allowed"
            fix = f"let the fleet grow with {hosted.limit}, or ignore IS423 if they never peak together"
            yield Problem(hosted.path, f"{message}: {needed}", fix)

"""What one copy of an inference component needs, and whether an instance has it."""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import instances
from inferstack.catalog.instances import InstanceType
from inferstack.check.rules.base import error, warning
from inferstack.facts.walk import (
    Specification,
    component_variants,
    components,
    hosts,
    specifications,
    whole_specifications,
)
from inferstack.format.inference_component import ComputeResourceRequirements, InferenceComponent
from inferstack.format.kinds import InferenceComponentsSpec
from inferstack.problems import Problem, SpecPath

_REQUIREMENTS = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InferenceComponentComputeResourceRequirements.html"
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

    The only requirement that must be given.
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

    Both in MB of the host's memory.
    """
    for path, _, component in components(spec):
        for below, it in specifications(path, component):
            needs = it.compute_resource_requirements
            if needs is None:
                continue
            low, high = needs.min_memory_required_in_mb, needs.max_memory_required_in_mb
            if low is not None and high is not None and high < low:
                where = (*below, "compute_resource_requirements", "max_memory_required_in_mb")
                yield Problem(
                    where,
                    f"the maximum of {high} MB is below the minimum of {low} MB",
                    f"write {low} or more",
                )


@error("IS412", _REQUIREMENTS)
def accelerators_fit(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more accelerators than an instance has.

    A copy never spans instances.
    """
    for it in _placements(spec):
        wanted, there = it.needs.number_of_accelerator_devices_required, it.host.accelerator_devices
        if wanted is not None and wanted > there:
            has = f"{there} of them" if there else "none"
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
            yield Problem(
                (*it.path, "number_of_cpu_cores_required"),
                message,
                f"write at most {it.host.vcpus}, or choose a larger type",
            )


@error("IS414", _REQUIREMENTS)
def memory_fits(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy cannot need more memory than an instance has.

    The host's memory, not the GPU's.
    """
    for it in _placements(spec):
        wanted = it.needs.min_memory_required_in_mb
        if wanted is not None and wanted > it.host.memory_mib:
            message = f"a copy of `{it.name}` needs {wanted} MB, but {it.host.name} has {it.host.memory_mib}"
            yield Problem(
                (*it.path, "min_memory_required_in_mb"),
                message,
                f"write at most {it.host.memory_mib}, or choose a larger type",
            )


@warning("IS415", "user reports")
def memory_leaves_a_reserve(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A copy should leave some memory for the host itself.

    How much the host keeps is not documented; a tenth is a guess on the small side.
    """
    for it in _placements(spec):
        wanted, usable = it.needs.min_memory_required_in_mb, int(it.host.memory_mib * _USABLE_MEMORY)
        if wanted is not None and usable < wanted <= it.host.memory_mib:
            message = f"a copy of `{it.name}` needs {wanted} of the {it.host.memory_mib} MB of {it.host.name}"
            yield Problem(
                (*it.path, "min_memory_required_in_mb"),
                message,
                f"write less than {usable}, which leaves the host a tenth",
            )

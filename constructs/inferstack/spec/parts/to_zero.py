"""Scaling to zero, always or by a schedule: what follows from a `min_capacity` of 0.

With inference components, four pieces belong together: copies may go to zero, and instances, too; policies of
:mod:`inferstack.spec.parts.scaling` follow the traffic, and start a copy at the first refused request.
https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
"""

from collections.abc import Iterator

from msgspec.structs import replace

from inferstack.defaults import EMPTY_FLEET
from inferstack.spec.blocks.autoscaling import Autoscaling
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import ManagedInstanceScaling, Variant
from inferstack.spec.parts.walk import (
    component_variants,
    components,
    variant_scalings,
    variants,
)
from inferstack.spec.problem import SpecPath


def goes_to_zero(scaling: Autoscaling) -> bool:
    """Whether the target or one of its scheduled actions allows a capacity of zero."""
    actions = scaling.scheduled_actions or ()
    return 0 in (scaling.min_capacity, *(it.scalable_target_action.min_capacity for it in actions))


def woken_from_zero(scaling: Autoscaling) -> Iterator[SpecPath]:
    """The limits that allow both zero and more; with a maximum of 0 it is off, and no request starts it."""
    if scaling.min_capacity == 0:
        yield ("min_capacity",)
    for index, action in enumerate(scaling.scheduled_actions or ()):
        limits = action.scalable_target_action
        if limits.min_capacity == 0 and limits.max_capacity != 0:
            yield ("scheduled_actions", index, "scalable_target_action", "min_capacity")


def managed_scaling(spec: ModelSpec, variant: Variant) -> ManagedInstanceScaling | None:
    """The variant's managed instance scaling: what the spec says, and down to zero if all copies can go to
    zero.

    What the spec says about it is kept, and so is the upper limit of what the fleet can cost.
    """
    said = variant.managed_instance_scaling
    counts_itself = any(it is variant for _, it, _ in variant_scalings(spec))
    if counts_itself or not _empties(spec, variant) or (said is not None and said.status == "DISABLED"):
        return said
    empty = EMPTY_FLEET.value
    if said is None:
        return replace(empty, max_instance_count=variant.initial_instance_count)
    lowest = empty.min_instance_count if said.min_instance_count is None else said.min_instance_count
    return replace(said, min_instance_count=lowest)


def counts_change(spec: ModelSpec) -> bool:
    """Whether anything other than an update changes how many instances run."""
    scaled = any(True for _ in variant_scalings(spec))
    return scaled or any(managed_scaling(spec, variant) is not None for _, variant in variants(spec))


def _empties(spec: ModelSpec, variant: Variant) -> bool:
    """Whether every component on the variant may have zero copies; adapters follow their bases."""
    here = [
        component
        for _, _, component in components(spec)
        if variant in component_variants(spec, component) and component.base_name is None
    ]
    return bool(here) and all(it.autoscaling is not None and goes_to_zero(it.autoscaling) for it in here)

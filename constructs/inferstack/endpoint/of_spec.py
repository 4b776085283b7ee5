"""Fleets and inference components of an endpoint, read from a typed spec: what rules, lists and sizing ask
for.
"""

from collections.abc import Iterator, Sequence

from inferstack.endpoint.capacity import with_copies
from inferstack.endpoint.components import Component, Needs
from inferstack.endpoint.counts import Counts, total
from inferstack.endpoint.fleets import Batch, CapacityLimits, Fleet, Serverless, WrittenVariant, fleet_of
from inferstack.endpoint.place import NOWHERE
from inferstack.facts.once import answered_once
from inferstack.facts.scaling import first_copies, managed_scaling
from inferstack.facts.walk import (
    Specification,
    component_variants,
    components as written_components,
    deployment_config,
    every_variant,
    instance_types,
    shadow_variants,
    specifications,
    variant_scalings,
)
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.inference_component import (
    ComponentSpecificationForInstanceType,
    ComputeResourceRequirements,
    InferenceComponent,
)
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.texts.placeholders import is_opaque


def instance_counts(spec: ModelSpec) -> Counts | None:
    """The instances of all variants, shadows included; None for a serverless endpoint."""
    counts = [fleet.instances for fleet in fleets(spec) if fleet.instances is not None]
    return total(counts) if counts else None


@answered_once
def fleets(spec: ModelSpec) -> Sequence[Fleet]:
    """Every variant, shadows last, with the copies of its components."""
    shadows = {id(variant) for _, variant in shadow_variants(spec)}
    batch, parts = _batch(spec), components(spec)
    return [
        with_copies(fleet_of(_written(spec, variant, is_shadow=id(variant) in shadows), batch), parts)
        for _, variant in every_variant(spec)
    ]


def _written(spec: ModelSpec, variant: Variant, *, is_shadow: bool) -> WrittenVariant:
    start = _known(variant.initial_instance_count)
    scaling = next((it for _, scaled, it in variant_scalings(spec) if scaled is variant), None)
    serverless = variant.serverless_config
    return WrittenVariant(
        name=variant.variant_name,
        is_shadow=is_shadow,
        instance_types=instance_types(variant),
        start=start,
        target=None if scaling is None or serverless is not None else limits(scaling),
        managed=_managed(spec, variant, start),
        serverless=None
        if serverless is None
        else Serverless(
            _known(serverless.memory_size_in_mb),
            _known(serverless.max_concurrency),
            _known(serverless.provisioned_concurrency),
        ),
        weight=variant.initial_variant_weight,
        place=NOWHERE,
    )


def limits(scaling: Autoscaling) -> CapacityLimits:
    """What a scaling target allows at any time, scheduled actions included."""
    suspended = scaling.suspended_state
    is_off = suspended is not None and suspended.scheduled_scaling_suspended
    actions = [it.scalable_target_action for it in (() if is_off else scaling.scheduled_actions or ())]
    lows = [scaling.min_capacity, *(it.min_capacity for it in actions if it.min_capacity is not None)]
    highs = [scaling.max_capacity, *(it.max_capacity for it in actions if it.max_capacity is not None)]
    return CapacityLimits.over_time([*map(_known, lows)], [*map(_known, highs)])


def _managed(spec: ModelSpec, variant: Variant, start: int | None) -> CapacityLimits | None:
    managed = managed_scaling(spec, variant)
    if managed is None or managed.status == "DISABLED":
        return None
    low, high = managed.min_instance_count, managed.max_instance_count
    return CapacityLimits(start if low is None else _known(low), start if high is None else _known(high))


def _batch(spec: ModelSpec) -> Batch | None:
    config = deployment_config(spec)
    rolling = None if config is None else config.rolling_update_policy
    if rolling is None:
        return None
    batch = rolling.maximum_batch_size
    return Batch(None if is_opaque(batch.value) else batch.value, batch.type == "CAPACITY_PERCENT")


def _known(count: int | None) -> int | None:
    """A number, or None where only the deployment knows it."""
    return None if count is None or is_opaque(count) else count


# ---------------------------------------------------------------- components


@answered_once
def components(spec: ModelSpec) -> Sequence[Component]:
    """Every inference component, as it is on the preferred instance type of its variant."""
    return [*_components(spec)]


def _components(spec: ModelSpec) -> Iterator[Component]:
    by_name = {name: component for _, name, component in written_components(spec)}
    for name, component in by_name.items():
        base = component.base_name
        # An adapter runs where its base does.
        host = component if base is None else by_name.get(base, component)
        variants = component_variants(spec, host)
        types = instance_types(variants[0]) if variants else ()
        start = _known(first_copies(component))
        allowed = (
            CapacityLimits(start, start) if component.autoscaling is None else limits(component.autoscaling)
        )
        specification = specification_on(component, types[0] if types else None)
        where = None if specification is None else specification.scheduling_config
        balance = None if where is None else where.availability_zone_balance
        wanted = None if specification is None else specification.compute_resource_requirements
        yield Component(
            name=name,
            variant=variants[0].variant_name if variants else None,
            base=base,
            copies=Counts(allowed.low, start, allowed.high),
            needs=None if wanted is None else needs_of(wanted),
            placement_strategy=None if where is None else where.placement_strategy,
            max_imbalance=None if balance is None else balance.max_imbalance or 0,
            place=NOWHERE,
        )


def specification_on(component: InferenceComponent, instance_type: str | None) -> Specification | None:
    """What a component runs on an instance type; None if it does not say it."""
    for _, it in specifications((), component):
        if not isinstance(it, ComponentSpecificationForInstanceType) or it.instance_type == instance_type:
            return it
    return None


def needs_of(wanted: ComputeResourceRequirements) -> Needs | None:
    """What a copy reserves; None if only the deployment knows it."""
    amounts = [
        wanted.number_of_accelerator_devices_required,
        wanted.number_of_cpu_cores_required,
        wanted.min_memory_required_in_mb,
    ]
    if any(amount is not None and is_opaque(amount) for amount in amounts):
        return None
    return Needs(*(0.0 if amount is None else float(amount) for amount in amounts))

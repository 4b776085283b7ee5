"""What a size changes in a spec: by path, so that an editor of text and a reviewer can use it alike."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from inferstack.facts.kinds import hosts_components
from inferstack.facts.scaling import PER_INSTANCE, TRACKED
from inferstack.facts.walk import is_async, variant_scalings, variants
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.kinds import ModelSpec
from inferstack.format.objective import Objective
from inferstack.format.variant import Variant
from inferstack.problems import SpecPath
from inferstack.problems.words import listed
from inferstack.sizing.sizes import Demand, Size, demand_of

# https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
_SUMMED = frozenset({"CPUUtilization", "GPUUtilization", "GPUMemoryUtilization"})


class NotWritableError(ValueError):
    """Why a size cannot be written into a spec."""


class SizedVariant(msgspec.Struct, frozen=True):
    """The variant whose instances are counted, and what its share of the requests demands of it."""

    path: SpecPath
    variant: Variant
    demand: Demand


class SpecChanges(msgspec.Struct, frozen=True):
    """The values that a spec gets, by path, and what is left as it is, in words."""

    values: Mapping[SpecPath, Any]
    left: tuple[str, ...] = ()


def sized_variant(
    spec: ModelSpec, objective: Objective, name: str | None = None, traffic: Sequence[Decimal] = ()
) -> SizedVariant:
    """The only variant of a spec, or the one of a name. Several share the requests by their weights, in each
    minute of the ``traffic``.

    Raises:
        NotWritableError: when it is not clear which one is meant.
    """
    by_name = {variant.variant_name: (path, variant) for path, variant in variants(spec)}
    names = listed(list(by_name), last="and")
    if name is None and len(by_name) > 1:
        raise NotWritableError(f"the endpoint has the variants {names}: choose one with `--variant`")
    path, variant = by_name.get(name, (None, None)) if name is not None else next(iter(by_name.values()))
    if path is None or variant is None:
        raise NotWritableError(f"the endpoint has no variant `{name}`, only {names}")
    weights = [_weight(it) for _, it in by_name.values()]
    if not _weight(variant):
        raise NotWritableError(f"the variant `{variant.variant_name}` has weight 0, so it gets no requests")
    demand = demand_of(objective, traffic, _weight(variant), sum(weights, Decimal(0)))
    return SizedVariant(path, variant, demand)


def _weight(variant: Variant) -> Decimal:
    weight = variant.initial_variant_weight
    return Decimal(1) if weight is None else Decimal(str(weight))


def changes_for(spec: ModelSpec, sized: SizedVariant, size: Size) -> SpecChanges:
    """The changes that give a variant the instances of a size.

    Raises:
        NotWritableError: when the variant has no such instances.
    """
    path, variant = sized.path, sized.variant
    if variant.serverless_config is not None:
        raise NotWritableError("the variant is serverless, so it has no instances to write")
    if variant.instance_pools:
        raise NotWritableError("the variant has `instance_pools`, of which a size says nothing")
    values: dict[SpecPath, Any] = {
        (*path, "instance_type"): size.measurement.instance_type,
        (*path, "initial_instance_count"): size.count,
    }
    if hosts_components(spec):
        return SpecChanges(values, ("the copies of the components decide how many instances run",))
    for at, scaled, scaling in variant_scalings(spec):
        if scaled is variant:
            values.update(_scaling(spec, at, scaling, size))
            has_other_type = variant.instance_type != size.measurement.instance_type
            return SpecChanges(values, tuple(_left(spec, scaling, has_other_type=has_other_type)))
    if scaling_block := scaling_for(spec, size, is_scaled=False):
        values[("autoscaling",) if path == ("variant",) else (*path, "autoscaling")] = scaling_block
    return SpecChanges(values, tuple(_left(spec, None)))


def scaling_for(spec: ModelSpec, size: Size, *, is_scaled: bool) -> Mapping[str, Any]:
    """The scaling that is written for a size, as a block of its own; empty if none is.

    A spec whose instances are not scaled gets some only if the demand ever needs fewer instances.
    """
    gets_none = is_async(spec) or size.min_capacity >= size.count
    if hosts_components(spec) or (gets_none and not is_scaled):
        return {}
    limits = {"min_capacity": size.min_capacity, "max_capacity": size.count}
    return limits if is_async(spec) else {**limits, "policies": [_policy(size)]}


def _scaling(spec: ModelSpec, path: SpecPath, scaling: Autoscaling, size: Size) -> Mapping[SpecPath, Any]:
    values: dict[SpecPath, Any] = {(*path, "max_capacity"): size.count}
    if scaling.min_capacity != 0:
        values[(*path, "min_capacity")] = size.min_capacity
    if is_async(spec):
        return values
    same = PER_INSTANCE if size.metric == TRACKED else {size.metric}
    followed = [at for at, it in enumerate(scaling.policies) if it.metric in same]
    if followed:
        return {**values, (*path, "policies", followed[0], "target_value"): size.target_value}
    return {**values, (*path, "policies", len(scaling.policies)): _policy(size)}


def _policy(size: Size) -> dict[str, Any]:
    return {"metric": size.metric, "target_value": size.target_value}


def _left(spec: ModelSpec, scaling: Autoscaling | None, *, has_other_type: bool = False) -> Iterator[str]:
    if is_async(spec):
        yield "an asynchronous endpoint scales by its queue, so no target is written"
    if scaling is None:
        return
    if scaling.min_capacity == 0:
        yield "`min_capacity` is still 0"
    if scaling.scheduled_actions:
        yield "`scheduled_actions` still set limits of their own"
    summed = [str(it.metric) for it in scaling.policies if it.metric in _SUMMED]
    if has_other_type and summed:
        names = listed(summed, last="and")
        yield f"check the target of {names}: it is a sum over what an instance has, and that has changed"

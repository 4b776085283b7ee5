"""What a size changes in a spec: by path, so that an editor of text and a reviewer can use it alike."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from inferstack.catalog.metrics import find_predefined
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
    path, variant = named_variant(spec, name)
    weights = [_weight(it) for _, it in variants(spec)]
    if not _weight(variant):
        raise NotWritableError(f"the variant `{variant.variant_name}` has weight 0, so it gets no requests")
    demand = demand_of(objective, traffic, _weight(variant), sum(weights, Decimal(0)))
    return SizedVariant(path, variant, demand)


def named_variant(spec: ModelSpec, name: str | None) -> tuple[SpecPath, Variant]:
    """The only variant of a spec, or the one of a name, with its path.

    Raises:
        NotWritableError: when it is not clear which one is meant.
    """
    by_name = {variant.variant_name: (path, variant) for path, variant in variants(spec)}
    names = listed(list(by_name), last="and")
    if name is None and len(by_name) > 1:
        raise NotWritableError(f"the endpoint has the variants {names}: choose one with `--variant`")
    found = by_name.get(name) if name is not None else next(iter(by_name.values()))
    if found is None:
        raise NotWritableError(f"the endpoint has no variant `{name}`, only {names}")
    return found


def _weight(variant: Variant) -> Decimal:
    weight = variant.initial_variant_weight
    return Decimal(1) if weight is None else Decimal(str(weight))


def changes_for(spec: ModelSpec, sized: SizedVariant, size: Size) -> SpecChanges:
    """The changes that give a variant the instances of a size.

    Raises:
        NotWritableError: when the variant has no such instances.
    """
    path, variant = sized.path, sized.variant
    require_writable(variant)
    values: dict[SpecPath, Any] = {
        (*path, "instance_type"): size.measurement.instance_type,
        (*path, "initial_instance_count"): size.count,
    }
    at, scaling = ("autoscaling",) if path == ("variant",) else (*path, "autoscaling"), None
    for where, scaled, found in variant_scalings(spec):
        if scaled is variant:
            at, scaling = where, found
    has_other_type = variant.instance_type != size.measurement.instance_type
    scaled_as = scaling_changes(spec, at, scaling, size, has_other_type=has_other_type)
    return SpecChanges({**values, **scaled_as.values}, scaled_as.left)


def require_writable(variant: Variant) -> None:
    """Raises a :class:`NotWritableError` for a variant that has no instances of one type."""
    if variant.serverless_config is not None:
        raise NotWritableError("the variant is serverless, so it has no instances to write")
    if variant.instance_pools:
        raise NotWritableError("the variant has `instance_pools`, of which a size says nothing")


def scaling_changes(
    spec: ModelSpec, path: SpecPath, scaling: Autoscaling | None, size: Size, *, has_other_type: bool
) -> SpecChanges:
    """The changes of the scaling at a path, which is added if there is none and the demand varies."""
    left = tuple(_left(spec, scaling, has_other_type=has_other_type))
    if scaling is not None:
        return SpecChanges(_scaling(spec, path, scaling, size), left)
    block = scaling_for(spec, size, is_scaled=False)
    return SpecChanges({path: block} if block else {}, left)


def scaling_for(spec: ModelSpec, size: Size, *, is_scaled: bool) -> Mapping[str, Any]:
    """The scaling that is written for a size, as a block of its own; empty if none is.

    A spec whose instances are not scaled gets some only if the demand ever needs fewer instances.
    """
    gets_none = is_async(spec) or size.min_capacity >= size.count
    if gets_none and not is_scaled:
        return {}
    limits = {"min_capacity": size.min_capacity, "max_capacity": size.count}
    return limits if is_async(spec) else {**limits, "policies": [_policy(size)]}


def _scaling(spec: ModelSpec, path: SpecPath, scaling: Autoscaling, size: Size) -> Mapping[SpecPath, Any]:
    values: dict[SpecPath, Any] = {(*path, "max_capacity"): size.count}
    if scaling.min_capacity != 0:
        values[(*path, "min_capacity")] = size.min_capacity
    if is_async(spec):
        return values
    same = _counted(size.metric)
    followed = [at for at, it in enumerate(scaling.policies) if _counted(it.metric) == same]
    if followed:
        return {**values, (*path, "policies", followed[0], "target_value"): size.target_value}
    return {**values, (*path, "policies", len(scaling.policies)): _policy(size)}


def _counted(metric: str | None) -> str | None:
    """What a policy follows, by the name that CloudWatch has for it."""
    predefined = None if metric is None else find_predefined(metric)
    return metric if predefined is None else predefined.metric


def _policy(size: Size) -> dict[str, Any]:
    return {"metric": size.metric, "target_value": size.target_value}


def _left(spec: ModelSpec, scaling: Autoscaling | None, *, has_other_type: bool) -> Iterator[str]:
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

"""The picture of an endpoint as far as rules and lists ask for it, read from a typed spec."""

from inferstack.endpoint.counts import InstanceCounts
from inferstack.facts.scaling import least_capacity, managed_scaling, most_capacity
from inferstack.facts.walk import every_variant, variant_scalings
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant


def instance_counts(spec: ModelSpec) -> InstanceCounts | None:
    """The instances of all variants, shadows included; None for a serverless endpoint."""
    fleets = [_counts(spec, it) for _, it in every_variant(spec) if it.serverless_config is None]
    if not fleets:
        return None
    least, start, most = (sum(column) for column in zip(*fleets, strict=True))
    return InstanceCounts(least, start, most)


def _counts(spec: ModelSpec, variant: Variant) -> tuple[int, int, int]:
    start = variant.initial_instance_count or 0
    scaling = next((it for _, scaled, it in variant_scalings(spec) if scaled is variant), None)
    if scaling is not None:
        return least_capacity(scaling), start, most_capacity(scaling)
    managed = managed_scaling(spec, variant)
    if managed is None or managed.status == "DISABLED":
        return start, start, start
    low, high = managed.min_instance_count, managed.max_instance_count
    return start if low is None else low, start, start if high is None else high

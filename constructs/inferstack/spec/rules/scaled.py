"""What scales, on which dimension and from which number: read by all rules on scaling."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from inferstack.catalog.metrics import COPY_COUNT, INSTANCE_COUNT, PROVISIONED_CONCURRENCY
from inferstack.once import found_once
from inferstack.spec.blocks.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.problem import SpecPath
from inferstack.spec.to_zero import wake_up
from inferstack.spec.walk import (
    component_scalings,
    component_variants,
    policy_name,
    variant_dimension,
    variant_scalings,
    variants,
)

WHAT = {INSTANCE_COUNT: "instances", PROVISIONED_CONCURRENCY: "provisioned concurrency", COPY_COUNT: "copies"}


class Scaled(msgspec.Struct, frozen=True):
    """Something that scales: where, on which scalable dimension, on which fleet, from which number on."""

    path: SpecPath
    scaling: Autoscaling
    dimension: str
    variant: Variant | None
    start: tuple[SpecPath, int] | None

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels on which CloudWatch has metrics of it."""
        return ("component",) if self.dimension == COPY_COUNT else ("variant", "endpoint")


@found_once
def scaled_parts(spec: ModelSpec) -> Iterator[Scaled]:
    """Variants first, then components."""
    where = {id(variant): path for path, variant in variants(spec)}
    for path, variant, scaling in variant_scalings(spec):
        dimension = variant_dimension(variant)
        yield Scaled(path, scaling, dimension, variant, _start(where[id(variant)], variant))
    for path, _, component, scaling in component_scalings(spec):
        host = next(iter(component_variants(spec, component)), None)
        runtime = component.runtime_config
        place = (*path[:-1], "runtime_config", "copy_count")
        start = None if runtime is None else (place, runtime.copy_count)
        yield Scaled(path, scaling, COPY_COUNT, host, start)


def _start(path: SpecPath, variant: Variant) -> tuple[SpecPath, int] | None:
    """Where a variant says from which number it starts, and the number."""
    serverless = variant.serverless_config
    if serverless is None:
        count = variant.initial_instance_count
        return None if count is None else ((*path, "initial_instance_count"), count)
    count = serverless.provisioned_concurrency
    return None if count is None else ((*path, "serverless_config", "provisioned_concurrency"), count)


@found_once
def policies(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, ScalingPolicy]]:
    """Every policy with its path and with what it scales."""
    for scaled in scaled_parts(spec):
        for index, policy in enumerate(scaled.scaling.policies):
            yield (*scaled.path, "policies", index), scaled, policy


@found_once
def steps(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, StepPolicy]]:
    """Every step policy with its path and with what it scales."""
    for scaled in scaled_parts(spec):
        for index, step in enumerate(scaled.scaling.step_policies):
            yield (*scaled.path, "step_policies", index), scaled, step


@found_once
def named_policies(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, ScalingPolicy, str]]:
    """Every policy on a metric that AWS has a name for, with that name."""
    for path, scaled, policy in policies(spec):
        if policy.metric is not None:
            yield path, scaled, policy, policy.metric


# Names of metrics are those of all specs.
@lru_cache(maxsize=256)
def folded(name: str) -> str:
    """What two names must differ in: as part of a logical id a name loses all but letters and digits."""
    return re.sub(r"[^A-Za-z0-9]", "", name).lower() or name


def wake_up_name(scaled: Scaled) -> str | None:
    """Name of the policy that starts the first of it, if that is made."""
    made = wake_up(scaled.scaling, of_copies=scaled.dimension == COPY_COUNT)
    return None if made is None else policy_name(made)

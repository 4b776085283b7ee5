"""What scales, on which dimension and from which number: read by all rules on scaling."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

import msgspec

from inferstack.catalog.metrics import COPY_COUNT, INSTANCE_COUNT, PROVISIONED_CONCURRENCY
from inferstack.once import found_once
from inferstack.spec.blocks.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.parts.to_zero import wake_up
from inferstack.spec.parts.walk import (
    component_scalings,
    component_variants,
    policy_name,
    variant_dimension,
    variant_scalings,
    variants,
)
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding
from inferstack.spec.words import describe

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


class SameName(msgspec.Struct, frozen=True):
    """A policy that is called like one before it: where, its name, which other, and a name that is free."""

    path: SpecPath
    policy: ScalingPolicy | StepPolicy
    name: str
    other: str
    free: str


@found_once
def same_names(spec: ModelSpec) -> Iterator[SameName]:
    """Of all that one target has: Application Auto Scaling knows a policy by its name there.

    A second one would replace the first, or be refused for its other type.
    https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScalingPolicy.html
    """
    for scaled in scaled_parts(spec):
        woken_by = wake_up_name(scaled)
        seen = {} if woken_by is None else dict.fromkeys(_taken("", woken_by), f"the built-in `{woken_by}`")
        for path, sort, number, policy in _in_order(scaled):
            name = policy_name(policy)
            taken = _taken(sort, name)
            other = next((seen[key] for key in taken if key in seen), None)
            if other is not None:
                numbered = (f"{name}{it}" for it in count(2))
                free = next(it for it in numbered if seen.keys().isdisjoint(_taken(sort, it)))
                yield SameName(path, policy, name, other, free)
            for key in taken:
                seen.setdefault(key, f"number {number} of `{sort}`, `{name}`")


def _in_order(scaled: Scaled) -> Iterator[tuple[SpecPath, str, int, ScalingPolicy | StepPolicy]]:
    """Every policy of one target: its path, the list that it stands in, its number there, the policy."""
    for sort in ("policies", "step_policies"):
        for index, policy in enumerate(getattr(scaled.scaling, sort)):
            yield (*scaled.path, sort, index), sort, index + 1, policy


def called_like_another(path: SpecPath, same: SameName) -> Finding:
    """What two rules say of it, each of policies of one sort."""
    message = f"the policy `{same.name}` is called like another: {same.other}"
    return Finding(path, message, f"give it another `policy_name`, such as {describe(same.free)}")


# Names of metrics are those of all specs.
@lru_cache(maxsize=256)
def _taken(sort: str, name: str) -> tuple[str, ...]:
    """What no other policy may take: as part of a logical id a name loses all but letters and digits.

    One without any leaves of the id what all of its sort begin with.
    """
    letters = re.sub(r"[^A-Za-z0-9]", "", name).lower()
    return (letters,) if letters else (name, f"{sort}: ")


def wake_up_name(scaled: Scaled) -> str | None:
    """Name of the policy that starts the first of it, if that is made."""
    made = wake_up(scaled.scaling, of_copies=scaled.dimension == COPY_COUNT)
    return None if made is None else policy_name(made)

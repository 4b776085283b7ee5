"""What scales, and by which policies.

This is asked when resources are made, by the rules, and by the check of a template's limits.

https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
"""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COPY_COUNT, INSTANCE_COUNT, PROVISIONED_CONCURRENCY, Metric
from inferstack.defaults import RUNTIME_CONFIG, TRACK_COMPONENT, WAKE_ASYNC_VARIANT, WAKE_COMPONENT
from inferstack.once import found_once
from inferstack.spec.blocks.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.spec.blocks.inference_component import InferenceComponent
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.parts.measured import Measured, measured_component, measured_variant
from inferstack.spec.parts.to_zero import woken_from_zero
from inferstack.spec.parts.walk import (
    component_scalings,
    hosting_of,
    variant_dimension,
    variant_scalings,
    variants,
)
from inferstack.spec.problem import SpecPath

WHAT = {INSTANCE_COUNT: "instances", PROVISIONED_CONCURRENCY: "provisioned concurrency", COPY_COUNT: "copies"}
"""What scaling adds and removes, by the scalable dimension."""


class Scaled(msgspec.Struct, frozen=True):
    """A variant or an inference component that scales.

    ``path`` is the path of its `autoscaling`, ``dimension`` the scalable dimension, ``part`` the part of the
    endpoint whose metrics decide. ``component`` is None for a variant. ``start`` is the number that it starts
    with, and the path of that number.
    """

    path: SpecPath
    scaling: Autoscaling
    dimension: str
    part: Measured
    name: str
    component: InferenceComponent | None
    start: tuple[SpecPath, int] | None

    @property
    def variant(self) -> Variant | None:
        """The variant itself, or the one on whose instances the component runs, if the spec has it."""
        return self.part.variant

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels at which CloudWatch has metrics of it."""
        return ("variant", "endpoint") if self.component is None else ("component",)

    @property
    def wakes_from(self) -> SpecPath | None:
        """The path of the limit that allows zero instances or copies until a request starts the first one."""
        if self.dimension == PROVISIONED_CONCURRENCY:
            return None
        return next(((*self.path, *below) for below in woken_from_zero(self.scaling)), None)

    @property
    def has_policies(self) -> bool:
        """Whether the spec says when capacity changes: by either sort of policy, or by a schedule."""
        return bool(self.scaling.policies or self.scaling.step_policies or self.scaling.scheduled_actions)


@found_once
def scaled_parts(spec: ModelSpec) -> Iterator[Scaled]:
    """Everything that scales: variants first, then components."""
    where = {id(variant): path for path, variant in variants(spec)}
    for path, variant, scaling in variant_scalings(spec):
        part, start = measured_variant(spec, variant), _start(where[id(variant)], variant)
        yield Scaled(path, scaling, variant_dimension(variant), part, variant.variant_name, None, start)
    for path, name, component, scaling in component_scalings(spec):
        part, start = measured_component(spec, name, component), _start_of_copies(path[:-1], component)
        yield Scaled(path, scaling, COPY_COUNT, part, name, component, start)


def _start(path: SpecPath, variant: Variant) -> tuple[SpecPath, int] | None:
    serverless = variant.serverless_config
    if serverless is None:
        count = variant.initial_instance_count
        return None if count is None else ((*path, "initial_instance_count"), count)
    count = serverless.provisioned_concurrency
    return None if count is None else ((*path, "serverless_config", "provisioned_concurrency"), count)


def _start_of_copies(path: SpecPath, component: InferenceComponent) -> tuple[SpecPath, int] | None:
    runtime = component.runtime_config
    return None if runtime is None else ((*path, "runtime_config", "copy_count"), runtime.copy_count)


def first_copies(component: InferenceComponent) -> int:
    """How many copies a component starts with."""
    return (RUNTIME_CONFIG.value if component.runtime_config is None else component.runtime_config).copy_count


# ---------------------------------------------------------------- policies


def policies_of(scaled: Scaled) -> Iterator[tuple[SpecPath, ScalingPolicy]]:
    """Every policy that a target gets: the spec's own, or the built-in one that `min_capacity: 0` adds."""
    yield from _own_policies(scaled)
    built_in = built_in_policy(scaled)
    if built_in is not None:
        yield (*scaled.path, "min_capacity"), built_in


def steps_of(scaled: Scaled) -> Iterator[tuple[SpecPath, StepPolicy]]:
    """Every step policy that a target gets: the spec's own and the built-in one."""
    yield from _own_steps(scaled)
    built_in, where = built_in_step(scaled), scaled.wakes_from
    if built_in is not None and where is not None:
        yield where, built_in


def built_in_policy(scaled: Scaled) -> ScalingPolicy | None:
    """The policy that copies which may go to zero follow above it, unless the spec says how they scale."""
    follows = scaled.component is not None and scaled.scaling.min_capacity == 0 and not scaled.has_policies
    return TRACK_COMPONENT.value if follows else None


def built_in_step(scaled: Scaled) -> StepPolicy | None:
    """The step that starts the first copy or instance from zero, unless the spec has one on its metric."""
    made = (WAKE_ASYNC_VARIANT if scaled.component is None else WAKE_COMPONENT).value
    watched = {step.metric for step in scaled.scaling.step_policies}
    return made if scaled.wakes_from is not None and made.metric not in watched else None


def _own_policies(scaled: Scaled) -> Iterator[tuple[SpecPath, ScalingPolicy]]:
    for index, policy in enumerate(scaled.scaling.policies):
        yield (*scaled.path, "policies", index), policy


def _own_steps(scaled: Scaled) -> Iterator[tuple[SpecPath, StepPolicy]]:
    for index, step in enumerate(scaled.scaling.step_policies):
        yield (*scaled.path, "step_policies", index), step


@found_once
def policies(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, ScalingPolicy]]:
    """Every policy in the spec, with its path and with what it scales."""
    for scaled in scaled_parts(spec):
        yield from ((path, scaled, policy) for path, policy in _own_policies(scaled))


@found_once
def steps(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, StepPolicy]]:
    """Every step policy in the spec, with its path and with what it scales."""
    for scaled in scaled_parts(spec):
        yield from ((path, scaled, step) for path, step in _own_steps(scaled))


@found_once
def named_policies(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, ScalingPolicy, str]]:
    """Every policy whose `metric` is a name of AWS's, with that name."""
    for path, scaled, policy in policies(spec):
        if policy.metric is not None:
            yield path, scaled, policy, policy.metric


def metrics_of(spec: ModelSpec, scaled: Scaled, name: str) -> tuple[Metric, ...]:
    """The metrics that a policy may mean by a name: of what scales, or (for a variant) of the endpoint."""
    return tuple(it for it in metrics.find(name, hosting_of(spec)) if it.dimensions in scaled.levels)

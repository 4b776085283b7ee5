"""What scales, by which policies and steps, and whether it scales to zero.

With inference components, scaling to zero takes four pieces: copies may go to zero, instances may, a
policy follows the traffic, and another starts a copy at the first refused request.
https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
"""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COPY_COUNT, INSTANCE_COUNT, PROVISIONED_CONCURRENCY, Metric
from inferstack.facts.engines import LANGUAGE_MODEL_ENGINES, engine_of
from inferstack.facts.once import found_once
from inferstack.facts.publications import Publisher, publishing_component, publishing_variant
from inferstack.facts.quantity import UnfitQuantity, absolute_bound, as_counted
from inferstack.facts.walk import (
    PlacedContainer,
    component_scalings,
    component_variants,
    components,
    containers,
    hosting,
    hosting_of,
    runs,
    runs_of,
    variant_dimension,
    variant_scalings,
    variants,
)
from inferstack.format.autoscaling import Autoscaling, ScalingPolicy, StepAdjustment, StepPolicy
from inferstack.format.base import Number
from inferstack.format.defaults import (
    EMPTY_FLEET,
    RUNTIME_CONFIG,
    TRACK_COMPONENT,
    TRACK_LANGUAGE_MODEL,
    WAKE_ASYNC_VARIANT,
    WAKE_COMPONENT,
)
from inferstack.format.inference_component import InferenceComponent
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import ManagedInstanceScaling, Variant
from inferstack.problems import SpecPath
from inferstack.problems.words import describe

TRACKED = "SageMakerVariantInvocationsPerInstance"
"""The metric of a policy whose target is a number of requests per minute and instance."""
TRACKED_AT_ONCE = "SageMakerVariantConcurrentRequestsPerModelHighResolution"
"""The metric of a policy whose target is a number of concurrent requests per instance."""
OF_COPIES = {TRACKED: TRACK_COMPONENT.value.metric, TRACKED_AT_ONCE: TRACK_LANGUAGE_MODEL.value.metric}
"""What counts the same per copy of a component."""
PER_COPY = frozenset({OF_COPIES[TRACKED], "InvocationsPerCopy"})
"""The names of metrics that count requests per minute and copy."""
PER_INSTANCE = frozenset({TRACKED, "InvocationsPerInstance"})
"""The names of metrics that count requests per minute and instance."""

# ---------------------------------------------------------------- to zero


def goes_to_zero(scaling: Autoscaling) -> bool:
    """Whether the target or one of its scheduled actions allows a capacity of zero."""
    actions = scaling.scheduled_actions or ()
    return 0 in (scaling.min_capacity, *(it.scalable_target_action.min_capacity for it in actions))


def most_capacity(scaling: Autoscaling) -> int:
    """The highest maximum that the target has at any time."""
    return max(most for _, most in maximums(scaling))


def maximums(scaling: Autoscaling) -> Iterator[tuple[SpecPath, int]]:
    """Each maximum that the target has at some time, its own or that of a scheduled action, with its path."""
    yield ("max_capacity",), scaling.max_capacity
    for index, action in enumerate(scaling.scheduled_actions or ()):
        most = action.scalable_target_action.max_capacity
        if most is not None:
            yield ("scheduled_actions", index, "scalable_target_action", "max_capacity"), most


def least_capacity(scaling: Autoscaling) -> int:
    """The lowest minimum that the target has at any time: its own, or that of a scheduled action."""
    later = (it.scalable_target_action.min_capacity for it in scaling.scheduled_actions or ())
    return min([scaling.min_capacity, *(it for it in later if it is not None)])


def woken_from_zero(scaling: Autoscaling) -> Iterator[SpecPath]:
    """The limits that allow both zero and more; with a maximum of 0 it stays off, whatever the requests."""
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
    written = variant.managed_instance_scaling
    counts_itself = any(it is variant for _, it, _ in variant_scalings(spec))
    if counts_itself or not _empties(spec, variant) or (written is not None and written.status == "DISABLED"):
        return written
    empty = EMPTY_FLEET.value
    if written is None:
        return replace(empty, max_instance_count=variant.initial_instance_count)
    lowest = empty.min_instance_count if written.min_instance_count is None else written.min_instance_count
    return replace(written, min_instance_count=lowest)


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


# ---------------------------------------------------------------- what scales

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
    part: Publisher
    name: str
    component: InferenceComponent | None
    start: tuple[SpecPath, int] | None
    serves_language_model: bool = False

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
    with_engine = frozenset(_serving_language_models(spec))
    for path, variant, scaling in variant_scalings(spec):
        part, start = publishing_variant(spec, variant), _start(where[id(variant)], variant)
        yield Scaled(path, scaling, variant_dimension(variant), part, variant.variant_name, None, start)
    for path, name, component, scaling in component_scalings(spec):
        part, start = publishing_component(spec, name, component), _start_of_copies(path[:-1], component)
        yield Scaled(path, scaling, COPY_COUNT, part, name, component, start, name in with_engine)


def scaled_with(placed: PlacedContainer) -> Iterator[Scaled]:
    """What scales the copies of a container: components that run it, or else variants that host it."""
    names = {run.name for run in runs_of(placed.spec, placed.path)}
    here = () if names else hosting(placed.spec, placed.model)
    for scaled in scaled_parts(placed.spec):
        if scaled.name in names if scaled.component is not None else scaled.variant in here:
            yield scaled


def _serving_language_models(spec: ModelSpec) -> Iterator[str]:
    """The components whose image has an engine for language models that answer at length."""
    engines = {placed.path: engine_of(placed) for placed in containers(spec)} if components(spec) else {}
    for run in runs(spec):
        engine = None if run.container is None else engines.get(run.container)
        if engine is not None and engine.name in LANGUAGE_MODEL_ENGINES:
            yield run.name


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
    """The policy of copies that may go to zero, unless the spec has one of its own.

    A wake-up of the spec's own does not count: it starts the first copy, which nothing else would stop again.
    """
    scaling = scaled.scaling
    others = [it for it in scaling.step_policies if WAKE_COMPONENT.value.metric not in _metric_names(it)]
    own = scaling.policies or others or scaling.scheduled_actions
    if scaled.component is None or scaling.min_capacity != 0 or own:
        return None
    return (TRACK_LANGUAGE_MODEL if scaled.serves_language_model else TRACK_COMPONENT).value


def built_in_step(scaled: Scaled) -> StepPolicy | None:
    """The step that starts the first copy or instance from zero, unless the spec has one on its metric, alone
    or in an expression, or wants none.
    """
    made = (WAKE_ASYNC_VARIANT if scaled.component is None else WAKE_COMPONENT).value
    wanted = scaled.wakes_from is not None and scaled.scaling.wake_up is not False
    watched = {name for step in scaled.scaling.step_policies for name in _metric_names(step)}
    return made if wanted and made.metric not in watched else None


def tracked_name(policy: ScalingPolicy) -> str:
    """The name of the metric that a policy tracks; empty for an expression."""
    custom = policy.customized_metric_specification
    return (policy.metric if custom is None else custom.metric_name) or ""


def tracks_requests_at_once(policy: ScalingPolicy) -> bool:
    """Whether the target of a policy is a number of requests at once, of each copy or model."""
    return "ConcurrentRequestsPer" in tracked_name(policy)


def _metric_names(step: StepPolicy) -> Iterator[str | None]:
    yield step.metric
    yield step.metric_name
    for query in step.metrics or ():
        if query.metric_stat is not None:
            yield query.metric_stat.metric.metric_name


def woken_for(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> Iterator[tuple[str, InferenceComponent]]:
    """The adapters whose refused requests set off a step of their base, too.

    A request names the adapter, and the metric has the name that the request had: watching the base alone
    would leave it at zero copies for as long as only its adapters are asked.
    """
    if scaled.component is None or step.metric != WAKE_COMPONENT.value.metric:
        return
    for _, name, component in components(spec):
        if component.base_name == scaled.name:
            yield name, component


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
    """Every policy whose `metric` is one of AWS's names, with that name."""
    for path, scaled, policy in policies(spec):
        if policy.metric is not None:
            yield path, scaled, policy, policy.metric


def metrics_of(spec: ModelSpec, scaled: Scaled, name: str) -> tuple[Metric, ...]:
    """The metrics that a policy may mean by a name: the scaled part's, or for a variant, the endpoint's."""
    return tuple(it for it in metrics.find(name, hosting_of(spec)) if it.dimensions in scaled.levels)


# ---------------------------------------------------------------- steps

_LOW, _HIGH = "metric_interval_lower_bound", "metric_interval_upper_bound"
BOUNDS = (_LOW, _HIGH)
"""The keys of a step's bounds."""


def interval(
    spec: ModelSpec, scaled: Scaled, step: StepPolicy, adjustment: StepAdjustment
) -> tuple[Number | None, Number | None]:
    """Where a step begins and where it ends; None for a side without a bound.

    Raises:
        UnfitQuantity: for a bound that does not fit the metric, or the threshold.
    """
    return (
        bound_of_step(spec, scaled, step, adjustment.metric_interval_lower_bound),
        bound_of_step(spec, scaled, step, adjustment.metric_interval_upper_bound),
    )


def bound_of_step(
    spec: ModelSpec, scaled: Scaled, step: StepPolicy, bound: Number | str | None
) -> Number | None:
    """One bound of a step of a policy.

    Raises:
        UnfitQuantity: as :func:`interval`.
    """
    if bound is None:
        return None
    metric = counted_metric(spec, scaled, step)
    if metric is not None:
        return absolute_bound(bound, step.threshold, metric, scaled.part.devices(metric))
    if isinstance(bound, str):
        message = f"the bound is {describe(bound)}, but this is a custom metric"
        fix = "write a number without quotes or unit, in the unit that the metric is published in"
        raise UnfitQuantity(message, fix)
    return bound


def counted_metric(spec: ModelSpec, scaled: Scaled, step: StepPolicy) -> Metric | None:
    """What a step policy watches, in the unit of its statistic; None for a custom metric."""
    found = () if step.metric is None else metrics_of(spec, scaled, step.metric)
    return as_counted(found[0], step.statistic) if found else None

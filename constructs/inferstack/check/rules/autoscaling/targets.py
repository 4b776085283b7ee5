"""What scales, between which limits and by which policies.

The name of a policy is unique within its target, and so are its letters and digits, which name a resource.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

import msgspec

from inferstack.catalog.metrics import COPY_COUNT, INSTANCE_COUNT, PROVISIONED_CONCURRENCY
from inferstack.check.rules.base import API, AWS, GUIDE, TRACKING_PAGE, error, warning
from inferstack.facts.once import found_once
from inferstack.facts.scaling import (
    WHAT,
    Scaled,
    built_in_policy,
    built_in_step,
    policies,
    scaled_parts,
    steps,
)
from inferstack.facts.walk import instance_types, is_async, policy_name, variant_scalings
from inferstack.format.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.format.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import describe
from inferstack.texts.placeholders import is_opaque

_SCALING = f"{GUIDE}/endpoint-auto-scaling.html"
_POLICY = f"{GUIDE}/endpoint-auto-scaling-add-code-define.html"
_TARGET = f"{AWS}/autoscaling/application/APIReference/API_RegisterScalableTarget.html"
_STEPS = f"{AWS}/autoscaling/application/userguide/application-auto-scaling-step-scaling-policies.html"
_SERVERLESS = f"{GUIDE}/serverless-endpoints-autoscale.html"
_MANAGED = f"{API}/API_ProductionVariantManagedInstanceScaling.html"

# ---------------------------------------------------------------- names of policies


class SameName(msgspec.Struct, frozen=True):
    """A policy named like an earlier one: its path, its name, what has that name already, and a free name."""

    path: SpecPath
    policy: ScalingPolicy | StepPolicy
    name: str
    other: str
    free: str


@found_once
def same_names(spec: ModelSpec) -> Iterator[SameName]:
    """Policies with the same name within one target, which is the scope of names in Application Auto Scaling.

    A second one would replace the first, or be refused because it is of another type.
    https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScalingPolicy.html
    """
    for scaled in scaled_parts(spec):
        seen = _built_in(scaled)
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


def _built_in(scaled: Scaled) -> dict[str, str]:
    """The name of the built-in policy that scales up from zero; the other built-in policy is always the only
    one.
    """
    step = built_in_step(scaled)
    if step is None:
        return {}
    name = policy_name(step)
    return dict.fromkeys(_taken("", name), f"the built-in `{name}`")


def _in_order(scaled: Scaled) -> Iterator[tuple[SpecPath, str, int, ScalingPolicy | StepPolicy]]:
    """Every policy of one target: its path, the list that it is in, its number there, and the policy."""
    for sort in ("policies", "step_policies"):
        for index, policy in enumerate(getattr(scaled.scaling, sort)):
            yield (*scaled.path, sort, index), sort, index + 1, policy


def called_like_another(path: SpecPath, same: SameName) -> Problem:
    """The problem that two rules report, each for policies of one sort."""
    message = f"the policy name `{same.name}` clashes with {same.other}"
    return Problem(path, message, f"give it another `policy_name`, such as {describe(same.free)}")


# Most names are names of metrics, which are the same in all specs.
@lru_cache(maxsize=256)
def _taken(sort: str, name: str) -> tuple[str, ...]:
    """What a name takes from other policies: in a logical id, only its letters and digits remain.

    A name without any leaves only the beginning of the id, which all policies of its sort share.
    """
    letters = re.sub(r"[^A-Za-z0-9]", "", name).lower()
    return (letters,) if letters else (name, f"{sort}: ")


# ---------------------------------------------------------------- capacity and policies


@error("IS500", _TARGET)
def minimum_and_maximum(spec: ModelSpec) -> Iterator[Problem]:
    """`min_capacity` cannot be above `max_capacity`."""
    for scaled in scaled_parts(spec):
        low, high = scaled.scaling.min_capacity, scaled.scaling.max_capacity
        if low > high:
            message = f"`min_capacity` is {low}, above the `max_capacity` of {high}"
            fix = f"raise `max_capacity` to {max(low, 1)} or more"
            if high >= _least(spec, scaled):
                fix = f"swap them: `min_capacity: {high}` and `max_capacity: {low}`"
            yield Problem((*scaled.path, "min_capacity"), message, fix)


def _least(spec: ModelSpec, it: Scaled) -> int:
    """The lowest capacity allowed here."""
    return 0 if it.dimension == COPY_COUNT or (is_async(spec) and it.dimension == INSTANCE_COUNT) else 1


@error("IS501", _SCALING)
def not_below_the_least(spec: ModelSpec) -> Iterator[Problem]:
    """Only asynchronous endpoints and inference components can scale down to 0.

    Everything else keeps at least one; nothing goes below zero.
    """
    for scaled in scaled_parts(spec):
        low, high, least = scaled.scaling.min_capacity, scaled.scaling.max_capacity, _least(spec, scaled)
        if low < least:
            to_zero = "; 0 needs an asynchronous endpoint or inference components"
            fix = f"write {least} or more{to_zero if low == 0 and scaled.dimension == INSTANCE_COUNT else ''}"
            message = f"`min_capacity` of {WHAT[scaled.dimension]} is {low}"
            yield Problem((*scaled.path, "min_capacity"), message, fix)
        # IS500 reports a maximum below the minimum.
        if high < 1 and low <= high:
            message = f"`max_capacity` of {WHAT[scaled.dimension]} is {high}"
            yield Problem((*scaled.path, "max_capacity"), message, "write 1 or more")


@error("IS503", OWN_FORMAT)
def one_scaling_for_a_variant(spec: ModelSpec) -> Iterator[Problem]:
    """A variant can have only one `autoscaling` block.

    A fleet is one scalable target, with one minimum and one maximum.
    """
    seen = [variant for _, variant, _ in variant_scalings(spec)]
    for path, variant, _ in variant_scalings(spec):
        if path != ("autoscaling",) and sum(1 for other in seen if other is variant) > 1:
            message = "the variant has `autoscaling` here and at the top of the spec"
            yield Problem(path, message, "keep one of them")


@warning("IS504", _SCALING)
def start_within_limits(spec: ModelSpec) -> Iterator[Problem]:
    """The initial capacity should be within the limits of `autoscaling`.

    Scaling corrects it right after the deployment.
    """
    for scaled in scaled_parts(spec):
        low, high = scaled.scaling.min_capacity, scaled.scaling.max_capacity
        if scaled.start is None or low > high or high < 1 or scaled.start[1] < 1:
            continue
        if not low <= scaled.start[1] <= high:
            message = f"`{scaled.start[0][-1]}` is {scaled.start[1]}, but scaling goes from {low} to {high}"
            least = max(low, 1)
            fits = f"{high}" if least == high else f"a number from {least} to {high}"
            yield Problem(scaled.start[0], message, f"write {fits}, or change the limits")


@warning("IS505", _SCALING)
def there_is_a_policy(spec: ModelSpec) -> Iterator[Problem]:
    """`autoscaling` should have a policy or a schedule.

    Without either, the number of instances never changes.
    """
    for scaled in scaled_parts(spec):
        if not scaled.has_policies and built_in_policy(scaled) is None:
            message, metric = "`autoscaling` has no policies, so nothing scales", "a metric"
            if is_async(spec) and built_in_step(scaled) is not None:
                message = (
                    "`autoscaling` has no policies: requests start an instance, but nothing stops it again"
                )
                metric = "a metric such as ApproximateBacklogSizePerInstance"
            yield Problem(scaled.path, message, f"add `policies:` with {metric} and a target")


@warning("IS508", "user reports")
def t2_does_not_scale(spec: ModelSpec) -> Iterator[Problem]:
    """A variant on t2 instances should not scale.

    RegisterScalableTarget was reported to answer "cannot register a variant with ml.t2.medium".
    """
    for scaled in scaled_parts(spec):
        if scaled.dimension != INSTANCE_COUNT or scaled.variant is None:
            continue
        for name in instance_types(scaled.variant):
            if name.startswith("ml.t2."):
                message = f"AWS may refuse to scale a variant with {name}"
                yield Problem(scaled.path, message, "choose a type of another family, such as ml.m5.large")
                break


@warning("IS523", _STEPS)
def capacity_comes_back(spec: ModelSpec) -> Iterator[Problem]:
    """Policies that add capacity should have a counterpart that removes it.

    Otherwise the fleet stays at the largest size it ever reached.
    """
    for scaled in scaled_parts(spec):
        adds = scaled.scaling.policies or scaled.scaling.step_policies
        removes = any(policy.disable_scale_in is not True for policy in scaled.scaling.policies)
        if adds and not removes and not _shrinks(scaled.scaling):
            message = "the policies add capacity, but nothing ever removes it"
            fix = "add a step policy with `LessThanThreshold` and a negative `scaling_adjustment`"
            yield Problem(scaled.path, message, f"{fix}, or a policy that holds a metric at a target")


def _shrinks(scaling: Autoscaling) -> bool:
    """Whether a step removes or sets capacity, or a schedule changes its maximum."""
    for step in scaling.step_policies:
        removes = any(change.scaling_adjustment < 0 for change in step.step_adjustments)
        if removes or step.adjustment_type == "ExactCapacity" or is_opaque(step.adjustment_type):
            return True
    actions = [it.scalable_target_action.max_capacity for it in scaling.scheduled_actions or ()]
    return len({scaling.max_capacity, *(most for most in actions if most is not None)}) > 1


@error("IS506", _POLICY)
def policies_differ(spec: ModelSpec) -> Iterator[Problem]:
    """Policies of one target must have different metrics and names.

    A second policy with the same name would replace the first.
    """
    doubled: set[SpecPath] = set()
    for scaled in scaled_parts(spec):
        for index, policy in enumerate(scaled.scaling.policies):
            others = (other.metric for other in scaled.scaling.policies[:index])
            if policy.metric is not None and policy.metric in others:
                doubled.add(path := (*scaled.path, "policies", index))
                message = f"two policies have the metric {policy.metric}"
                yield Problem((*path, "metric"), message, "change or remove one of them")
    for same in same_names(spec):
        if isinstance(same.policy, ScalingPolicy) and same.path not in doubled:
            said = [key for key in ("policy_name", "metric") if getattr(same.policy, key) is not None]
            where = (*same.path, next(iter(said), "customized_metric_specification"))
            yield called_like_another(where, same)


@error("IS507", TRACKING_PAGE)
def cooldowns_are_not_negative(spec: ModelSpec) -> Iterator[Problem]:
    """A cooldown cannot be negative."""
    for path, _, policy in policies(spec):
        for key in ("scale_in_cooldown", "scale_out_cooldown"):
            yield from _not_negative((*path, key), getattr(policy, key))
    for path, _, step in steps(spec):
        yield from _not_negative((*path, "cooldown"), step.cooldown)


def _not_negative(path: SpecPath, seconds: int | None) -> Iterator[Problem]:
    if seconds is not None and seconds < 0 and not is_opaque(seconds):
        yield Problem(path, f"`{path[-1]}` is {seconds}", "write 0 or more seconds")


@warning("IS520", _MANAGED)
def one_mechanism_counts(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """Only one mechanism should set the number of instances of a fleet.

    Managed scaling follows the copies, Application Auto Scaling its policies: they undo each other.
    """
    for path, variant, _ in variant_scalings(spec):
        managed = variant.managed_instance_scaling
        if managed is not None and managed.status != "DISABLED":
            message = "`autoscaling` and `managed_instance_scaling` both set the number of instances"
            yield Problem(path, message, "keep one of them")


@error("IS521", _SERVERLESS)
def serverless_scaling(spec: ModelSpec) -> Iterator[Problem]:
    """Provisioned concurrency must scale from a set value, by its own utilization, within `max_concurrency`.

    On-demand serverless scales by itself.
    """
    for scaled in scaled_parts(spec):
        serverless = None if scaled.variant is None else scaled.variant.serverless_config
        if serverless is None or scaled.dimension != PROVISIONED_CONCURRENCY:
            continue
        if serverless.provisioned_concurrency is None:
            fix = "add `provisioned_concurrency`, or remove `autoscaling`"
            yield Problem(scaled.path, "there is no provisioned concurrency to scale", fix)
        high, most = scaled.scaling.max_capacity, serverless.max_concurrency
        if high > most:
            message = f"`max_capacity` is {high}, above the `max_concurrency` of {most}"
            yield Problem((*scaled.path, "max_capacity"), message, f"write at most {most}")

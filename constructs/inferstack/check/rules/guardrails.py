"""How an update of the endpoint or of a component is rolled out."""

import math
from collections.abc import Iterator, Sequence

from inferstack.catalog import instances
from inferstack.check.rules.base import API, GUARDRAILS_PAGE, GUIDE, error, warning
from inferstack.facts.role import marketplace_packages
from inferstack.facts.scaling import counts_change, first_copies
from inferstack.facts.walk import components, deployment_config, hosting_of, instance_types, variants
from inferstack.format.endpoint import (
    BlueGreenUpdatePolicy,
    CapacitySize,
    RollingUpdatePolicy,
    VariantProperty,
)
from inferstack.format.inference_component import ComponentCapacitySize, ComponentRollingUpdatePolicy
from inferstack.format.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque

_EXCLUSIONS = f"{GUIDE}/deployment-guardrails-exclusions.html"
_ROUTING = f"{API}/API_TrafficRoutingConfig.html"
_BLUE_GREEN = f"{API}/API_BlueGreenUpdatePolicy.html"
_ROLLING = f"{API}/API_RollingUpdatePolicy.html"
_PROPERTY = f"{API}/API_VariantProperty.html"
_UPDATE = f"{API}/API_UpdateEndpoint.html"
_COMPONENT = f"{API}/API_InferenceComponentRollingUpdatePolicy.html"
_PATH = ("endpoint", "deployment_config")
_BLUE = (*_PATH, "blue_green_update_policy")
_ROUTE = (*_BLUE, "traffic_routing_configuration")
_ROLL = (*_PATH, "rolling_update_policy")
_EXCLUDED = ("endpoint", "exclude_retained_variant_properties")
# Limits in percent of the fleet, as the API documents them.
_CANARY, _LINEAR, _BATCH = (1, 50), (10, 50), (5, 50)
# Of a batch of a rollback, it only says that 100 is all of the fleet at once.
_ROLLBACK = (1, 100)
_SIZE_OF = {"CANARY": "canary_size", "LINEAR": "linear_step_size"}
Size = CapacitySize | ComponentCapacitySize


def _blue_green(spec: ModelSpec) -> Iterator[BlueGreenUpdatePolicy]:
    config = deployment_config(spec)
    if config is not None and config.blue_green_update_policy is not None:
        yield config.blue_green_update_policy


def _rolling(spec: ModelSpec) -> Iterator[RollingUpdatePolicy]:
    config = deployment_config(spec)
    if config is not None and config.rolling_update_policy is not None:
        yield config.rolling_update_policy


def _component_policies(
    spec: InferenceComponentsSpec,
) -> Iterator[tuple[SpecPath, ComponentRollingUpdatePolicy, int]]:
    for path, _, component in components(spec):
        if component.deployment_config is not None:
            where = (*path, "deployment_config", "rolling_update_policy")
            yield where, component.deployment_config.rolling_update_policy, first_copies(component)


@error("IS611", _ROUTING)
def shift_has_its_size(spec: ModelSpec) -> Iterator[Problem]:
    """A traffic shift in steps needs a size: `canary_size` for `CANARY`, `linear_step_size` for `LINEAR`."""
    for policy in _blue_green(spec):
        routing = policy.traffic_routing_configuration
        key = _SIZE_OF.get(routing.type)
        if key is not None and getattr(routing, key) is None:
            fix = f"add `{key}: {{type: CAPACITY_PERCENT, value: 10}}`"
            message = f"{routing.type} is missing `{key}`, which says how much traffic moves first"
            yield Problem(_ROUTE, message, fix, lacks=key)


@warning("IS635", _ROUTING)
def size_is_of_the_type(spec: ModelSpec) -> Iterator[Problem]:
    """A traffic shift should not have the size of another type.

    AWS does not say whether such a size is refused or ignored.
    """
    for policy in _blue_green(spec):
        routing = policy.traffic_routing_configuration
        for kind, key in _SIZE_OF.items():
            found = getattr(routing, key)
            if found is not None and routing.type != kind and not is_opaque(routing.type):
                fix = f"remove it, or write `type: {kind}`"
                yield Problem((*_ROUTE, key), f"`{key}` is not for {routing.type}", fix)


@error("IS612", _ROUTING)
def steps_have_an_interval(spec: ModelSpec) -> Iterator[Problem]:
    """A traffic shift must say how long to wait after a step.

    The API requires it for every type; 0 is allowed.
    """
    for policy in _blue_green(spec):
        routing = policy.traffic_routing_configuration
        if routing.wait_interval_in_seconds is None:
            what = "long enough for alarms to go off" if routing.type in _SIZE_OF else "0 will do"
            fix = f"add `wait_interval_in_seconds`: 0 to 3600, {what}"
            message = f"{routing.type} is missing `wait_interval_in_seconds`"
            yield Problem(_ROUTE, message, fix, lacks="wait_interval_in_seconds")


@warning("IS636", GUARDRAILS_PAGE)
def shift_can_be_stopped(spec: ModelSpec) -> Iterator[Problem]:
    """A traffic shift in steps should have alarms that can stop it.

    Without `auto_rollback_configuration` it waits after each step, and goes on whatever happens. Where there
    are no guardrails at all, other rules say so.
    """
    config = deployment_config(spec)
    has_none = hosting_of(spec) == "serverless" or bool(marketplace_packages(spec))
    for policy in () if has_none else _blue_green(spec):
        kind = policy.traffic_routing_configuration.type
        if kind in _SIZE_OF and config is not None and config.auto_rollback_configuration is None:
            fix = "add `auto_rollback_configuration: {alarms: own}` to `deployment_config`"
            message = f"{kind} moves traffic in steps, but no alarm can stop it"
            yield Problem(_ROUTE, message, f"{fix}, or write `type: ALL_AT_ONCE`")


@error("IS613", _ROUTING)
def shift_within_bounds(spec: ModelSpec) -> Iterator[Problem]:
    """A canary must be at most half of the fleet, and a linear step 10 to 50 %.

    These are SageMaker's limits in percent; IS616 is about counts of instances.
    """
    for policy in _blue_green(spec):
        routing = policy.traffic_routing_configuration
        yield from _percent((*_ROUTE, "canary_size"), routing.canary_size, _CANARY)
        yield from _percent((*_ROUTE, "linear_step_size"), routing.linear_step_size, _LINEAR)


@error("IS614", _ROLLING)
def batch_within_bounds(spec: ModelSpec) -> Iterator[Problem]:
    """A batch of a rolling update must be 5 to 50 % of the fleet.

    A rollback may be a single batch.
    """
    for policy in _rolling(spec):
        yield from _percent((*_ROLL, "maximum_batch_size"), policy.maximum_batch_size, _BATCH)
        path = (*_ROLL, "rollback_maximum_batch_size")
        yield from _percent(path, policy.rollback_maximum_batch_size, _ROLLBACK)


@error("IS615", _COMPONENT)
def component_batch_within_bounds(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A batch of a component's update must be 5 to 50 % of its copies.

    A rollback may be a single batch.
    """
    for path, policy, _ in _component_policies(spec):
        yield from _percent((*path, "maximum_batch_size"), policy.maximum_batch_size, _BATCH)
        where = (*path, "rollback_maximum_batch_size")
        yield from _percent(where, policy.rollback_maximum_batch_size, _ROLLBACK)


def _percent(path: SpecPath, size: Size | None, bounds: tuple[int, int]) -> Iterator[Problem]:
    if size is not None and size.type == "CAPACITY_PERCENT" and not bounds[0] <= size.value <= bounds[1]:
        message = f"`{path[-1]}` is {size.value} %"
        yield Problem((*path, "value"), message, f"allowed: {bounds[0]} to {bounds[1]} %")


@warning("IS616", _ROUTING)
def counted_step_is_half_at_most(spec: ModelSpec) -> Iterator[Problem]:
    """A step counted in instances should be at most half of the fleet.

    The initial fleet counts; scaling may have made it larger by the time of an update.
    """
    counts = [it.initial_instance_count for _, it in variants(spec) if it.initial_instance_count is not None]
    for path, size in _counted(spec):
        if size.type == "INSTANCE_COUNT" and counts and size.value * 2 > min(counts):
            message = f"{size.value} of {min(counts)} instances is more than half of the fleet"
            fix = "start more instances, write fewer, or use `ALL_AT_ONCE`"
            yield Problem((*path, "value"), message, fix)


@warning("IS629", _COMPONENT)
def counted_batch_is_half_at_most(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A batch counted in copies should be at most half of the component's copies.

    The initial copies count; scaling may have added some by the time of an update.
    """
    for path, policy, copies in _component_policies(spec):
        size = policy.maximum_batch_size
        if size.type == "COPY_COUNT" and size.value * 2 > copies:
            message = f"{size.value} of {copies} copies is more than half of them"
            fix = "start more copies, write fewer, or use `type: CAPACITY_PERCENT` with 5 to 50"
            yield Problem((*path, "maximum_batch_size", "value"), message, fix)


def _counted(spec: ModelSpec) -> Iterator[tuple[SpecPath, CapacitySize]]:
    for policy in _blue_green(spec):
        routing = policy.traffic_routing_configuration
        for key in _SIZE_OF.values():
            if getattr(routing, key) is not None:
                yield (*_ROUTE, key), getattr(routing, key)
    for rolling in _rolling(spec):
        yield (*_ROLL, "maximum_batch_size"), rolling.maximum_batch_size


@error("IS617", _BLUE_GREEN)
def timeout_outlasts_the_waits(spec: ModelSpec) -> Iterator[Problem]:
    """The timeout of an update must be longer than all of its waits together.

    Otherwise every update times out and rolls back.
    """
    fleets = [it.initial_instance_count or 1 for _, it in variants(spec)] or [1]
    for policy in _blue_green(spec):
        waits = _blue_green_waits(policy, fleets)
        yield from _timeout(_BLUE, policy.maximum_execution_timeout_in_seconds, waits)
    for rolling in _rolling(spec):
        waits = _steps(rolling.maximum_batch_size, fleets) * rolling.wait_interval_in_seconds
        yield from _timeout(_ROLL, rolling.maximum_execution_timeout_in_seconds, waits)


@error("IS618", _COMPONENT)
def component_timeout_outlasts_the_waits(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The timeout of a component's update must be longer than all of its waits together.

    Otherwise every update times out and rolls back.
    """
    for path, policy, copies in _component_policies(spec):
        waits = _steps(policy.maximum_batch_size, [max(copies, 1)]) * policy.wait_interval_in_seconds
        yield from _timeout(path, policy.maximum_execution_timeout_in_seconds, waits)


def _blue_green_waits(policy: BlueGreenUpdatePolicy, fleets: Sequence[int]) -> int:
    """Total waits in seconds: an interval after each shift but the last, then the one before termination."""
    routing = policy.traffic_routing_configuration
    shifts = {"ALL_AT_ONCE": 1, "CANARY": 2}.get(routing.type) or _steps(routing.linear_step_size, fleets)
    return (shifts - 1) * (routing.wait_interval_in_seconds or 0) + (policy.termination_wait_in_seconds or 0)


def _steps(size: Size | None, fleets: Sequence[int]) -> int:
    """The fewest steps for these: each takes at least one instance or copy, however small its share."""
    if size is None or size.value < 1:
        return 1
    if size.type != "CAPACITY_PERCENT":
        return math.ceil(min(fleets) / size.value)
    return max(math.ceil(count / max(math.ceil(count * size.value / 100), 1)) for count in fleets)


def _timeout(path: SpecPath, timeout: int | None, waits: int) -> Iterator[Problem]:
    if timeout is not None and timeout <= waits:
        message = f"the update times out after {timeout} s, but its waits alone take {waits} s"
        where = (*path, "maximum_execution_timeout_in_seconds")
        yield Problem(where, message, f"write more than {waits}, or wait less")


@error("IS620", _EXCLUSIONS)
def rolling_for_one_variant(spec: ModelSpec) -> Iterator[Problem]:
    """A rolling update needs a single variant on instances."""
    several = len(variants(spec)) > 1
    serverless = any(it.serverless_config is not None for _, it in variants(spec))
    reason = "has several variants" if several else "is serverless"
    fix = "remove `deployment_config`" if serverless else "use `blue_green_update_policy`"
    if several or serverless:
        for _ in _rolling(spec):
            yield Problem(_ROLL, f"the endpoint {reason}, so it cannot have a rolling update", fix)


@error("IS621", _EXCLUSIONS)
def no_guardrails_on_inf1(spec: ModelSpec) -> Iterator[Problem]:
    """Guardrails do not work on inf1 instances.

    SageMaker says that it falls back to all at once, without a wait.
    """
    known = [instances.find(name) for _, variant in variants(spec) for name in instance_types(variant)]
    if deployment_config(spec) is not None and any(it is not None and it.family == "inf1" for it in known):
        message = "guardrails do not work on inf1: traffic moves all at once"
        yield Problem(_PATH, message, "remove them, or use inf2")


def _excluded(spec: ModelSpec) -> Sequence[VariantProperty]:
    return () if spec.endpoint is None else spec.endpoint.exclude_retained_variant_properties or ()


@error("IS630", _PROPERTY)
def excluded_properties_are_supported(spec: ModelSpec) -> Iterator[Problem]:
    """Counts and weights can be excluded from what an update retains; data capture is not supported yet.

    The API accepts data capture there and ignores it.
    """
    for index, excluded in enumerate(_excluded(spec)):
        if excluded.variant_property_type == "DataCaptureConfig":
            where = (*_EXCLUDED, index, "variant_property_type")
            message = "SageMaker does not support DataCaptureConfig here yet"
            yield Problem(where, message, "remove it; allowed: DesiredInstanceCount or DesiredWeight")


@warning("IS631", _UPDATE)
def excluded_from_what_is_retained(spec: ModelSpec) -> Iterator[Problem]:
    """Excluding properties has no effect unless an update retains variant properties.

    Without retention, an update resets all of them.
    """
    retains = None if spec.endpoint is None else spec.endpoint.retain_all_variant_properties
    retained = counts_change(spec) if retains is None else retains
    if _excluded(spec) and not retained:
        message = "this has no effect because nothing is retained"
        yield Problem(_EXCLUDED, message, "add `retain_all_variant_properties: true`, or remove it")

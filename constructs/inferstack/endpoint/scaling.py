"""What scales, in a sentence each: `2 to 10 instances, aiming at 60 % GPU`."""

from collections.abc import Iterator

import msgspec

from inferstack.catalog.resource_types import ALARM_TYPE, SCALING_POLICY_TYPE, TARGET_TYPE
from inferstack.endpoint import alarms, deployed, units
from inferstack.endpoint.counts import UNKNOWN, between
from inferstack.endpoint.deployed import Properties, entries, mapping, references, shown
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import Stack
from inferstack.facts.scaling import WHAT
from inferstack.problems.words import listed


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """What scales, and by what."""

    of: str
    """Name of the variant or component."""
    unit: str
    """What is added and removed: instances, copies or provisioned concurrency."""
    min_capacity: int | None
    """The minimum; none if only the deployment knows it."""
    max_capacity: int | None
    """The maximum; none if only the deployment knows it."""
    aims: tuple[str, ...]
    """What adds and removes them, in words."""
    schedule: tuple[str, ...] = ()
    """Scheduled changes of the limits, in words."""
    suspended: tuple[str, ...] = ()
    """What the spec suspends: adding, removing, the schedule."""
    sentence: str
    """All of it in words."""
    place: Place
    """Where the spec has it."""


PREDEFINED = {
    "SageMakerVariantInvocationsPerInstance": "{requests} a minute per instance",
    "SageMakerVariantConcurrentRequestsPerModelHighResolution": "{requests} at once per model",
    "SageMakerVariantProvisionedConcurrencyUtilization": "{percent:g} % of it in use",
    "SageMakerInferenceComponentInvocationsPerCopy": "{requests} a minute per copy",
    "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution": "{requests} at once per copy",
}
"""What a policy aims at, by its metric type; a test looks that none is missing."""
_FOLLOWS = "as many as the copies need"


def scalings(stack: Stack, fleets: tuple[Fleet, ...]) -> tuple[Scaling, ...]:
    """Everything that scales: targets in the template's order, then fleets that follow their components."""
    return (*_targets(stack, fleets), *_followers(stack, fleets))


def _targets(stack: Stack, fleets: tuple[Fleet, ...]) -> Iterator[Scaling]:
    names = deployed.scaled_variants(stack.resources), deployed.scaled_components(stack.resources)
    for logical_id, target in stack.of_type(TARGET_TYPE).items():
        name = next((name for known in names for name, it in known.items() if it is target), None)
        unit = WHAT.get(str(target.get("ScalableDimension")), "capacity")
        low, high = (stack.count(target.get(key)) for key in ("MinCapacity", "MaxCapacity"))
        aims = tuple(_aims(stack, logical_id, fleets))
        schedule = tuple(
            _scheduled(stack, it, unit) for it in map(mapping, entries(target.get("ScheduledActions")))
        )
        suspended = suspended_in(target)
        yield Scaling(
            of=shown(target.get("ResourceId")) if name is None else name,
            unit=unit,
            min_capacity=low,
            max_capacity=high,
            aims=aims,
            schedule=schedule,
            suspended=suspended,
            sentence=_sentence((between(low, high, unit), *aims), schedule, suspended),
            place=stack.place_of(logical_id, ()),
        )


_SUSPENDED = {
    "DynamicScalingOutSuspended": "adding",
    "DynamicScalingInSuspended": "removing",
    "ScheduledScalingSuspended": "the schedule",
}


def suspended_in(target: Properties) -> tuple[str, ...]:
    """What a target suspends: adding, removing, the schedule."""
    state = mapping(target.get("SuspendedState"))
    return tuple(what for key, what in _SUSPENDED.items() if state.get(key) is True)


def _scheduled(stack: Stack, action: Properties, unit: str) -> str:
    """A scheduled change: `cron(0 8 ? * MON-FRI *) in Europe/Berlin: 2 to 8 instances`."""
    limits = mapping(action.get("ScalableTargetAction"))
    low, high = (stack.count(limits.get(key)) for key in ("MinCapacity", "MaxCapacity"))
    if "MinCapacity" in limits and "MaxCapacity" in limits:
        what = between(low, high, unit)
    elif "MinCapacity" in limits:
        what = f"at least {UNKNOWN if low is None else low} {unit}"
    else:
        what = f"at most {UNKNOWN if high is None else high} {unit}"
    times = {"Timezone": "in", "StartTime": "from", "EndTime": "until"}
    when = [f"{word} {shown(action[key])}" for key, word in times.items() if key in action]
    return f"{' '.join([shown(action.get('Schedule')), *when])}: {what}"


_MOST_SHOWN = 3
"""Scheduled changes of one target that its sentence has."""


def _sentence(parts: tuple[str, ...], schedule: tuple[str, ...], suspended: tuple[str, ...]) -> str:
    more = len(schedule) - _MOST_SHOWN
    scheduled = [*schedule[:_MOST_SHOWN], *([f"{more} more scheduled changes"] if more > 0 else [])]
    off = [f"suspended: {listed(suspended, last='and', quote='')}"] if suspended else []
    return "; ".join([", ".join(parts), *scheduled, *off])


def _followers(stack: Stack, fleets: tuple[Fleet, ...]) -> Iterator[Scaling]:
    for fleet in fleets:
        counts = fleet.by_scaling
        if fleet.grows_with_copies and counts is not None:
            yield Scaling(
                of=fleet.name,
                unit="instances",
                min_capacity=counts.min,
                max_capacity=counts.max,
                aims=(_FOLLOWS,),
                sentence=f"{between(counts.min, counts.max, 'instances')}, {_FOLLOWS}",
                place=fleet.place,
            )


def _aims(stack: Stack, logical_id: str, fleets: tuple[Fleet, ...]) -> Iterator[str]:
    for policy_id, policy in stack.of_type(SCALING_POLICY_TYPE).items():
        if logical_id in references(policy.get("ScalingTargetId")):
            yield from _of_policy(stack, policy_id, policy, fleets)


def _of_policy(stack: Stack, policy_id: str, policy: Properties, fleets: tuple[Fleet, ...]) -> Iterator[str]:
    tracked = mapping(policy.get("TargetTrackingScalingPolicyConfiguration"))
    if tracked:
        only = " (only adds)" if tracked.get("DisableScaleIn") is True else ""
        yield f"aiming at {_aim(stack, tracked, fleets)}{only}{_cooldowns(stack, tracked)}"
        return
    steps = mapping(policy.get("StepScalingPolicyConfiguration"))
    for alarm in stack.of_type(ALARM_TYPE).values():
        if policy_id in references(alarm.get("AlarmActions")):
            when = alarms.condition(stack, alarm, fleets)
            yield f"{_step(stack, steps)} when {when}{_cooldowns(stack, steps)}"


_COOLDOWNS = {
    "Cooldown": "",
    "ScaleOutCooldown": " before it adds more",
    "ScaleInCooldown": " before it removes more",
}


def _cooldowns(stack: Stack, policy: Properties) -> str:
    """How long it waits after a change, if the policy sets that."""
    waits = [(stack.number(policy[key]), what) for key, what in _COOLDOWNS.items() if key in policy]
    texts = [f"{'?' if it is None else units.minutes(it)}{what}" for it, what in waits]
    return f" (cool-down {' and '.join(texts)})" if texts else ""


def _aim(stack: Stack, tracked: Properties, fleets: tuple[Fleet, ...]) -> str:
    value = stack.number(tracked.get("TargetValue"))
    predefined = mapping(tracked.get("PredefinedMetricSpecification")).get("PredefinedMetricType")
    if predefined is not None:
        form = PREDEFINED.get(shown(predefined))
        if form is None or value is None:
            return f"{value} of {shown(predefined)}"
        requests = f"{units.number(value)} request{'' if value == 1 else 's'}"
        return form.format(requests=requests, percent=100 * value)
    own = mapping(tracked.get("CustomizedMetricSpecification"))
    metric = units.metric_of(own.get("Namespace"), own.get("MetricName"))
    named = {shown(it.get("Value")) for it in map(mapping, entries(own.get("Dimensions")))}
    types = next((it.instance_types for it in fleets if it.name in named), ())
    statistic = shown(own.get("Statistic", "Average"))
    said = units.amount(value, metric, statistic, types).partition(" of ")[0]
    if "MetricName" not in own:
        return f"{said} of an expression"
    name = shown(own["MetricName"])
    return f"{said} {name}" if statistic == "Average" else f"a {statistic} of {name} of {said}"


def _step(stack: Stack, steps: Properties) -> str:
    moves = [
        stack.number(mapping(it).get("ScalingAdjustment")) for it in entries(steps.get("StepAdjustments"))
    ]
    known = [it for it in moves if it is not None]
    unit = " %" if steps.get("AdjustmentType") == "PercentChangeInCapacity" else ""
    if steps.get("AdjustmentType") == "ExactCapacity":
        return f"to {_range(known)}"
    return f"by {_range(known, sign='+')}{unit}"


def _range(known: list[float], sign: str = "") -> str:
    if not known:
        return "some"
    low, high = min(known), max(known)
    return f"{low:{sign}g}" if low == high else f"{low:{sign}g} to {high:{sign}g}"

"""Rules on the scaling of variants and inference components that stay."""

from collections.abc import Iterator

from inferstack.catalog.resource_types import SCALING_POLICY_TYPE, TARGET_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources, references
from inferstack.endpoint.scaling import suspended_in
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed
from inferstack.updates.renames import name_now
from inferstack.updates.rules import DG, SCALED_UPDATE, SCALING_API, update_rule
from inferstack.updates.update import Fate, Update

_COMPONENTS: SpecPath = ("inference_components",)
_SCALED = (
    (deployed.scaled_variants, deployed.variants),
    (deployed.scaled_components, deployed.components),
)
"""The targets of what scales, and all that could."""
_IN_TWO = "remove the old policy in a deployment of its own"


@update_rule("IS890", effect="reset", source=f"{SCALING_API}/API_RegisterScalableTarget.html")
def limit_lowered(update: Update) -> Iterator[Problem]:
    """The maximum capacity of scaling is lowered.

    Registering a target brings its capacity within the limits.
    """
    for targets, _ in _SCALED if update.same_endpoint else ():
        before = {_name_now(update, name): it for name, it in targets(update.before).items()}
        for name, target in targets(update.after).items():
            old, new = before.get(name, {}).get("MaxCapacity"), target.get("MaxCapacity")
            if isinstance(old, int) and isinstance(new, int) and new < old:
                path = update.place(_target_id(update, target), ("MaxCapacity",))
                message = f"`max_capacity` falls from {old} to {new}: what runs above it is stopped at once"
                yield Problem(path, message, "deploy it while no more than that are running")


@update_rule("IS891", effect="removed", source=SCALED_UPDATE)
def scaling_removed(update: Update) -> Iterator[Problem]:
    """A variant or inference component no longer scales, or some of its scaling is suspended.

    Without scaling, the capacity stays where it is.
    """
    for targets, hosts in _SCALED if update.same_endpoint or update.moves else ():
        now = targets(update.after)
        for old_name, before in targets(update.earlier).items():
            name = _name_now(update, old_name)
            if name in hosts(update.after) and name not in now:
                message = f"`{name}` no longer scales, whatever its load"
                fix = "set the capacity that it should have, or keep its `autoscaling`"
                yield Problem(_place(update, name), message, fix)
                continue
            suspended = suspended_in(now.get(name, {}))
            if off := [what for what in suspended if what not in suspended_in(before)]:
                message = (
                    f"`{name}` no longer scales as before: it suspends {listed(off, last='and', quote='')}"
                )
                fix = "set the capacity that it needs meanwhile, and remember to turn it on again"
                path = update.place(_target_id(update, now[name]), ("SuspendedState",))
                yield Problem(path, message, fix)


def _name_now(update: Update, name: str) -> str:
    return name_now(update.before, update.after, name)


def _target_id(update: Update, target: deployed.Properties) -> str:
    targets = deployed.of_type(update.after, TARGET_TYPE).items()
    return next(logical_id for logical_id, one in targets if one is target)


@update_rule("IS888", effect="interrupted", source=f"{DG}/endpoint-auto-scaling-zero-instances.html")
def goes_to_zero(update: Update) -> Iterator[Problem]:
    """What answers requests can scale to zero from now on: the first request after that fails, or waits.

    A copy or an instance has to start first, which takes minutes.
    """
    waits = "AsyncInferenceConfig" in deployed.config(update.after)
    what = "wait until an instance has started" if waits else "fail until a copy has started"
    for targets, of in _SCALED:
        old = {_name_now(update, name): it for name, it in targets(update.earlier).items()}
        there = [_name_now(update, name) for name in of(update.earlier)]
        for name, target in targets(update.after).items() if update.same_endpoint or update.moves else ():
            if name in there and _least(target) == 0 and (name not in old or _least(old[name]) != 0):
                message = f"`{name}` can scale to 0 from now on: requests that come then {what}"
                fix = "keep `min_capacity: 1` where that matters more than the cost"
                path = update.place(_target_id(update, target), ("MinCapacity",))
                yield Problem(path, message, fix)


def _least(target: deployed.Properties) -> object:
    """The lowest minimum of a target, scheduled actions included."""
    limits = [target, *deployed.scheduled_limits(target)]
    return 0 if any(it.get("MinCapacity") in (0, "0") for it in limits) else target.get("MinCapacity")


@update_rule("IS866", effect="refused", source="https://github.com/aws/aws-cdk/issues/17956")
def policy_renamed(update: Update) -> Iterator[Problem]:
    """A policy that tracks a metric gets another name, or the metric of another policy.

    Only one policy of a target can track a metric, and CloudFormation makes the new one first.
    """
    before = deployed.of_type(update.before, SCALING_POLICY_TYPE).values()
    tracked = [(_tracked(update.before, it), it.get("PolicyName")) for it in before]
    for logical_id, policy in _changed(update):
        name, what = policy.get("PolicyName"), _tracked(update.after, policy)
        others = [other for tracks, other in tracked if tracks == what and other != name]
        if what is not None and others:
            message = f"the policy `{others[0]}` tracks this metric, and `{name}` would track it, too"
            fix = f"write `policy_name: {others[0]}`, or {_IN_TWO}"
            yield Problem(update.place(logical_id, ("PolicyName",)), message, fix)


@update_rule("IS892", effect="doubtful", source=f"{SCALING_API}/API_PutScalingPolicy.html")
def policy_name_taken(update: Update) -> Iterator[Problem]:
    """A new policy has the name of one that is removed: made first, it would be removed as well. Whether AWS
    refuses that instead is not confirmed.

    A policy is identified by its name: the new one would overwrite the old one and then be removed in its
    place.

    """
    removed = [
        _known_as(update.before, policy)
        for logical_id, policy in deployed.of_type(update.before, SCALING_POLICY_TYPE).items()
        if update.changes[logical_id].fate is Fate.REMOVED
    ]
    for logical_id, policy in _changed(update):
        is_new = update.changes[logical_id].fate is Fate.ADDED
        if is_new and _known_as(update.after, policy) in removed:
            message = (
                f"a policy `{policy['PolicyName']}` already exists, and is removed once this one is made"
            )
            fix = f"write another `policy_name`, or {_IN_TWO}"
            yield Problem(update.place(logical_id, ("PolicyName",)), message, fix)


def _changed(update: Update) -> Iterator[tuple[str, deployed.Properties]]:
    """Policies that are new or changed, of targets that stay: a new target has no other policies yet."""
    for logical_id, policy in deployed.of_type(update.after, SCALING_POLICY_TYPE).items():
        targets = map(update.changes.get, references(policy.get("ScalingTargetId")))
        stays = any(it is not None and it.fate in (Fate.UPDATED, Fate.UNCHANGED) for it in targets)
        if stays and update.changes[logical_id].fate is not Fate.UNCHANGED:
            yield logical_id, policy


def _tracked(resources: Resources, policy: deployed.Properties) -> object:
    """The target and the metric that a policy tracks; None for a step policy."""
    config = deployed.mapping(policy.get("TargetTrackingScalingPolicyConfiguration"))
    metric = [config.get(f"{sort}MetricSpecification") for sort in ("Predefined", "Customized")]
    return (_target(resources, policy), metric) if any(metric) else None


def _known_as(resources: Resources, policy: deployed.Properties) -> object:
    return _target(resources, policy), policy.get("PolicyName")


def _target(resources: Resources, policy: deployed.Properties) -> object:
    target = deployed.mapping(policy.get("ScalingTargetId")).get("Ref")
    found = deployed.of_type(resources, TARGET_TYPE).get(str(target), policy)
    # A variant has one capacity that scales, and so has a component.
    return found.get("ResourceId")


def _place(update: Update, name: str) -> SpecPath:
    """Where the component of that name is; a variant's removed scaling has no place in the spec."""
    return (*_COMPONENTS, name) if name in deployed.components(update.after) else ()

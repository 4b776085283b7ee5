"""Scaling of an endpoint or component that stays."""

from collections.abc import Iterator

from inferstack.review import deployed
from inferstack.review.changes import Fate, Resources
from inferstack.review.update import Effect, Update
from inferstack.spec.blocks.watched import SCALING_POLICY_TYPE
from inferstack.spec.problem import SpecPath, update_codes as codes

_IN_TWO = "remove the old policy in a deployment of its own"


def limit_lowered(update: Update) -> Iterator[Effect]:
    """Registering a target brings its capacity within the limits."""
    before = deployed.of_type(update.before, deployed.TARGET_TYPE)
    for logical_id, after in deployed.of_type(update.after, deployed.TARGET_TYPE).items():
        old, new = before.get(logical_id, {}).get("MaxCapacity"), after["MaxCapacity"]
        same = update.changes[logical_id].fate is Fate.UPDATED
        if same and isinstance(old, int) and new < old:
            path = update.place(logical_id, ("MaxCapacity",))
            message = f"`max_capacity` falls from {old} to {new}: what runs above it is stopped at once"
            yield Effect(codes.LIMIT_LOWERED, path, message, "deploy it while no more than that run")


def scaling_removed(update: Update) -> Iterator[Effect]:
    """Without scaling, the capacity stays where it is."""
    scaled = (
        (deployed.scaled_variants, deployed.variants),
        (deployed.scaled_components, deployed.components),
    )
    for targets, hosts in scaled:
        for name in targets(update.before):
            if update.same_endpoint and name in hosts(update.after) and name not in targets(update.after):
                message = f"`{name}` no longer scales, whatever its load is"
                fix = "set the capacity that it should have, or keep its `autoscaling`"
                yield Effect(codes.SCALING_REMOVED, _place(update, name), message, fix)


def policy_renamed(update: Update) -> Iterator[Effect]:
    """Only one policy of a target tracks a metric, and CloudFormation makes the new before the old goes."""
    before = deployed.of_type(update.before, SCALING_POLICY_TYPE).values()
    tracked = [(_tracked(update.before, it), it.get("PolicyName")) for it in before]
    for logical_id, policy in _changed(update):
        name, what = policy["PolicyName"], _tracked(update.after, policy)
        others = [other for tracks, other in tracked if tracks == what and other != name]
        if what is not None and others:
            message = f"the policy `{others[0]}` tracks this metric, and `{name}` would do so beside it"
            fix = f"write `policy_name: {others[0]}`, or {_IN_TWO}"
            yield Effect(codes.POLICY_RENAMED, update.place(logical_id, ("PolicyName",)), message, fix)


def policy_name_taken(update: Update) -> Iterator[Effect]:
    """A policy is identified by its name: the new one would overwrite the old one and be removed as that."""
    removed = [
        _known_as(update.before, policy)
        for logical_id, policy in deployed.of_type(update.before, SCALING_POLICY_TYPE).items()
        if update.changes[logical_id].fate is Fate.REMOVED
    ]
    for logical_id, policy in _changed(update):
        is_new = update.changes[logical_id].fate is Fate.ADDED
        if is_new and _known_as(update.after, policy) in removed:
            message = (
                f"a policy `{policy['PolicyName']}` exists already, and is removed once this one is made"
            )
            fix = f"write another `policy_name`, or {_IN_TWO}"
            yield Effect(codes.POLICY_NAME_TAKEN, update.place(logical_id, ("PolicyName",)), message, fix)


def _changed(update: Update) -> Iterator[tuple[str, deployed.Properties]]:
    """Policies that are new or changed, of targets that stay: a new target has no other policies yet."""
    for logical_id, policy in deployed.of_type(update.after, SCALING_POLICY_TYPE).items():
        target = update.changes[policy["ScalingTargetId"]["Ref"]]
        stays = target.fate in (Fate.UPDATED, Fate.UNCHANGED)
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
    found = deployed.of_type(resources, deployed.TARGET_TYPE).get(str(target), policy)
    return found.get("ResourceId"), found.get("ScalableDimension")


def _place(update: Update, name: str) -> SpecPath:
    """The place of the component of that name; a variant's removed scaling has left none in the spec."""
    path = update.written(("inference_components", name))
    return path if path[-1:] == (name,) else ()

"""Rules on inference components, and on the scaling of components and variants.

CloudFormation creates new resources before it deletes removed ones, and the name of a component is unique in
an account and region.
"""

from collections.abc import Iterator

from inferstack.format.alarms import SCALING_POLICY_TYPE
from inferstack.problems import Problem, SpecPath, update_codes as codes
from inferstack.problems.words import listed
from inferstack.resolve.endpoint_config import ENDPOINT_CONFIG
from inferstack.review import deployed
from inferstack.review.deployed import Component, Resources
from inferstack.review.update import Fate, Update, differences

_COMPONENTS: SpecPath = ("inference_components",)
_IDENTITY = frozenset({"InferenceComponentName", "EndpointName", "VariantName"})
_BASE = "BaseInferenceComponentName"
_TWICE = "deploy twice: first without it, then with it"


def name_taken(update: Update) -> Iterator[Problem]:
    """The new component is made while the old one still has the name."""
    before = deployed.components(update.before)
    for name, after in deployed.components(update.after).items():
        if name in before and before[name].logical_id != after.logical_id:
            message = (
                f"`{name}` moves {_move(update, before[name], after)}, and its name stays taken until then"
            )
            fix = f"give it another name in the same deployment, or {_TWICE}"
            yield Problem((*_COMPONENTS, name), message, fix, codes.COMPONENT_NAME_TAKEN)


def _move(update: Update, before: Component, after: Component) -> str:
    if before.variant is not None and before.variant != after.variant:
        return f"from the variant `{before.variant}` to `{after.variant}`"
    old = deployed.endpoint_name(update.before)
    where = "another endpoint" if old is None else f"the endpoint `{old}`"
    return f"from {where} to `{update.spec.endpoint_name}`"


def removed_or_renamed(update: Update) -> Iterator[Problem]:
    """A component that only changes its name is recognized by its other properties."""
    before, after = deployed.components(update.before), deployed.components(update.after)
    new = {name: it for name, it in after.items() if name not in before}
    for name, gone in before.items():
        if name in after:
            continue
        twin = next((other for other, it in new.items() if _differ_in_identity_alone(gone, it)), None)
        if twin is None:
            message = f"`{name}` is removed with its copies; requests that name it fail"
            fix = "make sure that no client calls it any more"
            yield Problem(update.written(_COMPONENTS), message, fix, codes.COMPONENT_REMOVED)
        else:
            del new[twin]
            message = f"`{name}` becomes `{twin}`: the new one starts beside the old, which is then removed"
            fix = "make sure that the fleet has room for both, and that clients use the new name"
            # SageMaker says that two endpoints' names must differ in more than case; of components, nothing.
            if name.casefold() == twin.casefold():
                message += "; SageMaker may take both for one name, and refuse the new one"
                fix = f"choose a name that differs in more than case, or {_TWICE}"
            yield Problem((*_COMPONENTS, twin), message, fix, codes.COMPONENT_RENAMED)


def _differ_in_identity_alone(one: Component, other: Component) -> bool:
    paths = differences(dict(one.properties), dict(other.properties))
    return all(path[:1] and path[0] in _IDENTITY for path in paths)


def updated(update: Update) -> Iterator[Problem]:
    """New copies take over from the old ones on the same fleet."""
    for name, component in deployed.components(update.after).items():
        path = next(_new_copies(update, component), None)
        if update.changes[component.logical_id].fate is Fate.UPDATED and path is not None:
            rolls = "DeploymentConfig" in component.properties
            how = "batch by batch" if rolls else "all at once"
            message = f"the copies of `{name}` are replaced {how}, and the fleet needs room for new ones"
            roll = "" if rolls else ", or add `deployment_config.rolling_update_policy`"
            yield Problem(path, message, f"check that they fit{roll}", codes.COMPONENT_UPDATED)


def _new_copies(update: Update, component: Component) -> Iterator[SpecPath]:
    """Where the spec has the cause of new copies: what the component runs, or the model that it names."""
    change = update.changes[component.logical_id]
    for path in change.paths:
        if str(path[0]).startswith("Specification") and _BASE not in path:
            yield update.place(component.logical_id, path)
    for other in change.follows:
        if update.changes[other].type == deployed.MODEL_TYPE:
            yield from update.causes(other)


def copies_reset(update: Update) -> Iterator[Problem]:
    """Whatever an update changes about a component, CloudFormation only knows the template's copy count."""
    scaled = deployed.scaled_components(update.before)
    for name, component in deployed.components(update.after).items():
        change = update.changes[component.logical_id]
        causes = [path for path in change.paths if path[0] != "Tags"] or change.follows
        count = deployed.mapping(component.properties.get("RuntimeConfig")).get("CopyCount")
        if change.fate is Fate.UPDATED and causes and name in scaled and count is not None:
            path = update.written((*_COMPONENTS, name, "runtime_config", "copy_count"))
            message = f"the update of `{name}` may set its copies to {count}, however many are running"
            fix = "deploy while few are running, or write as many as are running"
            yield Problem(path, message, fix, codes.COPIES_RESET)


def fleet_under_components(update: Update) -> Iterator[Problem]:
    """A new fleet starts empty."""
    before, after = deployed.components(update.before), deployed.components(update.after)
    stay = [name for name in after if name in before]
    if update.new_fleet and stay:
        path = next(update.causes(ENDPOINT_CONFIG))
        names = listed(stay, last="and")
        message = f"the instances under {names} are replaced; how the copies move is not confirmed"
        fix = "try it on another endpoint, and deploy while there is little traffic"
        yield Problem(path, message, fix, codes.FLEET_UNDER_COMPONENTS)


def rebased(update: Update) -> Iterator[Problem]:
    """An adapter is loaded into its base."""
    before = deployed.components(update.before)
    for name, after in deployed.components(update.after).items():
        if name not in before or before[name].logical_id != after.logical_id:
            continue
        old, new = before[name].base, after.base
        if old != new:
            path = update.place(after.logical_id, ("Specification", _BASE))
            message = (
                f"the base of `{name}` changes from {old} to {new}; whether an update can do this is unknown"
            )
            fix = f"give the adapter another name, or {_TWICE}"
            yield Problem(path, message, fix, codes.ADAPTER_REBASED)


def variant_under_components(update: Update) -> Iterator[Problem]:
    """Components are only deleted after the endpoint was updated, when their variant is already gone."""
    gone = set(deployed.variants(update.before)) - set(deployed.variants(update.after))
    before = deployed.components(update.before)
    on_it = [name for name, it in before.items() if it.variant in gone]
    if update.same_endpoint and on_it:
        which = sorted({str(before[name].variant) for name in on_it})
        what = "is removed while it hosts" if len(which) == 1 else "are removed while they host"
        message = (
            f"{listed(which, last='and')} {what} {listed(on_it, last='and')}, which SageMaker may refuse"
        )
        fix = "deploy twice: first without what runs there, then without the variant"
        path = update.written(("variants",))
        yield Problem(path, message, fix, codes.VARIANT_UNDER_COMPONENTS)


# ---------------------------------------------------------------- Scaling of what stays


_IN_TWO = "remove the old policy in a deployment of its own"


def limit_lowered(update: Update) -> Iterator[Problem]:
    """Registering a target brings its capacity within the limits."""
    before = deployed.of_type(update.before, deployed.TARGET_TYPE)
    for logical_id, after in deployed.of_type(update.after, deployed.TARGET_TYPE).items():
        old, new = before.get(logical_id, {}).get("MaxCapacity"), after["MaxCapacity"]
        same = update.changes[logical_id].fate is Fate.UPDATED
        if same and isinstance(old, int) and new < old:
            path = update.place(logical_id, ("MaxCapacity",))
            message = f"`max_capacity` falls from {old} to {new}: what runs above it is stopped at once"
            yield Problem(path, message, "deploy it while no more than that are running", codes.LIMIT_LOWERED)


def scaling_removed(update: Update) -> Iterator[Problem]:
    """Without scaling, the capacity stays where it is."""
    scaled = (
        (deployed.scaled_variants, deployed.variants),
        (deployed.scaled_components, deployed.components),
    )
    for targets, hosts in scaled:
        for name in targets(update.before):
            if update.same_endpoint and name in hosts(update.after) and name not in targets(update.after):
                message = f"`{name}` no longer scales, whatever its load"
                fix = "set the capacity that it should have, or keep its `autoscaling`"
                yield Problem(_place(update, name), message, fix, codes.SCALING_REMOVED)


def policy_renamed(update: Update) -> Iterator[Problem]:
    """Only one policy of a target can track a metric, and CloudFormation makes the new one first."""
    before = deployed.of_type(update.before, SCALING_POLICY_TYPE).values()
    tracked = [(_tracked(update.before, it), it.get("PolicyName")) for it in before]
    for logical_id, policy in _changed(update):
        name, what = policy["PolicyName"], _tracked(update.after, policy)
        others = [other for tracks, other in tracked if tracks == what and other != name]
        if what is not None and others:
            message = f"the policy `{others[0]}` tracks this metric, and `{name}` would track it, too"
            fix = f"write `policy_name: {others[0]}`, or {_IN_TWO}"
            yield Problem(update.place(logical_id, ("PolicyName",)), message, fix, codes.POLICY_RENAMED)


def policy_name_taken(update: Update) -> Iterator[Problem]:
    """A policy is identified by its name: the new one would overwrite the old one and then be removed in its
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
            yield Problem(update.place(logical_id, ("PolicyName",)), message, fix, codes.POLICY_NAME_TAKEN)


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
    # A variant has one capacity that scales, and so has a component.
    return found.get("ResourceId")


def _place(update: Update, name: str) -> SpecPath:
    """Where the component of that name is; a variant's removed scaling has no place in the spec."""
    path = (*_COMPONENTS, name)
    return path if update.written(path) == path else ()

"""Rules on the variants and their instances: what is replaced or reset, and what cannot change."""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.cloudformation import snake
from inferstack.catalog.metrics import INSTANCE_COUNT
from inferstack.catalog.resource_types import ENDPOINT_TYPE, TARGET_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.counts import UNKNOWN, added
from inferstack.endpoint.deployed import Resources, mapping
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_template import fleets
from inferstack.endpoint.place import NOWHERE
from inferstack.endpoint.quota import beside
from inferstack.endpoint.stack import Stack
from inferstack.format.logical_ids import ENDPOINT_CONFIG
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed
from inferstack.updates.rules import DG, SCALED_UPDATE, UPDATE_ENDPOINT, update_rule
from inferstack.updates.update import RETAIN, Fate, Update, bracketed

_COUNT = "DesiredInstanceCount"
_MANAGED = "ManagedInstanceScaling"
_KEPT = {
    "InitialInstanceCount": (_COUNT, "initial_instance_count", "change `min_capacity` of its scaling"),
    "InitialVariantWeight": ("DesiredWeight", "initial_variant_weight", "leave it"),
}


@update_rule("IS870", effect="updated", source=UPDATE_ENDPOINT)
def new_fleet(update: Update) -> Iterator[Problem]:
    """The endpoint gets a new fleet.

    Every change of a model or of the configuration leads to a new fleet, which needs quota.
    """
    if not update.new_fleet:
        return
    causes = _most_specific(list(update.causes(ENDPOINT_CONFIG)))
    names = listed([bracketed(path) for path in causes], last="and") or "the configuration"
    verb = "changes" if len(causes) < 2 else "change"
    implied, keep = _implied(update)
    message = (
        f"{names} {verb}{implied}: the endpoint is updated in place and gets a new fleet{_meanwhile(update)}"
    )
    # A cause that is no longer written anywhere is reported at the top of the file.
    yield Problem(next(iter(causes), ()), message, f"{keep}{_fix(update)}")


def _implied(update: Update) -> tuple[str, str]:
    """Why managed instance scaling changes where the spec does not write it, and how to keep it."""
    for path, name, before, after in update.lasting_variants():
        old, new = mapping(before.get(_MANAGED)), mapping(after.get(_MANAGED))
        is_written = update.written((*path, snake(_MANAGED))) != path
        if bool(old) != bool(new) and (old or new).get("MinInstanceCount") == 0 and not is_written:
            why = f" (`managed_instance_scaling` of `{name}` follows from `min_capacity` of its components)"
            written = ", ".join(f"{snake(key)}: {value}" for key, value in old.items())
            return why, f"keep `managed_instance_scaling: {{{written}}}` by writing it, or " if old else ""
    return "", ""


def _most_specific(causes: list[SpecPath]) -> list[SpecPath]:
    """Each cause once, without those that add nothing: `variant` beside `variant.instance_type`."""
    longer = {path[:length] for path in causes for length in range(len(path))}
    return [path for path in dict.fromkeys(causes) if path and path not in longer]


def _meanwhile(update: Update) -> str:
    if _rolls(update):
        return ", batch by batch"
    old, new = (
        _fleets(it, sections)
        for it, sections in (
            (update.before, update.sections_before),
            (kept_by_endpoint(update), update.sections_after),
        )
    )
    by_name = {(it.name, it.is_shadow): it for it in old}
    more: dict[str, list[int | None]] = {}
    scaled, keeps = False, keeps_counts(update)
    for fleet in new:
        if fleet.instances is not None:
            before = by_name.get((fleet.name, fleet.is_shadow))
            types = fleet.instance_types
            kind = types[0] if len(types) == 1 else "instances of its pools"
            more.setdefault(kind, []).append(beside(before, fleet, keeps_count=keeps))
            limits = fleet.by_scaling if before is None else before.by_scaling
            scaled |= keeps and limits is not None and limits.min != limits.max
    if not more:
        return ""
    counts = [
        f"{UNKNOWN if (count := added(of_kind)) is None else count} more {kind}"
        for kind, of_kind in more.items()
    ]
    at_most = "up to " if scaled else ""
    return f" beside the old one, so the quota must have room for {at_most}{' and '.join(counts)} meanwhile"


def _fleets(resources: Resources, sections: Mapping[str, Any]) -> list[Fleet]:
    return [*fleets(Stack(resources, sections, lambda _, __: NOWHERE, None))]


def _rolls(update: Update) -> bool:
    rollout = mapping(deployed.endpoint(update.after).get("DeploymentConfig"))
    return "RollingUpdatePolicy" in rollout


def _fix(update: Update) -> str:
    if any("ServerlessConfig" in it for it in deployed.variants(update.after).values()):
        return "expect cold starts while it changes over"
    return "check that the quota has room for one more batch" if _rolls(update) else "check the quota"


@update_rule("IS871", effect="reset", source=UPDATE_ENDPOINT)
def count_reset(update: Update) -> Iterator[Problem]:
    """The update resets an instance count that scaling has set.

    Without RetainAllVariantProperties an update starts with the initial count.
    """
    retained = _retained(update)
    if not update.new_fleet or _COUNT in retained:
        return
    for path, name, _, after in update.lasting_variants():
        target = deployed.scaled_variants(update.before).get(name, {})
        if target.get("ScalableDimension") == INSTANCE_COUNT or "ManagedInstanceScaling" in after:
            start = after.get("InitialInstanceCount")
            message = f"the update sets the instances of `{name}` to {start}, however many are running"
            fix = f"write `{bracketed(RETAIN)}: true` for this deployment, or start with as many as run now"
            yield Problem((*path, "initial_instance_count"), message, fix)


@update_rule("IS872", effect="no-effect", source=UPDATE_ENDPOINT)
def count_kept(update: Update) -> Iterator[Problem]:
    """A new initial count or weight has no effect because the old one is retained.

    With RetainAllVariantProperties the initial values only apply to a new endpoint.
    """
    if not update.new_fleet:
        return
    retained = _retained(update)
    for path, name, before, after in update.lasting_variants():
        for key, (kept, word, instead) in _KEPT.items():
            old, new = before.get(key), after.get(key)
            if kept in retained and old != new and None not in (old, new):
                message = (
                    f"`{word}` of `{name}` changes from {old} to {new}, but the endpoint keeps what it has"
                )
                fix = (
                    f"{instead}, or list `{kept}` under `endpoint.exclude_retained_variant_properties` "
                    "for this deployment"
                )
                yield Problem((*path, word), message, fix)


def kept_by_endpoint(update: Update) -> Resources:
    """The resources after the update, with the counts and weights that the endpoint keeps as they were."""
    retained = _retained(update) if update.new_fleet else set()
    keys = [key for key, (kept, *_) in _KEPT.items() if kept in retained]
    before, config = deployed.variants(update.before), update.after.get(ENDPOINT_CONFIG)
    if not keys or config is None or not deployed.variants(update.after):
        return update.after
    properties = dict(deployed.properties_of(config))
    properties["ProductionVariants"] = [
        it
        | {key: old[key] for key in keys if key in (old := before.get(it["VariantName"], {})) and key in it}
        for it in properties["ProductionVariants"]
    ]
    return {**update.after, ENDPOINT_CONFIG: {**config, "Properties": properties}}


def keeps_counts(update: Update) -> bool:
    """Whether new fleets have as many instances as run by then."""
    return _COUNT in _retained(update)


def _retained(update: Update) -> set[str]:
    """Which properties of the running variants the update keeps."""
    endpoint = deployed.endpoint(update.after)
    if endpoint.get("RetainAllVariantProperties") is not True:
        return set()
    excluded = endpoint.get("ExcludeRetainedVariantProperties", [])
    return {kept for kept, _, _ in _KEPT.values()} - {it["VariantPropertyType"] for it in excluded}


@update_rule("IS879", effect="doubtful", source=UPDATE_ENDPOINT)
def same_config(update: Update) -> Iterator[Problem]:
    """The endpoint is updated with its present configuration. What SageMaker does is not confirmed.

    UpdateEndpoint requires a new configuration.
    """
    change = next((it for it in update.changes.values() if it.type == ENDPOINT_TYPE), None)
    if change is None or change.fate is not Fate.UPDATED or update.new_fleet:
        return
    own = [path for path in change.paths if path[0] != "Tags"]
    if own:
        keys = list(dict.fromkeys(str(path[0]) for path in own))
        names = listed(keys, last="and")
        verb = "changes" if len(keys) < 2 else "change"
        message = f"only {names} of the endpoint {verb}, not its configuration, which SageMaker may refuse"
        fix = "deploy it together with a change of the model or of a variant"
        written = update.place(change.logical_id, own[0])
        # A property that follows from scaling is reported there.
        targets = deployed.scaled_variants(update.after).values()
        scaled = (at for at, it in deployed.of_type(update.after, TARGET_TYPE).items() if it in targets)
        path = written or next((update.sources[at] for at in scaled), ())
        yield Problem(path, message, fix)


# ---------------------------------------------------------------- Instance types and names


@update_rule("IS860", effect="refused", source=SCALED_UPDATE)
def scaled_type(update: Update) -> Iterator[Problem]:
    """The instance type of a variant changes while a scaling target is registered for it.

    A target that was set up for one instance type would scale another.
    """
    if not update.same_endpoint:
        return
    scaled = deployed.scaled_variants(update.before)
    for path, name, before, after in update.lasting_variants():
        old, new = before.get("InstanceType"), after.get("InstanceType")
        if name in scaled and old != new and None not in (old, new):
            message = (
                f"SageMaker refuses to move `{name}` from {old} to {new} while its scaling is registered"
            )
            first = f"with {old}, without its `autoscaling`, with `{bracketed(RETAIN)}: true`"
            fix = f"deploy twice: first {first}; then this spec"
            yield Problem((*path, "instance_type"), message, fix)


@update_rule("IS887", effect="doubtful", source=SCALED_UPDATE)
def scaled_pools(update: Update) -> Iterator[Problem]:
    """A variant with instance pools changes all its instance types while a scaling target is registered for
    it. That SageMaker refuses this is not confirmed.

    No page says what SageMaker does where the old or the new variant has pools.
    """
    if not update.same_endpoint:
        return
    scaled = deployed.scaled_variants(update.before)
    for path, name, before, after in update.lasting_variants():
        old, new = deployed.instance_types(before), deployed.instance_types(after)
        pooled = "InstancePools" in before or "InstancePools" in after
        if name in scaled and pooled and old and new and not set(old) & set(new):
            one, other = (listed(it, last="and", quote="") for it in (old, new))
            message = (
                f"`{name}` moves from {one} to {other} while its scaling is registered, which SageMaker may "
                "refuse"
            )
            fix = f"first deploy pools that have both {old[0]} and {new[0]}"
            key = "instance_pools" if "InstancePools" in after else "instance_type"
            yield Problem((*path, key), message, fix)


@update_rule("IS861", effect="refused", source=f"{DG}/deployment-guardrails-exclusions.html")
def guarded_names(update: Update) -> Iterator[Problem]:
    """Variants are renamed in an update with guardrails.

    Guardrails compare variant by variant and need the same names.
    """
    gone, new = _names(update)
    if (gone or new) and _is_guarded(update):
        message = f"{_moves(gone, new)}, but with `deployment_config` variants must keep their names"
        fix = "deploy twice: first without `endpoint.deployment_config`, then with it"
        yield Problem(_place(update, new), message, fix)


@update_rule("IS873", effect="interrupted", source=UPDATE_ENDPOINT)
def names(update: Update) -> Iterator[Problem]:
    """A variant is added, removed or renamed."""
    gone, new = _names(update)
    if (gone or new) and not _is_guarded(update):
        fix = "keep the old name unless it must change" if gone else "check the weights of all variants"
        yield Problem(_place(update, new), f"{_moves(gone, new)}{_effects(gone, new)}", fix)


def _names(update: Update) -> tuple[list[str], list[str]]:
    """The names of variants that are gone, and of new ones."""
    if not update.same_endpoint:
        return [], []
    before, after = list(deployed.variants(update.before)), list(deployed.variants(update.after))
    return [it for it in before if it not in after], [it for it in after if it not in before]


def _is_guarded(update: Update) -> bool:
    return "DeploymentConfig" in deployed.endpoint(update.after)


def _place(update: Update, new: list[str]) -> SpecPath:
    """Where the spec has the new name, or where it could have the old one."""
    at = next((at for name, at in update.variants.items() if name in new), None)
    return update.written(("variants",) if at is None else (*at, "variant_name"))


def _moves(gone: list[str], new: list[str]) -> str:
    if len(gone) == len(new) == 1:
        return f"the variant `{gone[0]}` becomes `{new[0]}`"
    return " and ".join(_move(those, verb) for those, verb in ((gone, "removed"), (new, "added")) if those)


def _move(names: list[str], verb: str) -> str:
    plural, are = ("", "is") if len(names) == 1 else ("s", "are")
    return f"the variant{plural} {listed(names, last='and')} {are} {verb}"


def _effects(gone: list[str], new: list[str]) -> str:
    lost = "requests that name the old one fail, and its metrics end"
    begun = "a new one starts with its initial count and weight"
    return ": " + "; ".join(text for those, text in ((gone, lost), (new, begun)) if those)


@update_rule("IS874", effect="doubtful", source=SCALED_UPDATE)
def scaled_variant_gone(update: Update) -> Iterator[Problem]:
    """A variant is removed while a scaling target is registered for it. That SageMaker refuses this is not
    confirmed.

    CloudFormation deregisters a removed target only after the endpoint was updated.
    """
    if not update.same_endpoint:
        return
    before, after = deployed.variants(update.before), deployed.variants(update.after)
    new = [name for name in after if name not in before]
    for name in deployed.scaled_variants(update.before):
        if name in before and name not in after:
            message = (
                f"the variant `{name}` is removed while its scaling is registered, which SageMaker may refuse"
            )
            fix = (
                "deploy twice: first with the variant but without its `autoscaling`, then without the variant"
            )
            yield Problem(_place(update, new), message, fix)

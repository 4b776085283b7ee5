"""The endpoint's fleet: what an update starts anew, sets back, or cannot do."""

from collections.abc import Iterator

from inferstack.review import deployed
from inferstack.review.changes import Fate
from inferstack.review.deployed import Properties, mapping
from inferstack.review.update import Finding, Update, dotted
from inferstack.spec import update_codes as codes
from inferstack.spec.problem import SpecPath
from inferstack.spec.walk import variants
from inferstack.spec.words import listed

_INSTANCES = "sagemaker:variant:DesiredInstanceCount"
_RETAIN = ("endpoint", "retain_all_variant_properties")
_CONFIG_ID = "EndpointConfig"
_KEPT = {
    "InitialInstanceCount": (
        "DesiredInstanceCount",
        "initial_instance_count",
        "change `min_capacity` of its scaling",
    ),
    "InitialVariantWeight": ("DesiredWeight", "initial_variant_weight", "leave it"),
}


def new_fleet(update: Update) -> Iterator[Finding]:
    """Every change of a model or of the configuration ends in one, and needs room for it."""
    if not update.new_fleet:
        return
    causes = list(dict.fromkeys(update.causes(_CONFIG_ID)))
    names = listed([dotted(path) for path in causes if path], last="and")
    what = f"{names} {'change' if len(causes) > 1 else 'changes'}" if names else "the configuration changes"
    message = f"{what}: the endpoint is updated in place and gets a new fleet{_meanwhile(update)}"
    yield Finding(codes.NEW_FLEET, causes[0], message, _fix(update))


def _meanwhile(update: Update) -> str:
    if _rolls(update):
        return ", batch by batch"
    more = [
        text for name, it in deployed.variants(update.after).items() if (text := _count(update, name, it))
    ]
    return f" beside the old one, so that the quota must allow {' and '.join(more)} meanwhile" if more else ""


def _count(update: Update, name: str, variant: Properties) -> str | None:
    """How many instances the new fleet of a variant has; None where it has none."""
    kind = variant.get("InstanceType", "instances of its pools")
    managed = mapping(variant.get("ManagedInstanceScaling")).get("MaxInstanceCount")
    target = deployed.scaled_variants(update.before).get(name, {})
    most = target.get("MaxCapacity", managed)
    if "ServerlessConfig" in variant:
        return None
    return (
        f"{variant.get('InitialInstanceCount')} more {kind}" if most is None else f"up to {most} more {kind}"
    )


def _rolls(update: Update) -> bool:
    rollout = mapping(deployed.endpoint(update.after).get("DeploymentConfig"))
    return "RollingUpdatePolicy" in rollout


def _fix(update: Update) -> str:
    fleet = list(deployed.variants(update.after).values())
    if any("ServerlessConfig" in it for it in fleet):
        return "expect cold starts while it changes over"
    if _rolls(update):
        return "check that the quota allows one batch more"
    rolling = ", or use `endpoint.deployment_config.rolling_update_policy`, which needs one batch more"
    return f"check the quota{rolling if len(fleet) == 1 else ''}"


def count_reset(update: Update) -> Iterator[Finding]:
    """Without RetainAllVariantProperties an update starts with the initial count."""
    retained = _retained(update)
    if not update.new_fleet or "DesiredInstanceCount" in retained:
        return
    for path, name, _, after in _kept_variants(update):
        scaled = deployed.scaled_variants(update.before).get(name, {}).get("ScalableDimension") == _INSTANCES
        if scaled or "ManagedInstanceScaling" in after:
            start = after.get("InitialInstanceCount")
            message = (
                f"the update sets the instances of `{name}` to {start}, however many scaling has started"
            )
            fix = f"write `{dotted(_RETAIN)}: true` for this deployment, or start with as many as run now"
            yield Finding(codes.COUNT_RESET, (*path, "initial_instance_count"), message, fix)


def count_kept(update: Update) -> Iterator[Finding]:
    """With RetainAllVariantProperties the initial values are those of a new endpoint only."""
    if not update.new_fleet:
        return
    retained = _retained(update)
    for path, name, before, after in _kept_variants(update):
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
                yield Finding(codes.COUNT_KEPT, (*path, word), message, fix)


def _retained(update: Update) -> frozenset[str]:
    """What the update keeps of the running variants."""
    endpoint = deployed.endpoint(update.after)
    if endpoint.get("RetainAllVariantProperties") is not True:
        return frozenset()
    excluded = endpoint.get("ExcludeRetainedVariantProperties", [])
    return frozenset({"DesiredInstanceCount", "DesiredWeight"}) - {
        it["VariantPropertyType"] for it in excluded
    }


def _kept_variants(update: Update) -> Iterator[tuple[SpecPath, str, Properties, Properties]]:
    """Variants that there were before: their place in the spec, name, properties before and after."""
    before, after = deployed.variants(update.before), deployed.variants(update.after)
    for path, variant in variants(update.spec):
        name = variant.variant_name
        if name in before and name in after:
            yield path, name, before[name], after[name]


def scaled_type(update: Update) -> Iterator[Finding]:
    """SageMaker refuses: a target that was set for one type would scale another."""
    if not update.same_endpoint:
        return
    scaled = deployed.scaled_variants(update.before)
    for path, name, before, after in _kept_variants(update):
        old, new = before.get("InstanceType"), after.get("InstanceType")
        if name in scaled and old != new and None not in (old, new):
            message = (
                f"SageMaker refuses to move `{name}` from {old} to {new} while its scaling is registered"
            )
            fix = (
                f"deploy twice: first with {old}, without its `autoscaling` and with `{dotted(_RETAIN)}: true`; "
                "then as it is here"
            )
            yield Finding(codes.SCALED_TYPE_CHANGES, (*path, "instance_type"), message, fix)


def variant_names(update: Update) -> Iterator[Finding]:
    """Guardrails compare variant by variant and need the same names."""
    if not update.same_endpoint:
        return
    before, after = list(deployed.variants(update.before)), list(deployed.variants(update.after))
    gone, new = [it for it in before if it not in after], [it for it in after if it not in before]
    if not gone and not new:
        return
    what = _moves(gone, new)
    path = next((at for at, it in variants(update.spec) if it.variant_name in new), ())
    path = update.written((*path, "variant_name") if path else ("variants",))
    if "DeploymentConfig" in deployed.endpoint(update.after):
        message = f"{what}, and with `deployment_config` the names of variants must stay"
        fix = "deploy twice: first without `endpoint.deployment_config`, then with it"
        yield Finding(codes.GUARDED_VARIANTS_CHANGE, path, message, fix)
        return
    yield Finding(codes.VARIANTS_CHANGE, path, f"{what}{_effects(gone, new)}", _names_fix(gone))


def _moves(gone: list[str], new: list[str]) -> str:
    if len(gone) == len(new) == 1:
        return f"the variant `{gone[0]}` becomes `{new[0]}`"
    moves = [
        f"{listed(names, last='and')} {verb}" for names, verb in ((gone, "goes"), (new, "comes")) if names
    ]
    return f"of the variants {' and '.join(moves)}"


def _effects(gone: list[str], new: list[str]) -> str:
    lost = "requests with `TargetVariant` and metrics under the old name end"
    begun = "a new one starts with its initial count and weight"
    return ": " + "; ".join(text for names, text in ((gone, lost), (new, begun)) if names)


def _names_fix(gone: list[str]) -> str:
    return "keep the old name unless it must change" if gone else "check the weights of all variants"


def scaled_variant_gone(update: Update) -> Iterator[Finding]:
    """CloudFormation deregisters a removed target only after the endpoint was updated."""
    if not update.same_endpoint:
        return
    after = deployed.variants(update.after)
    for name in deployed.scaled_variants(update.before):
        if name in deployed.variants(update.before) and name not in after:
            message = f"the variant `{name}` goes while its scaling is registered, which SageMaker may refuse"
            fix = (
                "deploy twice: first with the variant but without its `autoscaling`, then without the variant"
            )
            yield Finding(codes.SCALED_VARIANT_GONE, update.written(("variants",)), message, fix)


def same_config(update: Update) -> Iterator[Finding]:
    """UpdateEndpoint asks for a new configuration."""
    change = next((it for it in update.changes.values() if it.type == deployed.ENDPOINT_TYPE), None)
    if change is None or change.fate is not Fate.UPDATED or update.new_fleet:
        return
    own = [path for path in change.paths if path[0] != "Tags"]
    if own:
        names = listed([str(path[0]) for path in own], last="and")
        message = f"{names} of the endpoint change and its configuration does not; SageMaker may refuse that"
        fix = "deploy it together with a change of the model or of a variant"
        yield Finding(codes.SAME_CONFIG_AGAIN, update.place(change.logical_id, own[0]), message, fix)

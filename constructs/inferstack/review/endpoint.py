"""The endpoint itself, its name and its nature, and what about its variants cannot change."""

from collections.abc import Iterator

from inferstack.facts.walk import variants, variants as variants_of
from inferstack.problems import Problem, SpecPath, update_codes as codes
from inferstack.problems.words import listed
from inferstack.review import deployed
from inferstack.review.changes import Fate, Resources
from inferstack.review.deployed import mapping
from inferstack.review.update import RETAIN, Update, bracketed
from inferstack.texts.s3_urls import pattern_of

# ----------------------------------------------------------------
# The endpoint itself: its name and its nature.


_NAME: SpecPath = ("endpoint_name",)
_KIND: SpecPath = ("kind",)
_ASYNC: SpecPath = ("endpoint_config", "async_inference_config")
_NEW_NAME = "give the endpoint a new name, move the clients, then remove the old one"


def renamed(update: Update) -> Iterator[Problem]:
    """Clients call an endpoint by its name."""
    old, new = deployed.endpoint_name(update.before), update.spec.endpoint_name
    if update.fate(deployed.ENDPOINT_TYPE) is not Fate.REPLACED or old is None:
        return
    if old.casefold() == new.casefold():
        message = (
            f"`{old}` and `{new}` are the same name to SageMaker, so that the new endpoint cannot be made"
        )
        yield Problem(_NAME, message, f"write `{old}`, or another name", codes.SAME_NAME_IN_OTHER_CASE)
        return
    message = (
        f"a new endpoint `{new}` is made with its initial counts; then `{old}` is deleted, or stays with its "
        "stack where stacks have the endpoint's name"
    )
    fix = f"keep `{old}`, or add a spec for `{new}`, move the clients and remove this one"
    yield Problem(_NAME, message, fix, codes.ENDPOINT_RENAMED)


def serverless(update: Update) -> Iterator[Problem]:
    """An endpoint can move from serverless to instances, but not back."""
    if not update.same_endpoint:
        return
    before, after = _are_serverless(update.before), _are_serverless(update.after)
    if before is None or before == after:
        return
    at = next(path for path, _ in variants(update.spec))
    path = update.written((*at, "instance_type" if before else "serverless_config"))
    if before:
        message = "the endpoint stops being serverless, which no update or rollback can undo"
        fix = f"try it first: {_NEW_NAME}"
        yield Problem(path, message, fix, codes.NO_LONGER_SERVERLESS)
    else:
        message = "SageMaker refuses to make an endpoint on instances serverless"
        yield Problem(path, message, _NEW_NAME, codes.BECOMES_SERVERLESS)


def _are_serverless(resources: Resources) -> bool | None:
    fleet = deployed.variants(resources).values()
    return any("ServerlessConfig" in it for it in fleet) if fleet else None


def asynchronous(update: Update) -> Iterator[Problem]:
    """SageMaker says that the asynchronous configuration cannot be removed."""
    if not update.same_endpoint:
        return
    before, after = ("AsyncInferenceConfig" in deployed.config(it) for it in (update.before, update.after))
    if before and not after:
        message = "SageMaker refuses to make an asynchronous endpoint a real-time one"
        path = update.written(_ASYNC)
        yield Problem(path, message, _NEW_NAME, codes.NO_LONGER_ASYNC)
    if after and not before and deployed.config(update.before):
        message = "the endpoint becomes asynchronous; whether an update can do this is unknown"
        yield Problem(update.written(_ASYNC), message, _NEW_NAME, codes.KIND_CHANGES)


def with_components(update: Update) -> Iterator[Problem]:
    """An endpoint has models on its variants, or components on its fleet."""
    if not update.same_endpoint:
        return
    before, after = (_hosts_models(it) for it in (update.before, update.after))
    if before is not None and before != after:
        verb = "begins" if before else "ceases"
        message = (
            f"the endpoint {verb} to have inference components; whether an update can do this is unknown"
        )
        yield Problem(_KIND, message, _NEW_NAME, codes.KIND_CHANGES)


def _hosts_models(resources: Resources) -> bool | None:
    fleet = deployed.variants(resources).values()
    return any("ModelName" in it for it in fleet) if fleet else None


def many_models(update: Update) -> Iterator[Problem]:
    """A multi-model endpoint needs the name of a model in every request; other endpoints accept none."""
    before, after = _prefixes(update.before), _prefixes(update.after)
    both = deployed.of_type(update.before, deployed.MODEL_TYPE) and deployed.of_type(
        update.after, deployed.MODEL_TYPE
    )
    if update.same_endpoint and both and bool(before) != bool(after):
        what = "have to name a `TargetModel`" if after else "can no longer name a `TargetModel`"
        yield Problem(_KIND, f"requests {what} once the endpoint is updated", _NEW_NAME, codes.KIND_CHANGES)


def prefix(update: Update) -> Iterator[Problem]:
    """Models are found under the prefix by the name that clients send."""
    before, after = _prefixes(update.before), _prefixes(update.after)
    for logical_id in before.keys() & after.keys() if update.same_endpoint else ():
        old, new = before[logical_id], after[logical_id]
        if old != new and not _are_versions(old, new):
            path = update.place(logical_id, ("PrimaryContainer", "ModelDataUrl"))
            message = f"models come from {new} instead of {old}, and those that are loaded are loaded anew"
            fix = "put every archive that clients name as `TargetModel` under the new prefix before"
            yield Problem(path, message, fix, codes.PREFIX_CHANGES)


def _are_versions(old: object, new: object) -> bool:
    """Whether both were uploaded for one prefix of a spec: each then has all archives that it declares."""
    patterns = {pattern_of(it) if isinstance(it, str) else None for it in (old, new)}
    return len(patterns) == 1 and None not in patterns


def _prefixes(resources: Resources) -> dict[str, object]:
    """Where multi-model containers find their models, by the model's logical id."""
    models = deployed.of_type(resources, deployed.MODEL_TYPE)
    containers = {logical_id: mapping(it.get("PrimaryContainer")) for logical_id, it in models.items()}
    return {at: it.get("ModelDataUrl") for at, it in containers.items() if it.get("Mode") == "MultiModel"}


# ----------------------------------------------------------------
# Variants: what about them cannot change at all, or not while they scale.


def scaled_type(update: Update) -> Iterator[Problem]:
    """SageMaker refuses this: a target that was set up for one instance type would scale another."""
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
            fix = f"deploy twice: first {first}; then as it is here"
            yield Problem((*path, "instance_type"), message, fix, codes.SCALED_TYPE_CHANGES)


def scaled_pools(update: Update) -> Iterator[Problem]:
    """No page says what SageMaker does where the old or the new variant has pools."""
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
            fix = f"deploy pools before that have both {old[0]} and {new[0]}"
            key = "instance_pools" if "InstancePools" in after else "instance_type"
            yield Problem((*path, key), message, fix, codes.SCALED_POOLS_CHANGE)


def names(update: Update) -> Iterator[Problem]:
    """Guardrails compare variant by variant and need the same names."""
    if not update.same_endpoint:
        return
    before, after = list(deployed.variants(update.before)), list(deployed.variants(update.after))
    gone, new = [it for it in before if it not in after], [it for it in after if it not in before]
    if not gone and not new:
        return
    what = _moves(gone, new)
    path = _place(update, new)
    if "DeploymentConfig" in deployed.endpoint(update.after):
        message = f"{what}, and with `deployment_config` the names of variants must stay"
        fix = "deploy twice: first without `endpoint.deployment_config`, then with it"
        yield Problem(path, message, fix, codes.GUARDED_VARIANTS_CHANGE)
        return
    yield Problem(path, f"{what}{_effects(gone, new)}", _names_fix(gone), codes.VARIANTS_CHANGE)


def _place(update: Update, new: list[str]) -> SpecPath:
    """Where the spec has the new name, or where it could have the old one."""
    at = next((at for at, it in variants_of(update.spec) if it.variant_name in new), None)
    return update.written(("variants",) if at is None else (*at, "variant_name"))


def _moves(gone: list[str], new: list[str]) -> str:
    if len(gone) == len(new) == 1:
        return f"the variant `{gone[0]}` becomes `{new[0]}`"
    moves = [
        f"{listed(those, last='and')} {verb}" for those, verb in ((gone, "goes"), (new, "comes")) if those
    ]
    return f"of the variants {' and '.join(moves)}"


def _effects(gone: list[str], new: list[str]) -> str:
    lost = "requests that name the old one fail, and its metrics end"
    begun = "a new one starts with its initial count and weight"
    return ": " + "; ".join(text for those, text in ((gone, lost), (new, begun)) if those)


def _names_fix(gone: list[str]) -> str:
    return "keep the old name unless it must change" if gone else "check the weights of all variants"


def scaled_variant_gone(update: Update) -> Iterator[Problem]:
    """CloudFormation deregisters a removed target only after the endpoint was updated."""
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
            yield Problem(_place(update, new), message, fix, codes.SCALED_VARIANT_GONE)

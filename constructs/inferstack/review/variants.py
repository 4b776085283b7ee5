"""Variants: what about them cannot change at all, or not while they scale."""

from collections.abc import Iterator

from inferstack.review import deployed
from inferstack.review.update import RETAIN, Effect, Update, bracketed
from inferstack.spec.parts.walk import variants as variants_of
from inferstack.spec.problem import SpecPath, update_codes as codes
from inferstack.spec.problem.words import listed


def scaled_type(update: Update) -> Iterator[Effect]:
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
            yield Effect(codes.SCALED_TYPE_CHANGES, (*path, "instance_type"), message, fix)


def scaled_pools(update: Update) -> Iterator[Effect]:
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
            yield Effect(codes.SCALED_POOLS_CHANGE, (*path, key), message, fix)


def names(update: Update) -> Iterator[Effect]:
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
        yield Effect(codes.GUARDED_VARIANTS_CHANGE, path, message, fix)
        return
    yield Effect(codes.VARIANTS_CHANGE, path, f"{what}{_effects(gone, new)}", _names_fix(gone))


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


def scaled_variant_gone(update: Update) -> Iterator[Effect]:
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
            yield Effect(codes.SCALED_VARIANT_GONE, _place(update, new), message, fix)

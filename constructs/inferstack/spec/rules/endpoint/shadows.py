"""Shadow variants."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelBackedSpec, MultiModelSpec
from inferstack.spec.parts.walk import every_variant, is_async, models, shadow_variants, variants
from inferstack.spec.problem.words import listed
from inferstack.spec.rules.base import CONFIG_PAGE, Finding, error

_SHADOW = "https://docs.aws.amazon.com/sagemaker/latest/dg/shadow-tests.html"


@error(
    "IS280",
    "An endpoint with a shadow must have exactly one production and one shadow variant.",
    CONFIG_PAGE,
    ModelBackedSpec,
    about="shadow_variants",
)
def one_of_each(spec: ModelBackedSpec) -> Iterator[Finding]:
    """Requests to the one are copied to the other."""
    shadows, count = shadow_variants(spec), len(variants(spec))
    if shadows and (len(shadows) > 1 or count != 1):
        message = f"the spec has {count} production and {len(shadows)} shadow variants"
        yield Finding(("shadow_variants",), message, "keep one of each")


@error(
    "IS281",
    "The model of a shadow variant must be one that the spec has.",
    _SHADOW,
    ModelBackedSpec,
    about="shadow_variants",
)
def shadow_names_a_model(spec: ModelBackedSpec) -> Iterator[Finding]:
    """It is usually a different model from the one in production."""
    known = [name for _, name, _ in models(spec) if name is not None]
    for path, variant in shadow_variants(spec):
        if known and variant.model_name not in known:
            found = "no model" if variant.model_name is None else f"the model `{variant.model_name}`"
            yield Finding((*path, "model_name"), f"the shadow names {found}", f"write {listed(known)}")
        if not known and variant.model_name is not None:
            message = f"there is no model `{variant.model_name}`"
            yield Finding((*path, "model_name"), message, "write it under `models`, or remove the name")


@error(
    "IS282",
    "A shadow variant needs a name of its own.",
    CONFIG_PAGE,
    ModelBackedSpec,
    about="shadow_variants",
)
def shadow_has_its_own_name(spec: ModelBackedSpec) -> Iterator[Finding]:
    """The name is a dimension of its metrics."""
    taken = {variant.variant_name for _, variant in variants(spec)}
    for path, variant in shadow_variants(spec):
        if variant.variant_name in taken:
            message = f"`{variant.variant_name}` is the name of the production variant"
            yield Finding((*path, "variant_name"), message, "give the shadow another name")


@error(
    "IS283",
    "A shadow variant needs a real-time endpoint on instances, with one model per variant.",
    _SHADOW,
    ModelBackedSpec,
    about="shadow_variants",
)
def shadow_fits_the_endpoint(spec: ModelBackedSpec) -> Iterator[Finding]:
    """Serverless, asynchronous and multi-model endpoints take no shadow."""
    serverless = any(it.serverless_config is not None for _, it in every_variant(spec))
    unfit = {
        "serverless": serverless,
        "asynchronous": is_async(spec),
        "multi-model": isinstance(spec, MultiModelSpec),
    }
    for what, there in unfit.items():
        if there and spec.shadow_variants is not None:
            yield Finding(
                ("shadow_variants",),
                f"the endpoint is {what}, so it cannot have a shadow",
                "remove the shadow",
            )


@error(
    "IS284", "A shadow variant cannot have `autoscaling`.", _SHADOW, ModelBackedSpec, about="shadow_variants"
)
def shadow_does_not_scale(spec: ModelBackedSpec) -> Iterator[Finding]:
    """Scaling is registered for production variants."""
    for path, variant in shadow_variants(spec):
        if variant.autoscaling is not None:
            message = "`autoscaling` cannot be used in a shadow variant"
            yield Finding((*path, "autoscaling"), message, "remove it, and set `initial_instance_count`")

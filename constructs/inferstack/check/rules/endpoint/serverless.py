"""Serverless and asynchronous endpoints, and shadow variants."""

from collections.abc import Iterator

from inferstack.check.rules.base import CONFIG_PAGE, error
from inferstack.facts.kinds import kind_of
from inferstack.facts.walk import every_variant, is_async, models, shadow_variants, variants
from inferstack.format.kinds import ModelBackedSpec, ModelSpec
from inferstack.format.variant import ServerlessConfig, Variant
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed

# ---------------------------------------------------------------- Serverless and asynchronous endpoints


_CONFIG = (
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariantServerlessConfig.html"
)
_STEP_MB = 1024

_OF_INSTANCES = (
    "instance_type",
    "instance_pools",
    "initial_instance_count",
    "managed_instance_scaling",
    "volume_size_in_gb",
    "inference_ami_version",
    "routing_config",
    "variant_instance_provision_timeout_in_seconds",
    "enable_ssm_access",
    "core_dump_config",
    "capacity_reservation_config",
)


def _serverless(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant, ServerlessConfig]]:
    for path, variant in variants(spec):
        if variant.serverless_config is not None:
            yield path, variant, variant.serverless_config


@error("IS600", _CONFIG)
def memory_in_steps(spec: ModelSpec) -> Iterator[Problem]:
    """Serverless memory must be a multiple of 1024 MB.

    From 1024 to 6144, which the schema checks.
    """
    for path, _, config in _serverless(spec):
        found = config.memory_size_in_mb
        if found % _STEP_MB:
            fix = f"write {found // _STEP_MB * _STEP_MB} or {(found // _STEP_MB + 1) * _STEP_MB}"
            yield Problem(
                (*path, "serverless_config", "memory_size_in_mb"),
                f"{found} MB is not a multiple of {_STEP_MB}",
                fix,
            )


@error("IS601", _CONFIG)
def provisioned_within_maximum(spec: ModelSpec) -> Iterator[Problem]:
    """`provisioned_concurrency` cannot be above `max_concurrency`.

    They may be equal.
    """
    for path, _, config in _serverless(spec):
        kept, most = config.provisioned_concurrency, config.max_concurrency
        if kept is not None and kept > most:
            message = f"`provisioned_concurrency` is {kept}, above the `max_concurrency` of {most}"
            where = (*path, "serverless_config", "provisioned_concurrency")
            yield Problem(where, message, f"write at most {most}, or raise `max_concurrency`")


# ---------------------------------------------------------------- Shadow variants


_SHADOW = "https://docs.aws.amazon.com/sagemaker/latest/dg/shadow-tests.html"


@error("IS280", CONFIG_PAGE)
def one_of_each(spec: ModelBackedSpec) -> Iterator[Problem]:
    """An endpoint with a shadow must have exactly one production and one shadow variant.

    Requests to the one are copied to the other.
    """
    shadows, count = shadow_variants(spec), len(variants(spec))
    if shadows and (len(shadows) > 1 or count != 1):
        message = f"the spec has {count} production and {len(shadows)} shadow variants"
        yield Problem(("shadow_variants",), message, "keep one of each")


@error("IS281", _SHADOW)
def shadow_names_a_model(spec: ModelBackedSpec) -> Iterator[Problem]:
    """The model of a shadow variant must be one that the spec has.

    It is usually a different model from the one in production.
    """
    known = [name for _, name, _ in models(spec) if name is not None]
    for path, variant in shadow_variants(spec):
        if known and variant.model_name not in known:
            found = "no model" if variant.model_name is None else f"the model `{variant.model_name}`"
            yield Problem((*path, "model_name"), f"the shadow names {found}", f"write {listed(known)}")
        if not known and variant.model_name is not None:
            message = f"there is no model `{variant.model_name}`"
            yield Problem((*path, "model_name"), message, "write it under `models`, or remove the name")


@error("IS282", CONFIG_PAGE)
def shadow_has_its_own_name(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A shadow variant needs a name of its own.

    The name is a dimension of its metrics.
    """
    taken = {variant.variant_name for _, variant in variants(spec)}
    for path, variant in shadow_variants(spec):
        if variant.variant_name in taken:
            message = f"`{variant.variant_name}` is the name of the production variant"
            yield Problem((*path, "variant_name"), message, "give the shadow another name")


@error("IS283", _SHADOW)
def shadow_fits_the_endpoint(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A shadow variant needs a real-time endpoint on instances, with one model per variant.

    Serverless, asynchronous and multi-model endpoints take no shadow.
    """
    serverless = any(it.serverless_config is not None for _, it in every_variant(spec))
    unfit = {
        "serverless": serverless,
        "asynchronous": is_async(spec),
        "multi-model": kind_of(spec).archives == "many",
    }
    for what, there in unfit.items():
        if there and spec.shadow_variants is not None:
            yield Problem(
                ("shadow_variants",),
                f"the endpoint is {what}, so it cannot have a shadow",
                "remove the shadow",
            )

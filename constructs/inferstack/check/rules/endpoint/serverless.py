"""Serverless and asynchronous endpoints, and shadow variants."""

from collections.abc import Iterator

from inferstack.check.rules.base import CONFIG_PAGE, CONTAINER_PAGE, SERVERLESS_PAGE, error
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


@error("IS602", SERVERLESS_PAGE)
def nothing_about_instances(spec: ModelSpec) -> Iterator[Problem]:
    """A serverless variant cannot have instance settings.

    There are no instances to choose, size or connect to, and no GPUs.
    """
    for path, variant, _ in _serverless(spec):
        for key in _OF_INSTANCES:
            if getattr(variant, key) is not None:
                message = f"`{key}` cannot be used with `serverless_config`"
                yield Problem((*path, key), message, f"remove `{key}`, or `serverless_config`")


@error("IS603", SERVERLESS_PAGE)
def not_in_a_vpc(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A serverless endpoint cannot be in a VPC.

    Among the features that serverless endpoints lack.
    """
    yield from _not_with_serverless(spec, "vpc_config")


@error("IS604", SERVERLESS_PAGE)
def not_isolated(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A serverless endpoint cannot have network isolation.

    Among the features that serverless endpoints lack.
    """
    yield from _not_with_serverless(spec, "enable_network_isolation")


@error("IS275", CONTAINER_PAGE)
def no_data_source(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A serverless endpoint cannot use `model_data_source`.

    It can only unpack one archive.
    """
    fix = "pack the files into a tar.gz and write `model_data_url`"
    yield from _not_with_serverless(spec, "model_data_source", f"{fix}, or use instances")


def _not_with_serverless(
    spec: ModelBackedSpec, key: str, fix: str = "remove it, or use instances"
) -> Iterator[Problem]:
    hosted = {variant.model_name for _, variant, _ in _serverless(spec)}
    for path, name, model in models(spec):
        if getattr(model, key) not in (None, False) and name in hosted:
            yield Problem((*path, key), f"`{key}` cannot be used with a serverless variant", fix)


@error("IS605", SERVERLESS_PAGE)
def no_data_capture(spec: ModelSpec) -> Iterator[Problem]:
    """A serverless endpoint cannot capture data.

    Among the features that serverless endpoints lack.
    """
    config = spec.endpoint_config
    if config is not None and config.data_capture_config is not None and list(_serverless(spec)):
        path = ("endpoint_config", "data_capture_config")
        yield Problem(
            path,
            "`data_capture_config` cannot be used with a serverless variant",
            "remove it, or use instances",
        )


@error("IS606", SERVERLESS_PAGE)
def one_variant(spec: ModelSpec) -> Iterator[Problem]:
    """A serverless endpoint can have only one variant.

    Nor can other variants run on instances beside it.
    """
    if len(variants(spec)) > 1:
        for path, _, _ in _serverless(spec):
            yield Problem(
                (*path, "serverless_config"),
                "the serverless variant is one of several",
                "make it the only one, or use instances",
            )


@error("IS607", CONFIG_PAGE)
def asynchronous_on_instances(spec: ModelSpec) -> Iterator[Problem]:
    """An asynchronous endpoint must run on instances.

    Asynchronous and serverless exclude each other.
    """
    if is_async(spec):
        for path, _, _ in _serverless(spec):
            message = "`serverless_config` cannot be used with `async_inference_config`"
            yield Problem((*path, "serverless_config"), message, "keep one of them")


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


@error("IS284", _SHADOW)
def shadow_does_not_scale(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A shadow variant cannot have `autoscaling`.

    Scaling is registered for production variants.
    """
    for path, variant in shadow_variants(spec):
        if variant.autoscaling is not None:
            message = "`autoscaling` cannot be used in a shadow variant"
            yield Problem((*path, "autoscaling"), message, "remove it, and set `initial_instance_count`")

"""Serverless and asynchronous endpoints."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelBackedSpec, ModelSpec
from inferstack.spec.blocks.variant import ServerlessConfig, Variant
from inferstack.spec.parts.walk import is_async, models, variants
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import CONFIG_PAGE, CONTAINER_PAGE, SERVERLESS_PAGE, Finding, error

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


@error(
    "IS600", "Serverless memory must be a multiple of 1024 MB.", _CONFIG, ModelSpec, about="serverless_config"
)
def memory_in_steps(spec: ModelSpec) -> Iterator[Finding]:
    """From 1024 to 6144, which the schema checks."""
    for path, _, config in _serverless(spec):
        found = config.memory_size_in_mb
        if found % _STEP_MB:
            fix = f"write {found // _STEP_MB * _STEP_MB} or {(found // _STEP_MB + 1) * _STEP_MB}"
            yield Finding(
                (*path, "serverless_config", "memory_size_in_mb"),
                f"{found} MB is not a multiple of {_STEP_MB}",
                fix,
            )


@error(
    "IS601",
    "`provisioned_concurrency` cannot be above `max_concurrency`.",
    _CONFIG,
    ModelSpec,
    about="serverless_config",
)
def provisioned_within_maximum(spec: ModelSpec) -> Iterator[Finding]:
    """They may be equal."""
    for path, _, config in _serverless(spec):
        kept, most = config.provisioned_concurrency, config.max_concurrency
        if kept is not None and kept > most:
            message = f"`provisioned_concurrency` is {kept}, above the `max_concurrency` of {most}"
            where = (*path, "serverless_config", "provisioned_concurrency")
            yield Finding(where, message, f"write at most {most}, or raise `max_concurrency`")


@error(
    "IS602",
    "A serverless variant cannot have instance settings.",
    SERVERLESS_PAGE,
    ModelSpec,
    about="serverless_config",
)
def nothing_about_instances(spec: ModelSpec) -> Iterator[Finding]:
    """There are no instances to choose, size or connect to, and no GPUs."""
    for path, variant, _ in _serverless(spec):
        for key in _OF_INSTANCES:
            if getattr(variant, key) is not None:
                message = f"`{key}` cannot be used with `serverless_config`"
                yield Finding((*path, key), message, f"remove `{key}`, or `serverless_config`")


@error(
    "IS603",
    "A serverless endpoint cannot be in a VPC.",
    SERVERLESS_PAGE,
    ModelBackedSpec,
    about="serverless_config",
)
def not_in_a_vpc(spec: ModelBackedSpec) -> Iterator[Finding]:
    """Among the features that serverless endpoints lack."""
    yield from _not_with_serverless(spec, "vpc_config")


@error(
    "IS604",
    "A serverless endpoint cannot have network isolation.",
    SERVERLESS_PAGE,
    ModelBackedSpec,
    about="serverless_config",
)
def not_isolated(spec: ModelBackedSpec) -> Iterator[Finding]:
    """Among the features that serverless endpoints lack."""
    yield from _not_with_serverless(spec, "enable_network_isolation")


@error(
    "IS275",
    "A serverless endpoint cannot use `model_data_source`.",
    CONTAINER_PAGE,
    ModelBackedSpec,
    about="serverless_config",
)
def no_data_source(spec: ModelBackedSpec) -> Iterator[Finding]:
    """It can only unpack one archive."""
    fix = "pack the files into a tar.gz and write `model_data_url`"
    yield from _not_with_serverless(spec, "model_data_source", f"{fix}, or use instances")


def _not_with_serverless(
    spec: ModelBackedSpec, key: str, fix: str = "remove it, or use instances"
) -> Iterator[Finding]:
    hosted = {variant.model_name for _, variant, _ in _serverless(spec)}
    for path, name, model in models(spec):
        if getattr(model, key) not in (None, False) and name in hosted:
            yield Finding((*path, key), f"`{key}` cannot be used with a serverless variant", fix)


@error(
    "IS605",
    "A serverless endpoint cannot capture data.",
    SERVERLESS_PAGE,
    ModelSpec,
    about="serverless_config",
)
def no_data_capture(spec: ModelSpec) -> Iterator[Finding]:
    """Among the features that serverless endpoints lack."""
    config = spec.endpoint_config
    if config is not None and config.data_capture_config is not None and list(_serverless(spec)):
        path = ("endpoint_config", "data_capture_config")
        yield Finding(
            path,
            "`data_capture_config` cannot be used with a serverless variant",
            "remove it, or use instances",
        )


@error(
    "IS606",
    "A serverless endpoint can have only one variant.",
    SERVERLESS_PAGE,
    ModelSpec,
    about="serverless_config",
)
def one_variant(spec: ModelSpec) -> Iterator[Finding]:
    """Nor can other variants run on instances beside it."""
    if len(variants(spec)) > 1:
        for path, _, _ in _serverless(spec):
            yield Finding(
                (*path, "serverless_config"),
                "the serverless variant is one of several",
                "make it the only one, or use instances",
            )


@error(
    "IS607",
    "An asynchronous endpoint must run on instances.",
    CONFIG_PAGE,
    ModelSpec,
    about="serverless_config",
)
def asynchronous_on_instances(spec: ModelSpec) -> Iterator[Finding]:
    """Asynchronous and serverless exclude each other."""
    if is_async(spec):
        for path, _, _ in _serverless(spec):
            message = "`serverless_config` cannot be used with `async_inference_config`"
            yield Finding((*path, "serverless_config"), message, "keep one of them")

"""Variants: their instances, serverless ones, and shadows."""

from collections import Counter
from collections.abc import Iterator

from inferstack.catalog import cloudformation
from inferstack.catalog.metrics import PROVISIONED_CONCURRENCY
from inferstack.check.rules.base import API, CONFIG_PAGE, GUIDE, POOLS_PAGE, error, warning
from inferstack.check.rules.names import has_to_choose, what_to_name
from inferstack.facts.kinds import kind_of
from inferstack.facts.walk import (
    every_variant,
    hosts,
    instance_types,
    is_async,
    shadow_variants,
    variants,
)
from inferstack.format.kinds import ModelBackedSpec, ModelSpec
from inferstack.format.variant import ServerlessConfig, Variant
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed, span
from inferstack.texts.placeholders import is_opaque

_VARIANT = f"{API}/API_ProductionVariant.html"
_STORAGE = f"{GUIDE}/large-model-inference-hosting.html"
_ROUTING = f"{API}/API_ProductionVariantRoutingConfig.html"
_PREFIXES = f"{API}/API_PrefixAwareRoutingConfig.html"
_SERVERLESS = f"{API}/API_ProductionVariantServerlessConfig.html"
_SHADOW = f"{GUIDE}/shadow-tests.html"
_SAGEMAKER_CONFIG = "AWS::SageMaker::EndpointConfig"


def _on_instances(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant]]:
    return ((path, it) for path, it in every_variant(spec) if it.serverless_config is None)


@error("IS260", _VARIANT)
def variant_has_instances(spec: ModelSpec) -> Iterator[Problem]:
    """A variant must say which instances it uses, unless it is serverless.

    One type, or pools of several.
    """
    for path, variant in _on_instances(spec):
        if not instance_types(variant):
            serverless = ", or `serverless_config`" if PROVISIONED_CONCURRENCY in kind_of(spec).scales else ""
            fix = f"add `instance_type` (or `instance_pools`{serverless})"
            yield Problem(path, "the variant is missing `instance_type`", fix, lacks="instance_type")


@error("IS261", POOLS_PAGE)
def pools_instead_of_a_type(spec: ModelSpec) -> Iterator[Problem]:
    """`instance_pools` replaces `instance_type`: they cannot be used together."""
    for path, variant in every_variant(spec):
        if variant.instance_pools is not None and variant.instance_type is not None:
            message = "`instance_type` and `instance_pools` cannot be used together"
            fix = f"make {variant.instance_type} one of the pools"
            yield Problem((*path, "instance_pools"), message, fix)


@error("IS262", _VARIANT)
def variant_has_a_count(spec: ModelSpec) -> Iterator[Problem]:
    """A variant must say how many instances it starts with, unless it is serverless.

    Autoscaling needs a number to start with, too.
    """
    for path, variant in _on_instances(spec):
        if variant.initial_instance_count is None:
            key = "initial_instance_count"
            yield Problem(path, f"the variant is missing `{key}`", "add it: 1 or more", lacks=key)


@error("IS263", _STORAGE)
def no_volume_beside_nvme(spec: ModelSpec) -> Iterator[Problem]:
    """An instance with its own NVMe disk cannot have a volume.

    SageMaker keeps model files on that disk.
    """
    for path, variant in every_variant(spec):
        with_disk = [host for host in hosts(variant) if host.has_local_nvme]
        if variant.volume_size_in_gb is not None and with_disk:
            host = with_disk[0]
            message = (
                f"{host.name} has its own disk of {host.local_nvme_gb} GB and cannot have `volume_size_in_gb`"
            )
            fix = "remove it, or choose a type without local NVMe"
            yield Problem((*path, "volume_size_in_gb"), message, fix)


@warning("IS264", _VARIANT)
def ami_fits_the_accelerator(spec: ModelSpec) -> Iterator[Problem]:
    """`inference_ami_version` should fit the instance's accelerator.

    An AMI for GPUs brings NVIDIA's driver, one for Neuron brings Neuron's; either does nothing elsewhere.
    """
    for path, variant in every_variant(spec):
        ami = variant.inference_ami_version
        wanted = "NVIDIA GPUs" if ami is not None and "-gpu-" in ami else "Neuron devices"
        for host in hosts(variant) if ami is not None and not is_opaque(ami) else ():
            if not (host.gpus if wanted == "NVIDIA GPUs" else host.accelerators):
                message = f"{ami} is for instances with {wanted}, but {host.name} has none"
                fix = "remove it, or choose another instance type"
                yield Problem((*path, "inference_ami_version"), message, fix)


@error("IS265", POOLS_PAGE)
def pools_differ(spec: ModelSpec) -> Iterator[Problem]:
    """Instance pools must have different instance types and priorities.

    Pools are tried in the order of their priorities.
    """
    for path, variant in every_variant(spec):
        for key in ("instance_type", "priority"):
            values = [getattr(pool, key) for pool in variant.instance_pools or ()]
            for value, count in Counter(values).items():
                second = [index for index, found in enumerate(values) if found == value][1:]
                if count > 1:
                    where = (*path, "instance_pools", second[0], key)
                    message = f"two pools have the {key.replace('_', ' ')} {value}"
                    yield Problem(where, message, "each pool needs its own")


@error("IS266", _ROUTING)
def routing_settings_fit(spec: ModelSpec) -> Iterator[Problem]:
    """Settings for a routing strategy can only be used with that strategy.

    `prefix_aware_routing_config` has no meaning for the others.
    """
    for path, variant in every_variant(spec):
        routing = variant.routing_config
        if routing is None or routing.prefix_aware_routing_config is None:
            continue
        if routing.routing_strategy != "PREFIX_AWARE" and not is_opaque(routing.routing_strategy):
            message = (
                f"the routing strategy is {routing.routing_strategy}, but the settings are for PREFIX_AWARE"
            )
            where = (*path, "routing_config", "prefix_aware_routing_config")
            yield Problem(where, message, "write `routing_strategy: PREFIX_AWARE`, or remove the settings")


@error("IS267", _ROUTING)
def routing_names_a_strategy(spec: ModelSpec) -> Iterator[Problem]:
    """A routing configuration must name a strategy.

    The API requires it.
    """
    strategies = cloudformation.shape(_SAGEMAKER_CONFIG, "RoutingConfig")["routing_strategy"].schema["enum"]
    for path, variant in every_variant(spec):
        if variant.routing_config is not None and variant.routing_config.routing_strategy is None:
            key = "routing_strategy"
            message, fix = f"`routing_config` is missing `{key}`", f"add `{key}`: {listed(strategies)}"
            yield Problem((*path, "routing_config"), message, fix, lacks=key)


_OF_PREFIXES = ("prefix_length", "concurrency_threshold")


@error("IS274", _PREFIXES)
def prefix_routing_is_whole(spec: ModelSpec) -> Iterator[Problem]:
    """Routing by prefix needs both of its settings.

    The API requires each of them with this strategy, which no schema can express.
    """
    for path, variant in every_variant(spec):
        routing = variant.routing_config
        if routing is None or routing.routing_strategy != "PREFIX_AWARE":
            continue
        where: SpecPath = (*path, "routing_config")
        block = "prefix_aware_routing_config"
        settings = routing.prefix_aware_routing_config
        if settings is not None:
            where = (*where, block)
        for key in _OF_PREFIXES:
            if settings is None or getattr(settings, key) is None:
                bounds = cloudformation.shape(_SAGEMAKER_CONFIG, "PrefixAwareRoutingConfig")[key].schema
                allowed = span(bounds.get("minimum"), bounds.get("maximum"))
                fix, lacks = f"add `{block}.{key}`, a number: {allowed}", block if settings is None else key
                yield Problem(where, f"PREFIX_AWARE is missing `{key}`", fix, lacks=lacks)


@warning("IS268", CONFIG_PAGE)
def key_does_not_reach_nvme(spec: ModelSpec) -> Iterator[Problem]:
    """A KMS key encrypts the volume of an instance, never its own NVMe disk.

    The hardware encrypts such a disk with its own key.
    """
    if spec.endpoint_config is None or spec.endpoint_config.kms_key_id is None:
        return
    for _, variant in every_variant(spec):
        for host in hosts(variant):
            if host.has_local_nvme:
                message = f"`kms_key_id` does not encrypt the local disk of {host.name}"
                fix = "remove it (the disk is encrypted by the hardware), or choose a type without local NVMe"
                yield Problem(("endpoint_config", "kms_key_id"), message, fix)


@warning("IS269", _VARIANT)
def some_variant_gets_traffic(spec: ModelSpec) -> Iterator[Problem]:
    """At least one variant should have a weight above 0, so that traffic has somewhere to go.

    A variant without a weight counts as 1. AWS does not say that it refuses an endpoint without traffic;
    `UpdateEndpointWeightsAndCapacities` can give it some later.
    """
    found = variants(spec)
    if found and all(variant.initial_variant_weight == 0 for _, variant in found):
        path = (*found[0][0], "initial_variant_weight")
        message = "every variant has the weight 0, so none receives traffic"
        yield Problem(path, message, "give one of them a weight above 0")


# ---------------------------------------------------------------- serverless


_STEP_MB = 1024


def _serverless(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant, ServerlessConfig]]:
    for path, variant in variants(spec):
        if variant.serverless_config is not None:
            yield path, variant, variant.serverless_config


@error("IS600", _SERVERLESS)
def memory_in_steps(spec: ModelSpec) -> Iterator[Problem]:
    """Serverless memory must be a multiple of 1024 MB.

    The schema checks the range, 1024 to 6144.
    """
    for path, _, config in _serverless(spec):
        found = config.memory_size_in_mb
        if found % _STEP_MB:
            fix = f"write {found // _STEP_MB * _STEP_MB} or {(found // _STEP_MB + 1) * _STEP_MB}"
            message = f"{found} MB is not a multiple of {_STEP_MB}"
            yield Problem((*path, "serverless_config", "memory_size_in_mb"), message, fix)


@error("IS601", _SERVERLESS)
def provisioned_within_maximum(spec: ModelSpec) -> Iterator[Problem]:
    """`provisioned_concurrency` cannot be above `max_concurrency`."""
    for path, _, config in _serverless(spec):
        kept, most = config.provisioned_concurrency, config.max_concurrency
        if kept is not None and kept > most:
            message = f"`provisioned_concurrency` is {kept}, above the `max_concurrency` of {most}"
            where = (*path, "serverless_config", "provisioned_concurrency")
            yield Problem(where, message, f"write at most {most}, or raise `max_concurrency`")


# ---------------------------------------------------------------- shadows


@error("IS280", CONFIG_PAGE)
def one_of_each(spec: ModelBackedSpec) -> Iterator[Problem]:
    """An endpoint with a shadow must have exactly one production and one shadow variant.

    Requests to the production variant are copied to the shadow.
    """
    shadows, count = shadow_variants(spec), len(variants(spec))
    if shadows and (len(shadows) > 1 or count != 1):
        message = f"the spec has {count} production and {len(shadows)} shadow variants"
        yield Problem(("shadow_variants",), message, "keep one of each")


@error("IS281", _SHADOW)
def shadow_names_a_model(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A shadow variant must name its model, unless that is the only one of the spec, `model`.

    It is usually a different model from the one in production.
    """
    for path, variant in shadow_variants(spec):
        if variant.model_name is None and has_to_choose(spec):
            fix = f"write `model_name`: {what_to_name(spec)}"
            yield Problem((*path, "model_name"), "the shadow names no model", fix)


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
            message = f"the endpoint is {what}, so it cannot have a shadow"
            yield Problem(("shadow_variants",), message, "remove the shadow")

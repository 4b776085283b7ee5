"""AWS::SageMaker::EndpointConfig. It never gets a name: every change replaces it."""

from inferstack.catalog.resource_types import CONFIG_TYPE
from inferstack.facts.amis import ami_of
from inferstack.facts.kinds import hosts_components
from inferstack.facts.scaling import managed_scaling
from inferstack.facts.walk import endpoint_config, shadow_variants, variants
from inferstack.format.kinds import ModelSpec
from inferstack.format.logical_ids import ENDPOINT_CONFIG
from inferstack.format.variant import InstancePool, Variant
from inferstack.resolve.async_inference import async_inference_config
from inferstack.resolve.convert import properties
from inferstack.resolve.execution_role import role_arn
from inferstack.resolve.model import model_name
from inferstack.resolve.resource import Resource, Resources, Value, present


def resolve_endpoint_config(spec: ModelSpec) -> Resources:
    """The configuration with every variant of the spec."""
    block = endpoint_config(spec)
    with_components = hosts_components(spec)
    made = present(
        # Only inference components start under the configuration's role; models have their own.
        ExecutionRoleArn=role_arn(spec.execution_role) if with_components else None,
        ProductionVariants=[_variant(spec, variant) for _, variant in variants(spec)],
        ShadowProductionVariants=[_variant(spec, variant) for _, variant in shadow_variants(spec)] or None,
        # The second one has references, too, and takes the place of the same property.
        **{**properties(block), **present(AsyncInferenceConfig=async_inference_config(spec))},
    )
    source = next((path for path, _ in variants(spec)), ())
    return {ENDPOINT_CONFIG: Resource(CONFIG_TYPE, made, source, tags=block.tags)}


_FILLED_IN_HERE = frozenset({"variant_name", "model_name", "instance_pools", "managed_instance_scaling"})


def _variant(spec: ModelSpec, variant: Variant) -> Value:
    rest = properties(variant, leave_out=_FILLED_IN_HERE)
    managed = managed_scaling(spec, variant)
    pools = [_pool(spec, pool) for pool in variant.instance_pools or ()]
    return present(
        VariantName=variant.variant_name,
        ModelName=model_name(spec, variant.model_name) if not hosts_components(spec) else None,
        **{**rest, **present(InferenceAmiVersion=ami_of(spec, variant))},
        ManagedInstanceScaling=None if managed is None else properties(managed),
        InstancePools=pools or None,
    )


def _pool(spec: ModelSpec, pool: InstancePool) -> Value:
    rest = properties(pool, leave_out=frozenset({"model_name_override"}))
    override = pool.model_name_override
    return present(**rest, ModelNameOverride=None if override is None else model_name(spec, override))

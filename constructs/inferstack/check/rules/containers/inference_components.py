"""Inference components and the variants that host them."""

from collections import Counter
from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.check.rules.base import API, AWS, GUIDE, POOLS_PAGE, error, warning
from inferstack.facts.scaling import managed_scaling
from inferstack.facts.walk import (
    component_variants,
    components,
    endpoint_config,
    instance_types,
    models,
    region_of,
    runs,
    variants,
    whole_specifications,
)
from inferstack.format.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.format.model import VpcConfig
from inferstack.format.variant import ManagedInstanceScaling
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed, slip_of

_COMPONENTS = f"{GUIDE}/realtime-endpoints-deploy-models.html"
_CREATE = f"{API}/API_CreateInferenceComponent.html"
_SPECIFICATION = f"{API}/API_InferenceComponentSpecification.html"
_RUNTIME = f"{API}/API_InferenceComponentRuntimeConfig.html"
_SCALING = f"{API}/API_ProductionVariantManagedInstanceScaling.html"
# What `MinInstanceCount: 0` was refused in.
_NEVER_EMPTY = frozenset({"eu-west-3"})
_TYPE = f"{AWS}/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-inferencecomponent.html"

_OF_MODELS = ("model_name", "initial_variant_weight", "serverless_config")
_NETWORK = ("vpc_config", "enable_network_isolation")


@error("IS400", _COMPONENTS)
def variant_without_model(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A variant for inference components cannot have a model, weight or serverless setting.

    The components bring the models, and requests name a component. Terraform's provider, which is tested on
    AWS, leaves the weight out: https://github.com/hashicorp/terraform-provider-aws/pull/44977
    """
    for path, variant in variants(spec):
        for key in _OF_MODELS:
            if getattr(variant, key) is not None:
                yield _not_with_components((*path, key))
        for index, pool in enumerate(variant.instance_pools or ()):
            if pool.model_name_override is not None:
                yield _not_with_components((*path, "instance_pools", index, "model_name_override"))


def _not_with_components(path: SpecPath) -> Problem:
    return Problem(path, f"`{path[-1]}` cannot be used with inference components", "remove it")


@error("IS402", _SCALING)
def managed_minimum_and_maximum(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The minimum of managed scaling cannot be above its maximum."""
    for path, scaling, _ in _managed(spec):
        low, high = scaling.min_instance_count, scaling.max_instance_count
        # A maximum below 1 is out of AWS's bounds, which is reported instead.
        if low is not None and high is not None and low > high >= 1:
            message = f"`min_instance_count` is {low}, above the `max_instance_count` of {high}"
            fix = f"swap them: `min_instance_count: {high}` and `max_instance_count: {low}`"
            yield Problem((*path, "min_instance_count"), message, fix)


@warning("IS403", _SCALING)
def start_within_managed_scaling(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A fleet should start with a number of instances that managed scaling allows.

    No page says that SageMaker refuses others. Even with a minimum of 0, it starts with one or more.
    """
    for path, scaling, start in _managed(spec):
        low, high = scaling.min_instance_count, scaling.max_instance_count
        if start is None or (low is not None and high is not None and low > high):
            continue
        if (low is not None and start < low) or (high is not None and start > high):
            message = f"`initial_instance_count` is {start}, outside managed scaling's {low} to {high}"
            fix = "change it, or the limits of `managed_instance_scaling`"
            yield Problem((*path[:-1], "initial_instance_count"), message, fix)


def _managed(spec: ModelSpec) -> Iterator[tuple[SpecPath, ManagedInstanceScaling, int | None]]:
    """Path and settings of enabled managed scaling, and the initial number of instances."""
    for path, variant in variants(spec):
        scaling = variant.managed_instance_scaling
        if scaling is not None and scaling.status != "DISABLED":
            yield (*path, "managed_instance_scaling"), scaling, variant.initial_instance_count


@error("IS404", _CREATE)
def one_specification_or_several(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component must have either `specification` or `specifications`.

    One for all instance types, or one for each of them.
    """
    for path, name, component in components(spec):
        both = component.specification is not None and component.specifications is not None
        if both:
            message = "`specification` and `specifications` cannot be used together"
            yield Problem((*path, "specifications"), message, "keep one of them")
        elif component.specification is None and component.specifications is None:
            fix = "add `specification:` with a container and compute requirements"
            yield Problem(path, f"`{name}` does not say what it runs", fix, lacks="specification")


@error("IS405", _SPECIFICATION)
def container_or_model(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component must run a `container` or a model.

    The container of an adapter only names its files; IS433 checks those.
    """
    for path, name, it in whole_specifications(spec):
        if it.container is None and it.model_name is None:
            fix = "add `container` with an image, or `model_name`"
            yield Problem(path, f"`{name}` has no container", fix, lacks="container")


@warning("IS418", POOLS_PAGE)
def container_and_model(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component should run either a `container` or a model.

    AWS's examples have both, and no page says which one runs.
    """
    for path, _, it in whole_specifications(spec):
        if it.container is not None and it.model_name is not None:
            message = "AWS does not say which one runs: `container` or `model_name`"
            yield Problem((*path, "model_name"), message, "keep one of them")


@error("IS406", _SPECIFICATION)
def container_has_an_image(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The container of a component needs an image, unless it is an adapter.

    An adapter runs in its base's container.
    """
    for path, _, it in whole_specifications(spec):
        if it.container is not None and it.container.image is None:
            fix = 'add `image: {framework: djl-lmi, version: "0.36.0"}` or an ECR URI'
            yield Problem((*path, "container"), "the container has no image", fix, lacks="image")


@error("IS407", _RUNTIME)
def starts_with_a_copy(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A component must start with at least one copy.

    Scaling may remove all copies later, but a component without any cannot be created: "Inference components
    copy count an integer larger than 0" (https://github.com/stdapi-ai/stdapi.ai/issues/43).
    """
    for path, _, component in components(spec):
        if component.runtime_config is not None and component.runtime_config.copy_count < 1:
            fix = "write 1 or more; to have none when idle, use `autoscaling` with `min_capacity: 0`"
            message = "the component starts without any copy"
            yield Problem((*path, "runtime_config", "copy_count"), message, fix)


@warning("IS408", _SPECIFICATION)
def model_name_is_no_slip(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A `model_name` one letter off from a model of the spec is probably a typo for that model.

    Any other name is that of an existing SageMaker model.
    """
    known = list(spec.models or ())
    for run in runs(spec):
        found = run.specification.model_name
        meant = None if found is None or found in known else slip_of(found, known)
        if meant is not None:
            message = f"the spec has no model `{found}`, so one must already exist"
            yield Problem((*run.path, "model_name"), message, f"did you mean `{meant}`? if not, ignore IS408")


@warning("IS409", _COMPONENTS)
def models_share_the_network(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The model of an inference component should be in the same network as the endpoint.

    AWS asks for the same subnets, security groups and isolation in both; the role is the same anyway.
    """
    config = endpoint_config(spec)
    for path, name, model in models(spec):
        for key in _NETWORK:
            if _network(getattr(model, key)) != _network(getattr(config, key)):
                where = path if getattr(model, key) is None else (*path, key)
                message = f"the model `{name}` and the endpoint differ in `{key}`"
                fix = f"write the same `{key}` in the model and in `endpoint_config`"
                yield Problem(where, message, fix)


def _network(value: VpcConfig | bool | None) -> object:
    """What matters in a setting: not the order of subnets, nor whether `false` is written or implied."""
    if isinstance(value, VpcConfig):
        return frozenset(value.subnets), frozenset(value.security_group_ids)
    return bool(value)


@error("IS440", _CREATE)
def specifications_differ(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The specifications of a component must be for different instance types."""
    for path, _, component in components(spec):
        types = [it.instance_type for it in component.specifications or ()]
        for name, count in Counter(types).items():
            if count > 1:
                second = types.index(name, types.index(name) + 1)
                where = (*path, "specifications", second, "instance_type")
                yield Problem(where, f"two specifications are for {name}", "keep one for each instance type")


@warning("IS441", POOLS_PAGE)
def specifications_fit_the_fleet(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """Each specification should be for an instance type of the variant.

    Any other type never appears in the fleet. AWS accepts it, as tests for Terraform's provider report:
    https://github.com/hashicorp/terraform-provider-aws/pull/48894
    """
    for path, _, component in components(spec):
        fleet = [name for it in component_variants(spec, component) for name in instance_types(it)]
        for index, it in enumerate(component.specifications or ()):
            if fleet and it.instance_type not in fleet:
                where = (*path, "specifications", index, "instance_type")
                message = f"the variant has no {it.instance_type}"
                yield Problem(where, message, f"it has {listed(fleet, last='and', quote='')}")


@warning("IS450", _TYPE)
def region_has_components(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """CloudFormation should support inference components in the region.

    Where it does not, no stack can create one. The registry's list of types in each region has oddities, so
    this is only a warning.
    """
    region = region_of(spec)
    if region is not None and regions.supports_inference_components(region) is False:
        message = f"CloudFormation's registry in {region} does not list AWS::SageMaker::InferenceComponent"
        yield Problem(("env", "region"), message, "use another region, or try it and ignore IS450")


@warning("IS451", "user reports")
def fleet_can_be_empty_there(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """A fleet of inference components should not go to zero instances in a region that has refused it.

    In eu-west-3 SageMaker refused a minimum of 0 that it took in us-east-1; AWS lists no regions:
    https://github.com/stdapi-ai/stdapi.ai/issues/43
    """
    region = region_of(spec)
    for path, variant in variants(spec) if region in _NEVER_EMPTY else ():
        managed, key = managed_scaling(spec, variant), "min_instance_count"
        if managed is not None and managed.min_instance_count == 0:
            is_said = managed == variant.managed_instance_scaling
            where = (*path, "managed_instance_scaling", key) if is_said else ("env", "region")
            message = f"in {region}, SageMaker was reported to refuse a fleet without instances"
            fix = f"keep one with `managed_instance_scaling: {{{key}: 1, …}}`, or ignore IS451"
            yield Problem(where, message, fix)

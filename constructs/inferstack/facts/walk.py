"""The parts of a spec with their paths, in whichever form the spec writes them.

`variant` or `variants`, `model` or `models`, `autoscaling` in several places: code that reads a spec asks
this module, and need not know the different forms. Paths are those of the YAML file.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from inferstack.catalog import instances, regions
from inferstack.catalog.images import SERVERLESS
from inferstack.catalog.metrics import INSTANCE_COUNT, PROVISIONED_CONCURRENCY, Hosting
from inferstack.facts.kinds import hosts_components, kind_of
from inferstack.facts.once import answered_once, found_once
from inferstack.format.alarms import Watched
from inferstack.format.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.format.endpoint import DeploymentConfig, EndpointConfig
from inferstack.format.inference_component import (
    ComponentContainer,
    ComponentSpecification,
    ComponentSpecificationForInstanceType,
    InferenceComponent,
)
from inferstack.format.kinds import (
    InferenceComponentsSpec,
    ModelBackedSpec,
    ModelSpec,
)
from inferstack.format.model import Container, FrameworkImage, Model
from inferstack.format.objective import ComponentObjective
from inferstack.format.variant import Variant
from inferstack.problems import SpecPath

_NO_SETTINGS = EndpointConfig()


@answered_once
def hosting_of(spec: ModelSpec) -> Hosting:
    """How the endpoint runs its models."""
    if not hosts_components(spec):
        if is_async(spec):
            return "async"
        if any(variant.serverless_config is not None for _, variant in variants(spec)):
            return "serverless"
    return kind_of(spec).publishes


def region_of(spec: ModelSpec) -> str | None:
    """The stack's region, if the spec names one.

    None for a name that cannot be a region: a rule reports it, and other rules would draw wrong conclusions.
    """
    return spec.region if spec.region is not None and regions.has_form(spec.region) else None


def endpoint_config(spec: ModelSpec) -> EndpointConfig:
    """Settings of the fleet as a whole; an empty block where the spec has none."""
    return _NO_SETTINGS if spec.endpoint_config is None else spec.endpoint_config


def deployment_config(spec: ModelSpec) -> DeploymentConfig | None:
    """How an update of the endpoint is rolled out, where the spec says so."""
    return None if spec.endpoint is None else spec.endpoint.deployment_config


def is_async(spec: ModelSpec) -> bool:
    """Whether the endpoint is asynchronous."""
    return spec.endpoint_config is not None and spec.endpoint_config.async_inference_config is not None


@found_once
def variants(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant]]:
    """Every production variant."""
    if spec.variant is not None:
        yield ("variant",), spec.variant
    for index, variant in enumerate(spec.variants or ()):
        yield ("variants", index), variant


@found_once
def shadow_variants(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant]]:
    """Every variant that only receives copies of requests."""
    if isinstance(spec, ModelBackedSpec):
        for index, variant in enumerate(spec.shadow_variants or ()):
            yield ("shadow_variants", index), variant


@found_once
def every_variant(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant]]:
    """Production variants, then shadows."""
    yield from variants(spec)
    yield from shadow_variants(spec)


def has_weights(spec: ModelSpec) -> bool:
    """Whether several variants share the traffic by weight; not with components, which name theirs."""
    return not hosts_components(spec) and len(every_variant(spec)) > 1


@found_once
def models(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None, Model]]:
    """Every SageMaker model: path, name under `models` (None for the only `model`), model."""
    if isinstance(spec, ModelBackedSpec) and spec.model is not None:
        yield ("model",), None, spec.model
    for name, model in (spec.models or {}).items():
        yield ("models", name), name, model


@found_once
def components(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, InferenceComponent]]:
    """Every inference component: path, name, component."""
    if isinstance(spec, InferenceComponentsSpec):
        for name, component in spec.inference_components.items():
            yield ("inference_components", name), name, component


@found_once
def model_containers(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None, Container]]:
    """Every container of the models: path, name of its model under `models`, container."""
    for path, name, model in models(spec):
        if model.containers is None:
            yield path, name, model
        for index, container in enumerate(model.containers or ()):
            yield (*path, "containers", index), name, container


Specification = ComponentSpecification | ComponentSpecificationForInstanceType


def objectives(spec: ModelSpec) -> Iterator[tuple[SpecPath, ComponentObjective]]:
    """What the endpoint is for, and what each component is: path, objective."""
    if spec.objective is not None:
        yield ("objective",), spec.objective
    for path, _, component in components(spec):
        if component.objective is not None:
            yield (*path, "objective"), component.objective


def specifications(path: SpecPath, component: InferenceComponent) -> Iterator[tuple[SpecPath, Specification]]:
    """What a component runs: its single specification, or one for each instance type."""
    if component.specification is not None:
        yield (*path, "specification"), component.specification
    for index, specification in enumerate(component.specifications or ()):
        yield (*path, "specifications", index), specification


class Run(msgspec.Struct, frozen=True):
    """A specification of an inference component, and the path of the container that it runs.

    ``path`` is the specification's, ``name`` the component's. ``container`` is the path of its own container,
    or of the model under `models` that it names; None if it names an existing model outside, or none at all.
    """

    path: SpecPath
    name: str
    component: InferenceComponent
    specification: Specification
    container: SpecPath | None


@found_once
def runs(spec: ModelSpec) -> Iterator[Run]:
    """What every inference component runs."""
    for path, name, component in components(spec):
        for below, specification in specifications(path, component):
            yield Run(below, name, component, specification, _container_path(spec, below, specification))


@answered_once
def _runs_by_container(spec: ModelSpec) -> Mapping[SpecPath | None, Sequence[Run]]:
    found: dict[SpecPath | None, list[Run]] = {}
    for run in runs(spec):
        found.setdefault(run.container, []).append(run)
    return found


def runs_of(spec: ModelSpec, container: SpecPath) -> Sequence[Run]:
    """The runs of inference components that use the container at a path."""
    return _runs_by_container(spec).get(container, ())


def _container_path(spec: ModelSpec, path: SpecPath, specification: Specification) -> SpecPath | None:
    if specification.container is not None:
        return (*path, "container")
    return model_path(spec, specification.model_name)


def model_path(spec: ModelSpec, name: str | None) -> SpecPath | None:
    """The path of the model that a variant or component names; None if that model is not in the spec."""
    return ("models", name) if name is not None and name in (spec.models or {}) else None


class PlacedContainer(msgspec.Struct, frozen=True):
    """A container in a spec: of a model (with the model's name, if it has one) or of a component's run.

    What it runs on is only determined when asked for, since most rules are about the container alone.
    """

    path: SpecPath
    container: Container | ComponentContainer
    spec: ModelSpec
    model: str | None = None
    run: Run | None = None

    @property
    def instance_types(self) -> tuple[str, ...]:
        """The instance types that the container runs on."""
        if self.run is not None:
            return tuple(_types_of(self.spec, self.run))
        return _types_hosting(self.spec, self.model)

    @property
    def takes_prefix(self) -> bool:
        """Whether its files are many archives under an S3 prefix, each loaded when a request names it."""
        mode = getattr(self.container, "mode", None)
        return kind_of(self.spec).archives == "many" or mode == "MultiModel"

    @property
    def image(self) -> str | FrameworkImage | None:
        """The container's image, as the spec writes it."""
        return self.container.image

    @property
    def environment(self) -> Mapping[str, str]:
        """Its environment variables, as the spec writes them; empty where it has none."""
        written = self.container.environment
        return {} if written is None else written

    @property
    def url_key(self) -> str:
        """The key for the URL of its files."""
        return "artifact_url" if isinstance(self.container, ComponentContainer) else "model_data_url"

    @property
    def files_key(self) -> str:
        """The key for plain files; a component takes archives only."""
        return "artifact_url" if isinstance(self.container, ComponentContainer) else "model_data_source"

    @property
    def url(self) -> str | None:
        """The URL under that key, as the spec writes it."""
        match self.container:
            case ComponentContainer() as container:
                return container.artifact_url
            case container:
                return container.model_data_url

    @property
    def is_of_adapter(self) -> bool:
        """Whether it is a component's container without an image: an adapter runs in its base's container."""
        return isinstance(self.container, ComponentContainer) and self.container.image is None

    @property
    def hosts(self) -> tuple[str, ...]:
        """What its image must run on, in the words of the catalog of images."""
        types = self.instance_types
        return (SERVERLESS,) if not types and self._is_serverless() else types

    def _is_serverless(self) -> bool:
        here = () if self.run is not None else hosting(self.spec, self.model)
        return any(it.serverless_config is not None for it in here)


@found_once
def containers(spec: ModelSpec) -> Iterator[PlacedContainer]:
    """Every container of models and of inference components."""
    for path, name, container in model_containers(spec):
        yield PlacedContainer(path, container, spec, name)
    for run in runs(spec):
        if run.specification.container is not None:
            yield PlacedContainer((*run.path, "container"), run.specification.container, spec, run=run)


def environment_variables(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, str]]:
    """Every environment variable of a container: path, name, value."""
    for placed in containers(spec):
        for name, value in placed.environment.items():
            yield (*placed.path, "environment", name), name, value


def how_to_have_many(spec: ModelSpec) -> str:
    """What to write so that a container takes an S3 prefix."""
    several = kind_of(spec).containers == "several"
    return "write `mode: MultiModel`" if several else "choose `kind: multi-model`"


def hosting(spec: ModelSpec, model: str | None) -> tuple[Variant, ...]:
    """The variants that host a model, by naming it or through the inference components that run it."""
    if hosts_components(spec):
        running = [run.component for run in runs_of(spec, ("models", str(model)))]
        found = variants(spec)
        return tuple(it for _, it in found if any(it in component_variants(spec, one) for one in running))
    return tuple(_variants_by_model(spec).get(model, ()))


@answered_once
def _variants_by_model(spec: ModelSpec) -> Mapping[str | None, Sequence[Variant]]:
    found: dict[str | None, list[Variant]] = {}
    for _, variant in every_variant(spec):
        found.setdefault(variant.model_name, []).append(variant)
    return found


def _types_hosting(spec: ModelSpec, model: str | None) -> tuple[str, ...]:
    """The instance types that a model runs on."""
    if hosts_components(spec):
        running = runs_of(spec, ("models", str(model)))
        return tuple(dict.fromkeys(name for run in running for name in _types_of(spec, run)))
    return tuple(_types_by_model(spec).get(model, ()))


@answered_once
def _types_by_model(spec: ModelSpec) -> Mapping[str | None, Sequence[str]]:
    """The instance types of the variants that name a model; an instance pool may override the model."""
    found: dict[str | None, list[str]] = {}
    for _, variant in every_variant(spec):
        if variant.instance_type is not None:
            found.setdefault(variant.model_name, []).append(variant.instance_type)
        for pool in sorted(variant.instance_pools or (), key=lambda it: it.priority):
            override = pool.model_name_override
            found.setdefault(variant.model_name if override is None else override, []).append(
                pool.instance_type
            )
    return found


def _types_of(spec: ModelSpec, run: Run) -> Iterator[str]:
    """The instance types of one run of a component."""
    if isinstance(run.specification, ComponentSpecificationForInstanceType):
        yield run.specification.instance_type
    else:
        for variant in component_variants(spec, run.component):
            yield from instance_types(variant)


def instance_types(variant: Variant) -> tuple[str, ...]:
    """The instance types that a variant may use, in order of preference."""
    if variant.instance_type is not None:
        return (variant.instance_type,)
    pools = sorted(variant.instance_pools or (), key=lambda pool: pool.priority)
    return tuple(pool.instance_type for pool in pools)


def written_instance_types(path: SpecPath, variant: Variant) -> Iterator[tuple[SpecPath, str]]:
    """The instance types of a variant, each with its place; ``path`` is the variant's."""
    if variant.instance_type is not None:
        yield (*path, "instance_type"), variant.instance_type
    for index, pool in enumerate(variant.instance_pools or ()):
        yield (*path, "instance_pools", index, "instance_type"), pool.instance_type


def hosts(variant: Variant) -> Iterator[instances.InstanceType]:
    """Facts about the instance types that a variant may use, for those that are known."""
    for name in instance_types(variant):
        found = instances.find(name)
        if found is not None:
            yield found


def component_variants(spec: ModelSpec, component: InferenceComponent) -> tuple[Variant, ...]:
    """The variant whose instances a component uses; empty if it names one that does not exist."""
    found = [variant for _, variant in variants(spec)]
    if component.variant_name is None:
        return tuple(found[:1])
    return tuple(variant for variant in found if variant.variant_name == component.variant_name)


@found_once
def variant_scalings(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant, Autoscaling]]:
    """Scaling of variants' instances: path of the scaling, the variant, the scaling."""
    found = variants(spec)
    if spec.autoscaling is not None and len(found) == 1:
        yield ("autoscaling",), found[0][1], spec.autoscaling
    for path, variant in found:
        if variant.autoscaling is not None:
            yield (*path, "autoscaling"), variant, variant.autoscaling


def variant_dimension(variant: Variant) -> str:
    """The scalable dimension of a variant."""
    return INSTANCE_COUNT if variant.serverless_config is None else PROVISIONED_CONCURRENCY


def policy_name(policy: ScalingPolicy | StepPolicy) -> str:
    """The name of a policy: its `policy_name`, or else the name of what it watches."""
    if policy.policy_name is not None:
        return policy.policy_name
    if isinstance(policy, StepPolicy):
        return watched_name(policy)
    if policy.metric is not None:
        return policy.metric
    own = policy.customized_metric_specification
    return "Customized" if own is None or own.metric_name is None else own.metric_name


def watched_name(watched: Watched) -> str:
    """The name of what is watched: the metric's, or for an expression the `id` of the entry it returns."""
    if watched.metric is not None:
        return watched.metric
    if watched.metric_name is not None:
        return watched.metric_name
    returned = (query.id for query in watched.metrics or () if query.return_data is not False)
    return next(returned, "Customized")


@found_once
def component_scalings(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, InferenceComponent, Autoscaling]]:
    """Scaling of components' copies: path of the scaling, name, component, the scaling."""
    for path, name, component in components(spec):
        if component.autoscaling is not None:
            yield (*path, "autoscaling"), name, component, component.autoscaling


# ---------------------------------------------------------------- adapters and their bases


@answered_once
def bases_of_adapters(spec: ModelSpec) -> Mapping[str, str]:
    """The names of all adapters, each with the name of its base."""
    bases = ((name, component.base_name) for _, name, component in components(spec))
    return {name: base for name, base in bases if base is not None}


def whole_specifications(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, Specification]]:
    """What every component except adapters runs: path, name of the component, specification."""
    for path, name, component in components(spec):
        if component.base_name is None:
            for below, it in specifications(path, component):
                yield below, name, it

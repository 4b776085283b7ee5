"""Which parts of an endpoint publish which of SageMaker's metrics, and the name of its dashboard."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from inferstack.catalog import instances, metrics
from inferstack.catalog.instances import InstanceType
from inferstack.catalog.metrics import (
    COMPONENT_NAME,
    CONTAINER_NAME,
    ENDPOINT_NAME,
    VARIANT_NAME,
    Dimensions,
    Metric,
)
from inferstack.facts.once import found_once
from inferstack.facts.walk import (
    component_variants,
    components,
    endpoint_config,
    every_variant,
    hosting_of,
    hosts,
    instance_types,
    models,
)
from inferstack.format.alarms import Dashboard
from inferstack.format.inference_component import InferenceComponent
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.problems import SpecPath

MINUTE = 60


class Publisher(msgspec.Struct, frozen=True, dict=True):
    """A part of the endpoint that publishes metrics: a variant, one of its containers, a component, or the
    endpoint itself.

    ``values`` are the values of its dimensions, in the catalog's order.
    """

    title: str
    level: Dimensions
    values: dict[str, str]
    variant: Variant | None = None

    def publishes(self, metric: Metric) -> bool:
        """Whether the metric has exactly this part's dimensions."""
        return metric.dimensions == self.level

    def devices(self, metric: Metric) -> int | None:
        """How many devices the metric sums over on an instance of the preferred type.

        1 if it is not a sum, 0 if the instance has no such devices, None if that is not known.
        """
        if self.variant is None or not (metric.per_device is not None or metric.is_about_gpus):
            return 1
        if self._host is None:
            return None if metric.per_device is not None else 1
        return _devices(self._host, metric)

    def may_have(self, metric: Metric) -> bool:
        """Whether the part publishes the metric, as far as is known: no GPU metrics without GPUs."""
        return self.publishes(metric) and self.devices(metric) != 0

    @cached_property
    def _host(self) -> InstanceType | None:
        """The preferred instance type, if its facts are known."""
        preferred = () if self.variant is None else instance_types(self.variant)
        return instances.find(preferred[0]) if preferred else None


def devices_by_type(variant: Variant, metric: Metric) -> dict[str, int]:
    """How many devices a metric sums over on each known instance type, the preferred one first."""
    return {host.name: _devices(host, metric) for host in hosts(variant)}


def _devices(host: InstanceType, metric: Metric) -> int:
    if metric.per_device is not None:
        return host.devices(metric.per_device)
    return 0 if metric.is_about_gpus and not host.gpus else 1


def of_component(name: str, variant: Variant | None = None) -> Publisher:
    """A component by its name."""
    return Publisher(name, "component", {COMPONENT_NAME: name}, variant)


def of_variant(endpoint: str, name: str, variant: Variant | None = None) -> Publisher:
    """A variant by its name and that of its endpoint."""
    return Publisher(name, "variant", {ENDPOINT_NAME: endpoint, VARIANT_NAME: name}, variant)


def _of_containers(spec: ModelSpec) -> Iterator[Publisher]:
    """The containers of each variant, where there are several.

    One without a name gets that of its place, as its log stream does:
    https://docs.aws.amazon.com/sagemaker/latest/dg/inference-pipeline-logs-metrics.html
    """
    several = [it for _, _, model in models(spec) for it in model.containers or ()]
    for _, variant in every_variant(spec):
        values = publishing_variant(spec, variant).values
        for number, container in enumerate(several, start=1):
            name = container.container_hostname or f"container-{number}"
            yield Publisher(name, "container", {**values, CONTAINER_NAME: name}, variant)


def of_endpoint(name: str) -> Publisher:
    """An endpoint by its name."""
    return Publisher(name, "endpoint", {ENDPOINT_NAME: name})


def publishing_variant(spec: ModelSpec, variant: Variant) -> Publisher:
    """A variant of the spec, with the dimensions that its metrics have in CloudWatch."""
    return of_variant(spec.endpoint_name, variant.variant_name, variant)


def publishing_component(spec: ModelSpec, name: str, component: InferenceComponent) -> Publisher:
    """A component of the spec, with the dimensions that its metrics have in CloudWatch."""
    return of_component(name, next(iter(component_variants(spec, component)), None))


@found_once
def publishers(spec: ModelSpec) -> Iterator[Publisher]:
    """All parts of the endpoint, components first: if both a component and the fleet have a metric of some
    name, the component's is meant.
    """
    for _, name, component in components(spec):
        yield publishing_component(spec, name, component)
    for _, variant in every_variant(spec):
        yield publishing_variant(spec, variant)
    yield from _of_containers(spec)
    yield of_endpoint(spec.endpoint_name)


Publication = tuple[Publisher, Metric]
"""A part of the endpoint, and a metric that it publishes."""


def published(name: str, spec: ModelSpec) -> list[Publication]:
    """The parts of the endpoint that publish a metric of this name, at the narrowest level that has it."""
    return narrowest(publications(publishers(spec), metrics.find(name, hosting_of(spec))))


def publications(parts: Iterable[Publisher], found: Collection[Metric]) -> list[Publication]:
    """Which of these parts publish which of these metrics."""
    return [(part, metric) for part in parts for metric in found if part.publishes(metric)]


def narrowest(found: Sequence[Publication]) -> list[Publication]:
    """The parts at the level of the first one, which is the narrowest in the order of :func:`publishers`."""
    level = {metric.dimensions for _, metric in found[:1]}
    return [(part, metric) for part, metric in found if metric.dimensions in level]


def is_chosen(values: Mapping[str, str], variant_name: str | None, inference_component: str | None) -> bool:
    """Whether these dimensions belong to the variant or component that is named; true if none is named."""
    chosen = {VARIANT_NAME: variant_name, COMPONENT_NAME: inference_component}
    return all(values.get(name) == value for name, value in chosen.items() if value is not None)


def seconds_between_readings(spec: ModelSpec, metric: Metric) -> int:
    """How often SageMaker publishes a metric: once a minute unless `metrics_config` says otherwise.

    `metrics_config` applies to utilization, and to invocations only with `enable_enhanced_metrics`.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricsConfig.html
    """
    config = endpoint_config(spec).metrics_config
    if config is None or config.metric_publish_frequency_in_seconds is None:
        return MINUTE
    # AWS says nothing about the metrics of an asynchronous endpoint's queue.
    with_requests = config.enable_enhanced_metrics is True and metric.dimensions != "endpoint"
    follows = metric.is_of_instances or with_requests
    return config.metric_publish_frequency_in_seconds if follows else MINUTE


# ---------------------------------------------------------------- the dashboard

_REGION = "${AWS::Region}"


def dashboard_name(spec: ModelSpec) -> str | None:
    """The name of the dashboard, for ``Fn::Sub``; None if the spec wants no dashboard."""
    if spec.dashboard is False:
        return None
    # Dashboards are global; the region keeps endpoints of the same name in two regions apart.
    written = _written_name(spec)
    return f"{spec.endpoint_name}-{_REGION}" if written is None else written


def named_dashboard(spec: ModelSpec) -> tuple[SpecPath, str] | None:
    """The dashboard's name as far as the spec determines it, and where in the spec it does so."""
    name = dashboard_name(spec)
    if name is None:
        return None
    path = ("endpoint_name",) if _written_name(spec) is None else ("dashboard", "dashboard_name")
    return path, name if spec.region is None else name.replace(_REGION, spec.region)


def _written_name(spec: ModelSpec) -> str | None:
    return spec.dashboard.dashboard_name if isinstance(spec.dashboard, Dashboard) else None

"""Which parts of an endpoint publish metrics of SageMaker's, and which."""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import instances, metrics
from inferstack.catalog.metrics import Metric
from inferstack.once import found_once
from inferstack.spec.blocks.inference_component import InferenceComponent
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.walk import component_variants, components, every_variant, instance_types, kind_of

ENDPOINT = "EndpointName"
VARIANT = "VariantName"
COMPONENT = "InferenceComponentName"


class Measured(msgspec.Struct, frozen=True):
    """A part of the endpoint that publishes metrics: a variant, a component, or the endpoint itself.

    ``values`` are those of its dimensions, in the catalog's order.
    """

    title: str
    values: dict[str, str]
    variant: Variant | None

    def publishes(self, metric: Metric) -> bool:
        """Whether the metric has exactly this part's dimensions."""
        return metrics.DIMENSION_NAMES[metric.dimensions] == tuple(self.values)

    def devices(self, metric: Metric) -> int:
        """How many devices the metric sums over on one instance: 1 where it does not, 0 without devices."""
        about_gpus = metric.name.startswith("GPU")
        if self.variant is None or (metric.per_device is None and not about_gpus):
            return 1
        known = [it for it in map(instances.find, instance_types(self.variant)[:1]) if it is not None]
        if metric.per_device is None:
            return 0 if known and not any(it.gpus for it in known) else 1
        return next((it.gpus if metric.per_device == "gpu" else it.vcpus for it in known), 0)


def measured_variant(spec: ModelSpec, variant: Variant) -> Measured:
    """A variant as CloudWatch knows it."""
    return Measured(
        variant.variant_name, {ENDPOINT: spec.endpoint_name, VARIANT: variant.variant_name}, variant
    )


def measured_component(spec: ModelSpec, name: str, component: InferenceComponent) -> Measured:
    """A component as CloudWatch knows it."""
    return Measured(name, {COMPONENT: name}, next(iter(component_variants(spec, component)), None))


@found_once
def measured(spec: ModelSpec) -> Iterator[Measured]:
    """Components first: where a name means a component's metric and the fleet's, the component's is meant."""
    for _, name, component in components(spec):
        yield measured_component(spec, name, component)
    for _, variant in every_variant(spec):
        yield measured_variant(spec, variant)
    yield Measured(spec.endpoint_name, {ENDPOINT: spec.endpoint_name}, None)


def published(name: str, spec: ModelSpec) -> Iterator[tuple[Measured, Metric]]:
    """The parts of the endpoint that publish a metric of this name, on the narrowest level that has it."""
    found = metrics.find(name, kind_of(spec))
    pairs = [(part, metric) for part in measured(spec) for metric in found if part.publishes(metric)]
    level = {metric.dimensions for _, metric in pairs[:1]}
    return ((part, metric) for part, metric in pairs if metric.dimensions in level)

"""Finds the metric of a given name, and the part of the endpoint that publishes it."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COMPONENT_NAME, VARIANT_NAME, Hosting, Metric
from inferstack.facts.publications import (
    Publisher,
    is_chosen,
    narrowest,
    of_component,
    of_endpoint,
    of_variant,
    publications,
)
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.resolve.resource import Resource, Resources


class WantedMetric(msgspec.Struct, frozen=True):
    """A metric as its user names it. A part is named only where several publish the metric."""

    metric: str
    variant_name: str | None = None
    inference_component: str | None = None

    def fits(self, dimensions: Mapping[str, str]) -> bool:
        """Whether these are dimensions of the wanted part."""
        return is_chosen(dimensions, self.variant_name, self.inference_component)

    def __str__(self) -> str:
        parts = (self.variant_name, self.inference_component)
        return " of ".join([self.metric, *(repr(part) for part in parts if part is not None)])


def metric_with_dimensions(
    wanted: WantedMetric, parts: Iterable[Publisher], hosting: Hosting | None
) -> tuple[Metric, dict[str, str]]:
    """The metric and the values of its dimensions.

    Raises:
        ValueError: when no part of such an endpoint publishes the metric, or when several that fit do.
    """
    there = list(parts)
    metrics_of_name = metrics.find(wanted.metric, hosting)
    if any(it.dimensions == "container" for it in metrics_of_name):
        fix = "make a `cloudwatch.Metric` with its dimensions"
        raise ValueError(f"{wanted.metric} is published for each container separately; {fix}")
    if not metrics_of_name:
        raise ValueError(_unknown(wanted.metric, _names(there, hosting)))
    of_kind = publications(there, metrics_of_name)
    published = [(part, metric) for part, metric in of_kind if part.may_have(metric)]
    if of_kind and not published:
        raise ValueError(_without_gpu(wanted.metric, _names(there, hosting)))
    meant = narrowest([(part, metric) for part, metric in published if wanted.fits(part.values)])
    if len(meant) != 1:
        raise ValueError(_not_one(wanted, len(meant), [part.values for part, _ in meant or published]))
    part, metric = meant[0]
    return metric, part.values


def alarm_id(wanted: WantedMetric, alarms: Resources) -> str:
    """Logical id of the alarm on a metric, the first where several watch it on the same part.

    Raises:
        ValueError: when there is none, or when several parts of the endpoint have one.
    """
    on_metric = [
        (logical_id, _dimensions(alarm))
        for logical_id, alarm in alarms.items()
        if _watched(alarm) == wanted.metric
    ]
    fitting = [(logical_id, values) for logical_id, values in on_metric if wanted.fits(values)]
    if not on_metric:
        on = sorted({_watched(alarm) for alarm in alarms.values()})
        others = f"it has some on {listed(on)}" if on else "it has no alarms"
        raise ValueError(f"the spec has no alarm on `{wanted.metric}`; {others}")
    if len({tuple(values.items()) for _, values in fitting}) != 1:
        raise ValueError(_not_one(wanted, len(fitting), [values for _, values in fitting or on_metric]))
    return fitting[0][0]


def _watched(alarm: Resource) -> str:
    """Name of the metric; for an expression, the `id` of the query that returns data."""
    if "MetricName" in alarm.properties:
        return str(alarm.properties["MetricName"])
    return next(str(it["Id"]) for it in alarm.properties["Metrics"] if it.get("ReturnData") is not False)


def _dimensions(alarm: Resource) -> dict[str, str]:
    return {it["Name"]: it["Value"] for it in alarm.properties.get("Dimensions", [])}


def _not_one(wanted: WantedMetric, count: int, choices: Sequence[Mapping[str, str]]) -> str:
    """The message for no metric or several: which part to name."""
    named = {
        f"{option}={values[name]!r}"
        for values in choices
        for name, option in ((VARIANT_NAME, "variant_name"), (COMPONENT_NAME, "inference_component"))
        if name in values
    }
    if named:
        fix = f"choose one of {listed(sorted(named), quote='')}"
    elif choices:
        fix = "leave the part out, since it is about the whole endpoint"
    else:
        # Of an endpoint that is imported, only what was named is known; a variant is always there.
        fix = "name its `inference_components`"
    stands_for = "stands for several" if count else "is none"
    return f"{wanted} {stands_for} of the endpoint's; {fix}"


def imported_parts(
    endpoint_name: str, variant_names: Iterable[str], inference_components: Iterable[str]
) -> Iterable[Publisher]:
    """The parts of an endpoint that is known by names alone."""
    yield from map(of_component, inference_components)
    yield from (of_variant(endpoint_name, name) for name in variant_names)
    yield of_endpoint(endpoint_name)


def _names(parts: Sequence[Publisher], hosting: Hosting | None) -> list[str]:
    """Names of the metrics that some part may publish."""
    named = {name: metrics.find(name, hosting) for name in metrics.names(hosting)}
    return [name for name, it in named.items() if any(part.may_have(one) for part in parts for one in it)]


def _unknown(name: str, known: Sequence[str]) -> str:
    fix = did_you_mean_then(name, known, f"it publishes {listed(known)}")
    return f"such an endpoint publishes no metric `{name}`; {fix}"


def _without_gpu(name: str, known: Sequence[str]) -> str:
    fix = f"choose an instance type with GPUs, or another metric: {listed(known)}"
    return f"the endpoint publishes no metric `{name}`, since its instances have no GPU; {fix}"

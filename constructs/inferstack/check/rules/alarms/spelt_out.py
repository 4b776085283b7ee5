"""SageMaker's own metrics, spelled out as CloudFormation has them: namespace, name and dimensions.

Written like that, they pass for custom metrics: nothing checks that they exist, an alarm that waits for a
missing one never leaves INSUFFICIENT_DATA, and inferstack still creates its defaults for the same metric.
SageMaker may publish metrics that the catalog does not have, so these are warnings.
"""

from collections.abc import Iterable, Iterator

import msgspec

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COMPONENT_NAME, ENDPOINT_NAME, VARIANT_NAME
from inferstack.check.rules.alarms.custom_metrics import HasMetric, Holder, alarm_rules, customized, stats
from inferstack.check.rules.base import AWS, METRICS_PAGE, TRACKING_PAGE, warning
from inferstack.facts.once import found_once
from inferstack.facts.publications import Publisher, of_endpoint, publishers
from inferstack.facts.quantity import INSTEAD_OF_A_TARGET, is_time
from inferstack.facts.scaling import steps
from inferstack.facts.walk import components, every_variant, hosting_of
from inferstack.format.autoscaling import CustomizedMetricSpecification
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import choose, did_you_mean, listed, slip_of
from inferstack.texts.placeholders import is_opaque

_CONCEPTS = f"{AWS}/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html"


class SpeltOut(msgspec.Struct, frozen=True):
    """A metric in one of SageMaker's namespaces, and where it is spelled out.

    ``known`` are the catalog's metrics of this name, in any namespace. ``chosen_by`` is where `metric` could
    be written instead; None inside an expression, which has no such key. ``follows`` is the part of the
    endpoint where `metric` would be looked for, None if it can be any.
    """

    path: SpecPath
    namespace: str
    name: str
    dimensions: dict[str, str]
    known: tuple[metrics.Metric, ...]
    chosen_by: SpecPath | None
    follows: Publisher | None


@found_once
def spelt_out(spec: ModelSpec) -> Iterator[SpeltOut]:
    """Every spelled-out SageMaker metric, in alarms and in policies."""
    for path, rule in alarm_rules(spec):
        yield from _spelt_out_in(path, rule, path, None)
    for path, scaled, step in steps(spec):
        yield from _spelt_out_in(path, step, path, scaled.part)
    for path, scaled, custom in customized(spec):
        in_the_policy = path[:-1] if _tracks_the_same(custom) else None
        yield from _spelt_out_in(path, custom, in_the_policy, scaled.part)


def _tracks_the_same(custom: CustomizedMetricSpecification) -> bool:
    """Whether `metric`, with the statistic that it implies, would track the same values."""
    known = metrics.find(custom.metric_name or "")
    return any(custom.statistic == metrics.scaling_statistic(it) for it in known)


def _spelt_out_in(
    path: SpecPath, holder: HasMetric, chosen_by: SpecPath | None, follows: Publisher | None
) -> Iterator[SpeltOut]:
    yield from _if_sagemakers(path, holder, chosen_by, follows)
    for below, stat in stats(path, holder):
        yield from _if_sagemakers((*below, "metric"), stat.metric, None, follows)


def _if_sagemakers(
    path: SpecPath, holder: Holder, chosen_by: SpecPath | None, follows: Publisher | None
) -> Iterator[SpeltOut]:
    namespace, name = holder.namespace, holder.metric_name
    dimensions = {it.name: it.value for it in holder.dimensions or ()}
    if namespace is None or name is None or any(map(is_opaque, (name, *dimensions, *dimensions.values()))):
        return
    if _plain(namespace) in map(_plain, metrics.namespaces()):
        known = metrics.find(name)
        yield SpeltOut(path, namespace, name, dimensions, known, chosen_by, follows)


def _plain(namespace: str) -> str:
    return namespace.strip("/").casefold()


@warning("IS843", METRICS_PAGE)
def own_metric_is_chosen_by_name(spec: ModelSpec) -> Iterator[Problem]:
    """A metric of this endpoint should be chosen by its name alone, with `metric`.

    Only then does it replace the default alarm or policy on the same metric, and roll back updates.
    """
    for metric in spelt_out(spec):
        part = _publisher(spec, metric)
        if metric.chosen_by is not None and part is not None:
            message = f"{metric.name} is a metric of this endpoint, but is spelled out like a custom metric"
            where = "" if metric.path == metric.chosen_by else " in the policy itself"
            which = _chosen(spec, part) if metric.follows is None else ""
            fix = f"write `metric: {metric.name}`{which}{where} instead"
            fix = INSTEAD_OF_A_TARGET if _is_held(metric) else fix
            yield Problem((*metric.path, "metric_name"), message, fix)


def _is_held(found: SpeltOut) -> bool:
    """Whether a policy holds a time at a target, which `metric` does not allow."""
    tracked = found.path != found.chosen_by
    return tracked and any(is_time(metric) for metric in found.known)


def _chosen(spec: ModelSpec, part: Publisher) -> str:
    """How to choose one of several parts that publish the same metric."""
    alone = sum(1 for other in publishers(spec) if other.level == part.level) == 1
    key = {"component": "inference_component", "variant": "variant_name"}.get(part.level)
    return "" if alone or key is None else f" and `{key}: {part.title}`"


def _publisher(spec: ModelSpec, found: SpeltOut) -> Publisher | None:
    """The part of the endpoint that publishes exactly this metric."""
    known = (it for it in found.known if found.namespace == it.namespace)
    here = {it.dimensions for it in known if hosting_of(spec) in it.hostings}
    # `metric` stands for all containers, and there is no key to choose one of them.
    alike = [part for part in publishers(spec) if part.level != "container"]
    looked_at = alike if found.follows is None else (found.follows, of_endpoint(spec.endpoint_name))
    return next((it for it in looked_at if it.level in here and it.values == found.dimensions), None)


@warning("IS844", METRICS_PAGE)
def namespace_is_the_metrics(spec: ModelSpec) -> Iterator[Problem]:
    """A SageMaker metric should have the namespace that SageMaker publishes it in.

    Case and slashes matter in namespaces.
    """
    for metric in spelt_out(spec):
        right = sorted({known.namespace for known in metric.known})
        if metric.namespace in (right or metrics.namespaces()):
            continue
        fix = f"write {listed(right)}" if right else did_you_mean(metric.namespace, metrics.namespaces())
        message = f'{metric.name} is not published in the namespace "{metric.namespace}"'
        yield Problem((*metric.path, "namespace"), message, fix)


@warning("IS845", METRICS_PAGE)
def metric_is_there(spec: ModelSpec) -> Iterator[Problem]:
    """A SageMaker metric should be one that exists.

    An alarm on a metric that nobody publishes never leaves INSUFFICIENT_DATA.
    """
    here = metrics.names(hosting_of(spec))
    for metric in spelt_out(spec):
        where = (*metric.path, "metric_name")
        if not metric.known:
            message = f"SageMaker publishes no metric `{metric.name}` for endpoints"
            yield Problem(where, message, choose(metric.name, here))
        elif _never_here(spec, metric):
            fix = f"available here: {listed(here)}"
            yield Problem(where, f"this kind of endpoint publishes no {metric.name}", fix)


def _never_here(spec: ModelSpec, found: SpeltOut) -> bool:
    return found.dimensions.get(ENDPOINT_NAME) == spec.endpoint_name and not metrics.find(
        found.name, hosting_of(spec)
    )


@warning("IS846", _CONCEPTS)
def dimensions_are_whole(spec: ModelSpec) -> Iterator[Problem]:
    """A SageMaker metric should have all of its dimensions, with values that exist.

    CloudWatch does not aggregate: with fewer dimensions it is another metric, which has no data.
    """
    for metric in spelt_out(spec):
        found = frozenset(metric.dimensions)
        wanted = [names for names in _dimensions(metric.known) if found < frozenset(names)]
        whole = any(found >= frozenset(names) for names in _dimensions(metric.known))
        if wanted and not whole and not _never_here(spec, metric):
            has = f"only {listed(list(metric.dimensions), last='and')}" if found else "none of them"
            ways = ", or with ".join(listed(names, last="and") for names in wanted)
            message = f"{metric.name} is published with {ways}, but here it has {has}"
            or_name = "" if metric.chosen_by is None else f", or write `metric: {metric.name}` instead"
            fix = f"write all of its `dimensions`{or_name}"
            yield Problem((*metric.path, "metric_name"), message, fix)
        for name, value, fix in _unknown(spec, metric.dimensions):
            message = f'{name} is "{value}", which this spec does not have'
            yield Problem((*metric.path, "dimensions"), message, fix)


@warning("IS525", TRACKING_PAGE)
def policy_follows_what_it_scales(spec: ModelSpec) -> Iterator[Problem]:
    """A policy should hold a metric of what it scales at its target, not one of another endpoint.

    AWS says that the metric must change in proportion to capacity, and that of another endpoint does not.
    """
    for metric in spelt_out(spec):
        # Only what a policy holds by itself: an expression may relate several endpoints, and a step may
        # follow one that passes its requests on.
        if metric.follows is None or metric.path[-1] != "customized_metric_specification":
            continue
        other = metric.dimensions.get(ENDPOINT_NAME, spec.endpoint_name)
        if other == spec.endpoint_name or any(_unknown(spec, metric.dimensions)):
            continue
        message = f'the policy scales "{spec.endpoint_name}", but follows {metric.name} of "{other}"'
        by_name = f", or write `metric: {metric.name}` in the policy itself"
        fix = f"name this endpoint{by_name if metric.chosen_by is not None else ''}"
        yield Problem((*metric.path, "dimensions"), message, fix)


def _dimensions(known: Iterable[metrics.Metric]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(metrics.DIMENSION_NAMES[it.dimensions] for it in known))


def _unknown(spec: ModelSpec, dimensions: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Dimensions that should name a part of this endpoint but do not, and how to fix them.

    The name of another endpoint, or of a component that is no near miss of one here, belongs to another spec.
    """
    variants = [variant.variant_name for _, variant in every_variant(spec)]
    inside = dimensions.get(ENDPOINT_NAME) == spec.endpoint_name
    for name, options in (
        (ENDPOINT_NAME, [spec.endpoint_name]),
        (VARIANT_NAME, variants if inside else []),
        (COMPONENT_NAME, [name for _, name, _ in components(spec)]),
    ):
        value = dimensions.get(name)
        if value is None or value in options or not options:
            continue
        if (name == VARIANT_NAME) or slip_of(value, options) is not None:
            yield name, value, choose(value, options)

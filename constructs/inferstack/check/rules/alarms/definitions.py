"""Alarms, and what applies to the alarms of step policies as well."""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import cloudformation, metrics
from inferstack.catalog.metrics import Metric
from inferstack.check.rules.alarms.queries import alarm_rules, unfit_threshold, watching
from inferstack.check.rules.base import ALARM_PAGE, METRICS_PAGE, error, warning
from inferstack.check.rules.names import unknown_name
from inferstack.facts.alarms import evaluation, watches
from inferstack.facts.measured import devices_by_type, published, seconds_between_readings
from inferstack.facts.once import found_once
from inferstack.facts.quantity import absolute_threshold, as_counted, as_sum, is_utilization
from inferstack.facts.scaling import counted_metric, steps
from inferstack.facts.walk import components, hosting_of, variants
from inferstack.format.alarms import AlarmRule
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import begun_by, did_you_mean_then, likest
from inferstack.texts.statistic import adds_up

_MISSING = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html"
_PUBLISHED = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricsConfig.html"
_FREQUENCY = "metric_publish_frequency_in_seconds"

_HOUR, _DAY, _WEEK = 3600, 86_400, 604_800
_SHORT_PERIODS = (10, 20, 30)
# These compare with a band that another metric of the alarm computes, not with a threshold.
_OF_A_BAND = (
    "LessThanLowerOrGreaterThanUpperThreshold",
    "LessThanLowerThreshold",
    "GreaterThanUpperThreshold",
)


def _on_sagemaker(spec: ModelSpec) -> Iterator[tuple[SpecPath, AlarmRule, str]]:
    """Rules with a SageMaker metric, and its name; what other metrics count is not known."""
    for path, rule in alarm_rules(spec):
        if rule.metric is not None:
            yield path, rule, rule.metric


def _metrics(spec: ModelSpec, rule: AlarmRule) -> list[Metric]:
    """What the rule's metric may be on this endpoint: a component and a fleet may publish the same name."""
    level = None if rule.variant_name is None else "variant"
    if rule.inference_component is not None:
        level = "component"
    found = () if rule.metric is None else metrics.find(rule.metric, hosting_of(spec))
    return [it for it in found if level is None or it.dimensions == level]


@error("IS800", METRICS_PAGE)
def metric_is_known(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of an alarm must be one that AWS publishes.

    For any kind of endpoint; IS801 checks whether this kind publishes it.
    """
    for path, _, name in _on_sagemaker(spec):
        if not metrics.find(name):
            known = _published_names(spec)
            meant = begun_by(name, known) or [*known, *metrics.names()]
            fix = did_you_mean_then(name, meant, f"available here: {likest(name, known)}")
            yield Problem((*path, "metric"), f"SageMaker has no metric `{name}`", fix)


@error("IS801", METRICS_PAGE)
def metric_is_published(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of an alarm must be published for what the alarm watches.

    An alarm whose metric has no data never goes off.
    """
    for path, rule, name in _on_sagemaker(spec):
        if _is_where_no_gpu_is(spec, rule, name):
            others = likest(name, _published_names(spec))
            fix = f"choose an instance type with GPUs, or another metric: {others}"
            yield Problem((*path, "metric"), f"{name} is not published here because there is no GPU", fix)
        elif metrics.find(name) and not _metrics(spec, rule):
            of_hosting = metrics.find(name, hosting_of(spec))
            where = (
                "the variant or component that the alarm is for" if of_hosting else "this kind of endpoint"
            )
            fix = (
                "remove `variant_name` or `inference_component`"
                if of_hosting
                else f"available here: {likest(name, _published_names(spec))}"
            )
            yield Problem((*path, "metric"), f"{name} is not published for {where}", fix)


def _is_where_no_gpu_is(spec: ModelSpec, rule: AlarmRule, name: str) -> bool:
    if not any(it.is_about_gpus for it in metrics.find(name)):
        return False
    watched = [(part, metric) for part, metric in published(name, spec) if watches(rule, part)]
    return bool(watched) and not any(part.may_have(metric) for part, metric in watched)


def _published_names(spec: ModelSpec) -> list[str]:
    """Names of the metrics that some part of this endpoint publishes."""
    names = metrics.names(hosting_of(spec))
    return [name for name in names if any(part.may_have(metric) for part, metric in published(name, spec))]


@error("IS802", METRICS_PAGE)
def watched_part_exists(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm must watch a variant or component that the spec has.

    It is looked up by its name.
    """
    of_variants = [variant.variant_name for _, variant in variants(spec)]
    of_components = [name for _, name, _ in components(spec)]
    for path, rule in alarm_rules(spec):
        if rule.variant_name is not None and rule.variant_name not in of_variants:
            yield unknown_name((*path, "variant_name"), "variant", rule.variant_name, of_variants)
        if rule.inference_component is not None and rule.inference_component not in of_components:
            yield unknown_name(
                (*path, "inference_component"), "inference component", rule.inference_component, of_components
            )


@error("IS803", METRICS_PAGE)
def threshold_fits(spec: ModelSpec) -> Iterator[Problem]:
    """A threshold fits its metric: times carry a unit, shares a `%`, counts neither.

    CloudWatch counts latencies in microseconds, but nobody who writes 500 means those.
    """
    for path, rule in alarm_rules(spec):
        yield from unfit_threshold(path, rule, _metrics(spec, rule))


class _Compared(msgspec.Struct, frozen=True):
    """A SageMaker metric as its statistic counts it, and what compares it with a threshold.

    ``on_types`` has, for each variant, how many devices it sums over on each of its instance types, the
    preferred one first.
    """

    path: SpecPath
    watched: AlarmRule | StepPolicy
    metric: Metric
    on_types: list[list[int]]


@found_once
def _compared(spec: ModelSpec) -> Iterator[_Compared]:
    for path, rule in alarm_rules(spec):
        for metric in _metrics(spec, rule)[:1]:
            counted = as_counted(metric, rule.statistic)
            yield _Compared(path, rule, counted, _devices(spec, rule, counted))
    for path, scaled, step in steps(spec):
        watched = counted_metric(spec, scaled, step)
        if watched is not None:
            fleet = {} if scaled.variant is None else devices_by_type(scaled.variant, watched)
            yield _Compared(path, step, watched, [list(fleet.values())] if fleet else [])


@warning("IS804", METRICS_PAGE)
def threshold_can_be_reached(spec: ModelSpec) -> Iterator[Problem]:
    """The threshold of a utilization should be one that the metric can reach.

    A sum over devices is at most 100 times their number; some metrics are shares, at most 1.
    """
    for it in _compared(spec):
        metric, threshold = it.metric, it.watched.threshold
        known = it.on_types or metric.per_device is None
        if metric.most is None or not known or adds_up(it.watched.statistic):
            # It has no maximum, or the number of devices that it sums over is not known.
            continue
        most = metric.most * max(map(max, it.on_types), default=1)
        if most and isinstance(threshold, int | float) and not 0 <= threshold <= most:
            message = f"{metric.name} is between 0 and {most} here, but the threshold is {threshold}"
            share = '"90 %"' if is_utilization(metric) else "0.9"
            yield Problem((*it.path, "threshold"), message, f"write a share of the total, such as {share}")


@warning("IS805", METRICS_PAGE)
def threshold_counts_all_devices(spec: ModelSpec) -> Iterator[Problem]:
    """A threshold without `%` for a utilization that sums over devices should count all of them.

    A threshold of 90 on four GPUs is 22.5 % of them.
    """
    for it in _compared(spec):
        devices = max((preferred for preferred, *_ in it.on_types), default=1)
        match it.watched.threshold:
            case int() | float() as bare if devices > 1 and 1 <= bare <= 100:
                all_of_it = absolute_threshold(f"{bare} %", it.metric, devices)
                fix = f'for {bare} % of the total, which is {all_of_it}, write "{bare} %"'
                yield Problem((*it.path, "threshold"), as_sum(bare, it.metric, devices), fix)


@warning("IS816", METRICS_PAGE)
def threshold_is_in_percent(spec: ModelSpec) -> Iterator[Problem]:
    """The threshold of a utilization should be in percent, not a fraction of 1.

    An alarm below 0.5 % finds what is idle; one above 0.5 % goes off at the first request.
    """
    for it in _compared(spec):
        threshold = it.watched.threshold
        bare = isinstance(threshold, int | float) and 0 < threshold < 1
        if bare and it.metric.unit == "Percent" and not evaluation(it.watched).looks_down:
            message = f"{it.watched.metric} is in percent, but the threshold is {threshold} out of 100"
            fix = f'write "{float(threshold) * 100:g} %" if you meant a fraction'
            yield Problem((*it.path, "threshold"), message, fix)


def _devices(spec: ModelSpec, rule: AlarmRule, metric: Metric) -> list[list[int]]:
    watched = (it for _, it in variants(spec) if rule.variant_name in (None, it.variant_name))
    found = (devices_by_type(variant, metric).values() for variant in watched)
    return [list(it) for it in found if it]


@error("IS806", ALARM_PAGE)
def datapoints_within_periods(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm cannot need more breaching data points than it looks at.

    CloudWatch calls it "M out of N".
    """
    for path, rule in alarm_rules(spec):
        most = evaluation(rule).evaluation_periods
        if rule.datapoints_to_alarm is not None and rule.datapoints_to_alarm > most:
            message = (
                f"`datapoints_to_alarm` is {rule.datapoints_to_alarm}, but the alarm looks at only {most}"
            )
            yield Problem(
                (*path, "datapoints_to_alarm"),
                message,
                f"write 1 to {most}, or raise `evaluation_periods`",
            )


@error("IS807", ALARM_PAGE)
def period_is_allowed(spec: ModelSpec) -> Iterator[Problem]:
    """A period must be 10, 20 or 30 seconds, or a multiple of 60.

    In seconds.
    """
    for path, period in _periods(spec):
        if not _is_possible(period):
            fix = f"write 10, 20, 30 or a multiple of 60 such as {max(60, period // 60 * 60)}"
            yield Problem((*path, "period"), f"a period of {period} s is not allowed", fix)


def _is_possible(period: int) -> bool:
    return period in _SHORT_PERIODS or (period >= 60 and period % 60 == 0)


def _periods(spec: ModelSpec) -> Iterator[tuple[SpecPath, int]]:
    for path, rule in watching(spec):
        if rule.period is not None:
            yield path, rule.period
        for index, query in enumerate(rule.metrics or ()):
            where = (*path, "metrics", index)
            if query.period is not None:
                yield where, query.period
            if query.metric_stat is not None:
                yield (*where, "metric_stat"), query.metric_stat.period


@error("IS808", ALARM_PAGE)
def not_too_far_back(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm can look back one day at most, or one week with periods of an hour or more.

    The limit is on the period times the evaluation periods.
    """
    for path, rule in watching(spec):
        found = _metrics(spec, rule)[:1] if isinstance(rule, AlarmRule) else ()
        looked = evaluation(rule, max((seconds_between_readings(spec, it) for it in found), default=0))
        period, count = looked.period, looked.evaluation_periods
        most = _DAY if period < _HOUR else _WEEK
        if period * count > most:
            where = (*path, "period" if rule.evaluation_periods is None else "evaluation_periods")
            message = f"the alarm looks back {period * count} s, {count} x {period} s"
            yield Problem(where, message, f"at most {most} s are allowed")


@warning("IS809", _PUBLISHED)
def no_short_periods(spec: ModelSpec) -> Iterator[Problem]:
    """A period should not be shorter than the time between two readings of the metric.

    A shorter period has no data between two readings, and without data no alarm goes off.
    """
    for path, rule, _ in _on_sagemaker(spec):
        for metric in _metrics(spec, rule)[:1]:
            seconds = seconds_between_readings(spec, metric)
            if rule.period is not None and _is_possible(rule.period) and rule.period < seconds:
                message = (
                    f"a period of {rule.period} s is too short: {rule.metric} has data only every {seconds} s"
                )
                fix = f"write {seconds} or more{_publish_more_often(metric, rule.period)}"
                yield Problem((*path, "period"), message, fix)


def _publish_more_often(metric: Metric, period: int) -> str:
    """What to write in `metrics_config` so that every period has data, if anything helps."""
    schema = cloudformation.shape("AWS::SageMaker::EndpointConfig", "MetricsConfig")[_FREQUENCY].schema
    often = max((it for it in schema["enum"] if it <= period), default=None)
    if often is None or metric.dimensions == "endpoint":
        return ""
    fix = f", or set `{_FREQUENCY}: {often}` in `endpoint_config.metrics_config`"
    if metric.is_of_instances:
        return fix
    return f"{fix} with `enable_enhanced_metrics: true`, without which it applies to utilization only"


@warning("IS848", _MISSING)
def silence_is_what_it_looks_for(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm that looks for a lack of requests should say what a period without data means.

    Without any request there may be no data, which by default is no reason for an alarm.
    """
    for path, rule, name in _on_sagemaker(spec):
        looks_down = rule.comparison_operator not in _OF_A_BAND and evaluation(rule).looks_down
        if looks_down and rule.treat_missing_data is None and name in metrics.COUNTS_OF_REQUESTS:
            message = f"without requests {name} may have no data, and then this alarm does not go off"
            fix = "write `treat_missing_data: breaching`, or `notBreaching` if you meant few, not none"
            yield Problem((*path, "metric"), message, fix)


@warning("IS849", "user reports")
def components_tell_of_requests(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """An alarm on requests should watch inference components, not the variant that they run on.

    See :attr:`inferstack.catalog.metrics.Metric.is_of_requests_to_variant`.
    """
    for path, rule, name in _on_sagemaker(spec):
        found = _metrics(spec, rule)
        if found and all(it.is_of_requests_to_variant for it in found):
            message = f"{name} may have no data for a variant with inference components"
            fix = "watch a metric of the components instead, such as InvocationsPerCopy or ModelLatency"
            if rule.variant_name is not None and len(metrics.find(name, hosting_of(spec))) > 1:
                fix = "remove `variant_name` to watch each component"
            yield Problem((*path, "metric"), message, fix)


@error("IS811", ALARM_PAGE)
def compares_with_a_threshold(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm must compare with its threshold, not with an anomaly detection band.

    Anomaly detection has a band instead of a threshold, which the format has no key for.
    """
    for path, rule in watching(spec):
        if rule.comparison_operator in _OF_A_BAND:
            side = "Less" if rule.comparison_operator == "LessThanLowerThreshold" else "Greater"
            yield Problem(
                (*path, "comparison_operator"),
                f"{rule.comparison_operator} is for anomaly detection, but this alarm has a threshold",
                f"write {side}ThanThreshold or {side}ThanOrEqualToThreshold",
            )

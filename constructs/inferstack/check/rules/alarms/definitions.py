"""What alarms watch, over which periods, and with which statistic."""

from collections.abc import Iterator

from inferstack.catalog import cloudformation, metrics
from inferstack.catalog.metrics import Metric
from inferstack.check.rules.alarms.custom_metrics import HasMetric, alarm_rules, customized, stats, watching
from inferstack.check.rules.base import ALARM_PAGE, API, AWS, METRICS_PAGE, error, warning
from inferstack.check.rules.names import unknown_name
from inferstack.facts.alarms import evaluation, watches
from inferstack.facts.engines import lacks_its_streams
from inferstack.facts.publications import published, seconds_between_readings
from inferstack.facts.walk import components, hosting_of, models, variants
from inferstack.format.alarms import AlarmRule
from inferstack.format.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import begun_by, did_you_mean_then, likest
from inferstack.texts.statistic import Bounds, bounds

_MISSING = f"{AWS}/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html"
_PUBLISHED = f"{API}/API_MetricsConfig.html"
_STATISTICS = f"{AWS}/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html"
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


def metrics_of_rule(spec: ModelSpec, rule: AlarmRule) -> list[Metric]:
    """What the rule's metric may be on this endpoint: a component and a fleet may publish the same name."""
    found = () if rule.metric is None else metrics.find(rule.metric, hosting_of(spec))
    levels = _levels(spec, rule)
    return [it for it in found if it.dimensions in levels]


def _levels(spec: ModelSpec, rule: AlarmRule) -> set[str]:
    """Where the metric of a rule may be measured."""
    if rule.inference_component is not None:
        return {"component"}
    several = any(model.containers for _, _, model in models(spec))
    of_variant = {"variant", *(("container",) if several else ())}
    return of_variant if rule.variant_name is not None else {*of_variant, "component", "endpoint"}


@error("IS800", METRICS_PAGE)
def metric_is_known(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of an alarm must be one that AWS publishes.

    For any kind of endpoint; IS801 checks whether this kind publishes it.
    """
    for path, _, name in _on_sagemaker(spec):
        if not metrics.find(name):
            known = _published_names(spec)
            elsewhere = (it for it in metrics.names() if not lacks_its_streams(spec, it))
            meant = begun_by(name, known) or [*known, *elsewhere]
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
            yield Problem((*path, "metric"), f"{name} is not published without a GPU", fix)
        elif metrics.find(name) and not metrics_of_rule(spec, rule):
            of_hosting = metrics_of_rule(spec, AlarmRule(metric=name, threshold=0))
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
    names = [name for name in metrics.names(hosting_of(spec)) if not lacks_its_streams(spec, name)]
    return [name for name in names if any(part.may_have(metric) for part, metric in published(name, spec))]


@error("IS802", METRICS_PAGE)
def watched_part_exists(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm must watch a variant or component that the spec has."""
    of_variants = [variant.variant_name for _, variant in variants(spec)]
    of_components = [name for _, name, _ in components(spec)]
    for path, rule in alarm_rules(spec):
        if rule.variant_name is not None and rule.variant_name not in of_variants:
            yield unknown_name((*path, "variant_name"), "variant", rule.variant_name, of_variants)
        if rule.inference_component is not None and rule.inference_component not in of_components:
            yield unknown_name(
                (*path, "inference_component"), "inference component", rule.inference_component, of_components
            )


@error("IS806", ALARM_PAGE)
def datapoints_within_periods(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm cannot need more breaching data points than it looks at.

    CloudWatch says "M out of N" and refuses an M above N: such an alarm could never go off.
    """
    for path, rule in alarm_rules(spec):
        most = evaluation(rule).evaluation_periods
        if rule.datapoints_to_alarm is not None and rule.datapoints_to_alarm > most:
            message = (
                f"`datapoints_to_alarm` is {rule.datapoints_to_alarm}, but the alarm looks at only {most}"
            )
            fix = f"write 1 to {most}, or raise `evaluation_periods`"
            yield Problem((*path, "datapoints_to_alarm"), message, fix)


@error("IS807", ALARM_PAGE)
def period_is_allowed(spec: ModelSpec) -> Iterator[Problem]:
    """A period must be 10, 20 or 30 seconds, or a multiple of 60."""
    for path, period in _periods(spec):
        if not _is_possible(period):
            fix = f"write {max(60, period // 60 * 60)}; allowed: multiples of 60, and 10, 20 or 30 for what "
            fix += "is published more often than once a minute"
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

    Period times evaluation periods: CloudWatch refuses an alarm that looks further back.
    """
    for path, rule in watching(spec):
        found = metrics_of_rule(spec, rule)[:1] if isinstance(rule, AlarmRule) else ()
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
        for metric in metrics_of_rule(spec, rule)[:1]:
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

    Users report that such a metric has no data there, although AWS lists it.
    """
    for path, rule, name in _on_sagemaker(spec):
        found = metrics_of_rule(spec, rule)
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
            where = (*path, "comparison_operator")
            message = f"{rule.comparison_operator} is for anomaly detection, but this alarm has a threshold"
            yield Problem(where, message, f"write {side}ThanThreshold or {side}ThanOrEqualToThreshold")


# ---------------------------------------------------------------- statistics between two bounds


_LEAST, _MOST_SHOWN = 10, 90


def _of_alarms(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None]]:
    for path, rule in watching(spec):
        yield (*path, "statistic"), rule.statistic


def _of_queries(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None]]:
    """Statistics of the metrics that expressions use, in alarms and in policies."""
    for path, rule in watching(spec):
        yield from _of_stats(path, rule)
    for path, _, custom in customized(spec):
        yield from _of_stats(path, custom)


def _of_stats(path: SpecPath, of: HasMetric) -> Iterator[tuple[SpecPath, str | None]]:
    return (((*below, "stat"), it.stat) for below, it in stats(path, of))


@error("IS842", _STATISTICS)
def lower_bound_is_lower(spec: ModelSpec) -> Iterator[Problem]:
    """The upper bound of a statistic must be above its lower bound.

    No values lie between a lower bound and an upper bound below it, so the statistic never has data.
    """
    for path, statistic in (*_of_alarms(spec), *_of_queries(spec)):
        found = bounds(statistic)
        if found is None or found.low is None or found.high is None:
            continue
        if found.low >= found.high:
            # As written in the spec: bounds of latencies have more digits than numbers are shown with.
            low, _, high = str(statistic).partition("(")[2].removesuffix(")").partition(":")
            ends = f"it begins after {low} and ends at {high}"
            message = f"`{statistic}` covers no values: {ends}"
            yield Problem(path, message, "write the lower bound first, and a higher one after the `:`")


@warning("IS819", ALARM_PAGE)
def bounds_are_for_alarms(spec: ModelSpec) -> Iterator[Problem]:
    """The bounds of a statistic should be ones that AWS documents for alarms.

    For a trimmed statistic, two percentages from 10 to 90; graphs take more. `PR` has values as bounds.
    """
    for path, statistic in _of_alarms(spec):
        found = bounds(statistic)
        if found is not None and found.sort != "PR" and not _is_documented(found):
            sort = found.sort
            documented = (
                f"for alarms AWS documents `{sort}` with two percentages from {_LEAST}% to {_MOST_SHOWN}%"
            )
            message = f"{documented}, and `{statistic}` only for graphs"
            one = f"{sort.lower()}{_MOST_SHOWN}"
            fix = f"write two, such as {sort}({_LEAST}%:{_MOST_SHOWN}%), or one, such as {one}"
            yield Problem(path, message, fix)


def _is_documented(found: Bounds) -> bool:
    both = (found.low, found.high)
    return found.are_shares and all(it is not None and _LEAST <= it <= _MOST_SHOWN for it in both)

"""Alarms and step policies on custom metrics, and statistics that look between two bounds."""

import re
from collections.abc import Iterator

from inferstack.catalog import metrics
from inferstack.check.rules.alarms.queries import (
    HasMetric,
    broken_metric,
    broken_metrics,
    customized,
    given,
    lacks,
    stats,
    watching,
)
from inferstack.check.rules.base import ALARM_PAGE, error, warning
from inferstack.format.alarms import AlarmMetricDataQuery, AlarmRule
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import describe, listed
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.statistic import Bounds, bounds

# ----------------------------------------------------------------
# Alarms and step policies on custom metrics.


_QUERY = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html"
_MATH = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html"
_OF_OWN = ("namespace", "metric_name", "dimensions", "unit")
_OF_ONE = (*_OF_OWN, "statistic", "period")
_OF_ITS_OWN = ("metric_name", "metrics")
_WAYS = ("metric", *_OF_ITS_OWN)
_MOST = 10
_SEARCH = r"\bSEARCH\s*\("

Watching = AlarmRule | StepPolicy


@error("IS812", ALARM_PAGE)
def one_metric(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm must watch exactly one metric: SageMaker's, a custom one, or an expression.

    Metrics that AWS has a name for are written as `metric`.
    """
    for path, watched in watching(spec):
        ways = given(watched, _WAYS)
        if not ways and watched.namespace is None:
            fix = "add `metric`, or `namespace` and `metric_name` for one that SageMaker does not publish"
            yield Problem(path, "the alarm has no metric to watch", fix)
        elif len(ways) > 1:
            message = f"{listed(ways, last='and')} cannot be used together"
            yield Problem((*path, ways[0]), message, "keep one of them")


@error("IS813", _QUERY)
def metric_is_whole(spec: ModelSpec) -> Iterator[Problem]:
    """A custom metric that is watched must be complete, by itself or in `metrics`.

    SageMaker's metrics need only their name.
    """
    for path, watched in watching(spec):
        if len(given(watched, _WAYS)) > 1:
            continue
        if watched.metric is not None:
            yield from _follows_from_the_name(path, watched)
        elif watched.metrics is not None:
            yield from broken_metrics(path, watched, _OF_ONE, "compared with the threshold")
        elif _may_be_sagemakers(watched):
            lacking = listed(lacks(watched), last="and")
            name = watched.metric_name
            fix = f"write `metric: {name}` for SageMaker's, or add {lacking} for one of your own"
            yield Problem((*path, "metric_name"), f"the metric is missing {lacking}", fix)
        elif watched.metric_name is not None or watched.namespace is not None:
            yield from broken_metric(path, watched)


def _may_be_sagemakers(watched: Watching) -> bool:
    """Whether a metric has the name of one of SageMaker's, and no namespace that would say whose it is."""
    return watched.namespace is None and bool(metrics.find(watched.metric_name or ""))


def _follows_from_the_name(path: SpecPath, watched: Watching) -> Iterator[Problem]:
    beside = given(watched, _OF_OWN)
    if beside:
        follows, them = ("follows", "it") if len(beside) == 1 else ("follow", "them")
        message = f"{listed(beside, last='and')} of {watched.metric} {follows} from its name"
        fix = f"remove {them}, or write `metric_name` instead of `metric`"
        yield Problem((*path, beside[0]), message, fix)


@error("IS814", ALARM_PAGE)
def threshold_is_a_number(spec: ModelSpec) -> Iterator[Problem]:
    """The threshold of a custom metric must be a number.

    Only the units of SageMaker's metrics are known.
    """
    for path, watched in watching(spec):
        threshold = watched.threshold
        if _may_be_sagemakers(watched):
            continue
        if given(watched, _OF_ITS_OWN) and isinstance(threshold, str) and not is_opaque(threshold):
            message = f"the threshold is {describe(threshold)}, but this is a custom metric"
            fix = "write a number without quotes or unit, in the unit that the metric is published in"
            yield Problem((*path, "threshold"), message, fix)


@error("IS815", _MATH)
def expression_can_be_watched(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm must compute one number, from at most 10 metrics and 10 expressions.

    CloudWatch refuses more, and also a search, which returns any number of series.
    """
    for path, watched in watching(spec):
        queries = watched.metrics or ()
        stats = sum(1 for it in queries if it.metric_stat is not None)
        for count, what in ((stats, "metrics"), (len(queries) - stats, "expressions")):
            if count > _MOST:
                where = (*path, "metrics")
                yield Problem(where, f"there are {count} {what}", f"at most {_MOST} are allowed")
        for index, query in enumerate(queries):
            yield from _search((*path, "metrics", index, "expression"), query)


def _search(path: SpecPath, query: AlarmMetricDataQuery) -> Iterator[Problem]:
    if query.expression is not None and re.search(_SEARCH, query.expression) is not None:
        fix = "name the metrics one by one, or write a Metrics Insights query: `SELECT …`"
        yield Problem(path, f"`{query.id}` searches for metrics, which alarms cannot do", fix)


# ---------------------------------------------------------------- Statistics that look between two bounds


_STATISTICS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html"
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

    The lower bound comes first: no reading is above a bound and not above the same or a lower one.
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

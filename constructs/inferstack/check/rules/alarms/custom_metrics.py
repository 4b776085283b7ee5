"""Custom metrics, alone or in expressions, in alarms and policies alike."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from inferstack.catalog import metrics
from inferstack.check.rules.base import ALARM_PAGE, AWS, error, warning
from inferstack.facts.once import found_once
from inferstack.facts.scaling import Scaled, policies, steps
from inferstack.format.alarms import AlarmMetric, AlarmMetricDataQuery, AlarmMetricStat, AlarmRule, Alarms
from inferstack.format.autoscaling import (
    CustomizedMetricSpecification,
    StepPolicy,
    TargetTrackingMetric,
    TargetTrackingMetricDataQuery,
    TargetTrackingMetricStat,
)
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import choose, describe, listed
from inferstack.texts.placeholders import is_opaque

_DIMENSION = f"{AWS}/AmazonCloudWatch/latest/APIReference/API_Dimension.html"
_CONCEPTS = f"{AWS}/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html"
_QUERY = f"{AWS}/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html"
_MATH = f"{AWS}/AmazonCloudWatch/latest/monitoring/using-metric-math.html"


@found_once
def alarm_rules(spec: ModelSpec) -> Iterator[tuple[SpecPath, AlarmRule]]:
    """The spec's own rules, with their paths."""
    if isinstance(spec.alarms, Alarms):
        for index, rule in enumerate(spec.alarms.rules):
            yield ("alarms", "rules", index), rule


@found_once
def watching(spec: ModelSpec) -> Iterator[tuple[SpecPath, AlarmRule | StepPolicy]]:
    """Rules and step policies, with their paths."""
    yield from alarm_rules(spec)
    for path, _, step in steps(spec):
        yield path, step


Query = TargetTrackingMetricDataQuery | AlarmMetricDataQuery
HasMetric = CustomizedMetricSpecification | AlarmRule | StepPolicy
Stat = TargetTrackingMetricStat | AlarmMetricStat
Holder = HasMetric | TargetTrackingMetric | AlarmMetric
"""What has the namespace, name and dimensions of a metric as CloudFormation writes them."""
_NEEDED = ("namespace", "metric_name", "statistic")


def customized(spec: ModelSpec) -> Iterator[tuple[SpecPath, Scaled, CustomizedMetricSpecification]]:
    """The custom metrics that policies hold at a target: path, what scales, metric."""
    for path, scaled, policy in policies(spec):
        custom = policy.customized_metric_specification
        if custom is not None:
            yield (*path, "customized_metric_specification"), scaled, custom


def stats(path: SpecPath, of: HasMetric) -> Iterator[tuple[SpecPath, Stat]]:
    """The metrics that an expression uses, each with its statistic."""
    queries: Sequence[Query] = of.metrics or ()
    for index, query in enumerate(queries):
        if query.metric_stat is not None:
            yield (*path, "metrics", index, "metric_stat"), query.metric_stat


def given(of: HasMetric, keys: Sequence[str]) -> list[str]:
    """The keys that are set, among these."""
    return [key for key in keys if getattr(of, key) is not None]


def lacks(of: HasMetric) -> list[str]:
    """The keys that a metric that stands alone needs and that are not set."""
    return [key for key in _NEEDED if getattr(of, key) is None]


def broken_metric(path: SpecPath, of: HasMetric, instead: str = "") -> Iterator[Problem]:
    """What a metric that stands alone is missing. ``instead``: what else could be written."""
    missing = lacks(of)
    if missing:
        lacking = listed(missing, last="and")
        yield Problem(path, f"the metric is missing {lacking}", f"add {lacking}{instead}")


def broken_metrics(path: SpecPath, of: HasMetric, alone: Sequence[str], purpose: str) -> Iterator[Problem]:
    """What is wrong with ``metrics``, of which exactly one must return data.

    ``alone`` are the keys of a metric that stands alone, which cannot be used beside ``metrics``.
    """
    beside = given(of, alone)
    if beside:
        message = f"{listed(beside, last='and')} and `metrics` cannot be used together"
        yield Problem((*path, beside[0]), message, "put the metric into a `metric_stat` of `metrics`")
    yield from _broken_queries((*path, "metrics"), of.metrics or (), purpose)


def _broken_queries(path: SpecPath, queries: Sequence[Query], purpose: str) -> Iterator[Problem]:
    returned = [it for it in queries if it.return_data is not False]
    if len(returned) != 1:
        message = f"{len(returned)} of {len(queries)} metrics would be {purpose}"
        how = "`return_data: false` for all but one" if returned else "`return_data: true` for one"
        yield Problem(path, message, f"write {how}")
    ids = Counter(it.id for it in queries)
    for index, query in enumerate(queries):
        yield from _broken((*path, index), query, ids)


def _broken(path: SpecPath, query: Query, ids: Counter[str]) -> Iterator[Problem]:
    if (query.expression is None) == (query.metric_stat is None):
        found = "neither {} nor {}" if query.expression is None else "both {} and {}"
        message = f"`{query.id}` has {found.format('`metric_stat`', '`expression`')}"
        yield Problem(path, message, "write one of them")
    if ids[query.id] > 1:
        yield Problem((*path, "id"), f"two metrics have the id `{query.id}`", "give each an id of its own")


# ---------------------------------------------------------------- characters in names


_FIX = "write it as the metric is published: in ASCII letters, digits and punctuation"


@error("IS227", _DIMENSION)
def dimensions_are_ascii(spec: ModelSpec) -> Iterator[Problem]:
    """Names and values of dimensions must be ASCII without control characters, and not only spaces.

    CloudWatch accepts no others. Nor can a name begin with a colon.
    """
    for path, holder in _holders(spec):
        for index, dimension in enumerate(holder.dimensions or ()):
            for key, text in (("name", dimension.name), ("value", dimension.value)):
                fault = _fault(text)
                if fault is None and key == "name" and text.startswith(":"):
                    fault = "begins with a colon"
                if fault is not None:
                    where = (*path, "dimensions", index, key)
                    yield Problem(where, f"the dimension's {key} {describe(text)} {fault}", _FIX)


@error("IS228", _CONCEPTS)
def namespaces_are_ascii(spec: ModelSpec) -> Iterator[Problem]:
    """A namespace must be ASCII without control characters, and not only spaces.

    Nothing can be published in a namespace with others.
    """
    for path, holder in _holders(spec):
        fault = None if holder.namespace is None else _fault(holder.namespace)
        if fault is not None:
            yield Problem((*path, "namespace"), f"the namespace {describe(holder.namespace)} {fault}", _FIX)


def _fault(text: str) -> str | None:
    if is_opaque(text):
        return None
    if not text.isascii():
        return "has non-ASCII characters"
    if not text.isprintable():
        return "has control characters"
    return "is only spaces" if text.isspace() else None


def _holders(spec: ModelSpec) -> Iterator[tuple[SpecPath, Holder]]:
    for path, rule in alarm_rules(spec):
        yield from _with_queries(path, rule)
    for path, _, step in steps(spec):
        yield from _with_queries(path, step)
    for path, _, custom in customized(spec):
        yield from _with_queries(path, custom)


def _with_queries(path: SpecPath, holder: HasMetric) -> Iterator[tuple[SpecPath, Holder]]:
    yield path, holder
    for below, stat in stats(path, holder):
        yield (*below, "metric"), stat.metric


# ---------------------------------------------------------------- metrics that expressions use


_ID = "[a-z][A-Za-z0-9_]*"
_STRING = "'[^']*'|\"[^\"]*\""
_PLAIN = r"(?a)[\w\s+\-*/^()\[\],.<>=!&|]*"
"""What an expression may contain beside strings; one with anything else is not understood here."""
_INSIGHTS = r"(?i)\s*SELECT\b"
# Matches neither the `e` of 1e-6 nor a function, however it is written.
_NAME = r"(?a)(?<![\w.])[a-z]\w*(?!\w*\s*\()"
_WORDS = frozenset(
    {"and", "or", "not", "true", "false", "asc", "desc", "avg", "max", "min", "sum", "repeat", "linear"}
)
"""CloudWatch's own words, which it writes in capitals."""


@warning("IS817", _MATH)
def names_in_expressions_are_ids(spec: ModelSpec) -> Iterator[Problem]:
    """An expression should use only metrics that are defined in the same list.

    Metrics are used by their ids. What CloudWatch does with another name is not documented.
    """
    for path, queries in _queries(spec):
        ids = [it.id for it in queries]
        for index, query in enumerate(queries):
            for name in _names(query.expression or ""):
                if name not in ids and not any(map(is_opaque, ids)):
                    message = f"`{query.id}` uses `{name}`, but no entry of `metrics` has that `id`"
                    others = [it for it in ids if it != query.id]
                    fix = choose(name, others) if others else f"add the metric that `{name}` stands for"
                    yield Problem((*path, index, "expression"), message, fix)


@error("IS818", _QUERY)
def ids_can_stand_in_expressions(spec: ModelSpec) -> Iterator[Problem]:
    """The `id` of a metric must be a lowercase letter, then letters, digits and underscores.

    CloudWatch itself only says that the list of metrics is invalid.
    """
    for path, queries in _queries(spec):
        for index, query in enumerate(queries):
            if not (re.fullmatch(_ID, query.id) or is_opaque(query.id)):
                fix = "begin with a lowercase letter, and use only letters, digits and underscores"
                yield Problem((*path, index, "id"), f"{describe(query.id)} is not a valid metric id", fix)


def _queries(spec: ModelSpec) -> Iterator[tuple[SpecPath, Sequence[Query]]]:
    for path, _, custom in customized(spec):
        if custom.metrics is not None:
            yield (*path, "metrics"), custom.metrics
    for path, watched in watching(spec):
        if watched.metrics is not None:
            yield (*path, "metrics"), watched.metrics


def _names(expression: str) -> list[str]:
    """The names in an expression that can only be ids, each once; none if it cannot be parsed."""
    text = re.sub(_STRING, " ", expression)
    if re.match(_INSIGHTS, text) or not re.fullmatch(_PLAIN, text):
        return []
    return [name for name in dict.fromkeys(re.findall(_NAME, text)) if name not in _WORDS]


# ---------------------------------------------------------------- alarms and step policies


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
    """Whether a metric is named like one of SageMaker's, and has no namespace that says whose it is."""
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

    Units are known only for SageMaker's own metrics.
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
            if query.expression is not None and re.search(_SEARCH, query.expression) is not None:
                message = f"`{query.id}` searches for metrics, which alarms cannot do"
                fix = "name the metrics one by one, or write a Metrics Insights query: `SELECT …`"
                yield Problem((*path, "metrics", index, "expression"), message, fix)

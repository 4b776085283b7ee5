"""Custom metrics, alone or with an expression over several, in alarms and policies alike."""

from collections import Counter
from collections.abc import Iterator, Sequence

from inferstack.spec.blocks.alarms import AlarmRule
from inferstack.spec.blocks.autoscaling import (
    CustomizedMetricSpecification,
    StepPolicy,
    TargetTrackingMetric,
    TargetTrackingMetricDataQuery,
    TargetTrackingMetricStat,
)
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.watched import AlarmMetric, AlarmMetricDataQuery, AlarmMetricStat
from inferstack.spec.parts.scaling import Scaled, policies
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import listed
from inferstack.spec.rules.base import Finding

Query = TargetTrackingMetricDataQuery | AlarmMetricDataQuery
HasMetric = CustomizedMetricSpecification | AlarmRule | StepPolicy
Stat = TargetTrackingMetricStat | AlarmMetricStat
Holder = HasMetric | TargetTrackingMetric | AlarmMetric
"""What has the namespace, name and dimensions of a metric as CloudFormation writes them."""
_OF_ONE = ("namespace", "metric_name", "statistic")


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
    """Those of the keys that are set."""
    return [key for key in keys if getattr(of, key) is not None]


def lacks(of: HasMetric) -> list[str]:
    """The keys that a metric that stands alone needs and that are not set."""
    return [key for key in _OF_ONE if getattr(of, key) is None]


def broken_metric(path: SpecPath, of: HasMetric, instead: str = "") -> Iterator[Finding]:
    """What a metric that stands alone is missing. ``instead``: what else could be written."""
    missing = lacks(of)
    if missing:
        lacking = listed(missing, last="and")
        yield Finding(path, f"the metric is missing {lacking}", f"add {lacking}{instead}")


def broken_metrics(path: SpecPath, of: HasMetric, alone: Sequence[str], purpose: str) -> Iterator[Finding]:
    """What is wrong with ``metrics``, of which exactly one serves the purpose.

    ``alone`` are the keys of a metric that stands alone, which cannot be used beside ``metrics``.
    """
    beside = given(of, alone)
    if beside:
        message = f"{listed(beside, last='and')} and `metrics` cannot be used together"
        yield Finding((*path, beside[0]), message, "put the metric into a `metric_stat` of `metrics`")
    yield from _broken_queries((*path, "metrics"), of.metrics or (), purpose)


def _broken_queries(path: SpecPath, queries: Sequence[Query], purpose: str) -> Iterator[Finding]:
    returned = [it for it in queries if it.return_data is not False]
    if len(returned) != 1:
        message = f"{len(returned)} of {len(queries)} metrics would be {purpose}"
        how = "`return_data: false` for all but one" if returned else "`return_data: true` for one"
        yield Finding(path, message, f"write {how}")
    ids = Counter(it.id for it in queries)
    for index, query in enumerate(queries):
        yield from _broken((*path, index), query, ids)


def _broken(path: SpecPath, query: Query, ids: Counter[str]) -> Iterator[Finding]:
    if (query.expression is None) == (query.metric_stat is None):
        found = "neither {} nor {}" if query.expression is None else "both {} and {}"
        message = f"`{query.id}` has {found.format('`metric_stat`', '`expression`')}"
        yield Finding(path, message, "write one of them")
    if ids[query.id] > 1:
        yield Finding((*path, "id"), f"two metrics have the id `{query.id}`", "give each an id of its own")

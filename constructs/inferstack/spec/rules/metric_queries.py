"""Metrics and an expression over them, of alarms and of policies alike."""

from collections import Counter
from collections.abc import Iterator, Sequence

from inferstack.spec.blocks.autoscaling import TargetTrackingMetricDataQuery
from inferstack.spec.blocks.watched import AlarmMetricDataQuery
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding

Query = TargetTrackingMetricDataQuery | AlarmMetricDataQuery


def broken_queries(path: SpecPath, queries: Sequence[Query], purpose: str) -> Iterator[Finding]:
    """What is wrong with a list of them, of which exactly one serves the purpose."""
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
        found = "neither" if query.expression is None else "both"
        message = f"`{query.id}` has {found} of `metric_stat` and `expression`"
        yield Finding(path, message, "write one of them")
    if ids[query.id] > 1:
        yield Finding((*path, "id"), f"two metrics are called `{query.id}`", "give each a name of its own")

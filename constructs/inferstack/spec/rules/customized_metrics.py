"""IS518 and IS519: scaling on metrics that are not SageMaker's."""

from collections import Counter
from collections.abc import Iterator

from inferstack.spec.blocks.autoscaling import CustomizedMetricSpecification, TargetTrackingMetricDataQuery
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.scaled import policies
from inferstack.spec.words import listed

_TRACKING = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_TargetTrackingScalingPolicyConfiguration.html"
_CUSTOMIZED = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_CustomizedMetricSpecification.html"
_QUERY = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_TargetTrackingMetricDataQuery.html"
_OF_ONE = ("namespace", "metric_name", "statistic")


@error("IS518", "A policy holds one metric at its target: SageMaker's, or another.", _TRACKING, ModelSpec)
def one_metric(spec: ModelSpec) -> Iterator[Finding]:
    """`metric` for those that AWS has a name for."""
    for path, _, policy in policies(spec):
        custom = policy.customized_metric_specification
        if policy.metric is None and custom is None:
            fix = "add `metric`, or `customized_metric_specification` for one that SageMaker does not publish"
            yield Finding(path, "the policy has no metric", fix)
        elif policy.metric is not None and custom is not None:
            message = "`metric` and `customized_metric_specification` exclude one another"
            yield Finding((*path, "metric"), message, "keep one of them")


@error("IS519", "A metric of your own is one metric, or an expression over several.", _CUSTOMIZED, ModelSpec)
def metric_is_whole(spec: ModelSpec) -> Iterator[Finding]:
    """Of several, exactly one is held at the target."""
    for path, _, policy in policies(spec):
        custom = policy.customized_metric_specification
        if custom is not None:
            where = (*path, "customized_metric_specification")
            yield from _of_one(where, custom) if custom.metrics is None else _of_several(where, custom)


def _of_one(path: SpecPath, custom: CustomizedMetricSpecification) -> Iterator[Finding]:
    missing = [key for key in _OF_ONE if getattr(custom, key) is None]
    if missing:
        fix = f"add {listed(missing, last='and')}, or `metrics` for an expression"
        yield Finding(path, f"the metric lacks {listed(missing, last='and')}", fix)


def _of_several(path: SpecPath, custom: CustomizedMetricSpecification) -> Iterator[Finding]:
    queries = custom.metrics or ()
    beside = [key for key in (*_OF_ONE, "dimensions", "unit") if getattr(custom, key) is not None]
    if beside:
        message = f"{listed(beside, last='and')} and `metrics` exclude one another"
        yield Finding((*path, beside[0]), message, "put the metric into a `metric_stat` of `metrics`")
    returned = [it for it in queries if it.return_data is not False]
    if len(returned) != 1:
        message = f"{len(returned)} of {len(queries)} metrics would be held at the target"
        yield Finding((*path, "metrics"), message, "write `return_data: false` for all but one")
    for index, query in enumerate(queries):
        yield from _of_query((*path, "metrics", index), query, Counter(it.id for it in queries))


def _of_query(path: SpecPath, query: TargetTrackingMetricDataQuery, ids: Counter[str]) -> Iterator[Finding]:
    if (query.expression is None) == (query.metric_stat is None):
        found = "neither" if query.expression is None else "both"
        message = f"`{query.id}` has {found} of `metric_stat` and `expression`"
        yield Finding(path, message, "write one of them")
    if ids[query.id] > 1:
        yield Finding((*path, "id"), f"two metrics are called `{query.id}`", "give each a name of its own")

"""IS518 and IS519: scaling on metrics that are not SageMaker's."""

from collections.abc import Iterator

from inferstack.spec.blocks.autoscaling import CustomizedMetricSpecification
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.metric_queries import broken_queries
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
    yield from broken_queries((*path, "metrics"), queries, "held at the target")

"""Scaling on custom metrics."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.scaling import policies
from inferstack.spec.rules.base import TRACKING_PAGE, Finding, error
from inferstack.spec.rules.metrics.queries import broken_metric, broken_metrics, customized

_CUSTOMIZED = (
    "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_CustomizedMetricSpecification.html"
)
_OF_ONE = ("namespace", "metric_name", "statistic", "dimensions", "unit")


@error(
    "IS518",
    "A policy must hold exactly one metric at its target: SageMaker's or a custom one.",
    TRACKING_PAGE,
    ModelSpec,
    about="policies",
)
def one_metric(spec: ModelSpec) -> Iterator[Finding]:
    """Metrics that AWS has a name for are written as `metric`."""
    for path, _, policy in policies(spec):
        custom = policy.customized_metric_specification
        if policy.metric is None and custom is None:
            fix = "add `metric`, or `customized_metric_specification` for one that SageMaker does not publish"
            yield Finding(path, "the policy has no metric", fix)
        elif policy.metric is not None and custom is not None:
            message = "`metric` and `customized_metric_specification` cannot be used together"
            yield Finding((*path, "metric"), message, "keep one of them")


@error(
    "IS519",
    "A custom metric must be a single metric, or an expression over several.",
    _CUSTOMIZED,
    ModelSpec,
    about="customized_metric_specification",
)
def metric_is_whole(spec: ModelSpec) -> Iterator[Finding]:
    """Of several metrics, exactly one is held at the target."""
    for path, _, custom in customized(spec):
        if custom.metrics is None:
            yield from broken_metric(path, custom, ", or `metrics` for an expression")
        else:
            yield from broken_metrics(path, custom, _OF_ONE, "held at the target")

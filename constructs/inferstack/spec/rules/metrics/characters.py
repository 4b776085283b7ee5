"""The characters that the names of a custom metric may have."""

from collections.abc import Iterator, Sequence

from inferstack.spec.blocks.alarms import AlarmRule
from inferstack.spec.blocks.autoscaling import CustomizedMetricSpecification, StepPolicy, TargetTrackingMetric
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.watched import AlarmMetric
from inferstack.spec.parts.scaling import policies, steps
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import describe
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.metrics.queries import Query
from inferstack.spec.rules.metrics.watching import alarm_rules
from inferstack.spec.texts.placeholders import is_opaque

_DIMENSION = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Dimension.html"
_CONCEPTS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html"
_FIX = "write it as the metric is published: in ASCII letters, digits and punctuation"

Holder = AlarmRule | StepPolicy | CustomizedMetricSpecification | AlarmMetric | TargetTrackingMetric


@error(
    "IS227",
    "Names and values of dimensions must be ASCII without control characters, and not only spaces.",
    _DIMENSION,
    ModelSpec,
    about="dimensions",
)
def dimensions_are_ascii(spec: ModelSpec) -> Iterator[Finding]:
    """No metric has others. Nor can a name begin with a colon."""
    for path, holder in _holders(spec):
        for index, dimension in enumerate(holder.dimensions or ()):
            for key, text in (("name", dimension.name), ("value", dimension.value)):
                fault = _fault(text)
                if fault is None and key == "name" and text.startswith(":"):
                    fault = "begins with a colon"
                if fault is not None:
                    where = (*path, "dimensions", index, key)
                    yield Finding(where, f"the dimension's {key} {describe(text)} {fault}", _FIX)


@error(
    "IS228",
    "A namespace must be ASCII without control characters, and not only spaces.",
    _CONCEPTS,
    ModelSpec,
    about="namespace",
)
def namespaces_are_ascii(spec: ModelSpec) -> Iterator[Finding]:
    """Nothing can be published in a namespace with others."""
    for path, holder in _holders(spec):
        fault = None if holder.namespace is None else _fault(holder.namespace)
        if fault is not None:
            yield Finding((*path, "namespace"), f"the namespace {describe(holder.namespace)} {fault}", _FIX)


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
    for path, _, policy in policies(spec):
        custom = policy.customized_metric_specification
        if custom is not None:
            yield from _with_queries((*path, "customized_metric_specification"), custom)


def _with_queries(
    path: SpecPath, holder: AlarmRule | StepPolicy | CustomizedMetricSpecification
) -> Iterator[tuple[SpecPath, Holder]]:
    yield path, holder
    queries: Sequence[Query] = holder.metrics or ()
    for index, query in enumerate(queries):
        if query.metric_stat is not None:
            yield (*path, "metrics", index, "metric_stat", "metric"), query.metric_stat.metric

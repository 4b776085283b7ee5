"""The characters that the names of a custom metric may have."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.scaling import steps
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import describe
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.metrics.queries import HasMetric, Holder, customized, stats
from inferstack.spec.rules.metrics.watching import alarm_rules
from inferstack.spec.texts.placeholders import is_opaque

_DIMENSION = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Dimension.html"
_CONCEPTS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html"
_FIX = "write it as the metric is published: in ASCII letters, digits and punctuation"


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
    for path, _, custom in customized(spec):
        yield from _with_queries(path, custom)


def _with_queries(path: SpecPath, holder: HasMetric) -> Iterator[tuple[SpecPath, Holder]]:
    yield path, holder
    for below, stat in stats(path, holder):
        yield (*below, "metric"), stat.metric

"""Metrics that expressions use, in policies and alarms alike."""

import re
from collections.abc import Iterator, Sequence

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import choose, describe
from inferstack.spec.rules.base import Finding, error, warning
from inferstack.spec.rules.metrics.queries import Query, customized
from inferstack.spec.rules.metrics.watching import watching
from inferstack.spec.texts.placeholders import is_opaque

_QUERY = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html"
_MATH = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html"
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


@warning(
    "IS817",
    "An expression should use only metrics that are defined beside it.",
    _MATH,
    ModelSpec,
    about="metrics",
)
def names_in_expressions_are_ids(spec: ModelSpec) -> Iterator[Finding]:
    """Metrics are used by their ids. What CloudWatch does with another name is not documented."""
    for path, queries in _queries(spec):
        ids = [it.id for it in queries]
        for index, query in enumerate(queries):
            for name in _names(query.expression or ""):
                if name not in ids and not any(map(is_opaque, ids)):
                    message = f"`{query.id}` uses `{name}`, but no metric beside it has that `id`"
                    others = [it for it in ids if it != query.id]
                    fix = choose(name, others) if others else f"add the metric that `{name}` stands for"
                    yield Finding((*path, index, "expression"), message, fix)


@error(
    "IS818",
    "The `id` of a metric must be a lowercase letter, then letters, digits and underscores.",
    _QUERY,
    ModelSpec,
    about="metrics",
)
def ids_can_stand_in_expressions(spec: ModelSpec) -> Iterator[Finding]:
    """CloudWatch says no more than that the list of metrics is invalid."""
    for path, queries in _queries(spec):
        for index, query in enumerate(queries):
            if not (re.fullmatch(_ID, query.id) or is_opaque(query.id)):
                fix = "begin with a lowercase letter, and use only letters, digits and underscores"
                yield Finding((*path, index, "id"), f"{describe(query.id)} is not a valid metric id", fix)


def _queries(spec: ModelSpec) -> Iterator[tuple[SpecPath, Sequence[Query]]]:
    for path, _, custom in customized(spec):
        if custom.metrics is not None:
            yield (*path, "metrics"), custom.metrics
    for path, watched in watching(spec):
        if watched.metrics is not None:
            yield (*path, "metrics"), watched.metrics


def _names(expression: str) -> list[str]:
    """The names in an expression that can only be ids, each once; none if it is not understood."""
    text = re.sub(_STRING, " ", expression)
    if re.match(_INSIGHTS, text) or not re.fullmatch(_PLAIN, text):
        return []
    return [name for name in dict.fromkeys(re.findall(_NAME, text)) if name not in _WORDS]

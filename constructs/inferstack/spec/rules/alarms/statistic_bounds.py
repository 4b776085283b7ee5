"""Statistics that look between two bounds."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import ALARM_PAGE, Finding, error, warning
from inferstack.spec.rules.metrics.queries import HasMetric, customized, stats
from inferstack.spec.rules.metrics.watching import watching
from inferstack.spec.texts.statistic import Bounds, bounds

_STATISTICS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html"
_LEAST, _MOST = 10, 90


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


@error(
    "IS842",
    "The upper bound of a statistic must be above its lower bound.",
    _STATISTICS,
    ModelSpec,
    about=("statistic", "stat"),
)
def lower_bound_is_lower(spec: ModelSpec) -> Iterator[Finding]:
    """The lower bound comes first: no reading is above a bound and not above the same or a lower one."""
    for path, statistic in (*_of_alarms(spec), *_of_queries(spec)):
        found = bounds(statistic)
        if found is None or found.low is None or found.high is None:
            continue
        if found.low >= found.high:
            # As written in the spec: bounds of latencies have more digits than numbers are shown with.
            low, _, high = str(statistic).partition("(")[2].removesuffix(")").partition(":")
            ends = f"it begins after {low} and ends at {high}"
            message = f"`{statistic}` covers no values: {ends}"
            yield Finding(path, message, "write the lower bound first, and a higher one after the `:`")


@warning(
    "IS819",
    "The bounds of a statistic should be ones that AWS documents for alarms.",
    ALARM_PAGE,
    ModelSpec,
    about="statistic",
)
def bounds_are_for_alarms(spec: ModelSpec) -> Iterator[Finding]:
    """For a trimmed statistic, two percentages from 10 to 90; graphs take more. `PR` has values as bounds."""
    for path, statistic in _of_alarms(spec):
        found = bounds(statistic)
        if found is not None and found.sort != "PR" and not _is_documented(found):
            sort = found.sort
            documented = f"for alarms AWS documents `{sort}` with two percentages from {_LEAST}% to {_MOST}%"
            message = f"{documented}, and `{statistic}` only for graphs"
            fix = f"write two, such as {sort}({_LEAST}%:{_MOST}%), or one, such as {sort.lower()}{_MOST}"
            yield Finding(path, message, fix)


def _is_documented(found: Bounds) -> bool:
    both = (found.low, found.high)
    return found.are_shares and all(it is not None and _LEAST <= it <= _MOST for it in both)

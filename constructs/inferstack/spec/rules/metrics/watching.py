"""Everything that becomes an alarm, for the rules on alarms of both sorts."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from inferstack.catalog.metrics import Metric
from inferstack.once import found_once
from inferstack.spec.blocks.alarms import AlarmRule, Alarms
from inferstack.spec.blocks.autoscaling import StepPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.quantity import UnfitQuantity, as_counted, parse_threshold
from inferstack.spec.parts.scaling import steps
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding

_PERCENTAGE = re.compile(r"(100|[0-9]{1,2}(?:\.[0-9]{1,9})?)\s*%")
_RATE = "Average"


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


def unfit_threshold(
    path: SpecPath, rule: AlarmRule | StepPolicy, metrics: Sequence[Metric]
) -> Iterator[Finding]:
    """What is wrong with a threshold of one of these metrics, which share a unit."""
    for metric in metrics[:1]:
        try:
            parse_threshold(rule.threshold, as_counted(metric, rule.statistic))
        except UnfitQuantity as unfit:
            yield Finding((*path, "threshold"), unfit.message, _as_rate(rule, metric) or unfit.fix)


def _as_rate(rule: AlarmRule | StepPolicy, metric: Metric) -> str:
    """How to write a percentage of the requests, if it is one; else nothing."""
    found = _PERCENTAGE.fullmatch(str(rule.threshold).strip())
    if found is None or not metric.averages_to_a_rate or rule.statistic not in (None, "Sum", _RATE):
        return ""
    rate = f"{(Decimal(found[1]) / 100).normalize():f}"
    if rule.statistic == _RATE:
        return f"its average is a share of the requests, from 0 to 1: write {rate}"
    return f"for a share of the requests write `statistic: {_RATE}` and `threshold: {rate}`"

"""CloudWatch alarms: the default set for the endpoint's kind, and the spec's own rules."""

from collections import Counter
from collections.abc import Iterator

from inferstack.catalog.metrics import Metric
from inferstack.defaults import (
    ALARM_EVALUATION_PERIODS,
    ALARM_MISSING_DATA,
    ALARM_OPERATOR,
    ALARM_PERIOD,
    DEFAULT_ALARMS,
)
from inferstack.resolve.metric import COMPONENT, VARIANT, Measured, dimensions, named_unit, published
from inferstack.resolve.resource import Resource, Resources, Value, pascal, present, short_hash
from inferstack.spec.blocks.alarms import AlarmRule, Alarms
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath
from inferstack.spec.quantity import absolute_threshold
from inferstack.spec.walk import kind_of

_SIMPLE_STATISTICS = frozenset({"Average", "Sum", "Minimum", "Maximum", "SampleCount"})


def resolve_alarms(spec: ModelSpec) -> Resources:
    """One alarm for each rule and each part of the endpoint that publishes its metric."""
    if spec.alarms is False:
        return {}
    block = spec.alarms if isinstance(spec.alarms, Alarms) else Alarms()
    made: Resources = {}
    seen: Counter[str] = Counter()
    for path, rule, reason in (*_default_rules(spec, block), *_own_rules(block)):
        for part, metric in _watched(spec, rule):
            name = (
                f"Alarm{rule.metric}{'' if rule.statistic is None else pascal(rule.statistic)}{_suffix(part)}"
            )
            seen[name] += 1
            # A second rule on the same number (a warning below the alarm, say) gets the next number.
            logical_id = name if seen[name] == 1 else f"{name}{seen[name]}"
            alarm = {**alarm_properties(rule, part, metric, reason), **_actions(block)}
            made[logical_id] = Resource("AWS::CloudWatch::Alarm", alarm, path)
    return made


Rules = Iterator[tuple[SpecPath, AlarmRule, str]]


def _own_rules(block: Alarms) -> Rules:
    for index, rule in enumerate(block.rules):
        yield ("alarms", "rules", index), rule, ""


def _default_rules(spec: ModelSpec, block: Alarms) -> Rules:
    """Those of the endpoint's kind, except for metrics that the spec has rules of its own for."""
    own = {rule.metric for rule in block.rules}
    for default in DEFAULT_ALARMS if block.defaults else ():
        if kind_of(spec) in default.kinds and default.rule.metric not in own:
            yield ("alarms",), default.rule, default.reason


def _watched(spec: ModelSpec, rule: AlarmRule) -> Iterator[tuple[Measured, Metric]]:
    wanted = {VARIANT: rule.variant_name, COMPONENT: rule.inference_component}
    for part, metric in published(rule.metric, spec):
        fits = all(part.values.get(name) == value for name, value in wanted.items() if value is not None)
        # A fleet without GPUs publishes nothing about GPUs.
        if fits and part.devices(metric) > 0:
            yield part, metric


def _suffix(part: Measured) -> str:
    """Part of the logical id that says what is watched; the hash keeps `a-b` and `ab` apart."""
    return f"{pascal(part.title)}{short_hash(*part.values.values())}"


def alarm_properties(rule: AlarmRule, part: Measured, metric: Metric, reason: str) -> dict[str, Value]:
    """The alarm of a rule on one part of the endpoint, without actions."""
    statistic = metric.statistic if rule.statistic is None else rule.statistic
    simple = statistic in _SIMPLE_STATISTICS
    return present(
        AlarmDescription=_description(rule, part, metric, statistic, reason),
        Namespace=metric.namespace,
        MetricName=metric.name,
        Dimensions=dimensions(part.values, metric),
        Statistic=statistic if simple else None,
        ExtendedStatistic=None if simple else statistic,
        Unit=named_unit(metric),
        Period=_or(rule.period, ALARM_PERIOD.value),
        EvaluationPeriods=_or(rule.evaluation_periods, ALARM_EVALUATION_PERIODS.value),
        DatapointsToAlarm=rule.datapoints_to_alarm,
        ComparisonOperator=_or(rule.comparison_operator, ALARM_OPERATOR.value),
        Threshold=absolute_threshold(rule.threshold, metric, part.devices(metric)),
        TreatMissingData=_or(rule.treat_missing_data, ALARM_MISSING_DATA.value),
    )


def _actions(block: Alarms) -> dict[str, Value]:
    return present(
        AlarmActions=_listed(block.actions),
        OKActions=_listed(block.ok_actions),
        InsufficientDataActions=_listed(block.insufficient_data_actions),
    )


def _or(value: Value | None, default: Value) -> Value:
    return default if value is None else value


def _listed(topics: tuple[str, ...]) -> list[str] | None:
    return list(topics) if topics else None


def _description(rule: AlarmRule, part: Measured, metric: Metric, statistic: str, reason: str) -> str:
    moves = "falls to" if (rule.comparison_operator or "").startswith("LessThan") else "reaches"
    what = f"{statistic} of {metric.name} of {part.title} {moves} {rule.threshold}."
    return f"{what} {reason}".strip()

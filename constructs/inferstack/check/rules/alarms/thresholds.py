"""Thresholds of alarms and step policies: how they fit their metric, and sums over devices."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal

import msgspec

from inferstack.catalog import cloudformation, instances
from inferstack.catalog.metrics import Metric
from inferstack.check.rules.alarms.custom_metrics import alarm_rules
from inferstack.check.rules.alarms.definitions import metrics_of_rule
from inferstack.check.rules.base import API, METRICS_PAGE, error, warning
from inferstack.facts.alarms import evaluation, own_alarms
from inferstack.facts.once import found_once
from inferstack.facts.publications import Publisher, devices_by_type
from inferstack.facts.quantity import (
    MICROSECONDS_IN,
    UnfitQuantity,
    absolute_threshold,
    as_counted,
    as_sum,
    is_utilization,
    parse_threshold,
)
from inferstack.facts.scaling import counted_metric, metrics_of, named_policies, steps
from inferstack.facts.walk import every_variant, instance_types, is_async, variants
from inferstack.format.alarms import AlarmRule
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.base import Number
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.statistic import adds_up

_PERCENTAGE = re.compile(r"(100|[0-9]{1,2}(?:\.[0-9]{1,9})?)\s*%")
_RATE = "Average"
_OF_ANSWERS = ("ModelLatency", "ContainerLatency")


def unfit_threshold(
    path: SpecPath, rule: AlarmRule | StepPolicy, metrics: Sequence[Metric]
) -> Iterator[Problem]:
    """What is wrong with a threshold of one of these metrics, which share a unit."""
    for metric in metrics[:1]:
        try:
            parse_threshold(rule.threshold, as_counted(metric, rule.statistic))
        except UnfitQuantity as unfit:
            yield Problem((*path, "threshold"), unfit.message, _as_rate(rule, metric) or unfit.fix)


def _as_rate(rule: AlarmRule | StepPolicy, metric: Metric) -> str:
    """How to write the threshold as a percentage of the requests, if it can be one; otherwise empty."""
    found = _PERCENTAGE.fullmatch(str(rule.threshold).strip())
    if found is None or not metric.averages_to_a_rate or rule.statistic not in (None, "Sum", _RATE):
        return ""
    rate = f"{(Decimal(found[1]) / 100).normalize():f}"
    if rule.statistic == _RATE:
        return f"its average is a share of the requests, from 0 to 1: write {rate}"
    return f"for a share of the requests write `statistic: {_RATE}` and `threshold: {rate}`"


@error("IS803", METRICS_PAGE)
def threshold_fits(spec: ModelSpec) -> Iterator[Problem]:
    """A threshold must fit its metric: times carry a unit, shares a `%`, counts neither.

    CloudWatch counts latencies in microseconds, but nobody who writes 500 means those.
    """
    for path, rule in alarm_rules(spec):
        yield from unfit_threshold(path, rule, metrics_of_rule(spec, rule))


class _Compared(msgspec.Struct, frozen=True):
    """A SageMaker metric as its statistic counts it, and what compares it with a threshold.

    ``on_types`` has, for each variant, how many devices it sums over on each of its instance types, the
    preferred one first.
    """

    path: SpecPath
    watched: AlarmRule | StepPolicy
    metric: Metric
    on_types: list[list[int]]


@found_once
def _compared(spec: ModelSpec) -> Iterator[_Compared]:
    for path, rule in alarm_rules(spec):
        for metric in metrics_of_rule(spec, rule)[:1]:
            counted = as_counted(metric, rule.statistic)
            yield _Compared(path, rule, counted, _devices(spec, rule, counted))
    for path, scaled, step in steps(spec):
        watched = counted_metric(spec, scaled, step)
        if watched is not None:
            fleet = {} if scaled.variant is None else devices_by_type(scaled.variant, watched)
            yield _Compared(path, step, watched, [list(fleet.values())] if fleet else [])


@error("IS804", METRICS_PAGE)
def threshold_can_be_reached(spec: ModelSpec) -> Iterator[Problem]:
    """The threshold of a utilization must be one that the metric can reach.

    A sum over devices is at most 100 times their number; some metrics are shares, at most 1.
    """
    for compared in _compared(spec):
        metric, threshold = compared.metric, compared.watched.threshold
        known = compared.on_types or metric.per_device is None
        if metric.most is None or not known or adds_up(compared.watched.statistic):
            # It has no maximum, or the number of devices that it sums over is not known.
            continue
        most = metric.most * max(map(max, compared.on_types), default=1)
        share = '"90 %"' if is_utilization(metric) else "0.9"
        fix = f"write a share of the total, such as {share}"
        if most and isinstance(threshold, int | float) and not 0 <= threshold <= most:
            message = f"{metric.name} is between 0 and {most} here, but the threshold is {threshold}"
            yield Problem((*compared.path, "threshold"), message, fix)
        elif most and _is_never_passed(compared, most):
            operator = evaluation(compared.watched).comparison_operator
            message = f"{metric.name} is between 0 and {most} here, and never {_BEYOND[operator]} {threshold}"
            fix = f"{fix}, or `comparison_operator: {operator.removesuffix('Threshold')}OrEqualToThreshold`"
            yield Problem((*compared.path, "threshold"), message, fix)


_BEYOND = {"GreaterThanThreshold": "above", "LessThanThreshold": "below"}


def _is_never_passed(compared: _Compared, most: int) -> bool:
    """Whether the threshold is the very end that the metric would have to get beyond."""
    threshold, operator = compared.watched.threshold, evaluation(compared.watched).comparison_operator
    if is_opaque(threshold) or operator not in _BEYOND:
        return False
    try:
        quantity = parse_threshold(threshold, compared.metric)
    except UnfitQuantity:
        return False
    end = (1 if quantity.is_share else most) if _BEYOND[operator] == "above" else 0
    return quantity.value == end


@warning("IS836", METRICS_PAGE)
def goes_off_when_it_gets_worse(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm should go off when its metric gets worse, not when all is well.

    More requests that find their model loaded are better, and so are fewer failures. By default an alarm goes
    off at or above its threshold.
    """
    for path, rule in alarm_rules(spec):
        looked, metric = evaluation(rule), next(iter(metrics_of_rule(spec, rule)), None)
        # A share of the requests says how well it goes; their number says as much about the traffic.
        if metric is None or (metric.gets_better == "up" and adds_up(rule.statistic)):
            continue
        if metric.gets_better == ("down" if looked.looks_down else "up"):
            better, side = ("more", "above") if metric.gets_better == "up" else ("less", "below")
            other = "GreaterThanOrEqualToThreshold" if looked.looks_down else "LessThanThreshold"
            key = "metric" if rule.comparison_operator is None else "comparison_operator"
            message = f"{better} of {metric.name} is better, but the alarm goes off {side} {rule.threshold}"
            yield Problem((*path, key), message, f"write `comparison_operator: {other}`")


@warning("IS837", f"{API}/API_runtime_InvokeEndpoint.html")
def answer_may_take_so_long(spec: ModelSpec) -> Iterator[Problem]:
    """A threshold of a real-time latency should not be above the 60 s that an answer may take.

    SageMaker ends a request after that, so that no latency gets there. Answers that stream may take longer,
    which nothing in a spec shows.
    """
    for compared in _compared(spec):
        metric, threshold = compared.metric, compared.watched.threshold
        if metric.name not in _OF_ANSWERS or is_async(spec) or evaluation(compared.watched).looks_down:
            continue
        with suppress(UnfitQuantity):
            if parse_threshold(threshold, metric).value > MICROSECONDS_IN["min"]:
                message = f"the threshold of {metric.name} is {threshold}, but an answer takes 60 s at most"
                fix = "write less than 60 s; if the answers stream, say so under `ignore`"
                yield Problem((*compared.path, "threshold"), message, fix)


@warning("IS805", METRICS_PAGE)
def threshold_counts_all_devices(spec: ModelSpec) -> Iterator[Problem]:
    """A threshold without `%` for a utilization that sums over devices should count all of them.

    A threshold of 90 on four GPUs is 22.5 % of them.
    """
    for compared in _compared(spec):
        devices = max((preferred for preferred, *_ in compared.on_types), default=1)
        match compared.watched.threshold:
            case int() | float() as bare if devices > 1 and 1 <= bare <= 100:
                all_of_it = absolute_threshold(f"{bare} %", compared.metric, devices)
                fix = f'for {bare} % of the total, which is {all_of_it}, write "{bare} %"'
                yield Problem((*compared.path, "threshold"), as_sum(bare, compared.metric, devices), fix)


@warning("IS816", METRICS_PAGE)
def threshold_is_in_percent(spec: ModelSpec) -> Iterator[Problem]:
    """The threshold of a utilization should be in percent, not a fraction of 1.

    An alarm below 0.5 % finds what is idle; one above 0.5 % goes off at the first request.
    """
    for compared in _compared(spec):
        threshold = compared.watched.threshold
        bare = isinstance(threshold, int | float) and 0 < threshold < 1
        if bare and compared.metric.unit == "Percent" and not evaluation(compared.watched).looks_down:
            message = f"{compared.watched.metric} is in percent, but the threshold is {threshold} out of 100"
            fix = f'write "{float(threshold) * 100:g} %" if you meant a fraction'
            yield Problem((*compared.path, "threshold"), message, fix)


def _devices(spec: ModelSpec, rule: AlarmRule, metric: Metric) -> list[list[int]]:
    watched = (it for _, it in variants(spec) if rule.variant_name in (None, it.variant_name))
    found = (devices_by_type(variant, metric).values() for variant in watched)
    return [list(it) for it in found if it]


_WORDS = {"gpu": "GPUs", "vcpu": "vCPUs"}


class _Sum(msgspec.Struct, frozen=True):
    """A sum over a fleet's devices, and the number or share that it is compared with."""

    path: SpecPath
    metric: Metric
    variant: Variant
    devices: int | None
    threshold: Number | str


@error("IS828", METRICS_PAGE)
def shares_can_be_counted(spec: ModelSpec) -> Iterator[Problem]:
    """A share of a sum over devices needs an instance type whose number of devices is known.

    CloudWatch compares only numbers. IS803 and IS531 report what is neither a number nor a share.
    """
    if all(instances.find(name) is not None for name in _preferred(spec)):
        return
    for total in (*_in_alarms(spec), *_in_steps(spec)):
        preferred, *_ = instance_types(total.variant)
        if total.devices is None and _may_be_a_type(preferred) and _is_share(total.threshold, total.metric):
            message = f"the number of {_word(total.metric)} of {preferred} is unknown"
            fix = f"instead of {total.threshold} write the number that the sum is compared with: 100 for each"
            yield Problem((*total.path, "threshold"), message, fix)


@warning("IS829", METRICS_PAGE)
def types_of_a_pool_are_alike(spec: ModelSpec) -> Iterator[Problem]:
    """A sum over devices should mean the same on every instance type of a pool.

    400 on four GPUs is 100 on one: there an alarm never goes off, and a policy never sees its target.
    """
    for total in (*_in_alarms(spec), *_in_steps(spec), *_in_policies(spec)):
        counts = devices_by_type(total.variant, total.metric)
        fewest, most = (choose(counts, key=lambda name: counts[name], default="") for choose in (min, max))
        if counts and counts[fewest] != counts[most]:
            message = (
                f"{total.metric.name} is a sum over {counts[most]} {_word(total.metric)} on {most}, "
                f"but over {counts[fewest]} on {fewest}"
            )
            fix = f"choose types with equal numbers of {_word(total.metric)}, or a metric that is not a sum"
            yield Problem((*total.path, "metric"), message, fix)


def _preferred(spec: ModelSpec) -> Iterator[str]:
    """The preferred instance type of each fleet."""
    return (instance_types(variant)[0] for _, variant in every_variant(spec) if instance_types(variant))


def _may_be_a_type(name: str) -> bool:
    """Whether this can be an instance type; anything else is reported separately."""
    of_variants = cloudformation.shape("AWS::SageMaker::EndpointConfig", "ProductionVariant")
    return is_opaque(name) or name in of_variants["instance_type"].schema["enum"]


def _is_share(threshold: Number | str, metric: Metric) -> bool:
    try:
        return parse_threshold(threshold, metric).is_share
    except UnfitQuantity:
        return False


def _in_alarms(spec: ModelSpec) -> Iterator[_Sum]:
    """Sums in the spec's own alarms; nobody chose the metrics of the default ones."""
    for alarm in own_alarms(spec):
        if alarm.path != ("alarms",) and alarm.metric is not None:
            counted = as_counted(alarm.metric, alarm.rule.statistic)
            yield from _sum_over_devices(alarm.path, counted, alarm.part, alarm.rule.threshold)


def _in_steps(spec: ModelSpec) -> Iterator[_Sum]:
    for path, scaled, step in steps(spec):
        for metric in () if step.metric is None else metrics_of(spec, scaled, step.metric)[:1]:
            yield from _sum_over_devices(
                path, as_counted(metric, step.statistic), scaled.part, step.threshold
            )


def _in_policies(spec: ModelSpec) -> Iterator[_Sum]:
    for path, scaled, policy, name in named_policies(spec):
        for metric in metrics_of(spec, scaled, name)[:1]:
            yield from _sum_over_devices(path, metric, scaled.part, policy.target_value)


def _sum_over_devices(
    path: SpecPath, metric: Metric, part: Publisher, threshold: Number | str
) -> Iterator[_Sum]:
    if metric.per_device is not None and part.variant is not None and instance_types(part.variant):
        yield _Sum(path, metric, part.variant, part.devices(metric), threshold)


def _word(metric: Metric) -> str:
    return _WORDS[str(metric.per_device)]

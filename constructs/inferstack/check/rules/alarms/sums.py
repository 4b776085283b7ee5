"""Sums over an instance's devices, where their number is not known or differs between the types of a pool."""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import cloudformation, instances
from inferstack.catalog.metrics import Metric
from inferstack.check.rules.base import METRICS_PAGE, error, warning
from inferstack.facts.alarms import own_alarms
from inferstack.facts.measured import Measured, devices_by_type
from inferstack.facts.quantity import UnfitQuantity, as_counted, parse_threshold
from inferstack.facts.scaling import metrics_of, named_policies, steps
from inferstack.facts.walk import every_variant, instance_types
from inferstack.format.base import Number
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque

_WORDS = {"gpu": "GPUs", "vcpu": "vCPUs"}


class _Compared(msgspec.Struct, frozen=True):
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
    for it in (*_in_alarms(spec), *_in_steps(spec)):
        preferred, *_ = instance_types(it.variant)
        if it.devices is None and _may_be_a_type(preferred) and _is_share(it.threshold, it.metric):
            message = f"the number of {_word(it.metric)} of {preferred} is not known here"
            fix = f"instead of {it.threshold} write the number that the sum is compared with: 100 for each"
            yield Problem((*it.path, "threshold"), message, fix)


@warning("IS829", METRICS_PAGE)
def types_of_a_pool_are_alike(spec: ModelSpec) -> Iterator[Problem]:
    """A sum over devices should mean the same on every instance type of a pool.

    400 on four GPUs is 100 on one: there an alarm never goes off, and a policy never sees its target.
    """
    for it in (*_in_alarms(spec), *_in_steps(spec), *_in_policies(spec)):
        counts = devices_by_type(it.variant, it.metric)
        fewest, most = (choose(counts, key=lambda name: counts[name], default="") for choose in (min, max))
        if counts and counts[fewest] != counts[most]:
            message = (
                f"{it.metric.name} is a sum over {counts[most]} {_word(it.metric)} on {most}, "
                f"but over {counts[fewest]} on {fewest}"
            )
            fix = (
                f"choose types with equally many {_word(it.metric)}, or a metric that is not a sum over them"
            )
            yield Problem((*it.path, "metric"), message, fix)


def _preferred(spec: ModelSpec) -> Iterator[str]:
    """The instance type that each fleet uses as long as it can."""
    return (instance_types(variant)[0] for _, variant in every_variant(spec) if instance_types(variant))


def _may_be_a_type(name: str) -> bool:
    """Anything else is no instance type, which is reported as such."""
    of_variants = cloudformation.shape("AWS::SageMaker::EndpointConfig", "ProductionVariant")
    return is_opaque(name) or name in of_variants["instance_type"].schema["enum"]


def _is_share(threshold: Number | str, metric: Metric) -> bool:
    try:
        return parse_threshold(threshold, metric).is_share
    except UnfitQuantity:
        return False


def _in_alarms(spec: ModelSpec) -> Iterator[_Compared]:
    """Those in the spec's own alarms; nobody chose the metrics of the default ones."""
    for alarm in own_alarms(spec):
        if alarm.path != ("alarms",) and alarm.metric is not None:
            counted = as_counted(alarm.metric, alarm.rule.statistic)
            yield from _compared(alarm.path, counted, alarm.part, alarm.rule.threshold)


def _in_steps(spec: ModelSpec) -> Iterator[_Compared]:
    for path, scaled, step in steps(spec):
        for metric in () if step.metric is None else metrics_of(spec, scaled, step.metric)[:1]:
            yield from _compared(path, as_counted(metric, step.statistic), scaled.part, step.threshold)


def _in_policies(spec: ModelSpec) -> Iterator[_Compared]:
    for path, scaled, policy, name in named_policies(spec):
        for metric in metrics_of(spec, scaled, name)[:1]:
            yield from _compared(path, metric, scaled.part, policy.target_value)


def _compared(path: SpecPath, metric: Metric, part: Measured, threshold: Number | str) -> Iterator[_Compared]:
    if metric.per_device is not None and part.variant is not None and instance_types(part.variant):
        yield _Compared(path, metric, part.variant, part.devices(metric), threshold)


def _word(metric: Metric) -> str:
    return _WORDS[str(metric.per_device)]

"""Thresholds with units: ``500 ms``, ``90 %``, or a bare number where a metric has no unit.

CloudWatch counts latencies in microseconds and sums utilization over an instance's devices. A spec writes a
threshold with units that people use; here it becomes the number that CloudWatch compares with.
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
"""

import math
import re
from decimal import Context, Decimal
from functools import lru_cache

import msgspec

from inferstack.catalog.metrics import Metric
from inferstack.format.base import Number
from inferstack.problems import Fix
from inferstack.problems.words import describe
from inferstack.source.scalars import plain_scalar
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.statistic import unit_of

MICROSECONDS_IN = {"us": 1, "µs": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000}
"""Microseconds in each unit that a threshold may have."""
MICROSECONDS_OF = {"Microseconds": 1, "Milliseconds": 1_000, "Seconds": 1_000_000}
"""Microseconds in each unit that CloudWatch has for times."""
_FORM = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([^\s0-9.]\S*)")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_LONGEST_UNIT = 20
# Enough precision for every digit of a number in the form above, multiplied and divided by the units here.
_EXACT = Context(prec=60)
# SageMaker ends a request after a minute, or after eight while it streams.
_LONGEST_MILLISECONDS = 60_000
TIME_UNITS = ("us", "ms", "s", "min")
"""Units that the threshold of a latency may have."""
TIME_WORDS = {
    **dict.fromkeys(("us", "µs", "usec", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ms", "msec", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "min"),
}
"""What people call these units."""


INSTEAD_OF_A_TARGET = "a time cannot be held at a target: use `step_policies` with a threshold such as 200 ms"
"""The fix for a policy that would hold a time at a target, whether or not the target has a unit."""


class Quantity(msgspec.Struct, frozen=True):
    """A threshold in the metric's own unit, or a share (0 to 1) of all that an instance has."""

    value: Number
    is_share: bool = False


class UnfitQuantity(ValueError):  # noqa: N818 - says what it is about; the product's errors are Problems
    """A threshold that does not fit its metric: ``message`` says what is wrong, ``fix`` how to correct it."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


def is_time(metric: Metric) -> bool:
    """Whether the metric is a latency or another time."""
    return metric.unit in MICROSECONDS_OF


def is_utilization(metric: Metric) -> bool:
    """Whether the metric is a share of something, so that its threshold may be in percent."""
    return metric.unit == "Percent" or metric.name.endswith("Utilization")


def as_counted(metric: Metric, statistic: str | None) -> Metric:
    """The metric in the unit of this statistic: the number of readings of a latency, say, is not a time."""
    unit = unit_of(statistic)
    if unit is None:
        return metric
    return msgspec.structs.replace(metric, name=f"{metric.name} as {statistic}", unit=unit, per_device=None)


def parse_threshold(threshold: Number | str, metric: Metric) -> Quantity:
    """What a threshold in the spec means for a metric.

    A time is converted to the metric's own unit, ``%`` to a share from 0 to 1; a number stays as it is.

    Raises:
        UnfitQuantity: for a time without unit, a unit on a metric that has none, a share above 100 %.
    """
    if is_opaque(threshold):
        return Quantity(threshold)  # type: ignore[arg-type]
    if isinstance(threshold, str):
        return _with_unit(threshold, metric)
    if not math.isfinite(threshold):
        raise UnfitQuantity(f"the threshold {threshold} is not a number", "write a finite number")
    if is_time(metric):
        message = f"the threshold {threshold} has no unit, but {metric.name} is a time"
        raise UnfitQuantity(message, _units_to_write(threshold, metric))
    return Quantity(threshold)


def _units_to_write(threshold: Number, metric: Metric) -> str:
    """The units to propose: CloudWatch's own first, if the number is implausibly large for milliseconds."""
    unit = metric.unit.lower()
    if metric.unit != "Microseconds" or threshold < MICROSECONDS_IN["ms"]:
        usual = "s" if metric.unit == "Seconds" else "ms"
        allowed = ", ".join(TIME_UNITS)
        return f'write a unit: "{threshold} {usual}"; allowed: {allowed}; in CloudWatch the number is {unit}'
    copied = _plain(_EXACT.divide(Decimal(str(threshold)), MICROSECONDS_IN["ms"]))
    if_copied = f'"{copied} ms" if the number comes from CloudWatch, which counts in {unit}'
    if threshold > _LONGEST_MILLISECONDS:
        return f"write a unit: {if_copied}"
    return f'write a unit: "{threshold} ms"; or {if_copied}'


def absolute_threshold(threshold: Number | str, metric: Metric, devices: int | None = 1) -> Number:
    """The number that CloudWatch compares the metric with.

    ``devices`` is the number of GPUs or vCPUs that a ``per_device`` metric sums over on one instance, None
    if that is not known.

    Raises:
        UnfitQuantity: as :func:`parse_threshold`, and for a share of an unknown number of devices.
    """
    quantity = parse_threshold(threshold, metric)
    if not quantity.is_share:
        return quantity.value
    if devices is None:
        message = f"{describe(threshold)} is a share of devices, but their number is unknown"
        raise UnfitQuantity(message, "write the number itself: 100 for each device")
    of_all = devices * (100 if metric.unit == "Percent" else 1)
    return _plain(_EXACT.multiply(Decimal(str(quantity.value)), of_all))


def absolute_bound(
    bound: Number | str, threshold: Number | str, metric: Metric, devices: int | None
) -> Number:
    """How far from its threshold a step begins or ends, in the unit that CloudWatch compares in.

    A bound has the same units as a threshold, and can be negative, below the threshold: ``-500 ms``.
    ``devices`` is as in :func:`absolute_threshold`.

    Raises:
        UnfitQuantity: as :func:`absolute_threshold`, and for a number other than 0 without a unit if the
            threshold has one.
    """
    if isinstance(bound, str):
        size = absolute_threshold(bound.strip().removeprefix("-"), metric, devices)
        return -size if bound.strip().startswith("-") else size
    if bound and isinstance(threshold, str) and not is_opaque(bound):
        message = f"the bound {bound} has no unit, but the threshold is {describe(threshold)}"
        raise UnfitQuantity(message, _with_its_unit(bound, threshold, metric))
    return bound


def _with_its_unit(bound: Number, threshold: str, metric: Metric) -> str:
    if is_time(metric):
        counted = f"without one the number is in {metric.unit.lower()}"
        return f'write a unit, too, such as "{bound} ms"; {counted}'
    found = _FORM.fullmatch(threshold.strip())
    return f'write a unit, too: "{bound} {"" if found is None else found[2]}"'


def as_sum(value: Number, metric: Metric, devices: int) -> str:
    """Says what share of all devices a number is if it is compared with a sum over them."""
    word = "GPUs" if metric.per_device == "gpu" else "vCPUs"
    return f"{metric.name} is a sum over {devices} {word}: {value} is {value / devices:.3g} % of the total"


# Both the rules and the code that makes alarms call it, and default alarms are the same in all specs.
@lru_cache(maxsize=256)
def _with_unit(text: str, metric: Metric) -> Quantity:
    text = text.strip()
    found = _FORM.fullmatch(text)
    if found is None:
        counts = not is_time(metric) and not is_utilization(metric)
        is_number = counts and _NUMBER.fullmatch(text) is not None
        fix = Fix(_allowed(metric), text, plain_scalar(text)) if is_number else _allowed(metric)
        raise UnfitQuantity(f"{describe(text)} is not a valid value for {metric.name}", fix)
    number, unit = Decimal(found[1]), found[2]
    if unit == "%" and is_utilization(metric):
        if number > 100:
            raise UnfitQuantity(f"{describe(text)} is more than 100 %", "write 0 % to 100 %")
        return Quantity(_plain(_EXACT.divide(number, 100)), is_share=True)
    if unit in MICROSECONDS_IN and is_time(metric):
        microseconds = _EXACT.multiply(number, MICROSECONDS_IN[unit])
        return Quantity(_plain(_EXACT.divide(microseconds, MICROSECONDS_OF[metric.unit])))
    shown = unit if len(unit) <= _LONGEST_UNIT else f"{unit[:_LONGEST_UNIT]}…"
    message = f"{describe(text)} has the unit `{shown}`, which cannot be used with {metric.name}"
    raise UnfitQuantity(message, _in_our_words(number, unit, metric) or _allowed(metric))


def _in_our_words(number: Decimal, unit: str, metric: Metric) -> str:
    """What to write for a unit that has another name here; empty if the metric has no such unit."""
    word = unit.lower()
    if is_time(metric) and word in TIME_WORDS:
        return f'write "{number} {TIME_WORDS[word]}"'
    return f'write "{number} %"' if is_utilization(metric) and word in ("percent", "pct") else ""


def _allowed(metric: Metric) -> str:
    if is_time(metric):
        return f'write a number and a unit ({", ".join(TIME_UNITS)}): "500 ms"'
    if is_utilization(metric):
        return 'write a share of the total ("90 %") or a number without quotes'
    return "write a number without quotes or unit"


def _plain(number: Decimal) -> Number:
    return int(number) if number == number.to_integral_value() else float(number)

"""The statistics that CloudWatch computes from a metric's readings, and how they are written.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html
"""

import re
from typing import NamedTuple

_SHARE = r"([0-9]{1,2}(\.[0-9]{1,10})?|100)"
_VALUE = r"[0-9]{1,15}(\.[0-9]{1,10})?"
# One of the two bounds may be missing. The lower-case forms (p99) take a single share without `%`.
_SHARES = rf"{_SHARE}%:({_SHARE}%)?|:{_SHARE}%"
_VALUES = rf"{_VALUE}:({_VALUE})?|:{_VALUE}"
STATISTIC = (
    rf"^(Average|Sum|Minimum|Maximum|SampleCount|IQM|(p|tm|tc|ts|wm){_SHARE}"
    rf"|(TM|TC|TS|WM)\(({_SHARES}|{_VALUES})\)|PR\(({_VALUE})?:{_VALUE}\))$"
)
WHAT_A_STATISTIC_IS = (
    "Average, Sum, Minimum, Maximum, SampleCount, IQM, one bound after a lowercase prefix (p99, tm90), "
    "or two in parentheses after an uppercase one (TM(10%:90%), TS(150:1000), PR(:300))"
)

_COUNTED_IN = {"SampleCount": "Count", "tc": "Count", "TC(": "Count", "PR(": "Percent"}
_BOUNDED = re.compile(r"([A-Z]{2})\(([0-9.]*)(%?):([0-9.]*)(%?)\)")


class Bounds(NamedTuple):
    """The range of readings that a statistic takes into account. None for a side without a bound."""

    sort: str
    low: float | None
    high: float | None
    are_shares: bool
    """Whether the bounds are percentages of the readings, not values of the metric."""


def unit_of(statistic: str | None) -> str | None:
    """The unit of a statistic if it is not the metric's own: a number of readings, or a share of them."""
    if statistic is None:
        return None
    return next((unit for start, unit in _COUNTED_IN.items() if statistic.startswith(start)), None)


def adds_up(statistic: str | None) -> bool:
    """Whether the statistic grows with the number of readings, so that it has no upper bound."""
    return statistic is not None and statistic.startswith(("Sum", "ts", "TS("))


def bounds(statistic: str | None) -> Bounds | None:
    """The bounds of a statistic that has them in brackets; None for any other."""
    found = None if statistic is None or "(" not in statistic else _BOUNDED.fullmatch(statistic)
    if found is None:
        return None
    low, high = (float(text) if text else None for text in found.group(2, 4))
    return Bounds(found[1], low, high, are_shares="%" in found[0])

"""Numbers of metrics in units that people use, from what a template has: microseconds as seconds, sums over
devices as a share of them.
"""

from collections.abc import Iterable

from inferstack.catalog import instances, metrics
from inferstack.catalog.metrics import Metric
from inferstack.facts.quantity import MICROSECONDS_IN, MICROSECONDS_OF, is_time
from inferstack.texts.statistic import unit_of

_TIMES = [(MICROSECONDS_IN[unit], unit) for unit in ("min", "s", "ms", "us")]
_DEVICES = {"gpu": "GPU", "vcpu": "vCPU"}


def metric_of(namespace: object, name: object) -> Metric | None:
    """The metric with this name in a namespace of SageMaker, if there is one."""
    return next((it for it in metrics.find(str(name)) if it.namespace == namespace), None)


def number(value: float) -> str:
    """A number without a unit, with commas between its thousands: `1,500`."""
    return f"{value:,.10g}"


def amount(
    value: float | None, metric: Metric | None, statistic: str | None, types: Iterable[str] = ()
) -> str:
    """A value of a metric; ``types`` are the instance types that it is measured on, the best first."""
    if value is None:
        return "a number that only the deployment knows"
    if metric is None or unit_of(statistic) is not None:
        return number(value)
    if is_time(metric):
        return _time(value * MICROSECONDS_OF[metric.unit])
    if metric.per_device is not None:
        return _share_of_devices(value, metric, types)
    if metric.unit == "Percent":
        return f"{value:g} %"
    is_rate = metric.most == 1 or (metric.averages_to_a_rate and statistic == "Average")
    return f"{100 * value:g} %" if is_rate else number(value)


def _time(microseconds: float) -> str:
    size, unit = next((it for it in _TIMES if abs(microseconds) >= it[0]), _TIMES[-1])
    # Two minutes and a half are easier to compare in seconds.
    if unit == "min" and microseconds % size:
        size, unit = 1_000_000, "s"
    return f"{microseconds / size:g} {unit}"


def _share_of_devices(value: float, metric: Metric, types: Iterable[str]) -> str:
    host = next((instances.find(it) for it in types), None)
    count = 0 if host is None or metric.per_device is None else host.devices(metric.per_device)
    if not count or metric.per_device is None:
        return f"{value:g} (100 for each device)"
    device = _DEVICES[metric.per_device]
    of_several = f" of {count} {device}s" if count > 1 else ""
    share = value / count
    return f"{f'{share:.3g}' if share < 1000 else f'{share:,.0f}'} %{of_several}"


def minutes(seconds: float) -> str:
    """A time as alarms and policies have it: `90 s`, `1 minute`, `15 minutes`."""
    if seconds % 60 or not seconds:
        return f"{seconds:g} s"
    return "1 minute" if seconds == 60 else f"{seconds / 60:g} minutes"

"""Traffic out of scheduled actions, for specs whose traffic was never measured: a week of windows."""

from collections.abc import Sequence
from decimal import Decimal

from inferstack.sizing.sharing.hosts import CannotPackError
from inferstack.sizing.sharing.scaling import Scaling
from inferstack.sizing.sharing.schedules import Period
from inferstack.sizing.sharing.ways import Model
from inferstack.sizing.traffic import Traffic
from inferstack.sizing.traffic_points import UNDATED

WEEK = Period(UNDATED, 7 * 24 * 60)
"""The week that windows are for, from a Monday on."""


def traffic_of_windows(models: Sequence[Model]) -> Traffic:
    """The requests that keep the scheduled minimum of each model busy, minute by minute for a week.

    Raises:
        CannotPackError: for a model without scheduled actions or without a target, or if no action sets a
            minimum.
    """
    traffic = Traffic(requests={it.name: _requests(it.name, it.scaling) for it in models}, start=UNDATED)
    if not traffic.peak:
        raise CannotPackError("no scheduled action sets a `min_capacity` above 0; add `--traffic FILE`")
    return traffic


def _requests(name: str, scaling: Scaling) -> tuple[Decimal, ...]:
    target = scaling.target
    if not scaling.changes or target is None:
        lacks = "scheduled actions" if not scaling.changes else "a target for requests per copy"
        raise CannotPackError(f"`{name}` has no {lacks} that tell its traffic; add `--traffic FILE`")
    limits, found = scaling.limits, []
    for minute in range(WEEK.minutes):
        limits = scaling.changes.get(minute, limits)
        found.append(target * min(limits.low, limits.high))
    return tuple(found)

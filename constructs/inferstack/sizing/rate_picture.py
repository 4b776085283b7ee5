"""The picture of measurements: what was answered in a minute, over the latency."""

import math
from collections.abc import Sequence

from inferstack.problems.words import counted
from inferstack.sizing.closed_loop import rounded
from inferstack.sizing.pictures import Axes, Dot, NoPictureError, Picture, over_latency
from inferstack.sizing.search import Trial, kind_of, rows

_TOLD = ("measured", "configuration", "users", "latency", "rate")
# Slower ones show nothing, and would press the others together.
_TIMES_THE_LIMIT = 4


def rates_of_kinds(trials: Sequence[Trial], name: str, *, percentile: float, limit: float) -> Picture:
    """What a search has measured of ``name``: the base, dynamic batching, instances, both. The best of each
    has a label.

    Raises:
        NoPictureError: when nothing was answered.
    """
    best = {row.name: row.best for row in rows(trials, limit)}
    dots = [
        _dot(it, kind, f"{kind}, {counted(it.users, 'user')}" if it == best[kind] else None, limit)
        for kind in best
        for it in trials
        if kind_of(it.configuration) == kind and it.per_second > 0 and math.isfinite(it.latency)
    ]
    shown = [it for it in dots if it.latency <= _TIMES_THE_LIMIT * limit]
    if not shown:
        raise NoPictureError("nothing was answered in a time near the limit")
    slower = len(dots) - len(shown)
    left = f"; slower ones not shown: {slower}" if slower else ""
    subtitle = {} if math.isinf(limit) else {"subtitle": f"Filled: within the limit{left}"}
    return over_latency(
        shown,
        Axes(f"P{percentile:g}", "rate", "requests per minute", "measured", _TOLD, tuple(best)),
        title={"text": f"{name} by configuration", **subtitle},
        description="Measurements by latency and rate; the objective's limit is a line.",
        limit=None if math.isinf(limit) else limit,
    )


def _dot(trial: Trial, measured: str, label: str | None, limit: float) -> Dot:
    fields = {"measured": measured, "configuration": trial.configuration.name, "users": trial.users}
    rate, latency = float(rounded(trial.per_second * 60)), float(rounded(trial.latency))
    return Dot(latency, rate, trial.within(limit), label, fields)

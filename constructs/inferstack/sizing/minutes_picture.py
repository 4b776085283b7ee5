"""The picture of fleets that models share: requests, and the copies and instances that follow them."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from inferstack.sizing.pictures import COLORS, LOOK, Picture
from inferstack.sizing.sharing.comparison import FleetComparison
from inferstack.sizing.sharing.ways import MINUTES_AN_HOUR, ModelSeries

# No model has a blank in its name.
_OTHERS, _INSTANCES = "other models", "all instances"


def fleets_over_minutes(fleets: Sequence[FleetComparison]) -> Picture:
    """For each fleet, the requests of each model above its copies and the instances.

    Of many models, those with the most requests have a color of their own.
    """
    panels = [panel for it in fleets for panel in (_requests(it), _capacity(it))]
    size = {key: LOOK[key] for key in ("width", "height")}
    return {
        **{key: value for key, value in LOOK.items() if key not in size},
        "description": "Requests per minute, and the copies and instances that run, minute by minute.",
        "vconcat": [{**size, **panel} for panel in panels],
    }


def _requests(fleet: FleetComparison) -> Picture:
    lines = {name: [it.requests for it in those] for name, those in _models(fleet).items()}
    return _panel(fleet, lines, "requests per minute", title={"text": fleet.name, "anchor": "start"})


def _capacity(fleet: FleetComparison) -> Picture:
    lines: dict[str, Sequence[Sequence[Decimal | int]]] = {
        name: [it.copies.held for it in those] for name, those in _models(fleet).items()
    }
    lines[_INSTANCES] = [fleet.sharing.series.instances]
    return _panel(fleet, lines, "copies, and instances")


def _models(fleet: FleetComparison) -> Mapping[str, Sequence[ModelSeries]]:
    """The models that have a color, each alone, and all others together."""
    models = fleet.sharing.series.models
    # One color is that of the instances.
    own = len(models) if len(models) < len(COLORS) else len(COLORS) - 2
    busiest = sorted(models, key=lambda name: -sum(models[name].requests))[:own]
    shown = {name: [models[name]] for name in models if name in busiest}
    others = [it for name, it in models.items() if name not in busiest]
    return {**shown, _OTHERS: others} if others else shown


def _steps(name: str, values: Sequence[float]) -> Iterator[Mapping[str, Any]]:
    """The minutes in which a value changes, and the last one."""
    last = len(values) - 1
    for minute, value in enumerate(values):
        if minute in (0, last) or value != values[minute - 1]:
            yield {"of": name, "hour": minute / MINUTES_AN_HOUR, "value": value}


def _panel(
    fleet: FleetComparison, lines: Mapping[str, Sequence[Sequence[Decimal | int]]], height: str, **more: Any
) -> Picture:
    """A line for each name: the sum of its series."""
    names = [*_models(fleet), _INSTANCES]
    sums = {name: [float(sum(at)) for at in zip(*of, strict=True)] for name, of in lines.items()}
    x_title = f"hours from {fleet.traffic.shown(0)}"
    return {
        **more,
        "data": {"values": [point for name, values in sums.items() for point in _steps(name, values)]},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
        "encoding": {
            "x": {"field": "hour", "type": "quantitative", "title": x_title, "scale": {"nice": False}},
            "y": {"field": "value", "type": "quantitative", "title": height, "axis": {"tickMinStep": 1}},
            "color": {
                "field": "of",
                "type": "nominal",
                "scale": {"domain": names, "range": [*COLORS[: len(names) - 1], COLORS[-1]]},
            },
        },
    }

"""Pictures of sizes: plain data in the form of Vega-Lite, which `vl-convert-python` draws without a browser.

Colors are those of Okabe and Ito, which people of any color vision tell apart; shapes say the same once more.
https://jfly.uni-koeln.de/color/
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from inferstack.sizing.sizes import Demand, Size

Picture = Mapping[str, Any]
"""A chart in the form of Vega-Lite."""

FORMATS = (".svg", ".png", ".html")
"""The endings of files that a picture can be written to."""

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-left")
_GREY, _INK = "#666666", "#222222"
# Readable on a telephone: with its axis, the picture is 360 pixels wide.
_WIDTH, _HEIGHT = 290, 250
_FONT = 12
_MOST_LABELS = 8
_LONGEST_LABEL = 24


_LOOK: Picture = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "description": "Measured configurations by latency and cost; the objective's limit is a line.",
    "background": "white",
    "width": _WIDTH,
    "height": _HEIGHT,
    "config": {
        "font": "sans-serif",
        "axis": {"labelFontSize": _FONT, "titleFontSize": _FONT, "gridColor": "#eeeeee"},
        "legend": {"labelFontSize": _FONT, "orient": "bottom", "columns": 2, "title": None},
        "title": {"fontSize": _FONT + 2, "subtitleFontSize": _FONT, "subtitleColor": _GREY},
        "view": {"stroke": None},
    },
}
_TITLE = {"subtitle": "Filled: meets the objective", "anchor": "start"}


class NoPictureError(ValueError):
    """Why there is nothing to draw."""


def drawn(picture: Picture, ending: str) -> bytes:
    """The content of an image file, by its ending. In HTML, points tell more when they are pointed at.

    Raises:
        ModuleNotFoundError: when the extra `pictures` is not installed.
    """
    import vl_convert  # noqa: PLC0415 - comes with an extra

    chart = dict(picture)
    match ending:
        case ".svg":
            return vl_convert.vegalite_to_svg(chart).encode()
        case ".png":
            return vl_convert.vegalite_to_png(chart, scale=2)
        case ".html":
            return vl_convert.vegalite_to_html(chart, bundle=True).encode()
    raise ValueError(f"no picture can be written as `{ending}`")


# ---------------------------------------------------------------- cost against latency


class _Point(NamedTuple):
    size: Size
    latency: Decimal
    cost: Decimal

    @property
    def label(self) -> str:
        label = f"{self.size.count} x {self.size.title}"
        return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def cost_against_latency(ranked: Sequence[Size], demand: Demand, currency: str = "USD") -> Picture:
    """What each measured configuration would cost in an hour, over its latency, with the limit as a line.

    Without any price, instances are counted instead. What meets the objective is filled and has a label.

    Raises:
        NoPictureError: when no configuration has both.
    """
    percentile = _percentile(ranked, demand)
    points = [] if percentile is None else list(_points(ranked, percentile))
    if percentile is None or not points:
        raise NoPictureError("no configuration has a latency and a price, so there is nothing to draw")
    has_prices = points[0].size.per_hour is not None
    limit, budget = demand.latency_limit, demand.budget_per_hour if has_prices else None
    wide, x = _extent([it.latency for it in points], None if limit is None else limit.milliseconds)
    high, y = _extent([it.cost for it in points], budget)
    return {
        **_LOOK,
        "title": {**_TITLE, "text": f"For {demand.peak:,f} requests a minute"},
        "data": {"values": list(_placed(points, wide, high))},
        "encoding": {
            "x": _axis("latency", f"P{percentile:f} latency in milliseconds", wide),
            "y": _axis("cost", f"{currency} per hour" if has_prices else "instances", high),
        },
        "layer": [*_limit(x, wide, high), *_budget(y, wide), *_dots(), *_labels()],
    }


def _percentile(ranked: Sequence[Size], demand: Demand) -> Decimal | None:
    """That of the limit, or else the one that most were measured at."""
    if demand.latency_limit is not None:
        return demand.latency_limit.percentile
    found = Counter(at for it in ranked for at in it.measurement.latencies)
    return max(found, key=lambda at: (found[at], -at), default=None)


def _points(ranked: Sequence[Size], percentile: Decimal) -> Iterator[_Point]:
    has_prices = any(it.per_hour is not None for it in ranked)
    for it in ranked:
        latency = it.measurement.latencies.get(percentile)
        cost = it.per_hour if has_prices else Decimal(it.count)
        if latency is not None and cost is not None:
            yield _Point(it, latency, cost)


def _extent(values: Sequence[Decimal], line: Decimal | None) -> tuple[float, float | None]:
    """A round number above all that is shown, and where the line is, unless that is far outside."""
    most = float(max(values))
    at = None if line is None or line > 2 * max(values) else float(line)
    step = 10.0 ** math.floor(math.log10(max(most, at or 0))) / 5
    return (math.floor(max(most, at or 0) * 1.04 / step) + 1) * step, at


def _axis(field: str, title: str, most: float) -> Mapping[str, Any]:
    scale = {"domain": [0, most], "nice": False}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": {"tickCount": 5}}


_DASHED = {"type": "rule", "color": _GREY, "strokeDash": [5, 4]}
_BESIDE = {"type": "text", "color": _GREY, "fontSize": _FONT}


def _limit(limit: float | None, wide: float, high: float) -> Iterator[Mapping[str, Any]]:
    if limit is None:
        return
    data = {"values": [{"latency": limit, "cost": high, "text": f"limit: {limit:g} ms"}]}
    yield {"data": data, "mark": _DASHED, "encoding": {"y": {"value": 0}, "y2": {"value": _HEIGHT}}}
    has_room = limit < 0.7 * wide
    mark = {**_BESIDE, "align": "left" if has_room else "right", "dx": 4 if has_room else -4, "dy": 6}
    yield {"data": data, "mark": mark, "encoding": {"text": {"field": "text"}}}


def _budget(budget: float | None, wide: float) -> Iterator[Mapping[str, Any]]:
    if budget is None:
        return
    data = {"values": [{"latency": wide, "cost": budget, "text": f"budget: {budget:g}"}]}
    yield {"data": data, "mark": _DASHED, "encoding": {"x": {"value": 0}, "x2": {"value": _WIDTH}}}
    mark = {**_BESIDE, "align": "right", "dx": -2, "dy": -7}
    yield {"data": data, "mark": mark, "encoding": {"text": {"field": "text"}}}


def _dots() -> Iterator[Mapping[str, Any]]:
    color = {"field": "instance_type", "type": "nominal", "sort": None, "scale": {"range": _COLORS}}
    said = ["instance_type", "configuration", "count", "latency", "cost", "why"]
    for meets in (False, True):
        yield {
            "transform": [{"filter": f"datum.meets === {str(meets).lower()}"}],
            "mark": {
                "type": "point",
                "filled": meets,
                "size": 90 if meets else 45,
                "opacity": 1 if meets else 0.6,
            },
            "encoding": {
                "color": color,
                "shape": {**color, "scale": {"range": _SHAPES}},
                "tooltip": [{"field": name} for name in said],
            },
        }


def _labels() -> Iterator[Mapping[str, Any]]:
    labelled = [{"filter": "isValid(datum.label)"}]
    end = {axis: {"field": f"label_{axis}", "type": "quantitative"} for axis in "xy"}
    line = {"type": "rule", "color": _GREY, "strokeWidth": 0.7}
    ends = {"x2": {"field": "line_x"}, "y2": {"field": "line_y"}}
    yield {"transform": labelled, "mark": line, "encoding": ends}
    # A white edge, where a label lies over a line.
    edge = {"type": "text", "fontSize": _FONT, "stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}
    text = {"type": "text", "fontSize": _FONT, "color": _INK}
    for mark in (edge, text):
        yield {"transform": labelled, "mark": mark, "encoding": {**end, "text": {"field": "label"}}}


# ---------------------------------------------------------------- where there is room for labels


class _Box(NamedTuple):
    """A rectangle in pixels, from the middle of which it extends to both sides."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "_Box") -> bool:
        is_near = abs(self.x - other.x) * 2 < self.width + other.width
        return is_near and abs(self.y - other.y) * 2 < self.height + other.height

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """The point of the rectangle that is nearest to another."""
        across, down = self.width / 2 - 6, self.height / 2
        return (
            min(max(x, self.x - across), self.x + across),
            min(max(y, self.y - down), self.y + down),
        )

    @property
    def is_inside(self) -> bool:
        across, down = self.width / 2, self.height / 2
        return across <= self.x <= _WIDTH - across and down <= self.y <= _HEIGHT - down


def _placed(points: Sequence[_Point], most_latency: float, most_cost: float) -> Iterator[Mapping[str, Any]]:
    """The points as data, the best ones with a label where it covers nothing else."""
    at = [(float(it.latency) / most_latency * _WIDTH, float(it.cost) / most_cost * _HEIGHT) for it in points]
    taken = [_Box(x, y, 10, 10) for x, y in at]
    for rank, (it, (x, y)) in enumerate(zip(points, at, strict=True)):
        measured = it.size.measurement
        data: dict[str, Any] = {
            "instance_type": measured.instance_type,
            "configuration": it.size.title,
            "count": it.size.count,
            "latency": float(it.latency),
            "cost": float(it.cost),
            "meets": not it.size.objections,
            "why": "; ".join(it.size.objections) or "meets the objective",
        }
        box = None if it.size.objections or rank >= _MOST_LABELS else _free(it.label, x, y, taken)
        if box is not None:
            taken.append(box)
            data["label"] = it.label
            data["label_x"], data["label_y"] = box.x / _WIDTH * most_latency, box.y / _HEIGHT * most_cost
            line_x, line_y = box.nearest(x, y)
            data["line_x"], data["line_y"] = line_x / _WIDTH * most_latency, line_y / _HEIGHT * most_cost
        yield data


def _free(label: str, x: float, y: float, taken: Sequence[_Box]) -> _Box | None:
    """The nearest place for a label around a point; None if there is none."""
    width, height = len(label) * _FONT * 0.5 + 4, _FONT + 3
    side, up = (width + 14) / 2, 14
    for away in range(0, 90, 9):
        for across, down in ((side, away), (-side, away), (0, away + up), (side, -away), (0, -away - up)):
            box = _Box(x + across, y + down, width, height)
            if box.is_inside and not any(box.meets(it) for it in taken):
                return box
    return None

"""Pictures of points over their latency: plain data in the form of Vega-Lite, which `vl-convert-python` draws
without a browser.

Colors are those of Okabe and Ito, which people of any color vision can distinguish; shapes repeat them.
https://jfly.uni-koeln.de/color/
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Picture = Mapping[str, Any]
"""A chart in the form of Vega-Lite."""

FORMATS = (".svg", ".png", ".html")
"""The endings of files that a picture can be written to."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-left")
_GREY, _INK = "#666666", "#222222"
# Readable on a telephone: with its axis, the picture is 360 pixels wide.
_WIDTH, _HEIGHT = 290, 250
_FONT = 12
_LONGEST_LABEL = 24

LOOK: Picture = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
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


class NoPictureError(ValueError):
    """Why there is nothing to draw."""


def drawn(picture: Picture, ending: str) -> bytes:
    """The content of an image file, by its ending. In HTML, points show more when they are pointed at.

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


class Dot(NamedTuple):
    """A point of a picture."""

    latency: float
    height: float
    meets: bool
    """Whether it is filled."""
    label: str | None
    """Shown next to it, if there is room."""
    fields: Mapping[str, Any]
    """What else is known of it."""


class Axes(NamedTuple):
    """What a picture compares: something over the latency, by one of the fields of its dots."""

    percentile: str
    height: str
    """The name of what is above the latency."""
    height_title: str
    series: str
    """The field that decides on color and shape."""
    tooltip: Sequence[str]
    """The fields that a dot shows when it is pointed at."""
    order: Sequence[str] | None = None
    """All values of the series, in the order of their colors; otherwise as they come."""


def over_latency(
    dots: Sequence[Dot],
    axes: Axes,
    *,
    title: Mapping[str, Any],
    description: str,
    limit: float | None = None,
    budget: float | None = None,
) -> Picture:
    """Dots over their latency in milliseconds; a limit is a line, and so is a budget, unless far outside."""
    wide, x = _extent([it.latency for it in dots], limit)
    high, y = _extent([it.height for it in dots], budget)
    return {
        **LOOK,
        "description": description,
        "title": {"anchor": "start", **title},
        "data": {"values": list(_placed(dots, axes.height, wide, high))},
        "encoding": {
            "x": _axis("latency", f"{axes.percentile} latency in milliseconds", wide),
            "y": _axis(axes.height, axes.height_title, high),
        },
        "layer": [
            *_limit(axes.height, x, wide, high),
            *_budget(axes.height, y, wide),
            *_dots(axes),
            *_labels(),
        ],
    }


def _extent(values: Sequence[float], line: float | None) -> tuple[float, float | None]:
    """A round number above all that is shown, and where the line is, unless that is far outside."""
    most = max(values)
    at = None if line is None or line > 2 * most else line
    step = 10.0 ** math.floor(math.log10(max(most, at or 0))) / 5
    return (math.floor(max(most, at or 0) * 1.04 / step) + 1) * step, at


def _axis(field: str, title: str, most: float) -> Mapping[str, Any]:
    scale = {"domain": [0, most], "nice": False}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": {"tickCount": 5}}


_DASHED = {"type": "rule", "color": _GREY, "strokeDash": [5, 4]}
_BESIDE = {"type": "text", "color": _GREY, "fontSize": _FONT}


def _limit(height: str, limit: float | None, wide: float, high: float) -> Iterator[Mapping[str, Any]]:
    if limit is None:
        return
    data = {"values": [{"latency": limit, height: high, "text": f"limit: {limit:g} ms"}]}
    yield {"data": data, "mark": _DASHED, "encoding": {"y": {"value": 0}, "y2": {"value": _HEIGHT}}}
    has_room = limit < 0.7 * wide
    mark = {**_BESIDE, "align": "left" if has_room else "right", "dx": 4 if has_room else -4, "dy": 6}
    yield {"data": data, "mark": mark, "encoding": {"text": {"field": "text"}}}


def _budget(height: str, budget: float | None, wide: float) -> Iterator[Mapping[str, Any]]:
    if budget is None:
        return
    data = {"values": [{"latency": wide, height: budget, "text": f"budget: {budget:g}"}]}
    yield {"data": data, "mark": _DASHED, "encoding": {"x": {"value": 0}, "x2": {"value": _WIDTH}}}
    mark = {**_BESIDE, "align": "right", "dx": -2, "dy": -7}
    yield {"data": data, "mark": mark, "encoding": {"text": {"field": "text"}}}


def _dots(axes: Axes) -> Iterator[Mapping[str, Any]]:
    domain = {} if axes.order is None else {"domain": list(axes.order)}
    color = {"field": axes.series, "type": "nominal", "sort": None}
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
                "color": {**color, "scale": {"range": COLORS, **domain}},
                "shape": {**color, "scale": {"range": _SHAPES, **domain}},
                "tooltip": [{"field": name} for name in axes.tooltip],
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


def _placed(
    dots: Sequence[Dot], height: str, most_latency: float, most_height: float
) -> Iterator[Mapping[str, Any]]:
    """The dots as data, with their labels where these cover nothing else."""
    at = [(it.latency / most_latency * _WIDTH, it.height / most_height * _HEIGHT) for it in dots]
    taken = [_Box(x, y, 10, 10) for x, y in at]
    for dot, (x, y) in zip(dots, at, strict=True):
        data = {**dot.fields, "latency": dot.latency, height: dot.height, "meets": dot.meets}
        label = None if dot.label is None else _short(dot.label)
        box = None if label is None else _free(label, x, y, taken)
        if box is not None:
            taken.append(box)
            data["label"] = label
            data["label_x"], data["label_y"] = box.x / _WIDTH * most_latency, box.y / _HEIGHT * most_height
            line_x, line_y = box.nearest(x, y)
            data["line_x"], data["line_y"] = line_x / _WIDTH * most_latency, line_y / _HEIGHT * most_height
        yield data


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


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

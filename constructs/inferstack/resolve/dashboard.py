"""A CloudWatch dashboard of the endpoint: traffic, latency, errors, and utilization.

Body: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from inferstack.catalog import metrics, regions
from inferstack.catalog.resource_types import DASHBOARD_TYPE
from inferstack.facts.engines import has_language_model
from inferstack.facts.publications import Publisher, dashboard_name, publishers
from inferstack.facts.walk import hosting_of
from inferstack.format.default_alarms import DASHBOARD_WIDGETS
from inferstack.format.kinds import ModelSpec
from inferstack.resolve.resource import Resource, Resources, Value, substituted

DASHBOARD = "Dashboard"
_WIDTH, _HEIGHT, _COLUMNS = 8, 6, 24
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html
_MOST_METRICS = 500
_MOST_ALARMS = 100
# So many are shown beside each other; what is higher than a graph is scrolled.
_ALARMS_IN_A_ROW = 6


def resolve_dashboard(spec: ModelSpec, alarms: Sequence[str] = ()) -> Resources:
    """The dashboard, unless the spec wants none. The states of ``alarms``, given by their logical ids in the
    same template, come first.
    """
    name = dashboard_name(spec)
    if name is None:
        return {}
    arns = [f"{logical_id}.Arn" for logical_id in alarms]
    body = substituted(ascii_json(_body(spec, arns)), attributes=arns)
    return {
        DASHBOARD: Resource(DASHBOARD_TYPE, {"DashboardName": name, "DashboardBody": body}, ("dashboard",))
    }


def ascii_json(value: Value) -> str:
    """Writes texts and whole numbers as ``json.dumps`` does, without blanks and in a quarter of the time."""
    written = msgspec.json.encode(value).decode()
    # Most texts are all ASCII, and asking for that is faster than a search. DEL is, too, but is escaped.
    if written.isascii() and "\x7f" not in written:
        return written
    return re.sub("[^ -~]", lambda found: json.dumps(found[0])[1:-1], written)


_CONSOLES = {"aws-cn": "console.amazonaws.cn", "aws-us-gov": "console.amazonaws-us-gov.com"}


def dashboard_url(region: str | None) -> Value:
    """Address of the dashboard in the console of the region's partition; of `aws` where it is unknown."""
    host = "console.aws.amazon.com"
    if region is not None:
        host = _CONSOLES.get(regions.partition(region), host)
    console = f"https://${{AWS::Region}}.{host}/cloudwatch/home"
    return {"Fn::Sub": f"{console}?region=${{AWS::Region}}#dashboards/dashboard/${{{DASHBOARD}}}"}


def _body(spec: ModelSpec, arns: Sequence[str]) -> Value:
    starts = range(0, len(arns), _MOST_ALARMS)
    states = [_states(arns[start : start + _MOST_ALARMS], index) for index, start in enumerate(starts)]
    top = sum(it["height"] for it in states)
    parts = publishers(spec)
    shown = _shown(hosting_of(spec), has_language_model(spec))
    drawn = ((title, _lines(of_title, parts)) for title, of_title in shown)
    widgets = [
        (title, lines[start : start + _MOST_METRICS])
        for title, lines in drawn
        for start in range(0, len(lines), _MOST_METRICS)
    ]
    graphs = (_widget(title, lines, index, top) for index, (title, lines) in enumerate(widgets))
    return {"widgets": [*states, *graphs]}


def _states(arns: Sequence[str], index: int) -> dict[str, Value]:
    """The states of alarms, those in ALARM first. Every such widget but the last one has the full height."""
    rows = -(-len(arns) // _ALARMS_IN_A_ROW)
    return {
        "type": "alarm",
        "x": 0,
        "y": index * _HEIGHT,
        "width": _COLUMNS,
        "height": min(rows + 2, _HEIGHT),
        "properties": {
            "title": "Alarms",
            "sortBy": "stateUpdatedTimestamp",
            "alarms": [f"${{{arn}}}" for arn in arns],
        },
    }


Shown = tuple[tuple[metrics.Metric, str], ...]
"""What a widget draws for endpoints of one hosting: metrics, each with a statistic."""


@cache
def _shown(hosting: metrics.Hosting, language_models: bool) -> tuple[tuple[msgspec.Raw, Shown], ...]:
    """Titles of the widgets, encoded as JSON, and what each draws for such an endpoint."""
    return tuple(
        (
            msgspec.Raw(json.dumps(it.title)),
            tuple(
                (found, stat)
                for name, stat in it.metrics
                for found in metrics.find(name, hosting)
                if not (hosting == "inference-components" and found.is_of_requests_to_variant)
            ),
        )
        for it in DASHBOARD_WIDGETS
        if language_models or not it.of_language_models
    )


def _widget(title: msgspec.Raw, lines: list[Value], index: int, top: int) -> Value:
    row, column = divmod(index, _COLUMNS // _WIDTH)
    return {
        "type": "metric",
        "x": column * _WIDTH,
        "y": top + row * _HEIGHT,
        "width": _WIDTH,
        "height": _HEIGHT,
        "properties": {
            "title": title,
            "region": "${AWS::Region}",
            "period": 60,
            "yAxis": {"left": {"min": 0}},
            "metrics": lines,
        },
    }


def _lines(shown: Shown, parts: Iterable[Publisher]) -> list[Value]:
    return [
        _line(metric, part, statistic)
        for metric, statistic in shown
        for part in parts
        if part.may_have(metric)
    ]


def _line(metric: metrics.Metric, part: Publisher, statistic: str) -> Value:
    where = [text for pair in part.values.items() for text in pair]
    return [
        metric.namespace,
        metric.name,
        *where,
        {"stat": statistic, "label": f"{part.title} {metric.name} {statistic}"},
    ]

"""The dashboard: the same graphs for each part of an endpoint."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from aws_cdk import Fn, Stack, aws_cloudwatch as cloudwatch

from benchmarks.by_hand.components import Component
from benchmarks.by_hand.names import VARIANT
from benchmarks.family import Endpoint

_CALLS, _FLEET, _COPIES = "AWS/SageMaker", "/aws/sagemaker/Endpoints", "/aws/sagemaker/InferenceComponents"
_BOTH, _FLEET_ONLY, _COPIES_ONLY = (_CALLS, _CALLS), (_CALLS, None), (None, _CALLS)
_INSTANCES, _NORMALIZED = (_FLEET, None), (_FLEET, _COPIES)

# The title, and metrics with their statistic and the namespaces that variants and components publish them in.
_WITH_COMPONENTS: dict[str, Any] = {
    "Requests a minute": [
        ("Invocations", "Sum", _BOTH),
        ("InvocationsPerInstance", "Sum", _FLEET_ONLY),
        ("InvocationsPerCopy", "Sum", _COPIES_ONLY),
    ],
    # What a language model scales by; only those are components here.
    "Requests at once": [("ConcurrentRequestsPerCopy", "Maximum", _COPIES_ONLY)],
    "Latency (µs)": [
        ("ModelLatency", "p50", _BOTH),
        ("ModelLatency", "p99", _BOTH),
        ("OverheadLatency", "Average", _BOTH),
    ],
    "Errors a minute": [
        ("Invocation4XXErrors", "Sum", _BOTH),
        ("Invocation5XXErrors", "Sum", _BOTH),
        ("InvocationModelErrors", "Sum", _BOTH),
        ("NoCapacityInvocationFailures", "Sum", _COPIES_ONLY),
    ],
    "Failing requests (share)": [
        ("Invocation4XXErrors", "Average", _BOTH),
        ("Invocation5XXErrors", "Average", _BOTH),
    ],
    "GPU (%)": [("GPUUtilization", "Average", _INSTANCES), ("GPUMemoryUtilization", "Maximum", _INSTANCES)],
    "GPU, normalized (%)": [
        ("GPUUtilizationNormalized", "Average", _NORMALIZED),
        ("GPUMemoryUtilizationNormalized", "Maximum", _NORMALIZED),
    ],
    "CPU, memory, disk (%)": [
        ("CPUUtilization", "Average", _INSTANCES),
        ("MemoryUtilization", "Maximum", _INSTANCES),
        ("DiskUtilization", "Maximum", _INSTANCES),
    ],
    "CPU, memory, normalized (%)": [
        ("CPUUtilizationNormalized", "Average", _NORMALIZED),
        ("MemoryUtilizationNormalized", "Maximum", (None, _COPIES)),
    ],
    "Reserved by components (%)": [
        (name, "Average", _INSTANCES) for name in ("GPUReservation", "CPUReservation", "MemoryReservation")
    ],
}
_OF_COMPONENTS = {
    "Requests at once",
    "GPU, normalized (%)",
    "CPU, memory, normalized (%)",
    "Reserved by components (%)",
}
_WITH_MODELS = {title: rows for title, rows in _WITH_COMPONENTS.items() if title not in _OF_COMPONENTS}
_WITH_MANY_MODELS = {
    **_WITH_MODELS,
    "Loaded models": [("LoadedModelCount", "Average", _INSTANCES), ("ModelCacheHit", "Average", _FLEET_ONLY)],
    "Loading of models (µs)": [
        ("ModelLoadingWaitTime", "p90", _FLEET_ONLY),
        ("ModelDownloadingTime", "Average", _FLEET_ONLY),
        ("ModelLoadingTime", "Average", _FLEET_ONLY),
        ("ModelUnloadingTime", "Average", _FLEET_ONLY),
    ],
}
_GRAPHS = {
    "single-model": _WITH_MODELS,
    "multi-model": _WITH_MANY_MODELS,
    "ensemble": _WITH_MODELS,
    "inference-components": _WITH_COMPONENTS,
}


def dashboard(
    stack: Stack, endpoint: Endpoint, parts: Sequence[Component], alarms: Sequence[str]
) -> cloudwatch.CfnDashboard:
    """The dashboard of an endpoint: the states of its alarms, given by their logical ids, and graphs."""
    states = _states(alarms)
    graphs = _GRAPHS[endpoint.kind].items()
    drawn = [_widget(i, states["height"], endpoint, parts, *graph) for i, graph in enumerate(graphs)]
    body = {"widgets": [states, *drawn]}
    return cloudwatch.CfnDashboard(
        stack,
        "Dashboard",
        dashboard_name=Fn.sub(f"{endpoint.name}-${{AWS::Region}}"),
        dashboard_body=Fn.sub(json.dumps(body, separators=(",", ":"))),
    )


def _states(alarms: Sequence[str]) -> dict[str, Any]:
    shown = {
        "title": "Alarms",
        "sortBy": "stateUpdatedTimestamp",
        "alarms": [f"${{{name}.Arn}}" for name in alarms],
    }
    height = min(2 + (len(alarms) + 5) // 6, 6)
    return {"type": "alarm", "x": 0, "y": 0, "width": 24, "height": height, "properties": shown}


def _widget(
    index: int, top: int, endpoint: Endpoint, parts: Sequence[Component], title: str, rows: Any
) -> Any:
    row, column = divmod(index, 3)
    shown = {
        "title": title,
        "region": "${AWS::Region}",
        "period": 60,
        "yAxis": {"left": {"min": 0}},
        "metrics": [line for metric in rows for line in _lines(endpoint, parts, *metric)],
    }
    place = {"x": 8 * column, "y": top + 6 * row, "width": 8, "height": 6}
    return {"type": "metric", **place, "properties": shown}


def _lines(
    endpoint: Endpoint,
    parts: Sequence[Component],
    metric: str,
    statistic: str,
    namespaces: tuple[str | None, str | None],
) -> Iterator[list[Any]]:
    of_variants, of_components = namespaces
    # Requests are counted for the components, if there are any.
    if of_variants is not None and not (parts and of_variants == _CALLS):
        where = ["EndpointName", endpoint.name, "VariantName", VARIANT]
        yield [of_variants, metric, *where, _style(VARIANT, metric, statistic)]
    if of_components is not None:
        for part in parts:
            style = _style(part.name, metric, statistic)
            yield [of_components, metric, "InferenceComponentName", part.name, style]


def _style(title: str, metric: str, statistic: str) -> dict[str, str]:
    return {"stat": statistic, "label": f"{title} {metric} {statistic}"}

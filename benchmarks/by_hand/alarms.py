"""The alarms of each kind of endpoint, as a table that a user would keep."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aws_cdk import Stack, aws_cloudwatch as cloudwatch

from benchmarks.by_hand.components import Component
from benchmarks.by_hand.names import TOPIC, VARIANT, suffix
from benchmarks.family import Endpoint

_CALLS, _FLEET, _COPIES = "AWS/SageMaker", "/aws/sagemaker/Endpoints", "/aws/sagemaker/InferenceComponents"


@dataclass(frozen=True, slots=True)
class Watch:
    """One alarm, for each part of the endpoint that has the metric."""

    metric: str
    namespace: str
    statistic: str
    threshold: float
    limit: str
    """The threshold as shown to readers."""
    periods: int = 3
    unit: str | None = None
    datapoints: int | None = None
    reason: str = ""
    period: int = 60


_FAILURES = Watch(
    "Invocation5XXErrors",
    _CALLS,
    "Average",
    0.01,
    "0.01",
    5,
    None,
    3,
    "One request in a hundred fails on the server's side in most minutes.",
)
_KILLED = "A container that runs out of memory is killed with all its requests."
_FULL = "The next batch or model will not fit into the GPU's memory."
_LOADING = "Requests wait for models to be loaded: more models are in use than fit into memory."
_REFUSED = "Requests are refused for longer than a component takes to wake from zero copies."

_MEMORY = Watch("MemoryUtilization", _FLEET, "Maximum", 90, "90 %", unit="Percent", reason=_KILLED)
_OF_VARIANTS = (
    _FAILURES,
    _MEMORY,
    Watch(
        "DiskUtilization",
        _FLEET,
        "Maximum",
        90,
        "90 %",
        unit="Percent",
        reason="Model downloads and logs fail on a full disk.",
    ),
    Watch("GPUMemoryUtilization", _FLEET, "Maximum", 95, "95 %", 5, "Percent", reason=_FULL),
)
_OF_MULTI_MODEL = Watch(
    "ModelLoadingWaitTime", _CALLS, "p90", 30_000_000, "30 s", 5, "Microseconds", reason=_LOADING
)
_NO_CAPACITY = Watch("NoCapacityInvocationFailures", _CALLS, "Sum", 1, "1", reason=_REFUSED, period=300)
_GPU_MEMORY = Watch("GPUMemoryUtilizationNormalized", _COPIES, "Average", 95, "95 %", unit="Percent")


def variant_alarms(stack: Stack, endpoint: Endpoint) -> list[str]:
    """Alarms of an endpoint that hosts models: their logical ids."""
    where = {"EndpointName": endpoint.name, "VariantName": VARIANT}
    topics = None if endpoint.kind == "ensemble" else [TOPIC]
    return [_alarm(stack, endpoint, watch, where, topics) for watch in _variant_watches(endpoint)]


def _variant_watches(endpoint: Endpoint) -> Iterator[Watch]:
    match endpoint.kind:
        case "multi-model":
            yield from (_FAILURES, _OF_MULTI_MODEL)
        case "single-model":
            yield from (*_OF_VARIANTS, _latency(endpoint, "p95", 5))
        case "ensemble":
            yield from (*_OF_VARIANTS, _latency(endpoint, "p95", 3))


def component_alarms(stack: Stack, endpoint: Endpoint, parts: Sequence[Component]) -> list[str]:
    """Alarms of inference components: their logical ids."""
    of_fleet = {"EndpointName": endpoint.name, "VariantName": VARIANT}
    return [
        *_of_parts(stack, endpoint, parts, _FAILURES),
        _alarm(stack, endpoint, _MEMORY, of_fleet, [TOPIC]),
        *_of_parts(stack, endpoint, parts, _NO_CAPACITY, _latency(endpoint, "p99", 5), _GPU_MEMORY),
    ]


def _of_parts(stack: Stack, endpoint: Endpoint, parts: Sequence[Component], *watches: Watch) -> Iterator[str]:
    for watch in watches:
        for part in parts:
            yield _alarm(stack, endpoint, watch, {"InferenceComponentName": part.name}, [TOPIC])


def _latency(endpoint: Endpoint, statistic: str, periods: int) -> Watch:
    limit = endpoint.latency_ms
    return Watch("ModelLatency", _CALLS, statistic, limit * 1000, f"{limit} ms", periods, "Microseconds")


def _alarm(
    stack: Stack, endpoint: Endpoint, watch: Watch, where: dict[str, str], topics: list[str] | None
) -> str:
    # The last dimension names the variant or the component.
    *_, title = where.values()
    named = watch.statistic[0].upper() + watch.statistic[1:]
    is_percentile = watch.statistic.startswith("p")
    of = f"{title} in {endpoint.name}"
    said = f"{watch.statistic} of {watch.metric} of {of} reaches {watch.limit}. {watch.reason}".strip()
    dimension = cloudwatch.CfnAlarm.DimensionProperty
    # Directly in a stack, the id is also the logical id.
    name = f"Alarm{watch.metric}{named}{suffix(title, *where.values())}"
    cloudwatch.CfnAlarm(
        stack,
        name,
        alarm_description=said,
        namespace=watch.namespace,
        metric_name=watch.metric,
        dimensions=[dimension(name=name, value=value) for name, value in where.items()],
        statistic=None if is_percentile else watch.statistic,
        extended_statistic=watch.statistic if is_percentile else None,
        unit=watch.unit,
        period=watch.period,
        evaluation_periods=watch.periods,
        datapoints_to_alarm=watch.datapoints,
        comparison_operator="GreaterThanOrEqualToThreshold",
        threshold=watch.threshold,
        treat_missing_data="notBreaching",
        alarm_actions=topics,
    )
    return name

"""What a job has found, in lines."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from inferstack.account.job_result import JobResult, configured_as
from inferstack.cli.terminal import table
from inferstack.endpoint.cost import amount_text, exact_text
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.results import lacking


def result_lines(result: JobResult) -> Iterator[str]:
    """The measurements as a table, and what `size` leaves out."""
    if result.measurements:
        at = [it.latencies for it in result.measurements]
        shown = max({percentile for latencies in at for percentile in latencies}, default=Decimal(95))
        shown = Decimal(95) if all(Decimal(95) in it for it in at) else shown
        header = ("INSTANCE TYPE", "CONFIGURATION", "A MINUTE", f"P{shown:f} MS", "PER HOUR", "PER MILLION")
        yield from table([header, *(_cells(it, shown) for it in result.measurements)])
        for it in result.measurements:
            yield from (f"{it.instance_type} {it.configuration} does not count: {why}" for why in it.faults)
    yield from lacking(result.answer)
    for recommended in result.answer.get("InferenceRecommendations", ()):
        metrics, endpoint = recommended.get("Metrics"), recommended.get("EndpointConfiguration") or {}
        if metrics and endpoint.get("ServerlessConfig") is not None:
            yield f"{configured_as(endpoint)}: {_rate(metrics)}"
    for performance in result.answer.get("EndpointPerformances", ()):
        name = (performance.get("EndpointInfo") or {}).get("EndpointName", "the endpoint")
        yield f"{name}, as it is: {_rate(performance.get('Metrics') or {})}"
    for recommended in result.answer.get("Recommendations", ()):
        yield from _deployment(recommended)


def _cells(measured: Measurement, percentile: Decimal) -> tuple[str, ...]:
    latency, price = measured.latencies.get(percentile), measured.price_per_hour
    million = None if price is None else price * 1_000_000 / (measured.requests_per_minute * 60)
    return (
        measured.instance_type,
        measured.configuration,
        f"{measured.requests_per_minute:.6g}",
        "-" if latency is None else f"{latency:.6g}",
        "-" if price is None else exact_text(price),
        "-" if million is None else amount_text(million),
    )


def _rate(metrics: Mapping[str, Any]) -> str:
    rate, latency = (metrics.get(name, "?") for name in ("MaxInvocations", "ModelLatency"))
    return f"{rate} requests a minute, {latency} ms"


def _deployment(recommended: Mapping[str, Any]) -> Iterator[str]:
    """What a recommendation for a language model deploys, in the words of a spec."""
    deployed = recommended.get("DeploymentConfiguration") or {}
    name = (recommended.get("ModelDetails") or {}).get("InferenceSpecificationName", "recommendation")
    yield f"{name}: {deployed.get('InstanceCount', 1)} x {deployed.get('InstanceType')}"
    yield f"  copies of the model on each: {deployed.get('CopyCountPerInstance', 1)}"
    if deployed.get("MinCpuMemoryRequiredInMb") is not None:
        yield f"  min_memory_required_in_mb: {deployed['MinCpuMemoryRequiredInMb']}"
    if deployed.get("ImageUri") is not None:
        yield f"  image: {deployed['ImageUri']}"
    if deployed.get("EnvironmentVariables"):
        yield "  environment:"
        yield from (f"    {key}: {json.dumps(it)}" for key, it in deployed["EnvironmentVariables"].items())

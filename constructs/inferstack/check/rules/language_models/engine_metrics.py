"""Metrics of engines and of their streams, which alarms and policies name: does the engine have them?"""

from collections.abc import Iterator, Mapping

from inferstack.catalog import metrics
from inferstack.check.rules.alarms.custom_metrics import HasMetric, alarm_rules, customized, stats
from inferstack.check.rules.base import AWS, GUIDE, warning
from inferstack.engines.settings import family_of, settings
from inferstack.engines.tables import numbers
from inferstack.facts.engines import RunningEngine, engine_of, lacks_its_streams
from inferstack.facts.kinds import hosts_components
from inferstack.facts.scaling import steps
from inferstack.facts.walk import PlacedContainer, containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath

_SGLANG = f"{AWS}/AmazonCloudWatch/latest/monitoring/container-insights-eks-otel-sglang.html"
_VLLM = "https://docs.vllm.ai/en/latest/usage/metrics/"
_MAPPING = f"{GUIDE}/monitoring-detailed-observability-metric-mapping.html"
_ENABLES = "enable-metrics"
_INSTEAD = (
    "watch `ModelLatency` or `ConcurrentRequestsPerModel`; time to first token is a metric of the engine, "
    "for a PromQL alarm (docs/language-models.md, What to watch)"
)
_RENAMED: Mapping[str, tuple[tuple[int, ...], str]] = {
    "vllm:gpu_cache_usage_perc": ((0, 13), "vllm:kv_cache_usage_perc"),
    "vllm:gpu_prefix_cache_hits": ((0, 13), "vllm:prefix_cache_hits"),
    "vllm:gpu_prefix_cache_queries": ((0, 13), "vllm:prefix_cache_queries"),
    "vllm:time_per_output_token_seconds": ((0, 15, 1), "vllm:inter_token_latency_seconds"),
}
"""Metrics that are gone, since which version, and what they are called now."""


def _written(spec: ModelSpec, prefix: str) -> Iterator[tuple[SpecPath, str]]:
    """The metrics with this prefix that alarms and policies name, unless they are another endpoint's."""
    own: list[tuple[SpecPath, HasMetric]] = [*alarm_rules(spec)]
    own += [(path, step) for path, _, step in steps(spec)]
    own += [(path, custom) for path, _, custom in customized(spec)]
    for path, of in own:
        inner = [((*below, "metric"), stat.metric) for below, stat in stats(path, of)]
        for at, holder in ((path, of), *inner):
            name = holder.metric_name or ""
            endpoints = {it.value for it in holder.dimensions or () if it.name == "EndpointName"}
            if name.startswith(prefix) and endpoints <= {spec.endpoint_name}:
                yield (*at, "metric_name"), name


def _serving(spec: ModelSpec, family: str) -> list[tuple[PlacedContainer, RunningEngine]]:
    found = [(it, engine_of(it)) for it in containers(spec)]
    return [(it, running) for it, running in found if running and family_of(running.name) == family]


@warning("IS350", _SGLANG)
def sglang_has_metrics(spec: ModelSpec) -> Iterator[Problem]:
    """A metric of SGLang's should be one of a server that has any: it needs the option `enable-metrics`.

    Without it, nothing answers at `/metrics`, so that neither SageMaker's detailed observability nor a
    collector of one's own reads anything.
    """
    servers = _serving(spec, "sglang")
    if servers and not any(_has_metrics(it) for it, _ in servers):
        for path, name in _written(spec, "sglang:"):
            message = f"SGLang has no {name[:60]}, nor any other metric, unless `{_ENABLES}` is on"
            yield Problem(path, message, 'write `SM_SGLANG_ENABLE_METRICS: "true"` into its `environment`')


def _has_metrics(placed: PlacedContainer) -> bool:
    return any(it.option == _ENABLES and it.value.lower() != "false" for it in settings(placed))


@warning("IS351", _VLLM)
def metrics_have_their_present_names(spec: ModelSpec) -> Iterator[Problem]:
    """A metric of vLLM's should have the name that it has in the version of the image.

    An alarm on one that is gone never leaves INSUFFICIENT_DATA.
    """
    versions = [running.version for _, running in _serving(spec, "vllm") if running.version is not None]
    for path, name in _written(spec, "vllm:") if versions else ():
        since, now = _RENAMED.get(name, ((), ""))
        if now and all(numbers(it) >= since for it in versions):
            message = f"vLLM {versions[0]} has no {name}"
            yield Problem(path, message, f"write `{now}`, its present name")


@warning("IS352", _MAPPING)
def first_chunks_are_of_bidirectional_streams(spec: ModelSpec) -> Iterator[Problem]:
    """A metric of bidirectional streams should not be used for answers that a language model streams.

    AWS lists `FirstChunkLatency` and its like for bidirectional streams only, and nobody has shown that
    InvokeEndpointWithResponseStream makes any: without data, an alarm never goes off and nothing scales.
    """
    followed = [((*path, "metric"), rule.metric or "") for path, rule in alarm_rules(spec)]
    followed += [((*path, "metric"), step.metric or "") for path, _, step in steps(spec)]
    # IS849 and IS524 warn of all requests to a variant with components. No policy can track what these count.
    for path, name in () if hosts_components(spec) else followed:
        if lacks_its_streams(spec, name):
            message = f"{name} may have no data: AWS lists it for bidirectional streams only"
            is_of_errors = any(it.gets_better for it in metrics.find(name))
            yield Problem(path, message, "watch `InvocationModelErrors`" if is_of_errors else _INSTEAD)

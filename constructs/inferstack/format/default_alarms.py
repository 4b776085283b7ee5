"""The alarms and graphs that an endpoint gets where its spec says nothing about them, each with its reason.

The thresholds are opinions, and each alarm answers two questions: on which healthy endpoint would it always
be on, and on which sick one does it stay off?
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
"""

from typing import Literal

import msgspec

from inferstack.catalog.metrics import Hosting
from inferstack.format.alarms import AlarmRule

OfAdapters = Literal["all", "none", "of bases that go to zero"]


class DefaultAlarm(msgspec.Struct, frozen=True):
    """An alarm that an endpoint gets unless its spec has its own rule for the metric.

    ``false_alarm`` says on which healthy, common endpoint it would always be on, and why it is not there;
    ``blind_spot`` on which sick one it stays off, and what reports that instead.
    """

    rule: AlarmRule
    hostings: frozenset[Hosting]
    reason: str
    false_alarm: str
    blind_spot: str
    not_where_taken: bool = False
    """Leaves out parts of the endpoint that run a server of :data:`GPU_MEMORY_TAKEN`, or an image of which
    not even the name is known.
    """
    not_where_cached: bool = False
    """Leaves out endpoints with a multi-model container that keeps models until there is no room for another
    one, which fills memory and disk in normal operation.
    https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-caching.html
    """
    of_limit: bool = False
    """The metric is relative to the memory that a component reserves at least, the threshold to what it may
    take at most. Leaves out components that say nothing about the latter.
    """
    of_adapters: OfAdapters = "all"
    """Which adapters get the alarm, too. An adapter is files in its base's container, on the base's copies.
    An alarm on those would say what the base's alarm says, and AWS documents utilization only for what a
    component reserves.
    """


_INSTANCES: frozenset[Hosting] = frozenset({"instances", "multi-model", "async"})
_COMPONENTS: frozenset[Hosting] = frozenset({"inference-components"})
_ALL: frozenset[Hosting] = frozenset({*_INSTANCES, *_COMPONENTS, "serverless"})
_BETWEEN_READINGS = "Peaks between two readings; requests that fail then are counted."
_ONE_OF_SEVERAL = "One GPU of several that is full while the others are not: the metric is about all of them."
_TAKEN = "Servers that take the GPU's memory when they start, and images of which not even the name is known"
_KEPT_MODELS = "Multi-model endpoints that keep models until nothing more fits: left out."

DEFAULT_ALARMS: tuple[DefaultAlarm, ...] = (
    DefaultAlarm(
        AlarmRule(
            metric="Invocation5XXErrors",
            statistic="Average",
            threshold=0.01,
            evaluation_periods=5,
            datapoints_to_alarm=3,
        ),
        _ALL,
        "One request in a hundred fails on the server's side in most minutes.",
        "Endpoints with so much traffic that some request fails in every minute: a share is watched.",
        "One with requests in fewer than three of five minutes, or none at all: nobody is refused there. "
        # https://github.com/cloud-custodian/cloud-custodian/pull/11078, which asked live endpoints.
        "Asynchronous ones, if they lack the metric, as users found: InvocationFailures is watched, too.",
    ),
    DefaultAlarm(
        AlarmRule(
            metric="InvocationFailures",
            statistic="Sum",
            threshold=1,
            evaluation_periods=5,
            datapoints_to_alarm=3,
        ),
        frozenset({"async"}),
        "Requests fail in most minutes: the payload cannot be read, the answer cannot be stored, or the "
        "container fails.",
        "Queues into which clients put unreadable payloads every minute: write a rule of your own.",
        "One with a failure now and then, such as one an hour; each is reported to the error topic.",
    ),
    DefaultAlarm(
        AlarmRule(metric="MemoryUtilization", statistic="Maximum", threshold="90 %"),
        _INSTANCES | _COMPONENTS,
        "A container that runs out of memory is killed with all its requests.",
        _KEPT_MODELS,
        _BETWEEN_READINGS,
        not_where_cached=True,
    ),
    DefaultAlarm(
        AlarmRule(metric="DiskUtilization", statistic="Maximum", threshold="90 %"),
        _INSTANCES,
        "Model downloads and logs fail on a full disk.",
        _KEPT_MODELS,
        "A disk that a download fills within a minute: the endpoint does not get into service then.",
        not_where_cached=True,
    ),
    DefaultAlarm(
        AlarmRule(metric="GPUMemoryUtilization", statistic="Maximum", threshold="95 %", evaluation_periods=5),
        _INSTANCES,
        "The next batch or model will not fit into the GPU's memory.",
        f"{_TAKEN}, such as those of model packages; kept models: all left out.",
        _ONE_OF_SEVERAL,
        not_where_taken=True,
        not_where_cached=True,
    ),
    DefaultAlarm(
        AlarmRule(metric="ModelLoadingWaitTime", statistic="p90", threshold="30 s", evaluation_periods=5),
        frozenset({"multi-model"}),
        "Requests wait for models to be loaded: more models are in use than fit into memory.",
        "None: where one request in ten waits so long for five minutes, users notice.",
        "One whose models are small and loaded for each request: ModelCacheHit is on the dashboard.",
    ),
    DefaultAlarm(
        # A caller who retries once in five minutes counts as well.
        AlarmRule(
            metric="NoCapacityInvocationFailures",
            statistic="Sum",
            threshold=1,
            period=300,
            evaluation_periods=3,
        ),
        _COMPONENTS,
        "Requests are refused for longer than a component takes to wake from zero copies.",
        "None: a component that wakes within a quarter of an hour is off again.",
        "Callers who retry less than once in five minutes.",
        of_adapters="of bases that go to zero",
    ),
    DefaultAlarm(
        AlarmRule(
            metric="GPUMemoryUtilizationNormalized",
            statistic="Maximum",
            threshold="95 %",
            evaluation_periods=5,
        ),
        _COMPONENTS,
        "The next batch will not fit into the GPU's memory.",
        f"{_TAKEN}, such as those of model packages: left out.",
        _ONE_OF_SEVERAL,
        not_where_taken=True,
        of_adapters="none",
    ),
    DefaultAlarm(
        AlarmRule(metric="MemoryUtilizationNormalized", statistic="Maximum", threshold=90),
        _COMPONENTS,
        "A container that runs out of memory is killed with all its requests.",
        "Components that reserve less than they use, as most language models do: the share is of "
        "`max_memory_required_in_mb`, and without that the memory of the instance is watched instead.",
        _BETWEEN_READINGS,
        of_limit=True,
        of_adapters="none",
    ),
    DefaultAlarm(
        AlarmRule(
            metric="HasBacklogWithoutCapacity", statistic="Maximum", threshold=1, evaluation_periods=15
        ),
        frozenset({"async"}),
        "Requests wait in the queue and no instance works on them.",
        "None: an instance that starts within a quarter of an hour ends it.",
        "One whose instances run and answer nothing: ApproximateAgeOfOldestRequest is on the dashboard.",
    ),
)


class Widget(msgspec.Struct, frozen=True):
    """One graph of the dashboard: metrics with the statistics to draw."""

    title: str
    metrics: tuple[tuple[str, str], ...]
    of_language_models: bool = False
    """Leaves out endpoints where no engine is known that writes text."""


DASHBOARD_WIDGETS = (
    Widget(
        "Requests a minute",
        (("Invocations", "Sum"), ("InvocationsPerInstance", "Sum"), ("InvocationsPerCopy", "Sum")),
    ),
    Widget(
        "Requests at once",
        (("ConcurrentRequestsPerModel", "Maximum"), ("ConcurrentRequestsPerCopy", "Maximum")),
        # A request lasts for as long as its answer is written, and those that wait for the engine count, too:
        # it is what such an endpoint scales by.
        of_language_models=True,
    ),
    Widget(
        "Latency (µs)", (("ModelLatency", "p50"), ("ModelLatency", "p99"), ("OverheadLatency", "Average"))
    ),
    Widget("Latency of containers (µs)", (("ContainerLatency", "p50"), ("ContainerLatency", "p99"))),
    Widget(
        "Errors a minute",
        (
            ("Invocation4XXErrors", "Sum"),
            ("Invocation5XXErrors", "Sum"),
            ("InvocationModelErrors", "Sum"),
            ("NoCapacityInvocationFailures", "Sum"),
            ("InvocationFailures", "Sum"),
            ("RequestDownloadFailures", "Sum"),
            ("ResponseUploadFailures", "Sum"),
            ("ExpiredRequests", "Sum"),
        ),
    ),
    Widget(
        "Failing requests (share)",
        (("Invocation4XXErrors", "Average"), ("Invocation5XXErrors", "Average")),
    ),
    Widget("GPU (%)", (("GPUUtilization", "Average"), ("GPUMemoryUtilization", "Maximum"))),
    Widget(
        "GPU, normalized (%)",
        (("GPUUtilizationNormalized", "Average"), ("GPUMemoryUtilizationNormalized", "Maximum")),
    ),
    Widget(
        "CPU, memory, disk (%)",
        (("CPUUtilization", "Average"), ("MemoryUtilization", "Maximum"), ("DiskUtilization", "Maximum")),
    ),
    Widget(
        "CPU, memory, normalized (%)",
        (("CPUUtilizationNormalized", "Average"), ("MemoryUtilizationNormalized", "Maximum")),
    ),
    Widget(
        "Reserved by components (%)",
        (("GPUReservation", "Average"), ("CPUReservation", "Average"), ("MemoryReservation", "Average")),
    ),
    Widget("Loaded models", (("LoadedModelCount", "Average"), ("ModelCacheHit", "Average"))),
    Widget(
        "Loading of models (µs)",
        (
            ("ModelLoadingWaitTime", "p90"),
            ("ModelDownloadingTime", "Average"),
            ("ModelLoadingTime", "Average"),
            ("ModelUnloadingTime", "Average"),
        ),
    ),
    Widget(
        "Backlog",
        (
            ("ApproximateBacklogSize", "Maximum"),
            ("ApproximateBacklogSizePerInstance", "Average"),
            ("HasBacklogWithoutCapacity", "Maximum"),
        ),
    ),
    Widget("Age of the backlog (s)", (("ApproximateAgeOfOldestRequest", "Maximum"),)),
    Widget(
        "Concurrency in use (share)",
        (
            ("ServerlessConcurrentExecutionsUtilization", "Maximum"),
            ("ServerlessProvisionedConcurrencyUtilization", "Maximum"),
        ),
    ),
    Widget("Start of serverless capacity (µs)", (("ModelSetupTime", "p99"),)),
)
"""What is drawn, in order. A widget is left out if the endpoint publishes none of its metrics, and a line
if its metric may have no data, as those of requests to a variant with inference components.

What a default alarm watches is drawn with the alarm's statistic, so that the graph shows what went off.

FirstChunkLatency and MidStreamErrors are not drawn. AWS's page on the names of metrics has them for variants
and for bidirectional streams only, and nobody has shown that InvokeEndpointWithResponseStream makes any:
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-detailed-observability-metric-mapping.html
What engines say of themselves (waiting requests, tokens, KV cache) and ICECount are OpenTelemetry metrics,
which PromQL reads and a metric widget does not:
https://docs.aws.amazon.com/sagemaker/latest/dg/inference-monitoring.html
"""

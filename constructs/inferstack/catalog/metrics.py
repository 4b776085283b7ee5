"""The CloudWatch metrics of inference endpoints: where each one is published, what it counts, in which unit.

From https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html and its sibling pages for
asynchronous (async-inference-monitor.html) and serverless (serverless-endpoints-monitoring.html) endpoints.
The metrics of bidirectional streams are from monitoring-detailed-observability-metric-mapping.html;
multi-model endpoints do not have them, since a request for a stream cannot name one of many models.
ContainerLatency is from multi-container-metrics.html: other metrics have values per container, too, but
`metric` stands for those of the variant.
An asynchronous endpoint publishes neither Invocations nor OverheadLatency, a serverless one hardly anything
about instances; an alarm on a metric that is not published never leaves INSUFFICIENT_DATA.
"""

import csv
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from inferstack.catalog import cloudformation, text
from inferstack.catalog.instances import Device

Dimensions = Literal["variant", "component", "container", "endpoint"]
Namespace = Literal["AWS/SageMaker", "/aws/sagemaker/Endpoints", "/aws/sagemaker/InferenceComponents"]
Hosting = Literal["instances", "multi-model", "inference-components", "async", "serverless"]
"""How an endpoint runs its models, which determines the metrics that it publishes."""

ENDPOINT_NAME = "EndpointName"
VARIANT_NAME = "VariantName"
COMPONENT_NAME = "InferenceComponentName"
CONTAINER_NAME = "ContainerName"
"""CloudWatch's names of the dimensions."""

# Those for each word of ``Metric.dimensions``.
DIMENSION_NAMES: Mapping[Dimensions, tuple[str, ...]] = MappingProxyType(
    {
        "variant": (ENDPOINT_NAME, VARIANT_NAME),
        "component": (COMPONENT_NAME,),
        "container": (ENDPOINT_NAME, VARIANT_NAME, CONTAINER_NAME),
        "endpoint": (ENDPOINT_NAME,),
    }
)


class Metric(msgspec.Struct, frozen=True):
    """One metric with one set of dimensions; the same name may exist with another set.

    ``unit`` is the documented StandardUnit of CloudWatch, for interpreting values; an alarm need not name it.
    ``statistic`` is what an alarm should watch by default. ``hostings`` are the kinds of endpoint that
    publish it; "instances" stands for real-time endpoints whose variants name their model. ``per_device``
    says that the value is a sum over an instance's devices, 0 to 100 for each of them.
    """

    name: str
    namespace: Namespace
    dimensions: Dimensions
    unit: str
    statistic: str
    hostings: frozenset[Hosting]
    description: str
    per_device: Device | None = None

    @property
    def most(self) -> int | None:
        """The largest possible value (per device, if it sums over devices); None if there is no limit.

        This applies to an average or a maximum; a sum over a period, or a count of readings, has no limit.
        """
        if self.unit == "Percent":
            return None if self.name == _OF_A_RESERVATION else 100
        return 1 if self.name in _SHARES else None

    @property
    def averages_to_a_rate(self) -> bool:
        """Whether the average is a share of the requests: each counts as 1 or 0."""
        return self.name in _ONE_OR_ZERO

    @property
    def gets_better(self) -> Literal["up", "down"] | None:
        """In which direction it gets better, if only one of the two can be good."""
        if self.name in _FAILURES:
            return "down"
        return "up" if self.name == "ModelCacheHit" else None

    @property
    def falls_with_capacity(self) -> bool:
        """Whether it falls when instances or copies are added, so that a policy can hold it at a target."""
        return self.name not in _DO_NOT_FALL

    @property
    def is_of_instances(self) -> bool:
        """Whether it is measured on instances or containers, not derived from requests."""
        return self.namespace != _REQUESTS

    @property
    def is_of_requests_to_variant(self) -> bool:
        """Whether it counts or times requests to a variant as a whole.

        With inference components, AWS's page on metrics has these for the variant, too. On live endpoints
        only the components had data, as Cloud Custodian's page on filtering endpoints by metrics says:
        https://github.com/cloud-custodian/cloud-custodian
        """
        return self.dimensions == "variant" and not self.is_of_instances

    @property
    def is_of_bidirectional_streams(self) -> bool:
        """Whether AWS lists it for requests that are bidirectional streams only."""
        return self.name.startswith("FirstChunk") or self.name == "MidStreamErrors"

    @property
    def is_about_gpus(self) -> bool:
        """Whether only instances with GPUs publish it."""
        return self.name.startswith("GPU")


_REQUESTS = "AWS/SageMaker"
# A copy may use more than the memory that it has reserved.
_OF_A_RESERVATION = "MemoryUtilizationNormalized"
# Shares that AWS publishes as 0 to 1, not in percent.
_SHARES = frozenset(
    {
        "ModelCacheHit",
        "ServerlessConcurrentExecutionsUtilization",
        "ServerlessProvisionedConcurrencyUtilization",
    }
)

# AWS's pages write the last one with three s. What endpoints publish has two, as recorded for
# tests/terraform/sagemaker_endpoint_async_metrics of https://github.com/cloud-custodian/cloud-custodian.
COUNTS_OF_REQUESTS = frozenset(
    {"Invocations", "InvocationsPerInstance", "InvocationsPerCopy", "InvocationsProcessed"}
)
"""Metrics that each request adds to. Without requests they may have no data: AWS does not say."""

# monitoring-cloudwatch.html: "For each 4xx response, 1 is sent; otherwise, 0 is sent."
_ONE_OR_ZERO = frozenset({"Invocation4XXErrors", "Invocation5XXErrors", "InvocationModelErrors"})

_FAILURES = _ONE_OR_ZERO | {
    *("InvocationFailures", "NoCapacityInvocationFailures", "ExpiredRequests", "MidStreamErrors"),
    *("RequestDownloadFailures", "ResponseUploadFailures", "NotificationFailures"),
}

# Each of these is about the endpoint's traffic or files as a whole, however many instances share the work.
_DO_NOT_FALL = frozenset(
    {
        *("Invocations", "InvocationsProcessed", "Invocation4XXErrors", "Invocation5XXErrors"),
        *("InvocationModelErrors", "InvocationFailures", "NoCapacityInvocationFailures", "ExpiredRequests"),
        *("RequestDownloadFailures", "ResponseUploadFailures", "NotificationFailures"),
        *("ModelCacheHit", "LoadedModelCount", "DiskUtilization", "HasBacklogWithoutCapacity"),
        *("ApproximateBacklogSize", "MidStreamErrors"),
    }
)


class PredefinedScalingMetric(msgspec.Struct, frozen=True):
    """A metric type that a target-tracking policy can name, and the scalable dimension that it belongs to.

    ``metric`` is CloudWatch's name of the metric that it follows, though some types read it more often than
    CloudWatch shows it. ``hostings`` are the kinds of endpoint that publish that metric.
    """

    name: str
    scalable_dimension: str
    metric: str
    hostings: frozenset[Hosting]
    description: str


@cache
def find(name: str, hosting: Hosting | None = None) -> tuple[Metric, ...]:
    """Metrics with this name that endpoints with this hosting publish (None: with any); may be empty.

    With inference components, a name can mean both a variant's metric and a component's: then both are found.
    """
    return tuple(it for it in _table() if it.name == name and (hosting is None or hosting in it.hostings))


@cache
def names(hosting: Hosting | None = None) -> tuple[str, ...]:
    """Names of the metrics that endpoints with this hosting publish (None: with any), sorted, each once."""
    return tuple(sorted({it.name for it in _table() if hosting is None or hosting in it.hostings}))


@cache
def simple_statistics() -> frozenset[str]:
    """The statistics that a scaling policy can track. Percentiles are for alarms only, under another key."""
    return frozenset(cloudformation.shape("AWS::CloudWatch::Alarm")["statistic"].schema["enum"])


def scaling_statistic(metric: Metric) -> str:
    """The statistic for target tracking: the average for shares, the metric's usual one for counts."""
    if metric.unit != "Percent" and metric.statistic in simple_statistics():
        return metric.statistic
    return "Average"


@cache
def namespaces() -> tuple[str, ...]:
    """The namespaces that endpoints publish metrics in."""
    return tuple(sorted({it.namespace for it in _table()}))


def find_predefined(name: str) -> PredefinedScalingMetric | None:
    """The predefined scaling metric type with this name, or None."""
    return next((it for it in PREDEFINED_SCALING_METRICS if it.name == name), None)


INSTANCE_COUNT = "sagemaker:variant:DesiredInstanceCount"
PROVISIONED_CONCURRENCY = "sagemaker:variant:DesiredProvisionedConcurrency"
COPY_COUNT = "sagemaker:inference-component:DesiredCopyCount"
"""Scalable dimensions: the counts that Application Auto Scaling can change."""

# Without "async": async-inference-monitor.html lists every metric of such endpoints, and none of these.
_HOSTINGS_SCALED: Mapping[str, frozenset[Hosting]] = MappingProxyType(
    {
        INSTANCE_COUNT: frozenset({"instances", "multi-model", "inference-components"}),
        PROVISIONED_CONCURRENCY: frozenset({"serverless"}),
        # Only inference components have copies, so whatever scales copies also publishes the metric.
        COPY_COUNT: frozenset(get_args(Hosting)),
    }
)

PREDEFINED_SCALING_METRICS: tuple[PredefinedScalingMetric, ...] = tuple(
    PredefinedScalingMetric(f"SageMaker{name}", dimension, metric, _HOSTINGS_SCALED[dimension], description)
    for name, dimension, metric, description in (
        (
            "VariantInvocationsPerInstance",
            INSTANCE_COUNT,
            "InvocationsPerInstance",
            "Requests a minute and instance.",
        ),
        (
            "VariantConcurrentRequestsPerModelHighResolution",
            INSTANCE_COUNT,
            "ConcurrentRequestsPerModel",
            "Requests at once.",
        ),
        (
            "VariantProvisionedConcurrencyUtilization",
            PROVISIONED_CONCURRENCY,
            "ServerlessProvisionedConcurrencyUtilization",
            "Share of it in use, 0 to 1.",
        ),
        (
            "InferenceComponentInvocationsPerCopy",
            COPY_COUNT,
            "InvocationsPerCopy",
            "Requests a minute and copy.",
        ),
        (
            "InferenceComponentConcurrentRequestsPerCopyHighResolution",
            COPY_COUNT,
            "ConcurrentRequestsPerCopy",
            "Requests at once.",
        ),
    )
)


@cache
def _table() -> tuple[Metric, ...]:
    rows = csv.DictReader(text("metrics.csv").splitlines())
    cells = [
        {**row, "hostings": row["hostings"].split(), "per_device": row["per_device"] or None} for row in rows
    ]
    return msgspec.convert(cells, tuple[Metric, ...])

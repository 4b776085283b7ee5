"""The CloudWatch metrics of inference endpoints: where each one is, what it counts, in which unit.

From https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html and its siblings for
asynchronous (async-inference-monitor.html) and serverless (serverless-endpoints-monitoring.html) endpoints.
Those of streams are from monitoring-detailed-observability-metric-mapping.html; requests for a stream name
none of many models.
An asynchronous endpoint publishes neither Invocations nor OverheadLatency, a serverless one hardly anything
about instances; an alarm on what is not published never leaves INSUFFICIENT_DATA.
"""

import csv
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from inferstack.catalog import cloudformation
from inferstack.catalog._data import text
from inferstack.catalog.instances import Device

Dimensions = Literal["variant", "component", "endpoint"]
Hosting = Literal["instances", "multi-model", "inference-components", "async", "serverless"]
"""How an endpoint runs its models, which decides the metrics that it publishes."""

# The dimension names that stand behind each word of ``Metric.dimensions``.
DIMENSION_NAMES: Mapping[Dimensions, tuple[str, ...]] = MappingProxyType(
    {
        "variant": ("EndpointName", "VariantName"),
        "component": ("InferenceComponentName",),
        "endpoint": ("EndpointName",),
    }
)


class Metric(msgspec.Struct, frozen=True):
    """One metric with one set of dimensions; the same name may exist with another set.

    ``unit`` is CloudWatch's StandardUnit as documented, to read a value by: an alarm need not name it.
    ``statistic`` is what an alarm should look at unless told otherwise.
    ``hostings`` are the endpoints that publish it: "instances" stands for real-time
    endpoints whose variants name their model. ``per_device`` says that the value is a sum over an
    instance's devices, 0 to 100 for each of them.
    """

    name: str
    namespace: str
    dimensions: Dimensions
    unit: str
    statistic: str
    hostings: frozenset[Hosting]
    description: str
    per_device: Device | None = None

    @property
    def most(self) -> int | None:
        """What it can be at most, of each device if it sums over devices; None where nothing bounds it.

        That goes for an average or a maximum; a sum over a period, and a count of readings, has no bound.
        """
        if self.unit == "Percent":
            return 100
        return 1 if self.name in _SHARES else None


# Shares that AWS publishes from 0 to 1, and not in percent.
_SHARES = frozenset(
    {
        "ModelCacheHit",
        "ServerlessConcurrentExecutionsUtilization",
        "ServerlessProvisionedConcurrencyUtilization",
    }
)


class PredefinedScalingMetric(msgspec.Struct, frozen=True):
    """A metric type that a target-tracking policy can name, and the scalable dimension that it belongs to.

    ``metric`` is what it follows: by CloudWatch's name, though some types read it more often than CloudWatch
    shows it. ``hostings`` are the endpoints that publish that.
    """

    name: str
    scalable_dimension: str
    metric: str
    hostings: frozenset[Hosting]
    description: str


@cache
def find(name: str, hosting: Hosting | None = None) -> tuple[Metric, ...]:
    """Metrics of this name that an endpoint of this hosting publishes (None: of any); maybe none at all.

    With inference components a name can mean a variant's metric or a component's: then both are found.
    """
    return tuple(it for it in _table() if it.name == name and (hosting is None or hosting in it.hostings))


@cache
def names(hosting: Hosting | None = None) -> tuple[str, ...]:
    """Names of the metrics that an endpoint of this hosting publishes (of any if None), sorted, each once."""
    return tuple(sorted({it.name for it in _table() if hosting is None or hosting in it.hostings}))


@cache
def simple_statistics() -> frozenset[str]:
    """What a scaling policy can track; percentiles are for alarms only, which have another key for them."""
    return frozenset(cloudformation.shape("AWS::CloudWatch::Alarm")["statistic"].schema["enum"])


def scaling_statistic(metric: Metric) -> str:
    """What a target-tracking policy averages: shares by their mean, counts as they are counted."""
    if metric.unit != "Percent" and metric.statistic in simple_statistics():
        return metric.statistic
    return "Average"


@cache
def namespaces() -> tuple[str, ...]:
    """The namespaces that endpoints publish in."""
    return tuple(sorted({it.namespace for it in _table()}))


def find_predefined(name: str) -> PredefinedScalingMetric | None:
    """The predefined scaling metric type of this name, or None."""
    return next((it for it in PREDEFINED_SCALING_METRICS if it.name == name), None)


INSTANCE_COUNT = "sagemaker:variant:DesiredInstanceCount"
PROVISIONED_CONCURRENCY = "sagemaker:variant:DesiredProvisionedConcurrency"
COPY_COUNT = "sagemaker:inference-component:DesiredCopyCount"
"""Scalable dimensions: what Application Auto Scaling changes the number of."""

# Of asynchronous endpoints async-inference-monitor.html lists every metric, and none of these is there.
_HOSTINGS_SCALED: Mapping[str, frozenset[Hosting]] = MappingProxyType(
    {
        INSTANCE_COUNT: frozenset({"instances", "multi-model", "inference-components"}),
        PROVISIONED_CONCURRENCY: frozenset({"serverless"}),
        # Only inference components have copies: whoever scales them has what publishes the metric.
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

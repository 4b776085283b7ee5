"""The CloudWatch metrics of inference endpoints: where each one is, what it counts, in which unit.

From https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html and its siblings for
asynchronous (async-inference-monitor.html) and serverless (serverless-endpoints-monitoring.html) endpoints.
An asynchronous endpoint publishes neither Invocations nor OverheadLatency, a serverless one hardly anything
about instances; an alarm on what is not published never leaves INSUFFICIENT_DATA.
"""

import csv
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

import msgspec

from inferstack.catalog._data import text

Dimensions = Literal["variant", "component", "endpoint"]
Kind = Literal["instances", "multi-model", "inference-components", "async", "serverless"]
Device = Literal["gpu", "vcpu"]

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
    ``kinds`` are the endpoints that publish it, see :data:`Kind`: "instances" stands for real-time
    endpoints whose variants name their model. ``per_device`` says that the value is a sum over an
    instance's devices, 0 to 100 for each of them.
    """

    name: str
    namespace: str
    dimensions: Dimensions
    unit: str
    statistic: str
    kinds: frozenset[Kind]
    description: str
    per_device: Device | None = None


class PredefinedScalingMetric(msgspec.Struct, frozen=True):
    """A metric type that a target-tracking policy can name, and the scalable dimension that it belongs to."""

    name: str
    scalable_dimension: str
    description: str


@cache
def find(name: str, kind: Kind | None = None) -> tuple[Metric, ...]:
    """Metrics of this name that an endpoint of ``kind`` publishes (None: of any kind); maybe none at all.

    With inference components a name can mean a variant's metric or a component's: then both are found.
    """
    return tuple(it for it in _table() if it.name == name and (kind is None or kind in it.kinds))


def names(kind: Kind | None = None) -> tuple[str, ...]:
    """Names of the metrics that an endpoint of ``kind`` publishes (any kind if None), sorted, each once."""
    return tuple(sorted({it.name for it in _table() if kind is None or kind in it.kinds}))


def find_predefined(name: str) -> PredefinedScalingMetric | None:
    """The predefined scaling metric type of this name, or None."""
    return next((it for it in PREDEFINED_SCALING_METRICS if it.name == name), None)


_INSTANCE_COUNT = "sagemaker:variant:DesiredInstanceCount"
_PROVISIONED = "sagemaker:variant:DesiredProvisionedConcurrency"
_COPY_COUNT = "sagemaker:inference-component:DesiredCopyCount"

PREDEFINED_SCALING_METRICS: tuple[PredefinedScalingMetric, ...] = tuple(
    PredefinedScalingMetric(f"SageMaker{name}", dimension, description)
    for name, dimension, description in (
        ("VariantInvocationsPerInstance", _INSTANCE_COUNT, "Requests a minute and instance."),
        ("VariantConcurrentRequestsPerModelHighResolution", _INSTANCE_COUNT, "Requests at once."),
        ("VariantProvisionedConcurrencyUtilization", _PROVISIONED, "Share of it in use, 0 to 1."),
        ("InferenceComponentInvocationsPerCopy", _COPY_COUNT, "Requests a minute and copy."),
        ("InferenceComponentConcurrentRequestsPerCopyHighResolution", _COPY_COUNT, "Requests at once."),
    )
)


@cache
def _table() -> tuple[Metric, ...]:
    rows = csv.DictReader(text("metrics.csv").splitlines())
    cells = [{**row, "kinds": row["kinds"].split(), "per_device": row["per_device"] or None} for row in rows]
    return msgspec.convert(cells, tuple[Metric, ...])

"""How CloudFormation names a metric: its dimensions, its unit."""

from inferstack.catalog import metrics
from inferstack.catalog.metrics import Metric
from inferstack.resolve.resource import Value
from inferstack.spec.parts.quantity import is_time


def dimensions(values: dict[str, str], metric: Metric) -> list[Value]:
    """The metric's dimensions as CloudFormation wants them."""
    return [{"Name": name, "Value": values[name]} for name in metrics.DIMENSION_NAMES[metric.dimensions]]


def named_unit(metric: Metric) -> str | None:
    """The unit to name in an alarm or a policy, or None to take any."""
    # CloudWatch finds no data for an alarm that names another unit than the publisher did, so only the
    # units that matter for reading the number are named.
    return metric.unit if metric.unit == "Percent" or is_time(metric) else None

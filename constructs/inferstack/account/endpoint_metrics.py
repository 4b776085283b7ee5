"""What CloudWatch has recorded of a deployed endpoint. Nothing is changed.

It takes ``sagemaker:DescribeEndpoint``, ``sagemaker:DescribeEndpointConfig`` and
``cloudwatch:GetMetricData``.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.account.existing import endpoint_with_config, pages
from inferstack.facts.publications import of_variant
from inferstack.problems.words import listed
from inferstack.sizing.observed import query

_RIGHTS = (
    "reading what an endpoint did needs sagemaker:DescribeEndpoint, sagemaker:DescribeEndpointConfig and "
    "cloudwatch:GetMetricData"
)


class RunningFleet(msgspec.Struct, frozen=True):
    """A variant as it runs now, and since when."""

    endpoint: str
    variant: str
    instance_type: str
    since: datetime
    """When its configuration was made: what came before may have run on something else."""


def running_fleet(connection: Connection, region: str, endpoint: str, variant: str) -> RunningFleet:
    """The only variant of an endpoint, or of several the one of this name.

    Raises:
        AccountError: when there is none, or it does not run on instances of one type.
    """
    with explained(f"the endpoint {endpoint} cannot be read", rights=_RIGHTS):
        _, config = endpoint_with_config(connection, region, endpoint)
        by_name = {it["VariantName"]: it for it in config["ProductionVariants"]}
        found = next(iter(by_name.values())) if len(by_name) == 1 else by_name.get(variant)
        if found is None:
            names = listed([*by_name], last="and", quote="")
            raise AccountError(f"the endpoint {endpoint} has no variant {variant}, only {names}")
        name = found["VariantName"]
        if "InstanceType" not in found:
            what = "is serverless" if "ServerlessConfig" in found else "may run on several instance types"
            raise AccountError(f"{endpoint} {name} {what}, so its instances cannot be counted")
        return RunningFleet(endpoint, name, found["InstanceType"], config["CreationTime"])


def recorded_by_cloudwatch(
    connection: Connection, region: str, fleet: RunningFleet, percentile: Decimal | None, days: int
) -> str:
    """CloudWatch's answer about the last days of a variant, all pages of it, as JSON.

    Raises:
        AccountError: when it cannot be asked.
    """
    request = query(of_variant(fleet.endpoint, fleet.variant), percentile, datetime.now(UTC), days)
    with explained(f"what {fleet.endpoint} did cannot be read", rights=_RIGHTS):
        client = connection.client("cloudwatch", region)
        results = [*pages(client, "get_metric_data", "MetricDataResults", **request)]
    if not any(it.get("Values") for it in results):
        of_what = f"{fleet.endpoint} {fleet.variant} in {region} since {request['StartTime']}"
        said = f"CloudWatch has no data of {of_what}"
        raise AccountError(f"{said}; check its name and region, or ask for more with `--days`")
    times = {key: request[key] for key in ("StartTime", "EndTime")}
    answer: Mapping[str, Any] = {**times, "MetricDataResults": results}
    return json.dumps(answer, default=str)

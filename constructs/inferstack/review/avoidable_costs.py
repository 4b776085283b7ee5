"""What may cost more than it has to: capacity that nothing asks for, and settings that are charged for.

What AWS says about it:

- Provisioned concurrency is paid for as long as it is configured, with or without requests.
  https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html
- Asynchronous endpoints, and those with inference components, can scale to no instance.
  https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-autoscale.html
  https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
- A blue/green update runs a whole fleet more, a rolling one only a batch.
  https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-rolling.html
- Captured data is in S3, which charges for storage and requests.
  https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture.html
"""

from collections.abc import Iterator, Sequence

from inferstack.catalog.resource_types import CONFIG_TYPE
from inferstack.endpoint import destinations
from inferstack.endpoint.deployed import mapping
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_template import Picture
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import Stack
from inferstack.review.data import Finding, Reviewed

_FREE_DASHBOARDS, _FREE_METRICS = 3, 50
"""Dashboards without charge, and how many metrics each of them may show.
https://aws.amazon.com/cloudwatch/pricing/
"""
_CHARGED = (
    # https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch-enhanced-metrics.html
    (
        "EnableEnhancedMetrics",
        "enhanced metrics are on: CloudWatch charges for those of each instance, container and GPU",
        "remove `enable_enhanced_metrics` where nobody looks at them",
    ),
    # On by default: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricsConfig.html
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/metrics-otel-pricing.html
    (
        "EnableDetailedObservability",
        "detailed observability is on: CloudWatch charges for its metrics by the gigabyte",
        "write `enable_detailed_observability: false` where nobody looks at them",
    ),
)
"""Settings of metrics, what they cost, and how to turn them off."""


def avoidable_costs(key: str, stack: Stack, endpoint: Picture) -> Iterator[Finding]:
    """What stands out in one endpoint."""
    for place, message, fix in (*_idle(stack, endpoint), *_settings(stack)):
        yield _finding((key,), place, message, fix)


def _finding(keys: tuple[str, ...], place: Place, message: str, fix: str) -> Finding:
    return Finding(effect="costly", severity="info", endpoints=keys, message=message, fix=fix, place=place)


Said = tuple[Place, str, str]


def _idle(stack: Stack, endpoint: Picture) -> Iterator[Said]:
    scaled = {it.of for it in endpoint.scaling}
    for fleet in endpoint.fleets:
        counts = fleet.instances
        ready = None if fleet.serverless is None else fleet.serverless.provisioned_concurrency
        if ready and fleet.name not in scaled:
            message = f"`{fleet.name}` keeps {ready} requests' worth of capacity ready at all times"
            yield fleet.place, message, "scale its provisioned concurrency, or do without"
        if counts is None or not counts.min:
            continue
        if endpoint.hosting == "asynchronous":
            message = f"{_keeps(fleet)} even while no request waits"
            yield fleet.place, message, "an asynchronous endpoint can scale to 0 instances"
        elif _copies_may_go(endpoint, fleet):
            message = f"{_keeps(fleet)} even while its components have no copy"
            yield fleet.place, message, "write `managed_instance_scaling: {min_instance_count: 0}`"
        elif counts.min == counts.max and counts.max is not None and counts.max > 1:
            message = f"`{fleet.name}` always runs {counts.max} instances: it does not scale"
            yield fleet.place, message, "add `autoscaling`, unless the load is always the same"


def _keeps(fleet: Fleet) -> str:
    count = 0 if fleet.instances is None else fleet.instances.min
    return f"`{fleet.name}` keeps {count} instance{'' if count == 1 else 's'}"


def _copies_may_go(endpoint: Picture, fleet: Fleet) -> bool:
    here = [it for it in endpoint.components if it.variant == fleet.name and it.base is None]
    return bool(here) and all(it.copies.min == 0 for it in here)


def _settings(stack: Stack) -> Iterator[Said]:
    logical_id, config = stack.first(CONFIG_TYPE)
    metrics = mapping(config.get("MetricsConfig"))
    at = stack.place_of(logical_id, ("MetricsConfig",))
    for key, message, fix in _CHARGED:
        if metrics.get(key) is True:
            yield at, message, fix
    capture = mapping(config.get("DataCaptureConfig"))
    share = stack.number(capture.get("InitialSamplingPercentage"))
    if capture.get("EnableCapture", True) is True and capture and share == 100:
        place = stack.place_of(logical_id, ("DataCaptureConfig", "InitialSamplingPercentage"))
        what = destinations.capture(stack)
        yield place, f"every request is captured: {what}", "sample a few percent of them"


# ---------------------------------------------------------------- all endpoints together


def avoidable_together(reviewed: Sequence[Reviewed]) -> Iterator[Finding]:
    """What is said once about all endpoints, if there are new ones."""
    new = [it for it in reviewed if it.fate in ("new", "not compared")]
    if new:
        yield from _doubled(new)
        yield from _dashboards([it.after for it in reviewed if it.after is not None])


def _doubled(new: Sequence[Reviewed]) -> Iterator[Finding]:
    """What updates will take. Where something is compared, this is in what the update does."""
    ends = [(it.key, it.after) for it in new if it.after is not None]
    # A rolling update is for a single variant.
    for is_single, fix in (
        (True, "`rolling_update_policy` needs one batch more"),
        (False, "update while few are running"),
    ):
        chosen = [(key, end) for key, end in ends if (len(end.fleets) == 1) is is_single]
        fleets = [fleet for _, end in chosen for fleet in end.fleets if _is_doubled(fleet)]
        if fleets:
            keys = tuple(key for key, end in chosen if any(map(_is_doubled, end.fleets)))
            most = max(fleet.update.instances or 0 for fleet in fleets)
            one = f"an update of `{fleets[0].name}` runs up to {most} more instances until it is done"
            several = f"an update runs a second fleet until it is done, up to {most} instances"
            yield _finding(keys, fleets[0].place, one if len(fleets) == 1 else several, fix)


def _is_doubled(fleet: Fleet) -> bool:
    return fleet.update.how == "blue/green" and (fleet.update.instances or 0) > 1 and not fleet.is_shadow


def _dashboards(found: Sequence[Picture]) -> Iterator[Finding]:
    """Dashboards beyond those that an account has for free."""
    for account in dict.fromkeys(it.account for it in found):
        here = [it for it in found if it.account == account and it.dashboards]
        count = sum(it.dashboards for it in here)
        if count > _FREE_DASHBOARDS:
            where = "an account" if account is None else f"the account {account}"
            charged = f"all but the first {_FREE_DASHBOARDS}, and for any with over {_FREE_METRICS} metrics"
            message = f"{count} dashboards in {where}: CloudWatch charges for {charged}"
            fix = "write `dashboard: false` where nobody looks at one"
            yield _finding((), here[-1].place, message, fix)

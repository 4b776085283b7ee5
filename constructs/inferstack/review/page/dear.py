"""What may cost more than it has to: capacity that nothing asks for, and settings that are charged for."""

from collections.abc import Iterator, Sequence

from inferstack.review import deployed
from inferstack.review.deployed import mapping
from inferstack.review.page.data import Endpoint, Fleet, Place
from inferstack.review.page.outcome import Finding, Reviewed
from inferstack.review.page.parts.stack import Stack

_FREE_DASHBOARDS = 3
"""https://aws.amazon.com/cloudwatch/pricing/"""


def dear(key: str, stack: Stack, endpoint: Endpoint, *, is_new: bool) -> Iterator[Finding]:
    """What stands out in one endpoint; for a new one, also what its updates will take."""
    for place, message, fix in (
        *_idle(stack, endpoint),
        *(_doubled(endpoint) if is_new else ()),
        *_settings(stack),
    ):
        yield Finding(effect="dear", severity="info", endpoints=(key,), message=message, fix=fix, place=place)


Said = tuple[Place, str, str]


def _idle(stack: Stack, endpoint: Endpoint) -> Iterator[Said]:
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
        elif counts.min == counts.max and counts.max > 1:
            message = f"`{fleet.name}` always runs {counts.max} instances: it does not scale"
            yield fleet.place, message, "add `autoscaling`, unless the load is always the same"


def _keeps(fleet: Fleet) -> str:
    count = 0 if fleet.instances is None else fleet.instances.min
    return f"`{fleet.name}` keeps {count} instance{'' if count == 1 else 's'}"


def _copies_may_go(endpoint: Endpoint, fleet: Fleet) -> bool:
    here = [it for it in endpoint.components if it.variant == fleet.name and it.base is None]
    return bool(here) and all(it.copies.min == 0 for it in here)


def _doubled(endpoint: Endpoint) -> Iterator[Said]:
    for fleet in endpoint.fleets:
        room = fleet.update
        if room.how == "blue/green" and room.instances > 1 and not fleet.is_shadow:
            message = f"an update of `{fleet.name}` runs up to {room.instances} more instances meanwhile"
            alone = len(endpoint.fleets) == 1
            fix = "`rolling_update_policy` needs one batch more" if alone else "update while few are running"
            yield fleet.place, message, fix


def _settings(stack: Stack) -> Iterator[Said]:
    logical_id, config = stack.first(deployed.CONFIG_TYPE)
    metrics = mapping(config.get("MetricsConfig"))
    at = stack.place_of(logical_id, ("MetricsConfig",))
    for key, what in (
        ("EnableDetailedObservability", "detailed observability"),
        ("EnableEnhancedMetrics", "enhanced metrics"),
    ):
        if metrics.get(key) is True:
            yield at, f"{what} is on, which CloudWatch charges for", "turn it off where nobody looks at it"
    capture = mapping(config.get("DataCaptureConfig"))
    share = stack.number(capture.get("InitialSamplingPercentage"))
    if capture.get("EnableCapture", True) is True and capture and share == 100:
        place = stack.place_of(logical_id, ("DataCaptureConfig", "InitialSamplingPercentage"))
        yield place, "every request and response is captured and stored", "sample a few percent of them"


def dashboards(reviewed: Sequence[Reviewed]) -> Iterator[Finding]:
    """Dashboards beyond those that an account has for free, if there are new ones."""
    if not any(it.fate in ("new", "not compared") for it in reviewed):
        return
    found = [it.after for it in reviewed if it.after is not None]
    for account in dict.fromkeys(it.account for it in found):
        here = [it for it in found if it.account == account and it.dashboards]
        count = sum(it.dashboards for it in here)
        if count > _FREE_DASHBOARDS:
            where = "an account" if account is None else f"the account {account}"
            yield Finding(
                effect="dear",
                severity="info",
                endpoints=(),
                message=f"{count} dashboards in {where}, of which CloudWatch charges for all but "
                f"{_FREE_DASHBOARDS}",
                fix="write `dashboard: false` where nobody looks at one",
                place=here[-1].place,
            )

"""What the endpoints of an account and region take of its quotas now."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.account.connection import UnusableAnswerError
from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import DESCRIBE_CONFIG, DESCRIBE_ENDPOINT, LIST_ENDPOINTS
from inferstack.endpoint.quota import CONCURRENCY, quota_name

Usage = Mapping[str, int]
"""How much of each quota, by its name, an endpoint takes."""
_LISTS = ("ProductionVariants", "ShadowProductionVariants")
# It has failed to start, or is being deleted: its variants may be gone.
_WITHOUT_VARIANTS = frozenset({"Failed", "Deleting", "OutOfService"})


def usage_by_endpoint(asking: Asking) -> Mapping[str, Usage]:
    """What each endpoint takes, by its name.

    Raises:
        AccountError: when AWS does not say it of all of them.
    """
    found: Mapping[str, Usage] = asking.once(("usage",), lambda: dict(_all(asking)))
    return found


def _all(asking: Asking) -> Iterator[tuple[str, Usage]]:
    for summary in asking.every(LIST_ENDPOINTS, "Endpoints"):
        name = summary["EndpointName"]
        described = asking.ask(DESCRIBE_ENDPOINT, EndpointName=name)
        if described is not None:
            taken: Counter[str] = Counter()
            for quota, count in _of(described, asking):
                taken[quota] += count
            yield name, taken


def _of(described: Any, asking: Asking) -> Iterator[tuple[str, int]]:
    is_gone = described["EndpointStatus"] in _WITHOUT_VARIANTS and "ProductionVariants" not in described
    if is_gone:
        return
    config = asking.ask(DESCRIBE_CONFIG, EndpointConfigName=described["EndpointConfigName"])
    configured = {} if config is None else _by_name(config)
    for variant in _variants(described):
        yield from _of_variant(variant, configured.get(variant["VariantName"], {}), described)
    # While an update runs, its new fleet counts as well. It names the types itself.
    pending = described.get("PendingDeploymentSummary")
    for variant in () if pending is None else _variants(pending, needed=False):
        yield from _of_variant(variant, variant, described)


def _variants(found: Any, *, needed: bool = True) -> Iterator[Any]:
    production, shadow = _LISTS
    yield from found[production] if needed else found.get(production, ())
    yield from found.get(shadow, ())


def _by_name(config: Any) -> dict[str, Any]:
    return {it.get("VariantName"): it for name in _LISTS for it in config.get(name, ())}


def _of_variant(variant: Any, configured: Any, described: Any) -> Iterator[tuple[str, int]]:
    serverless = variant.get("CurrentServerlessConfig", variant.get("DesiredServerlessConfig"))
    if serverless is not None:
        yield CONCURRENCY, serverless["MaxConcurrency"]
        return
    pools = variant.get("InstancePools")
    if pools is not None:
        yield from ((quota_name(it["InstanceType"]), it["CurrentInstanceCount"]) for it in pools)
        return
    counts = [variant.get(key) for key in ("CurrentInstanceCount", "DesiredInstanceCount")]
    known = [it for it in counts if it is not None]
    instance_type = configured.get("InstanceType")
    if instance_type is None or not known:
        name, lacking = described["EndpointName"], "instance type" if known else "number of instances"
        raise UnusableAnswerError(f"AWS does not say the {lacking} of the endpoint {name}")
    yield quota_name(instance_type), max(known)

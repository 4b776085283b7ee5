"""The quotas that an endpoint needs: always, and while an update runs a new fleet beside the old one.

https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-blue-green.html
https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from inferstack.endpoint.counts import added, most
from inferstack.endpoint.fleets import Fleet

CONCURRENCY = "Maximum total concurrency that can be allocated across all serverless endpoints"
"""The quota of serverless endpoints, by its name in Service Quotas, L-96300102."""


class Need(msgspec.Struct, frozen=True):
    """What one endpoint takes of a quota; None for a number that only the deployment knows."""

    quota: str
    """The quota's name in Service Quotas."""
    always: int | None
    """The most at any time while nothing is updated."""
    meanwhile: int | None
    """The most while the update runs."""


class Claim(msgspec.Struct, frozen=True):
    """What the endpoint of one stack takes of a quota, which all stacks of an account and region share."""

    account: str | None
    region: str | None
    stack: str
    key: str
    """What the endpoint is called."""
    need: Need


QuotaPlace = tuple[str | None, str | None, str]
"""Account, region and name of a quota."""


def together(claims: Iterable[Claim]) -> dict[QuotaPlace, list[Claim]]:
    """The claims on each quota. A stack that two stages make in the same place is one stack: the larger claim
    counts.
    """
    found: dict[QuotaPlace, dict[str, Claim]] = {}
    for it in claims:
        stacks = found.setdefault((it.account, it.region, it.need.quota), {})
        other = stacks.get(it.stack)
        if other is None or _is_more(it.need, other.need):
            stacks[it.stack] = it
    return {place: [*stacks.values()] for place, stacks in found.items()}


def _is_more(one: Need, other: Need) -> bool:
    return one.meanwhile is None or (other.meanwhile is not None and one.meanwhile > other.meanwhile)


def quota_name(instance_type: str) -> str:
    """The quota's name in Service Quotas."""
    return f"{instance_type} for endpoint usage"


def needs(
    before: Sequence[Fleet], after: Sequence[Fleet], *, replaces: bool, keeps_counts: bool = True
) -> Iterator[Need]:
    """What fleets need. Each type of a fleet with pools may have to be enough alone.

    Args:
        before: the fleets that exist.
        after: the fleets that there will be.
        replaces: whether an update makes new fleets, all together, before the old ones are gone.
        keeps_counts: whether the new fleets have as many instances as the old ones have by then.
    """
    old = {(it.name, it.is_shadow): it for it in before}
    for instance_type in dict.fromkeys(name for fleet in after for name in fleet.instance_types):
        now = [it for it in after if instance_type in it.instance_types and it.instances is not None]
        if not now:
            continue
        always = added(it.instances.max for it in now if it.instances is not None)
        meanwhile = always
        if replaces:
            gone = _most_of(it for it in before if instance_type in it.instance_types)
            new = added(beside(old.get((it.name, it.is_shadow)), it, keeps_count=keeps_counts) for it in now)
            meanwhile = most([always, added([gone, new])])
        yield Need(quota_name(instance_type), always, meanwhile)
    if any(it.serverless is not None for it in after):
        always = _concurrency(after)
        # AWS does not say whether both count at once. The larger one counts for certain.
        yield Need(CONCURRENCY, always, most([_concurrency(before), always]) if replaces else always)


def _concurrency(fleets: Iterable[Fleet]) -> int | None:
    return added(it.serverless.max_concurrency for it in fleets if it.serverless is not None)


def _most_of(fleets: Iterable[Fleet]) -> int | None:
    return added(it.instances.max for it in fleets if it.instances is not None)


def beside(old: Fleet | None, new: Fleet, *, keeps_count: bool = True) -> int | None:
    """How many instances an update makes for a fleet before the old one is gone.

    What scales keeps its present number, if the update retains it, and has its new limits only afterwards. A
    new variant starts with its initial count.
    """
    if new.instances is None:
        return 0
    limits = old.by_scaling if old is not None and keeps_count else None
    if new.grows_with_copies:
        whole = new.instances.max
    elif limits is None or limits.min == limits.max:
        whole = new.instances.start
    else:
        whole = limits.max
    if new.update.how != "rolling" or old is None:
        return whole
    return None if whole is None or new.update.instances is None else min(new.update.instances, whole)

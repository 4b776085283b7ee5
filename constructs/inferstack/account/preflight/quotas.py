"""Whether the quotas of an account and region have room for all endpoints of the specs, and for what runs
alongside them; and with that, whether a region has the instance types at all.

https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.account.connection import AccountError
from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import (
    DESCRIBE_CONFIG,
    DESCRIBE_ENDPOINT,
    LIST_DEFAULT_QUOTAS,
    LIST_ENDPOINTS,
    LIST_QUOTAS,
)
from inferstack.account.preflight.usage import Usage, usage_by_endpoint
from inferstack.account.preflight.verdict import (
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    problem,
)
from inferstack.check.stack_names import stack_name
from inferstack.endpoint.counts import added
from inferstack.endpoint.of_spec import fleets
from inferstack.endpoint.quota import CONCURRENCY, Claim, needs, quota_name, together
from inferstack.facts.walk import every_variant, written_instance_types
from inferstack.problems.words import listed
from inferstack.texts.placeholders import is_opaque

_SERVICE = "sagemaker"
_SUFFIX = quota_name("")


class _Needed(msgspec.Struct, frozen=True):
    """How much of a quota the specs need, None where only the deployment knows it; what else runs."""

    always: int | None
    meanwhile: int | None
    others: int | None


class _Demand(msgspec.Struct, frozen=True):
    """A quota, and the specs that need it together."""

    quota: str
    targets: tuple[Target, ...]


def demands(targets: Sequence[Target]) -> Iterator[Subject]:
    """Each quota that the specs need, at the first place that needs it."""
    places: dict[str, Subject] = {}
    for target in targets:
        for path, variant in every_variant(target.spec):
            names = [(at, quota_name(name)) for at, name in written_instance_types(path, variant)]
            if variant.serverless_config is not None:
                names.append(((*path, "serverless_config", "max_concurrency"), CONCURRENCY))
            for at, name in names:
                places.setdefault(name, Subject(target, at, _Demand(name, tuple(targets))))
    yield from places.values()


def has_room(subject: Subject, asking: Asking) -> Checked:
    """Whether a quota is large enough."""
    demand: _Demand = subject.what
    if is_opaque(demand.quota):
        return only_deployment_knows(demand.quota)
    quota = _quota(demand.quota, asking)
    if quota is None:
        return _not_there(demand.quota, asking)
    try:
        usage: Mapping[str, Usage] | None = usage_by_endpoint(asking)
        unknown = ""
    except AccountError as error:
        usage, unknown = None, str(error)
    return _verdict(demand, quota, _needed(demand, usage), unknown, asking.region)


def _verdict(demand: _Demand, quota: Any, needed: _Needed, unknown: str, region: str) -> Checked:
    value = float(quota["Value"])
    by = listed(list(dict.fromkeys(it.name for it in _taking(demand))), last="and", quote="`")
    is_ = f"`{demand.quota}` is {value:g} in {region}"
    if needed.always is None or needed.meanwhile is None:
        return cannot_tell(f"{is_}; how much {by} may need, only the deployment knows")
    others = needed.others or 0
    running = f", and other endpoints have {others} now" if others else ""
    if value < needed.always + others:
        total = needed.always + others
        return problem(f"{is_}, but {by} may need {needed.always}{running}", _raise(quota, total, region))
    if needed.others is None:
        said = f"{is_}; {by} may need {needed.meanwhile}, but what other endpoints take is not known"
        return cannot_tell(f"{said}: {unknown}")
    if value < needed.meanwhile + others:
        total = needed.meanwhile + others
        said = f"{is_}, but an update that makes new instances alongside the old ones needs"
        fix = f"{_raise(quota, total, region)}, or write a `rolling_update_policy`"
        return problem(f"{said} {needed.meanwhile} for {by}{running}", fix)
    return ok(f"{is_}; {by} may need {needed.meanwhile}{running}")


def _raise(quota: Any, total: int, region: str) -> str:
    code = quota.get("QuotaCode", "CODE")
    asked = f"--service-code {_SERVICE} --quota-code {code} --desired-value {total} --region {region}"
    return f"ask for {total}: `aws service-quotas request-service-quota-increase {asked}`"


def _needed(demand: _Demand, usage: Mapping[str, Usage] | None) -> _Needed:
    claims = [it for target in demand.targets for it in _claims(target, demand.quota, usage)]
    those = [it.need for each in together(claims).values() for it in each]
    ours = {it.name for it in demand.targets}
    others = (
        None
        if usage is None
        else sum(taken.get(demand.quota, 0) for name, taken in usage.items() if name not in ours)
    )
    return _Needed(added(it.always for it in those), added(it.meanwhile for it in those), others)


def _claims(target: Target, quota: str, usage: Mapping[str, Usage] | None) -> Iterator[Claim]:
    """What an endpoint needs. One that runs is updated; if it has other types now, it gives up none of these.
    Where AWS does not say it, it is taken to run as the spec has it.
    """
    spec, after = target.spec, fleets(target.spec)
    runs = {} if usage is None else usage.get(target.name)
    has_some = usage is None or bool(runs and runs.get(quota))
    now = runs.get(quota, 0) if runs else 0
    for need in needs(after if has_some else (), after, replaces=runs is not None):
        if need.quota == quota:
            # It may have more now than the spec will allow.
            beyond = max(0, now - need.always) if need.always is not None else None
            most = replace(need, meanwhile=added([need.meanwhile, beyond]))
            place = target.connection
            yield Claim(place.account, place.region, stack_name(spec.endpoint_name), target.name, most)


def _taking(demand: _Demand) -> Iterator[Target]:
    return (it for it in demand.targets if any(_claims(it, demand.quota, {})))


# ---------------------------------------------------------------- what Service Quotas lists


def _quota(name: str, asking: Asking) -> Any | None:
    """The applied value, or else the default one: a quota that was never applied has only that."""
    for call in (LIST_QUOTAS, LIST_DEFAULT_QUOTAS):
        for it in asking.every(call, "Quotas", ServiceCode=_SERVICE):
            if it["QuotaName"] == name:
                return it
    return None


def _not_there(name: str, asking: Asking) -> Checked:
    """A region has a quota for each type that it offers, even if that is zero."""
    every = asking.every(LIST_DEFAULT_QUOTAS, "Quotas", ServiceCode=_SERVICE)
    instance_type = name.removesuffix(_SUFFIX)
    if name == CONCURRENCY or not any(it["QuotaName"].endswith(_SUFFIX) for it in every):
        return cannot_tell(f"Service Quotas lists no `{name}` in {asking.region}")
    said = f"{asking.region} does not offer {instance_type} for endpoints: Service Quotas lists no `{name}`"
    return problem(said, "choose another instance type, or another region")


def quota_rights(subject: Subject) -> Iterator[Right]:
    """Reading the lists, and what runs."""
    yield from ((it, "*") for it in (LIST_QUOTAS, LIST_DEFAULT_QUOTAS, LIST_ENDPOINTS))
    yield DESCRIBE_ENDPOINT, subject.target.arn("sagemaker", "endpoint/*")
    yield DESCRIBE_CONFIG, subject.target.arn("sagemaker", "endpoint-config/*")

"""An endpoint as the review shows it, put together from its stack."""

from typing import Literal

import msgspec
from msgspec.structs import replace

from inferstack.catalog.resource_types import DASHBOARD_TYPE
from inferstack.endpoint import capacity, cost, deployed
from inferstack.endpoint.alarms import alarms
from inferstack.endpoint.containers import containers
from inferstack.endpoint.cost import Prices
from inferstack.endpoint.data import Cost, Endpoint, Fleet, Place
from inferstack.endpoint.deployed import mapping, shown
from inferstack.endpoint.fleets import fleets
from inferstack.endpoint.permissions import permissions
from inferstack.endpoint.protections import protections
from inferstack.endpoint.scaling import scalings
from inferstack.endpoint.stack import Stack


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What a template does not say about its endpoint."""

    stack: str
    stage: str | None
    account: str | None
    region: str | None
    kind: str | None
    place: Place


def endpoint_of(stack: Stack, identity: Identity, prices: Prices) -> Endpoint:
    """The endpoint of a stack."""
    variants = fleets(stack)
    parts = capacity.components(stack, variants)
    found = tuple(_costed(capacity.with_placements(it, parts), prices) for it in variants)
    return Endpoint(
        name=shown(deployed.endpoint(stack.resources).get("EndpointName")),
        stack=identity.stack,
        stage=identity.stage,
        account=identity.account,
        region=identity.region,
        kind=identity.kind,
        hosting=_hosting(stack, found),
        containers=containers(stack),
        fleets=found,
        components=parts,
        scaling=scalings(stack, found),
        alarms=alarms(stack, found),
        permissions=permissions(stack),
        protections=protections(stack),
        cost=_together(found),
        resources=len(stack.resources),
        dashboards=len(stack.of_type(DASHBOARD_TYPE)),
        place=identity.place,
    )


def _costed(fleet: Fleet, prices: Prices) -> Fleet:
    return replace(fleet, cost=cost.of_fleet(fleet, prices))


def _together(found: tuple[Fleet, ...]) -> Cost:
    return cost.together([it.cost for it in found if it.cost is not None])


def _hosting(stack: Stack, found: tuple[Fleet, ...]) -> Literal["real-time", "asynchronous", "serverless"]:
    if mapping(deployed.config(stack.resources).get("AsyncInferenceConfig")):
        return "asynchronous"
    return "serverless" if any(it.serverless is not None for it in found) else "real-time"

"""The endpoints of an account, and the specs that they belong to.

An endpoint belongs to a spec by its name, of which an account has one in a region, in whatever case.
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.account.existing import pages, stack_with
from inferstack.check.load import LoadedSpec

_RIGHTS = "it needs sagemaker:ListEndpoints and cloudformation:DescribeStackResources"


class ListedEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint, with a spec that has its name; without one, or a spec without an endpoint."""

    endpoint: str
    region: str
    status: str | None = None
    """None: there is no such endpoint."""
    created: datetime | None = None
    stack: str | None = None
    """The stack that it belongs to, whatever its name; None for none."""
    spec: str | None = None
    stage: str | None = None


class Inventory(msgspec.Struct, frozen=True):
    """What is there, and what was not looked for."""

    account: str
    endpoints: tuple[ListedEndpoint, ...]
    elsewhere: tuple[LoadedSpec, ...]
    """Specs of other accounts."""


def inventory(connection: Connection, specs: Iterable[LoadedSpec], region: str | None) -> Inventory:
    """The endpoints of each region that a spec is for; if a ``region`` is given, of that one, too.

    Raises:
        AccountError: when AWS does not list all of them, or no region is known to look into.
    """
    claims: dict[str, list[ListedEndpoint]] = {} if region is None else {region: []}
    elsewhere = []
    for loaded in specs:
        spec = loaded.spec
        if spec.account not in (None, connection.account):
            elsewhere.append(loaded)
            continue
        where = connection.region if spec.region is None else spec.region
        if where is None:
            raise AccountError("no region is known", fix="add --region")
        name = msgspec.structs.replace(connection, region=where).filled(spec.endpoint_name)
        claim = ListedEndpoint(endpoint=name, region=where, spec=loaded.document.file, stage=loaded.stage)
        claims.setdefault(where, []).append(claim)
    if not claims:
        said = f"no spec is for the account {connection.account} of the credentials"
        raise AccountError(said, fix="use others, or add --region")
    found = [it for where, those in sorted(claims.items()) for it in _of_region(connection, where, those)]
    return Inventory(connection.account, tuple(found), tuple(elsewhere))


def _of_region(connection: Connection, region: str, claims: list[ListedEndpoint]) -> Iterator[ListedEndpoint]:
    with explained(f"the endpoints in {region} are not known", rights=_RIGHTS):
        client = connection.client("cloudformation", region)
        there = [
            ListedEndpoint(
                endpoint=it["EndpointName"],
                region=region,
                status=it["EndpointStatus"],
                created=it["CreationTime"],
                stack=stack_with(client, it["EndpointArn"]),
            )
            for it in pages(connection.sagemaker(region), "list_endpoints", "Endpoints", SortBy="Name")
        ]
    for one in there:
        those = [it for it in claims if it.endpoint.lower() == one.endpoint.lower()]
        for it in those:
            yield msgspec.structs.replace(one, spec=it.spec, stage=it.stage)
        if not those:
            yield one
    names = {it.endpoint.lower() for it in there}
    yield from (it for it in claims if it.endpoint.lower() not in names)

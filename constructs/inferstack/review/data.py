"""The review as data: what a deployment changes, and the whole. Every format is made of it.

What exists is in the picture of an endpoint, :mod:`inferstack.endpoint`. `review.schema.json` is generated
from the classes.
"""

from decimal import Decimal
from typing import Literal

import msgspec

from inferstack.endpoint.cost import Cost
from inferstack.endpoint.of_template import Picture
from inferstack.endpoint.place import Place
from inferstack.updates.effects import Effect
from inferstack.updates.update import Fate

VERSION = 2
"""Of this form of data. A new field does not change it; a field that goes, or means something else, does."""

Severity = Literal["error", "warning", "info"]
Cause = Literal["spec", "library", "both", "unknown"]
EndpointFate = Literal["new", "removed", "moved", "replaced", "updated", "unchanged", "not compared"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a reviewer should know."""

    effect: Effect
    """What it is about."""
    severity: Severity
    """`error` for what does not work, `warning` for what may do harm, `info` for what is good to know."""
    endpoints: tuple[str, ...]
    """Keys of the endpoints that it is about; none if it is about a file, or all of them."""
    message: str
    """What was found."""
    fix: str = ""
    """What to do about it; empty if there is nothing to do."""
    code: str | None = None
    """The code, for `inferstack explain`; none for what only a review tells."""
    before: str | None = None
    """The old value, of something that has one."""
    after: str | None = None
    """The new value, of something that has one."""
    ignored: str | None = None
    """The reason that the spec gives for ignoring it; empty if it gives none, absent if it is not ignored."""
    dearer: Decimal | None = None
    """By how much an hour costs more, at the most; none where that is not known, or not what it is about."""
    place: Place
    """Where the spec has the cause."""
    also: tuple[Place, ...] = ()
    """Where else, if several endpoints share it."""

    @property
    def sentence(self) -> str:
        """What was found, from what to what."""
        moved = "" if self.before is None or self.after is None else f": {self.before} → {self.after}"
        return f"{self.message}{moved}"


class ResourceChange(msgspec.Struct, frozen=True, kw_only=True):
    """What CloudFormation does with a resource."""

    logical_id: str
    """Its name in the template."""
    type: str
    """Its type."""
    fate: Fate
    """What becomes of it."""
    properties: tuple[str, ...] = ()
    """Names of the properties that change."""
    by: Cause = "unknown"
    """Whether the spec changes it, or a new version of inferstack. Unknown unless both could be compared."""


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint, and what it was before."""

    key: str
    """What findings call it: stack, and account and region where several stacks have the name."""
    fate: EndpointFate
    """What becomes of it; `not compared` without a base."""
    after: Picture | None
    """What it will be; none if no spec makes it any more."""
    before: Picture | None = None
    """What it was; none if it is new, or without a base."""
    has_new_fleet: bool = False
    """Whether the deployment makes new instances beside those that run."""
    keeps_counts: bool = True
    """Whether new fleets have as many instances as run by then: an update may reset them, and a new endpoint
    starts with its initial counts."""
    compared_with: str | None = None
    """The template or spec that it was compared with."""
    changes: tuple[ResourceChange, ...] = ()
    """What becomes of each resource that does not stay as it is."""


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """What all endpoints of an account and region need of a quota: instances of one type, or concurrency."""

    name: str
    """The quota's name in Service Quotas, as in `ml.g5.xlarge for endpoint usage`."""
    account: str | None
    """The account, if the specs name it."""
    region: str | None
    """The region, if it is known."""
    needed: int | None
    """All of it while nothing is updated, at most; none if only the deployment knows it."""
    while_updating: int | None
    """The same with what runs beside the fleets that this change replaces; of all fleets, without a base."""
    endpoints: tuple[str, ...]
    """Keys of the endpoints."""


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """What all endpoints cost, stage by stage and together."""

    stage: str | None
    """The stage; none for specs without, or for all together."""
    is_sum: bool
    """Whether it is that of all stages together."""
    cost: Cost
    """After the deployment."""
    before: Cost | None = None
    """Before it; none without a base."""
    until_deleted: Cost | None = None
    """On top of it, what old stacks cost until somebody deletes them: of endpoints that are removed or moved,
    or replaced by one of another name; none if there are none.
    """


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """What deploying some specs makes, and what that changes."""

    version: int = VERSION
    """Version of this form of data."""
    base: str | None
    """What it is compared with; none without a base."""
    base_commit: str | None = None
    """The full hash, if that is a revision of git."""
    endpoints: tuple[Reviewed, ...]
    """The endpoints, in the order of their files and stages; then those that no spec makes any more."""
    findings: tuple[Finding, ...]
    """Everything to know, the worst first, each only once."""
    quotas: tuple[Quota, ...]
    """The quotas that are needed."""
    totals: tuple[Total, ...]
    """What it costs; one for each currency, where there are several."""
    prices: tuple[str, ...]
    """Where prices come from, one for each region; empty without prices."""
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""

    @property
    def failed(self) -> bool:
        """Whether a spec has errors, or AWS would refuse an update."""
        return any(it.severity == "error" for it in self.findings)

    def is_old(self, it: Finding) -> bool:
        """Whether it is advice about endpoints that stay as they are: nothing that the change brings."""
        same = {one.key for one in self.endpoints if one.fate == "unchanged"}
        return it.effect == "advice" and bool(it.endpoints) and same.issuperset(it.endpoints)

    def of(self, endpoint: str | None) -> tuple[Finding, ...]:
        """The findings about an endpoint; with None, those about no single one."""
        return tuple(it for it in self.findings if endpoint in (it.endpoints or (None,)))

"""What a team wants a review to fail on: effects by name, and limits of cost."""

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

import msgspec

from inferstack.problems.words import choose, listed
from inferstack.review.data import Review
from inferstack.updates.effects import WORST_FIRST

COST = "cost-per-hour"
NAMES = (*WORST_FIRST, f"{COST}=AMOUNT")
"""What a policy may be called."""


class Policy(msgspec.Struct, frozen=True):
    """An effect that nothing may have, or the most that an endpoint may cost in an hour."""

    name: str
    limit: Decimal | None = None


def policy_of(text: str) -> Policy:
    """A policy as it is written on the command line: an effect, or `cost-per-hour=20`.

    Raises:
        ValueError: when it is none, with what is allowed.
    """
    name, _, amount = text.partition("=")
    if name == COST:
        return Policy(name, _amount(amount))
    if name not in WORST_FIRST or amount:
        raise ValueError(f"unknown policy {text!r}; {choose(name, NAMES)}")
    return Policy(name)


def _amount(text: str) -> Decimal:
    try:
        found = Decimal(text)
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite() or found < 0:
        raise ValueError(f"{COST} needs an amount of money, as in {COST}=20")
    return found


def broken(policies: Sequence[Policy], review: Review) -> Iterator[str]:
    """What breaks a policy, a line each. What a spec ignores counts, too: the policy is not the spec's. An
    endpoint that stays as it is breaks none, unless it has errors.
    """
    for policy in policies:
        if policy.limit is not None:
            yield from _too_costly(policy.limit, review)
            continue
        for it in review.findings:
            if it.effect == policy.name and not review.is_old(it):
                about = f"{listed(it.endpoints, last='and', quote='')}: " if it.endpoints else ""
                yield f"{policy.name}: {about}{it.sentence}"


def _too_costly(limit: Decimal, review: Review) -> Iterator[str]:
    for reviewed in review.endpoints:
        if reviewed.after is None or reviewed.fate == "unchanged":
            continue
        cost = reviewed.after.cost
        if cost.unpriced:
            types = listed(cost.unpriced, last="and", quote="")
            yield f"{COST}={limit}: {reviewed.key}: no price of {types}, so it may cost too much"
        elif cost.per_hour is not None and cost.per_hour.max > limit:
            yield f"{COST}={limit}: {reviewed.key}: up to {cost.per_hour.max:,.2f} {cost.currency} an hour"

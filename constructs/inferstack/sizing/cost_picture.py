"""The picture of sizes: what each measured configuration would cost, over its latency."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from inferstack.sizing.pictures import Axes, Dot, NoPictureError, Picture, over_latency
from inferstack.sizing.sizes import Demand, Size

_MOST_LABELS = 8
_TOLD = ("instance_type", "configuration", "count", "latency", "cost", "why")


def cost_against_latency(ranked: Sequence[Size], demand: Demand, currency: str = "USD") -> Picture:
    """What each measured configuration would cost in an hour, over its latency, with the limit as a line.

    Without any price, instances are counted instead. What meets the objective is filled and has a label.

    Raises:
        NoPictureError: when no configuration has both.
    """
    percentile = _percentile(ranked, demand)
    has_prices = any(it.per_hour is not None for it in ranked)
    dots = [] if percentile is None else list(_dots(ranked, percentile, has_prices=has_prices))
    if percentile is None or not dots:
        raise NoPictureError("no configuration has a latency and a price, so there is nothing to draw")
    limit, budget = demand.latency_limit, demand.budget_per_hour if has_prices else None
    title = f"{currency} per hour" if has_prices else "instances"
    return over_latency(
        dots,
        Axes(f"P{percentile:f}", "cost", title, "instance_type", _TOLD),
        title={"text": f"For {demand.in_words}", "subtitle": "Filled: meets the objective"},
        description="Measured configurations by latency and cost; the objective's limit is a line.",
        limit=None if limit is None else float(limit.milliseconds),
        budget=None if budget is None else float(budget),
    )


def _percentile(ranked: Sequence[Size], demand: Demand) -> Decimal | None:
    """The percentile of the limit, or else the one that most configurations were measured at."""
    if demand.latency_limit is not None:
        return demand.latency_limit.percentile
    found = Counter(at for it in ranked for at in it.measurement.latencies)
    return max(found, key=lambda at: (found[at], -at), default=None)


def _dots(ranked: Sequence[Size], percentile: Decimal, *, has_prices: bool) -> Iterator[Dot]:
    """The sizes that have a latency and a cost; the best ones have a label."""
    labels = _MOST_LABELS
    for it in ranked:
        latency = it.measurement.latencies.get(percentile)
        cost = it.per_hour if has_prices else Decimal(it.count)
        if latency is None or cost is None or not it.is_counted:
            continue
        meets = not it.objections
        fields = {
            "instance_type": it.measurement.instance_type,
            "configuration": it.title,
            "count": it.count,
            "why": "; ".join(it.objections) or "meets the objective",
        }
        label = f"{it.count} x {it.title}" if meets and labels else None
        labels -= label is not None
        yield Dot(float(latency), float(cost), meets, label, fields)

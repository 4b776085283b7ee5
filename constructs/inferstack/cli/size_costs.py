"""Counted instances and their cost, as ``inferstack size`` shows them to people and to programs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import Any

from inferstack.check.load import LoadedSpec
from inferstack.cli.report import counted
from inferstack.cli.terminal import table, tell
from inferstack.endpoint.cost import HOURS_A_MONTH, amount_text
from inferstack.facts.walk import objectives
from inferstack.problems import printable
from inferstack.sizing.prices import HOW_TO_GET_PRICES
from inferstack.sizing.sizes import CountedInstances
from inferstack.sizing.traffic import Traffic

COSTS = ("PER HOUR", "PER MONTH", "PER MILLION")
_HOURS_A_DAY = 24
# Quotients would have 28 digits.
_QUOTIENT = Context(prec=12)


def show(
    ranked: Sequence[CountedInstances], fields: Iterable[object], lines: Iterable[str], form: str
) -> None:
    """Prints them as JSON or as text, and says how to get prices if there are none."""
    if form == "json":
        print(json.dumps([*fields], indent=1), flush=True)
    else:
        print("".join(f"{printable(line)}\n" for line in lines), end="", flush=True)
    if all(it.price is None for it in ranked):
        tell(f"without prices, the fewest instances come first; {HOW_TO_GET_PRICES}")


def count_cell(it: CountedInstances) -> str:
    """How many instances there are."""
    return str(it.count) if it.average == it.count else span(it.min_capacity, it.count)


def span(low: int, high: int) -> str:
    """From a number to another."""
    return str(low) if low == high else f"{low}-{high}"


def cost_cells(it: CountedInstances) -> tuple[str, ...]:
    """The cells below :data:`COSTS`."""
    if it.per_hour is None or it.per_month is None:
        return ("-",) * len(COSTS)
    # What an hour costs with a whole number of instances has no more digits than the price.
    hour = _plain(it.per_hour) if it.average == it.count else amount_text(it.per_hour)
    return hour, amount_text(it.per_month), "-" if it.per_million is None else amount_text(it.per_million)


def over_traffic(
    which: str, it: CountedInstances, traffic: Traffic, scaled: str = "instances"
) -> Iterator[str]:
    """What instances cost on average and at the peak, and when too few of what is ``scaled`` run."""
    period = f"{counted(traffic.minutes, 'minute')} from {traffic.shown(0)}"
    yield f"over the traffic, {period}, for {which}:"
    costs = (("on average", it.average, it.per_hour), ("at the peak", it.count, it.peak_per_hour))
    money = [(name, f"{count:.4g}", *_money(cost)) for name, count, cost in costs]
    yield from table([("", "INSTANCES", "PER HOUR", "PER DAY", "PER MONTH"), *money])
    if it.minutes_short:
        short = f"in {counted(it.minutes_short, 'minute')}, fewer {scaled} run than the requests need"
        yield f"{short}: scaling adds them with a delay"


def _money(per_hour: Decimal | None) -> tuple[str, ...]:
    if per_hour is None:
        return "-", "-", "-"
    return tuple(amount_text(per_hour * hours) for hours in (1, _HOURS_A_DAY, HOURS_A_MONTH))


def reservations(loaded: LoadedSpec) -> Iterator[str]:
    """What of the objective is not as it might seem."""
    found = [it for _, it in objectives(loaded.spec)]
    if all(it.safety_factor is None for it in found):
        yield "no `safety_factor`: planned with all that was measured; AWS starts with 0.5"
    if loaded.traffic is not None and loaded.traffic.hidden is not None:
        yield loaded.traffic.hidden
    elif loaded.traffic is None and any(it.lowest_requests_per_minute is not None for it in found):
        yield "no file of `traffic`: the cost is that of the busiest minute"


def cost_fields(it: CountedInstances) -> dict[str, Any]:
    """What programs read of it. Amounts are text, so that no digit is lost."""
    counts = {
        "count": it.count,
        "average_count": _plain(_QUOTIENT.plus(it.average)),
        "minutes_short": it.minutes_short,
        "min_capacity": it.min_capacity,
    }
    quotients = {"per_hour": it.per_hour, "per_month": it.per_month, "per_million": it.per_million}
    money: Mapping[str, Decimal | None] = {
        **{name: None if cost is None else _QUOTIENT.plus(cost) for name, cost in quotients.items()},
        "peak_per_hour": it.peak_per_hour,
    }
    return {
        **(counts if it.is_counted else dict.fromkeys(counts)),
        **{name: None if cost is None else _plain(cost) for name, cost in money.items()},
        "objections": list(it.objections),
        "doubts": list(it.doubts),
    }


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"

"""Counted instances and their cost, as ``inferstack size`` shows and writes them."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from typing import Any

from inferstack.check.load import LoadedSpec
from inferstack.cli.editing import edit_spec
from inferstack.cli.terminal import table, tell
from inferstack.endpoint.cost import HOURS_A_MONTH, Prices, amount_text, exact_text
from inferstack.facts.walk import objectives
from inferstack.problems import printable
from inferstack.problems.words import counted
from inferstack.sizing.into_spec import SpecChanges
from inferstack.sizing.prices import HOW_TO_GET_PRICES
from inferstack.sizing.sizes import Counted, CountedInstances
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


def conclude(
    options: argparse.Namespace,
    chosen: Counted | None,
    nothing: str,
    changes: Callable[[Counted], tuple[str, SpecChanges]],
) -> int:
    """Writes what was chosen, if that is asked for. The exit status is 1 if nothing meets the objective."""
    if options.write and chosen is None:
        what = nothing if options.choose is None else f"no `{options.choose}`"
        tell(printable(f"{options.spec}: not written, since {what} meets the objective"))
    elif options.write and chosen is not None:
        title, made = changes(chosen)
        print(printable(f"{title}:"))
        edit_spec(options.spec, made.values, stage=options.stage, region=options.region)
        for line in made.left:
            tell(printable(f"{options.spec}: {line}"))
    return int(chosen is None)


def count_cell(it: CountedInstances) -> str:
    """How many instances there are."""
    return str(it.count) if it.average == it.count else span(it.min_capacity, it.count)


def with_count(it: CountedInstances, name: str) -> str:
    """The name with the number of instances before it, if there is one."""
    return f"{it.count} x {name}" if it.is_counted else name


def span(low: int, high: int) -> str:
    """From a number to another."""
    return str(low) if low == high else f"{low}-{high}"


def cost_cells(it: CountedInstances) -> tuple[str, ...]:
    """The cells below :data:`COSTS`."""
    if it.per_hour is None or it.per_month is None:
        return ("-",) * len(COSTS)
    # What an hour costs with a whole number of instances has no more digits than the price.
    hour = exact_text(it.per_hour) if it.average == it.count else amount_text(it.per_hour)
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
        busy = counted(sum(requests > 0 for requests in traffic.totals), "minute")
        short = f"in {it.minutes_short} of {busy} with requests, fewer {scaled} run than these need"
        yield f"{short}: scaling adds them with a delay"


def _money(per_hour: Decimal | None) -> tuple[str, ...]:
    if per_hour is None:
        return "-", "-", "-"
    return tuple(amount_text(per_hour * hours) for hours in (1, _HOURS_A_DAY, HOURS_A_MONTH))


def closing(
    loaded: LoadedSpec,
    prices: Prices,
    others: Iterable[tuple[str, Sequence[str]]],
    basis: Sequence[str] = (),
) -> Iterator[str]:
    """What of the objective is not as it might seem, what the numbers rest on, and by its name what does not
    meet the objective.
    """
    found = [it for _, it in objectives(loaded.spec)]
    if all(it.safety_factor is None for it in found):
        yield "no `safety_factor`: planned with all that was measured; AWS starts with 0.5"
    if loaded.traffic is not None and loaded.traffic.hidden is not None:
        yield loaded.traffic.hidden
    elif loaded.traffic is None and any(it.lowest_requests_per_minute is not None for it in found):
        yield "no file of `traffic`: the cost is that of the busiest minute"
    for number, line in enumerate(basis):
        yield f"  {line}" if number else f"from CloudWatch: {line}"
    if prices.source:
        yield f"prices in {prices.currency}: {prices.source}"
    unfit = [(name, why) for name, why in others if why]
    yield from ("not for this objective:",) if unfit else ()
    for name, (first, *more) in unfit:
        yield f"  {name}: {first}"
        yield from (f"    {one}" for one in more)


def cost_fields(it: CountedInstances) -> dict[str, Any]:
    """What programs read of it. Amounts are text, so that no digit is lost."""
    counts = {
        "count": it.count,
        "average_count": exact_text(_QUOTIENT.plus(it.average)),
        "minutes_short": it.minutes_short,
        "min_capacity": it.min_capacity,
    }
    quotients = {"per_hour": it.per_hour, "per_month": it.per_month, "per_million": it.per_million}
    money = {name: None if cost is None else _QUOTIENT.plus(cost) for name, cost in quotients.items()}
    money["peak_per_hour"] = it.peak_per_hour
    return {
        **(counts if it.is_counted else dict.fromkeys(counts)),
        **{name: None if cost is None else exact_text(cost) for name, cost in money.items()},
        "objections": list(it.objections),
        "doubts": list(it.doubts),
    }

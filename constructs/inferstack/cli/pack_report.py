"""What ``inferstack pack`` prints: for people, and for programs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from inferstack.cli.report import counted
from inferstack.cli.terminal import table
from inferstack.endpoint.cost import Prices
from inferstack.problems import printable
from inferstack.sizing.sharing.comparison import Comparison
from inferstack.sizing.sharing.ways import MINUTES_AN_HOUR, Span, Ways

_CENT = Decimal("0.01")
_TENTH = Decimal("0.1")
_HEADER = ("", "HOURS", "COST", "SAVED", "AT ONCE", "SAVED")
_MODELS_HEADER = ("MINUTES OF", "WITH REQUESTS", "WITHOUT A COPY", "OVER THE TARGET")
_MOST_MODELS = 30


def as_text(found: Sequence[Comparison], prices: Prices) -> str:
    """The comparisons as tables."""
    blocks = ["\n".join(map(printable, _lines(it, prices))) for it in found]
    if prices.source and any(prices.of(it.instance_type) is not None for it in found):
        blocks.append(printable(f"prices in {prices.currency}: {prices.source}"))
    return "\n\n".join(blocks) + "\n"


def _lines(found: Comparison, prices: Prices) -> Iterator[str]:
    sharing, traffic = found.sharing, found.traffic
    length = f"{counted(traffic.minutes, 'minute')} from {traffic.shown(0)}"
    yield f"{found.name}: {counted(len(found.models), 'model')} on {found.instance_type}, {length}"
    yield ""
    yield from table([_HEADER, *_costs(sharing.delayed, sharing.at_once, prices.of(found.instance_type))])
    yield "AT ONCE: as if copies followed requests without delay"
    yield ""
    yield from _peaks(found)
    yield ""
    yield from table([_MODELS_HEADER, *_services(found)])
    yield from _loads(found)


def _costs(delayed: Ways, at_once: Ways, price: Decimal | None) -> Iterator[tuple[str, ...]]:
    """Instance hours with the policies' delays, and as if copies followed requests at once."""
    rows = (
        ("one shared fleet", delayed.shared, at_once.shared),
        ("an endpoint each, autoscaled", delayed.autoscaled, at_once.autoscaled),
        ("an endpoint each, fixed size", delayed.fixed, at_once.fixed),
    )
    for name, minutes, ideal in rows:
        is_shared = name == rows[0][0]
        saved = ("", "") if is_shared else (_percent(delayed.saved(minutes)), _percent(at_once.saved(ideal)))
        yield name, _hours(minutes), _money(minutes, price), saved[0], _hours(ideal), saved[1]


def _hours(minutes: int) -> str:
    return f"{(Decimal(minutes) / MINUTES_AN_HOUR).quantize(_CENT):,}"


def _money(minutes: int, price: Decimal | None) -> str:
    return "-" if price is None else f"{(minutes * price / MINUTES_AN_HOUR).quantize(_CENT):,}"


def _percent(share: Decimal) -> str:
    return f"{share.quantize(_TENTH)} %"


def _peaks(found: Comparison) -> Iterator[str]:
    sharing = found.sharing
    at_once = sharing.peak_at_once.instances
    instead = "" if at_once == sharing.peak.instances else f"; at once it would be {at_once}"
    yield f"peak: {_span(sharing.peak, found)}{instead}"
    if sharing.handover.instances > at_once:
        yield f"hand-over: {_span(sharing.handover, found)},"
        yield "  for the copies that still run and those that requests need already"
    allowed = "" if found.most_instances is None else f"; the spec allows {found.most_instances}"
    yield f"`{found.limit}` for that: {max(sharing.handover.instances, sharing.peak.instances)}{allowed}"
    if sharing.short_of_room:
        short = counted(sharing.short_of_room, "minute")
        yield f"copies without room for {short}: the shared fleet would have to be larger then"


def _span(span: Span, found: Comparison) -> str:
    many = counted(span.instances, "instance")
    if span.minutes == found.traffic.minutes:
        return f"{many} all the time"
    return f"{many} for {counted(span.minutes, 'minute')}, first at {found.traffic.shown(span.first)}"


def _services(found: Comparison) -> Iterator[tuple[str, ...]]:
    for name, it in list(found.sharing.services.items())[:_MOST_MODELS]:
        yield name, str(it.asked), str(it.without_copy), str(it.over_target)
    more = len(found.sharing.services) - _MOST_MODELS
    if more > 0:
        yield f"and {more} more", "", "", ""


def _loads(found: Comparison) -> Iterator[str]:
    it = found.cold_starts
    if it is None:
        return
    yield ""
    yield f"cold starts: {it.total:,}"
    often = sorted(it.by_model.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    yield "most often: " + ", ".join(f"{name} {count:,}" for name, count in often)
    if it.never_fit:
        yield f"too large for the memory: {', '.join(it.never_fit[:5])}"


# ---------------------------------------------------------------- for programs


def as_json(found: Sequence[Comparison], prices: Prices) -> str:
    """The comparisons as a list of objects; instance hours and costs are text, so that no digit is lost."""
    return json.dumps([_fields(it, prices) for it in found], indent=1) + "\n"


def _fields(found: Comparison, prices: Prices) -> dict[str, Any]:
    sharing, price = found.sharing, prices.of(found.instance_type)
    loads = found.cold_starts
    return {
        "name": found.name,
        "instance_type": found.instance_type,
        "models": list(found.models),
        "minutes": found.traffic.minutes,
        "start": found.traffic.start.isoformat() if found.traffic.is_dated else None,
        "currency": None if price is None else prices.currency,
        "with_delays": _ways(sharing.delayed, price),
        "at_once": _ways(sharing.at_once, price),
        "peak": _span_fields(sharing.peak),
        "peak_at_once": _span_fields(sharing.peak_at_once),
        "hand_over": _span_fields(sharing.handover),
        "limit": found.limit,
        "most_instances": found.most_instances,
        "minutes_short_of_room": sharing.short_of_room,
        "minutes_of_models": {
            name: {"asked": it.asked, "without_copy": it.without_copy, "over_target": it.over_target}
            for name, it in sharing.services.items()
        },
        "cold_starts": None if loads is None else {"total": loads.total, "by_model": dict(loads.by_model)},
        "left_out": list(found.left_out),
    }


def _ways(ways: Ways, price: Decimal | None) -> Mapping[str, Any]:
    named = {"shared": ways.shared, "autoscaled": ways.autoscaled, "fixed": ways.fixed}
    return {
        "instance_minutes": named,
        "cost": None if price is None else {name: _money(it, price) for name, it in named.items()},
        "saved_percent": {
            name: str(ways.saved(it).quantize(_CENT)) for name, it in named.items() if name != "shared"
        },
    }


def _span_fields(span: Span) -> Mapping[str, int]:
    return {"instances": span.instances, "first_minute": span.first, "minutes": span.minutes}

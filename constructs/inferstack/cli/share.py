"""``inferstack share``: what models on one shared fleet cost, compared with endpoints of their own."""

import argparse
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from inferstack.check.load import load_spec
from inferstack.cli.arguments import UNREAD_PERIOD, add_region, unread, whole_number, whole_number_within
from inferstack.cli.pictures import add_picture, draw, require_extra
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.endpoint.cost import Prices, amount_text
from inferstack.facts.kinds import hosts_components
from inferstack.facts.scaling import policies_of, scaled_parts, tracks_requests_at_once
from inferstack.facts.walk import region_of
from inferstack.format.kinds import ModelSpec
from inferstack.problems import printable
from inferstack.problems.words import counted
from inferstack.sizing.minutes_picture import fleets_over_minutes
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, prices_for
from inferstack.sizing.sharing.comparison import FleetComparison, SharingQuestion, comparisons, period_of
from inferstack.sizing.sharing.hosts import CannotPackError, Simulation
from inferstack.sizing.sharing.ways import MINUTES_AN_HOUR, Span, Ways
from inferstack.sizing.traffic import read_traffic, repeated, together
from inferstack.source.whole_files import complete_or_absent

_LONGEST_STARTUP = 120
_MOST_DAYS = 31
_MOST_MEMORY = 100_000_000
_MOST_MODELS = 30
_CENT = Decimal("0.01")
_TENTH = Decimal("0.1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    add = parser.add_argument
    add("specs", type=Path, nargs="+", metavar="SPEC", help="specs whose models share a fleet")
    traffic = "requests per minute, as CSV or from CloudWatch; without it, windows of scheduled actions"
    add("--traffic", type=Path, action="append", metavar="FILE", help=traffic)
    add("--stage", metavar="STAGE", help="the stage of the specs")
    add_region(parser)
    add("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    add("--format", choices=("text", "json"), default="text", help="text (default) or json")
    days = "repeat a day of traffic this many times (1)"
    add("--days", type=whole_number_within(1, _MOST_DAYS), default=1, metavar="DAYS", help=days)
    minutes, startup = whole_number_within(0, _LONGEST_STARTUP), "how long a copy takes to start (0)"
    add("--startup", type=minutes, default=0, metavar="MINUTES", help=startup)
    period = "of answers of CloudWatch that do not say it, in seconds"
    add("--period", type=whole_number, metavar="SECONDS", help=period)
    series = "write what each minute has into this file, .csv or .json"
    add("--series", type=_series_file, metavar="FILE", help=series)
    add_picture(parser, "draw requests, copies and instances over the minutes")
    seconds = "how long a request takes, for policies on concurrent requests"
    add("--seconds", type=_seconds, metavar="S", help=seconds)
    memory = "memory that a model takes, to count cold starts of a multi-model endpoint"
    add("--model-memory", type=_memory, action="append", default=[], metavar="[NAME=]MIB", help=memory)
    parser.set_defaults(wrong_usage=parser.error)


def _seconds(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not Decimal("0.001") <= number <= 3600:
        raise argparse.ArgumentTypeError("must be 0.001 to 3600")
    return number


def _memory(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    try:
        return name, whole_number_within(1, _MOST_MEMORY)(number)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError("write MiB, as in 2048 or llama=2048") from None


def _series_file(text: str) -> Path:
    if not text.endswith((".csv", ".json")):
        raise argparse.ArgumentTypeError(f"{text!r} must end in .csv or .json")
    return Path(text)


def run(options: argparse.Namespace) -> int:
    """Compare models that share a fleet with the same models on endpoints of their own.

    The scaling policies are simulated minute by minute, and copies packed on instances. Nothing is written.
    The exit status is 1 if copies find no room.
    """
    if options.picture is not None:
        require_extra()
    specs = [load_spec(it, stage=options.stage, region=options.region).spec for it in options.specs]
    for message in _unread(specs, options):
        options.wrong_usage(message)
    question = _question(options)
    prices = prices_for(region_of(specs[0]), options.prices)
    try:
        fleets = comparisons(specs, question)
    except CannotPackError as error:
        raise Refusal(printable(str(error))) from None
    if options.format == "json":
        print(json.dumps([_fields(it, prices) for it in fleets], indent=1), flush=True)
    else:
        print(_text(fleets, prices), flush=True)
    if options.series is not None:
        _write_series(options.series, fleets)
    if options.picture is not None:
        draw(options.picture, lambda: fleets_over_minutes(fleets))
    if question.traffic is not None and question.traffic.hidden is not None:
        tell(question.traffic.hidden)
    for line in dict.fromkeys(it for fleet in fleets for it in fleet.left_out):
        tell(printable(line))
    if any(it.limit == "max_capacity" and it.cold_starts is None for it in fleets):
        tell("add `--model-memory MIB` to count cold starts")
    if any(prices.of(it.instance_type) is None for it in fleets):
        tell(f"without prices, there are only instance hours; {HOW_TO_GET_PRICES}")
    return int(any(it.sharing.short_of_room for it in fleets))


def _unread(specs: Sequence[ModelSpec], options: argparse.Namespace) -> Iterator[str]:
    scaled = (it for spec in specs for it in scaled_parts(spec))
    if not any(tracks_requests_at_once(policy) for it in scaled for _, policy in policies_of(it)):
        yield from unread(options, ("seconds",), "policies on concurrent requests, of which there is none")
    if all(hosts_components(it) for it in specs):
        yield from unread(options, ("model_memory",), "multi-model endpoints")


def _question(options: argparse.Namespace) -> SharingQuestion:
    traffic = None
    if options.traffic is not None:
        files = [read_traffic(it, options.period) for it in options.traffic]
        if options.period is not None and not any(it.is_sparse for it in files):
            options.wrong_usage(UNREAD_PERIOD)
        traffic = repeated(together(files), options.days)
    elif options.days > 1:
        options.wrong_usage("--days repeats the traffic of --traffic; without it, a week is simulated")
    elif options.period is not None:
        options.wrong_usage(UNREAD_PERIOD)
    return SharingQuestion(
        traffic=traffic,
        simulation=Simulation(period_of(traffic), options.seconds),
        startup=options.startup,
        memory=dict(options.model_memory),
    )


# ---------------------------------------------------------------- for people


def _text(fleets: Sequence[FleetComparison], prices: Prices) -> str:
    blocks = ["\n".join(map(printable, _lines(it, prices))) for it in fleets]
    if prices.source and any(prices.of(it.instance_type) is not None for it in fleets):
        blocks.append(printable(f"prices in {prices.currency}: {prices.source}"))
    return "\n\n".join(blocks)


def _lines(fleet: FleetComparison, prices: Prices) -> Iterator[str]:
    sharing, traffic = fleet.sharing, fleet.traffic
    length = f"{counted(traffic.minutes, 'minute')} from {traffic.shown(0)}"
    yield f"{fleet.name}: {counted(len(fleet.models), 'model')} on {fleet.instance_type}, {length}"
    yield ""
    yield from table(_costs(sharing.delayed, sharing.at_once, prices.of(fleet.instance_type)))
    yield "AT ONCE: as if copies followed requests without delay"
    yield ""
    yield from _peaks(fleet)
    yield ""
    yield from table(_services(fleet))
    yield from _cold_starts(fleet)


def _costs(delayed: Ways, at_once: Ways, price: Decimal | None) -> Iterator[tuple[str, ...]]:
    """Instance hours with the policies' delays, and as if copies followed requests at once."""
    yield "", "HOURS", "COST", "SAVED", "AT ONCE", "SAVED"
    yield "one shared fleet", *_costs_of(delayed.shared, price), "", _hours(at_once.shared), ""
    others = (
        ("an endpoint each, autoscaled", delayed.autoscaled, at_once.autoscaled),
        ("an endpoint each, fixed size", delayed.fixed, at_once.fixed),
    )
    for name, minutes, ideal in others:
        saved, saved_at_once = (
            f"{share.quantize(_TENTH)} %" for share in (delayed.saved(minutes), at_once.saved(ideal))
        )
        yield name, *_costs_of(minutes, price), saved, _hours(ideal), saved_at_once


def _costs_of(minutes: int, price: Decimal | None) -> tuple[str, str]:
    return _hours(minutes), "-" if price is None else _money(minutes, price)


def _hours(minutes: int) -> str:
    return amount_text(Decimal(minutes) / MINUTES_AN_HOUR)


def _money(minutes: int, price: Decimal) -> str:
    return amount_text(minutes * price / MINUTES_AN_HOUR)


def _peaks(fleet: FleetComparison) -> Iterator[str]:
    sharing = fleet.sharing
    at_once = sharing.peak_at_once.instances
    instead = "" if at_once == sharing.peak.instances else f"; at once it would be {at_once}"
    yield f"peak: {_span(sharing.peak, fleet)}{instead}"
    if sharing.handover.instances > at_once:
        yield f"hand-over: {_span(sharing.handover, fleet)},"
        yield "  for the copies that still run and those that requests need already"
    allowed = "" if fleet.most_instances is None else f"; the spec allows {fleet.most_instances}"
    yield f"`{fleet.limit}` for that: {max(sharing.handover.instances, sharing.peak.instances)}{allowed}"
    if sharing.short_of_room:
        short = counted(sharing.short_of_room, "minute")
        yield f"copies without room for {short}: the shared fleet would have to be larger then"


def _span(span: Span, fleet: FleetComparison) -> str:
    instances = counted(span.instances, "instance")
    if span.minutes == fleet.traffic.minutes:
        return f"{instances} all the time"
    return f"{instances} for {counted(span.minutes, 'minute')}, first at {fleet.traffic.shown(span.first)}"


def _services(fleet: FleetComparison) -> Iterator[tuple[str, ...]]:
    services = fleet.sharing.services
    yield "MINUTES OF", "WITH REQUESTS", "WITHOUT A COPY", "OVER THE TARGET"
    for name, service in list(services.items())[:_MOST_MODELS]:
        yield name, str(service.asked), str(service.without_copy), str(service.over_target)
    if len(services) > _MOST_MODELS:
        yield f"and {len(services) - _MOST_MODELS} more", "", "", ""


def _cold_starts(fleet: FleetComparison) -> Iterator[str]:
    cold = fleet.cold_starts
    if cold is None:
        return
    yield ""
    yield f"cold starts: {cold.total:,}"
    often = sorted(cold.by_model.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    yield "most often: " + ", ".join(f"{name} {count:,}" for name, count in often)
    if cold.never_fit:
        yield f"too large for the memory: {', '.join(cold.never_fit[:5])}"


# ---------------------------------------------------------------- for programs


def _fields(fleet: FleetComparison, prices: Prices) -> dict[str, Any]:
    """Costs and percentages are text, so that no digit is lost."""
    sharing, price, cold = fleet.sharing, prices.of(fleet.instance_type), fleet.cold_starts
    return {
        "name": fleet.name,
        "instance_type": fleet.instance_type,
        "models": list(fleet.models),
        "minutes": fleet.traffic.minutes,
        "start": fleet.traffic.start.isoformat() if fleet.traffic.is_dated else None,
        "currency": None if price is None else prices.currency,
        "with_delays": _ways(sharing.delayed, price),
        "at_once": _ways(sharing.at_once, price),
        "peak": _span_fields(sharing.peak),
        "peak_at_once": _span_fields(sharing.peak_at_once),
        "hand_over": _span_fields(sharing.handover),
        "limit": fleet.limit,
        "most_instances": fleet.most_instances,
        "minutes_short_of_room": sharing.short_of_room,
        "minutes_of_models": {
            name: {"asked": it.asked, "without_copy": it.without_copy, "over_target": it.over_target}
            for name, it in sharing.services.items()
        },
        "cold_starts": None if cold is None else {"total": cold.total, "by_model": dict(cold.by_model)},
        "left_out": list(fleet.left_out),
    }


def _ways(ways: Ways, price: Decimal | None) -> Mapping[str, Any]:
    minutes = {"shared": ways.shared, "autoscaled": ways.autoscaled, "fixed": ways.fixed}
    return {
        "instance_minutes": minutes,
        "cost": None if price is None else {name: _money(it, price) for name, it in minutes.items()},
        "saved_percent": {
            name: str(ways.saved(it).quantize(_CENT)) for name, it in minutes.items() if name != "shared"
        },
    }


def _span_fields(span: Span) -> Mapping[str, int]:
    return {"instances": span.instances, "first_minute": span.first, "minutes": span.minutes}


def _write_series(file: Path, fleets: Sequence[FleetComparison]) -> None:
    """Writes each minute of the simulation, so that it can be checked or drawn."""
    text = io.StringIO(newline="")
    if file.suffix == ".json":
        json.dump([_series(it) for it in fleets], text)
    else:
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(("time", "fleet", "instances", "copies_without_room", "model", *_OF_MODEL))
        lines.writerows(row for it in fleets for row in _rows(_series(it)))
    with complete_or_absent(file) as content:
        content.write(text.getvalue().encode())
    tell(printable(f"{file}: written"))


_OF_MODEL = ("requests", "copies", "copies_serving", "copies_needed")


def _series(fleet: FleetComparison) -> Mapping[str, Any]:
    series = fleet.sharing.series
    models = {
        name: (list(map(str, it.requests)), it.copies.held, it.copies.serving, it.needed)
        for name, it in series.models.items()
    }
    return {
        "time": [fleet.traffic.shown(it) for it in range(fleet.traffic.minutes)],
        "fleet": fleet.name,
        "instances": series.instances,
        "copies_without_room": series.without_room,
        "models": {name: dict(zip(_OF_MODEL, columns, strict=True)) for name, columns in models.items()},
    }


def _rows(series: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    """A line for each minute and model."""
    for minute, time in enumerate(series["time"]):
        of_fleet = (time, series["fleet"], series["instances"][minute], series["copies_without_room"][minute])
        for name, columns in series["models"].items():
            yield *of_fleet, name, *(columns[key][minute] for key in _OF_MODEL)

"""``inferstack size``: how many instances of which type meet a spec's objective, from measurements."""

import argparse
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.arguments import add_region
from inferstack.cli.list import table
from inferstack.cli.terminal import Refusal, tell
from inferstack.facts.walk import region_of
from inferstack.format.objective import Objective
from inferstack.problems import printable
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, Prices, prices_for
from inferstack.sizing.sizes import Demand, LatencyLimit, Size, best, sizes

_HEADER = ("COUNT", "INSTANCE TYPE", "CONFIGURATION", "TARGET", "PER HOUR", "PER MONTH", "PER MILLION")
_CENT = Decimal("0.01")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("spec", type=Path, metavar="SPEC", help="a spec with an `objective`")
    parser.add_argument("--measurements", type=Path, required=True, metavar="FILE", help="CSV or JSON")
    parser.add_argument("--stage", metavar="STAGE", help="the stage of the spec")
    add_region(parser)
    parser.add_argument("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    parser.add_argument("--instance-type", metavar="TYPE", help="what was measured, if the file names none")
    parser.add_argument(
        "--instances", type=_count, default=1, metavar="N", help="how many were measured together (1)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def run(options: argparse.Namespace) -> int:
    """Ranks measured configurations by what they cost for a spec's `objective`.

    Nothing is written. The exit status is 1 if no configuration meets the objective.
    """
    loaded = load_spec(options.spec, stage=options.stage, region=options.region)
    found = read_measurements(
        options.measurements, instance_type=options.instance_type, instances=options.instances
    )
    demand = demand_of(_objective(loaded))
    prices = prices_for(region_of(loaded.spec), options.prices)
    ranked = sizes(found, demand, prices)
    print(_json(ranked) if options.format == "json" else _text(ranked, prices), end="", flush=True)
    if all(it.per_hour is None for it in ranked):
        tell(f"without prices, fewer instances come first; {HOW_TO_GET_PRICES}")
    return 0 if best(ranked) is not None else 1


def _objective(loaded: LoadedSpec) -> Objective:
    objective = loaded.spec.objective
    if objective is None:
        example = (
            "objective: {requests_per_minute: 30000, latency: {percentile: P95, value_in_milliseconds: 500}}"
        )
        raise Refusal(f"{loaded.document.file}: the spec does not say what it is for; write `{example}`")
    return objective


def demand_of(objective: Objective) -> Demand:
    """What an objective asks for, in exact numbers."""
    limit, lowest, budget = objective.latency, objective.lowest_requests_per_minute, objective.budget_per_hour
    return Demand(
        peak=_exact(objective.requests_per_minute),
        lowest=None if lowest is None else _exact(lowest),
        latency_limit=None
        if limit is None
        else LatencyLimit(Decimal(limit.percentile.removeprefix("P")), _exact(limit.value_in_milliseconds)),
        safety_factor=_exact(objective.safety_factor),
        spare_instances=objective.spare_instances,
        budget_per_hour=None if budget is None else _exact(budget),
    )


def _exact(number: float) -> Decimal:
    return Decimal(str(number)).normalize()


# ---------------------------------------------------------------- for people


def _text(ranked: Sequence[Size], prices: Prices) -> str:
    return "".join(f"{printable(line)}\n" for line in _lines(ranked, prices))


def _lines(ranked: Sequence[Size], prices: Prices) -> Iterator[str]:
    fitting = [it for it in ranked if not it.objections]
    if fitting:
        yield from table([_HEADER, *map(_cells, fitting)])
        yield from (f"{_name(it)}: {doubt}" for it in fitting for doubt in it.doubts)
        yield from ("", "in the spec, for the first:", *_as_yaml(fitting[0]))
    if prices.source:
        yield f"prices in {prices.currency}: {prices.source}"
    others = [it for it in ranked if it.objections]
    if others:
        yield "not for this objective:"
        yield from (f"  {it.count} x {_name(it)}: {'; '.join(it.objections)}" for it in others)


def _as_yaml(size: Size) -> tuple[str, ...]:
    instance_type = size.measurement.instance_type
    return (
        f"  variant: {{instance_type: {instance_type}, initial_instance_count: {size.count}}}",
        "  autoscaling:",
        f"    min_capacity: {size.min_capacity}",
        f"    max_capacity: {size.count}",
        "    policies:",
        "      - metric: SageMakerVariantInvocationsPerInstance",
        f"        target_value: {size.target_value}",
    )


def _cells(size: Size) -> tuple[str, ...]:
    measured = size.measurement
    money: tuple[str, ...] = ("-", "-", "-")
    if size.per_hour is not None and size.per_month is not None and size.per_million is not None:
        money = (
            _plain(size.per_hour),
            *(f"{it.quantize(_CENT):,}" for it in (size.per_month, size.per_million)),
        )
    return str(size.count), measured.instance_type, measured.configuration, str(size.target_value), *money


def _name(size: Size) -> str:
    return f"{size.measurement.instance_type} {size.measurement.configuration}"


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


# ---------------------------------------------------------------- for programs


def _json(ranked: Sequence[Size]) -> str:
    return json.dumps([_fields(it) for it in ranked], indent=1) + "\n"


def _fields(size: Size) -> dict[str, Any]:
    money = {"per_hour": size.per_hour, "per_month": size.per_month, "per_million": size.per_million}
    return {
        "configuration": size.measurement.configuration,
        "instance_type": size.measurement.instance_type,
        "count": size.count,
        "min_capacity": size.min_capacity,
        "target_value": size.target_value,
        **{name: None if it is None else _plain(it) for name, it in money.items()},
        "objections": list(size.objections),
        "doubts": list(size.doubts),
    }

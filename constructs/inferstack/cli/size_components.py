"""``inferstack size`` for inference components: copies of each, and the fleet that holds them all."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.check.load import LoadedSpec
from inferstack.cli.editing import edit_spec
from inferstack.cli.size_costs import (
    COSTS,
    cost_cells,
    cost_fields,
    count_cell,
    over_traffic,
    reservations,
    show,
    span,
)
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.endpoint.cost import Prices
from inferstack.facts.scaling import OF_COPIES, TRACKED
from inferstack.facts.walk import region_of
from inferstack.problems import printable
from inferstack.problems.words import choose
from inferstack.sizing.component_sizes import CannotSizeError, SizedFleet, fleet_question, fleets
from inferstack.sizing.into_spec import NotWritableError
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.prices import prices_for
from inferstack.sizing.sizes import best

_HEADER = ("COUNT", "INSTANCE TYPE", "COPIES", *COSTS)
_OF_COMPONENTS = ("COMPONENT", "CONFIGURATION", "COPIES", "TARGET")
_UNITS = {OF_COPIES[TRACKED]: "requests a minute"}


def run_components(
    loaded: LoadedSpec, measurements: Sequence[Measurement], options: argparse.Namespace
) -> int:
    """Rank instance types by what they cost for the objectives of a spec's components."""
    if options.picture is not None:
        options.wrong_usage("--picture draws configurations of instances, of which components have none")
    prices = prices_for(region_of(loaded.spec), options.prices)
    try:
        ranked = fleets(fleet_question(loaded.spec, options.variant, measurements, loaded.traffic), prices)
    except (CannotSizeError, NotWritableError) as error:
        raise Refusal(printable(f"{options.spec}: {error}")) from None
    types = [it.instance_type for it in ranked]
    if options.choose is not None and options.choose not in types:
        raise Refusal(
            printable(f"nothing was measured on `{options.choose}`; {choose(options.choose, types)}")
        )
    chosen = best([it for it in ranked if options.choose in (None, it.instance_type)])
    lines = _lines(loaded, ranked, None if options.write else chosen, prices)
    show(ranked, map(_fields, ranked), lines, options.format)
    for line in () if chosen is None else (*chosen.left_out, *(chosen.changes.left if options.write else ())):
        tell(printable(f"{options.spec}: {line}"))
    if options.write and chosen is None:
        what = "no instance type" if options.choose is None else f"no {options.choose}"
        tell(printable(f"{options.spec}: not written, since {what} meets the objective"))
    elif options.write and chosen is not None:
        print(f"{chosen.count} x {chosen.instance_type}:")
        edit_spec(options.spec, chosen.changes.values, stage=options.stage, region=options.region)
    return 0 if chosen is not None else 1


def _lines(
    loaded: LoadedSpec, ranked: Sequence[SizedFleet], chosen: SizedFleet | None, prices: Prices
) -> Iterator[str]:
    fitting = [it for it in ranked if not it.objections]
    if fitting:
        yield from table([_HEADER, *map(_cells, fitting)])
    if chosen is not None:
        which = "the first" if chosen is fitting[0] else chosen.instance_type
        yield from ("", f"in the spec, for {which}:", *table(_components(chosen)))
        yield from chosen.doubts
        if loaded.traffic is not None:
            yield from ("", *over_traffic(which, chosen, loaded.traffic, "copies"))
    yield from reservations(loaded)
    if prices.source:
        yield f"prices in {prices.currency}: {prices.source}"
    if unfit := [*_unfit(ranked)]:
        yield "not for this objective:"
        yield from unfit


def _unfit(ranked: Sequence[SizedFleet]) -> Iterator[str]:
    for fleet in ranked:
        yield from (f"  {fleet.instance_type}: {why}" for why in fleet.objections)
        for it in fleet.components if fleet.is_counted else ():
            for other in it.others:
                where = f"  {fleet.instance_type}: `{it.asked.name}`, {other.title}"
                yield from (f"{where}: {why}" for why in other.objections)


def _cells(fleet: SizedFleet) -> tuple[str, ...]:
    fewest, _, most = (sum(copies) for copies in zip(*fleet.copies.values(), strict=True))
    return count_cell(fleet), fleet.instance_type, span(fewest, most), *cost_cells(fleet)


def _components(fleet: SizedFleet) -> Iterator[tuple[str, ...]]:
    yield _OF_COMPONENTS
    for it in fleet.components:
        fewest, _, most = fleet.copies[it.asked.name]
        target = f"{it.size.target_value} {_UNITS.get(it.size.metric, 'requests at once')}"
        yield it.asked.name, it.size.title, span(fewest, most), target


def _fields(fleet: SizedFleet) -> dict[str, Any]:
    return {
        "instance_type": fleet.instance_type,
        **cost_fields(fleet),
        "components": {
            it.asked.name: {
                "configuration": it.size.measurement.configuration,
                "users": it.size.measurement.users,
                "metric": it.size.metric,
                "target_value": it.size.target_value,
                **dict(zip(("min_copies", "copies", "max_copies"), fleet.copies[it.asked.name], strict=True)),
            }
            for it in fleet.components
            if fleet.is_counted
        },
    }

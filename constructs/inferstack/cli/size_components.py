"""``inferstack size`` for inference components: copies of each, and the fleet that holds them all."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.check.load import LoadedSpec
from inferstack.cli import size_costs as costs
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

_HEADER = ("COUNT", "INSTANCE TYPE", "COPIES", *costs.COSTS)
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
    types, wanted = [it.instance_type for it in ranked], options.choose
    if wanted is not None and wanted not in types:
        raise Refusal(printable(f"nothing was measured on `{wanted}`; {choose(wanted, types)}"))
    chosen = best([it for it in ranked if wanted in (None, it.instance_type)])
    lines = _lines(loaded, ranked, None if options.write else chosen, prices)
    costs.show(ranked, map(_fields, ranked), lines, options.format)
    for line in () if chosen is None else chosen.left_out:
        tell(printable(f"{options.spec}: {line}"))
    return costs.conclude(
        options, chosen, "no instance type", lambda it: (f"{it.count} x {it.instance_type}", it.changes)
    )


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
            yield from ("", *costs.over_traffic(which, chosen, loaded.traffic, "copies"))
    yield from costs.closing(loaded, prices, _unfit(ranked))


def _unfit(ranked: Sequence[SizedFleet]) -> Iterator[tuple[str, Sequence[str]]]:
    """What does not meet the objective: whole fleets, and configurations of components."""
    for fleet in ranked:
        yield costs.with_count(fleet, fleet.instance_type), fleet.objections
        for it in fleet.components if fleet.is_counted else ():
            for other in it.others:
                yield f"{fleet.instance_type}: `{it.asked.name}`, {other.title}", other.objections


def _cells(fleet: SizedFleet) -> tuple[str, ...]:
    fewest, _, most = (sum(copies) for copies in zip(*fleet.copies.values(), strict=True))
    return costs.count_cell(fleet), fleet.instance_type, costs.span(fewest, most), *costs.cost_cells(fleet)


def _components(fleet: SizedFleet) -> Iterator[tuple[str, ...]]:
    yield _OF_COMPONENTS
    for it in fleet.components:
        fewest, _, most = fleet.copies[it.asked.name]
        target = f"{it.size.target_value} {_UNITS.get(it.size.metric, 'requests at once')}"
        yield it.asked.name, it.size.title, costs.span(fewest, most), target


def _fields(fleet: SizedFleet) -> dict[str, Any]:
    return {
        "instance_type": fleet.instance_type,
        **costs.cost_fields(fleet),
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

"""``inferstack size``: how many instances of which type meet a spec's objective, from measurements."""

import argparse
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.check.objective_files import measurements_of
from inferstack.cli import size_costs as costs
from inferstack.cli.arguments import UNREAD_PERIOD, add_region, unread, whole_number
from inferstack.cli.observing import add_observing, observed_fleet, observes, printed_query, require_instances
from inferstack.cli.pictures import add_picture, draw
from inferstack.cli.size_components import run_components
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.facts.kinds import hosts_components
from inferstack.facts.walk import is_async, region_of, variant_scalings
from inferstack.format.kinds import ModelSpec
from inferstack.format.objective import Objective
from inferstack.problems import printable
from inferstack.problems.words import choose
from inferstack.sizing.cost_picture import cost_against_latency
from inferstack.sizing.into_spec import (
    NotWritableError,
    SizedVariant,
    SpecChanges,
    changes_for,
    scaling_for,
    sized_variant,
)
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.observed import Observed
from inferstack.sizing.prices import PRICE_FILE, prices_for
from inferstack.sizing.sizes import Demand, Size, best, demand_of, sizes
from inferstack.source.written import entry_lines, in_flow

_OF_RANKING = (
    *("from_cloudwatch", "measurements", "instance_type", "instances"),
    *("prices", "choose", "write", "picture"),
)
_HEADER = ("COUNT", "INSTANCE TYPE", "CONFIGURATION", "TARGET", *costs.COSTS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("spec", type=Path, metavar="SPEC", help="a spec with an `objective`")
    measured = "CSV or JSON, instead of the one that the objective names; may be repeated"
    parser.add_argument("--measurements", type=Path, metavar="FILE", action="append", help=measured)
    parser.add_argument("--stage", metavar="STAGE", help="the stage of the spec")
    add_region(parser)
    parser.add_argument("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    measured_on = "the instance type that was measured, if the file names none"
    parser.add_argument("--instance-type", type=_instance_type, metavar="TYPE", help=measured_on)
    period = "the period of CloudWatch's answers that do not say it: of the objective's `traffic`, too"
    parser.add_argument("--period", type=whole_number, metavar="SECONDS", help=period)
    together = "how many instances were measured together (1)"
    parser.add_argument("--instances", type=whole_number, metavar="N", help=together)
    parser.add_argument("--variant", metavar="NAME", help="the variant to size, if there are several")
    instead = "this configuration instead of the best; `TYPE CONFIGURATION` if several types have it"
    parser.add_argument("--choose", metavar="CONFIGURATION", help=instead)
    parser.add_argument("--write", action="store_true", help="edit the spec accordingly, and show the diff")
    add_observing(parser)
    add_picture(parser, "draw cost against latency")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    parser.set_defaults(wrong_usage=parser.error)


def _instance_type(text: str) -> str:
    if not text.startswith("ml."):
        raise argparse.ArgumentTypeError(f"{text!r} is not a SageMaker instance type, such as ml.g5.xlarge")
    return text


def run(options: argparse.Namespace) -> int:
    """Rank measured configurations by what they cost for a spec's `objective`, and with --write put the
    best one into the spec. The exit status is 1 if none meets the objective.
    """
    for message in _wrong_usage(options):
        options.wrong_usage(message)
    loaded = load_spec(options.spec, stage=options.stage, region=options.region, period=options.period)
    of_export = loaded.traffic is not None and loaded.traffic.is_sparse
    if options.period is not None and not of_export and options.from_cloudwatch is None:
        options.wrong_usage(UNREAD_PERIOD)
    if hosts_components(loaded.spec):
        if observes(options):
            require_instances(loaded)
        return run_components(loaded, _measurements(loaded, options), options)
    objective, traffic = _objective(loaded), _minutes(loaded)
    sized = _sized(loaded, traffic, options)
    demand = demand_of(objective, traffic) if sized is None else sized.demand
    if sized is not None and options.print_query:
        print(printed_query(loaded, sized.variant, demand.latency_limit, options), flush=True)
        return 0
    seen = None if sized is None else observed_fleet(loaded, sized.variant, demand.latency_limit, options)
    measurements = _measurements(loaded, options, seen)
    if sized is not None and seen is not None and loaded.traffic is None:
        loaded, demand = replace(loaded, traffic=seen.traffic), seen.over(demand)
        sized = replace(sized, demand=demand)
    prices = prices_for(region_of(loaded.spec), options.prices)
    ranked = sizes(measurements, demand, prices)
    chosen = best(ranked if options.choose is None else _named(ranked, options.choose))
    basis = () if seen is None else seen.basis
    others = ((costs.with_count(it, _name(it)), it.objections) for it in ranked)
    ending = costs.closing(loaded, prices, others, basis)
    lines = _lines(loaded, ranked, None if options.write else chosen, demand, ending)
    costs.show(ranked, map(_fields, ranked), lines, options.format)
    if options.format == "json":
        for line in basis:
            tell(printable(f"from CloudWatch: {line}"))
    if options.picture is not None:
        draw(options.picture, lambda: cost_against_latency(ranked, demand, prices.currency))
    return costs.conclude(
        options,
        chosen,
        "no configuration",
        lambda it: (f"{it.count} x {_name(it)}", _changes(loaded, sized, it)),
    )


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    if options.write and options.format == "json":
        yield "--write shows a diff, which is not json"
    if options.print_query:
        yield from unread(options, _OF_RANKING, "ranking, which --print-query does not do")
    elif options.endpoint is None or options.from_cloudwatch is not None:
        yield from unread(options, ("days",), "--print-query, or --endpoint without --from-cloudwatch")
    if options.measurements is None:
        yield from unread(options, ("instances",), "a file of --measurements")
        if options.from_cloudwatch is None:
            yield from unread(options, ("instance_type",), "a file of --measurements or --from-cloudwatch")


def _minutes(loaded: LoadedSpec) -> Sequence[Decimal]:
    """The requests of each minute, if the instances that a size writes follow them."""
    return () if loaded.traffic is None or is_async(loaded.spec) else loaded.traffic.totals


def _measurements(
    loaded: LoadedSpec, options: argparse.Namespace, seen: Observed | None = None
) -> list[Measurement]:
    of_runs = [] if seen is None else [seen.measurement]
    if options.measurements is not None:
        kind, instances = options.instance_type, 1 if options.instances is None else options.instances
        files = dict.fromkeys(options.measurements)
        read = (read_measurements(it, instance_type=kind, instances=instances) for it in files)
        found = [it for of_file in read for it in of_file]
        if not any(it.leaves_instances_open for it in found):
            of_files = ("instances", *(("instance_type",) if seen is None else ()))
            for message in unread(options, of_files, "a file that does not say it, as AIPerf's"):
                options.wrong_usage(message)
        return [*of_runs, *found]
    measurements = [*of_runs, *measurements_of(loaded.spec, loaded.document)]
    if not measurements:
        fix = "add --measurements FILE, or `measurements: FILE` to the objective"
        options.wrong_usage(f"{fix}, or --endpoint NAME for one that runs")
    return measurements


def _sized(
    loaded: LoadedSpec, traffic: Sequence[Decimal], options: argparse.Namespace
) -> SizedVariant | None:
    """The variant that is meant, where that matters; None for the endpoint as a whole."""
    if not options.write and options.variant is None and not observes(options):
        return None
    try:
        return sized_variant(loaded.spec, _objective(loaded), options.variant, traffic)
    except NotWritableError as error:
        raise Refusal(f"{options.spec}: {error}") from None


def _named(ranked: Sequence[Size], name: str) -> Sequence[Size]:
    found = [it for it in ranked if name in _names(it)]
    if not found:
        names = [known for it in ranked for known in _names(it)]
        raise Refusal(f"no configuration `{name}` was measured; {choose(name, list(dict.fromkeys(names)))}")
    return found


def _changes(loaded: LoadedSpec, sized: SizedVariant | None, chosen: Size) -> SpecChanges:
    assert sized is not None
    try:
        return changes_for(loaded.spec, sized, chosen)
    except NotWritableError as error:
        raise Refusal(f"{loaded.document.file}: {error}") from None


def _objective(loaded: LoadedSpec) -> Objective:
    objective = loaded.spec.objective
    if objective is None or (objective.traffic is None and not any(objective.asked)):
        limit = "latency: {percentile: P95, value_in_milliseconds: 500}"
        example = f"objective: {{requests_per_minute: 30000, {limit}}}"
        unsaid = "what it is for" if objective is None else "how many requests there are"
        raise Refusal(f"{loaded.document.file}: the spec does not say {unsaid}; write `{example}`")
    return objective


# ---------------------------------------------------------------- for people


def _lines(
    loaded: LoadedSpec, ranked: Sequence[Size], chosen: Size | None, demand: Demand, ending: Iterator[str]
) -> Iterator[str]:
    """What is shown; ``chosen`` is the one that is shown in detail."""
    fitting = [it for it in ranked if not it.objections]
    if fitting:
        yield from table([_HEADER, *map(_cells, fitting)])
        yield from _doubts(fitting, chosen)
    if chosen is not None:
        which = "the first" if chosen is fitting[0] else _name(chosen)
        if demand.traffic and loaded.traffic is not None:
            yield from ("", *costs.over_traffic(which, chosen, loaded.traffic))
        yield from ("", f"in the spec, for {which}:", *_as_yaml(loaded.spec, chosen))
    yield from ending


def _doubts(fitting: Sequence[Size], chosen: Size | None) -> Iterator[str]:
    """What is doubtful about the best row of each configuration, and about the chosen one, each once."""
    covered: set[tuple[str, str]] = set()
    names: dict[str, list[str]] = {}
    for it in fitting:
        configuration = (it.measurement.instance_type, it.measurement.configuration)
        if configuration not in covered or it is chosen:
            for doubt in it.doubts:
                of_doubt = names.setdefault(doubt, [])
                of_doubt.insert(0 if it is chosen else len(of_doubt), _name(it))
        covered.add(configuration)
    for doubt, (first, *others) in names.items():
        yield f"{first}{f' and {len(others)} more' if others else ''}: {doubt}"


def _as_yaml(spec: ModelSpec, size: Size) -> Iterator[str]:
    """What --write would write."""
    variant = {"instance_type": size.measurement.instance_type, "initial_instance_count": size.count}
    scaling = scaling_for(spec, size, is_scaled=any(variant_scalings(spec)))
    written = (f"variant: {in_flow(variant)}", *(entry_lines("autoscaling", scaling) if scaling else ()))
    yield from (f"  {line}" for line in written)


def _cells(size: Size) -> tuple[str, ...]:
    count, type_ = costs.count_cell(size), size.measurement.instance_type
    return count, type_, size.title, str(size.target_value), *costs.cost_cells(size)


def _name(size: Size) -> str:
    return f"{size.measurement.instance_type} {size.title}"


def _names(size: Size) -> tuple[str, ...]:
    """By what it can be chosen: several numbers of users, or types, may share a configuration."""
    both = (size.measurement.configuration, size.title)
    return (*both, *(f"{size.measurement.instance_type} {it}" for it in both))


# ---------------------------------------------------------------- for programs


def _fields(size: Size) -> dict[str, Any]:
    return {
        "configuration": size.measurement.configuration,
        "users": size.measurement.users,
        "instance_type": size.measurement.instance_type,
        "target_value": size.target_value if size.is_counted else None,
        **costs.cost_fields(size),
    }

"""The files that an objective names: traffic becomes numbers, measurements are compared with the spec."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from inferstack.check.files_beside import file_beside
from inferstack.check.rules.objective import MEASURED, Compared, Priced
from inferstack.endpoint.cost import NO_PRICES
from inferstack.endpoint.of_spec import instance_counts
from inferstack.facts.kinds import hosts_components
from inferstack.facts.scaling import first_copies, most_capacity
from inferstack.facts.walk import (
    every_variant,
    is_async,
    objectives,
    region_of,
    variant_scalings,
    variants,
    written_instance_types,
)
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.problems import Problem, SpecError
from inferstack.problems.file_codes import UNREADABLE_MEASUREMENTS, UNREADABLE_TRAFFIC
from inferstack.sizing.prices import PRICE_FILE, prices_for, read_price_file
from inferstack.source.document import Document
from inferstack.texts.placeholders import is_opaque

if TYPE_CHECKING:
    from inferstack.sizing.measurement import Measurement
    from inferstack.sizing.traffic import Traffic

_TRAFFIC = ("objective", "traffic")


class WithTraffic(NamedTuple):
    """A spec whose objective has the numbers of its traffic; ``problems`` are those of the file."""

    spec: ModelSpec
    problems: tuple[Problem, ...] = ()
    traffic: "Traffic | None" = None


def with_traffic(spec: ModelSpec, document: Document, period: int | None = None) -> WithTraffic:
    """The spec as if it had written the busiest and the quietest minute of the file that it names, whose
    numbers are for a ``period`` of so many seconds, if it does not say it.

    One that writes them as well stays as it is, for a rule to say.
    """
    objective = spec.objective
    if objective is None or objective.traffic is None:
        return WithTraffic(spec)
    numbers = ((it.requests_per_minute, it.lowest_requests_per_minute) for _, it in objectives(spec))
    if any(it is not None for pair in numbers for it in pair):
        return WithTraffic(spec)
    from inferstack.sizing.traffic import read_traffic  # noqa: PLC0415 - most specs name no file

    try:
        file = file_beside(objective.traffic, document, _TRAFFIC, UNREADABLE_TRAFFIC)
        traffic = read_traffic(file, period)
    except SpecError as error:
        return WithTraffic(spec, error.problems)
    if traffic.peak < 1:
        message, fix = "the file has no requests", "name another"
        return WithTraffic(spec, (document.problem(_TRAFFIC, UNREADABLE_TRAFFIC, message, fix),))
    most, least = float(traffic.peak), float(min(traffic.totals))
    asked = replace(objective, traffic=None, requests_per_minute=most, lowest_requests_per_minute=least)
    return WithTraffic(replace(spec, objective=asked), traffic=traffic)


def measurements_of(spec: ModelSpec, document: Document) -> "list[Measurement]":
    """The measurements that objectives name; none if they name no file. The file that a component names is of
    its copies, where it does not say it.

    Raises:
        SpecError: when the file cannot be used.
    """
    files = [(path, it.measurements) for path, it in objectives(spec) if it.measurements is not None]
    if not files:
        return []
    from inferstack.sizing.measurements import read_measurements  # noqa: PLC0415 - most specs name no file

    # A load test that knows only a URL was of the endpoint, and so of its type of instance.
    types = {variant.instance_type for _, variant in variants(spec)}
    read = partial(read_measurements, instance_type=types.pop() if len(types) == 1 else None)
    found = []
    for path, name in files:
        rows = read(file_beside(name, document, (*path, "measurements"), UNREADABLE_MEASUREMENTS))
        component = str(path[1]) if len(path) > 1 else None
        found += [replace(it, component=it.component or component) for it in rows]
    return found


def objective_problems(spec: ModelSpec, document: Document, traffic: "Traffic | None") -> Iterator[Problem]:
    """What the rules say that compare a spec with measurements and prices, unless it ignores them."""
    try:
        about = [*_compared(spec, document, traffic), *_priced(spec)]
    except SpecError as error:
        yield from error.problems
        return
    for rule in MEASURED.values():
        for it in about:
            if isinstance(it, rule.applies_to) and rule.code not in spec.ignored_codes:
                for problem in rule.check(it):
                    yield document.located(problem, rule.code, rule.severity)


def _priced(spec: ModelSpec) -> Iterator[Priced]:
    """The instance types of a spec with the price file's part on its region, if it has one.

    What is not for sale on demand may still be reserved, and the file has no prices of asynchronous
    inference.
    """
    region = region_of(spec)
    if region is None or is_async(spec) or not Path(PRICE_FILE).is_file():
        return
    try:
        prices = read_price_file(Path(PRICE_FILE)).regions.get(region)
    except SpecError:
        # Whatever needs a price says so.
        return
    if prices is None:
        return
    types = (
        it
        for path, variant in every_variant(spec)
        if variant.capacity_reservation_config is None
        for it in written_instance_types(path, variant)
    )
    known = tuple((path, name) for path, name in types if not is_opaque(name))
    yield Priced(known, region, prices)


def _compared(spec: ModelSpec, document: Document, traffic: "Traffic | None") -> Iterator[Compared]:
    """The only variant of a spec with what is known of its instances, after the components on it."""
    if not any(True for _ in objectives(spec)) or len(every_variant(spec)) != 1:
        return
    (path, variant) = every_variant(spec)[0]
    type_, counts, objective = variant.instance_type, instance_counts(spec), spec.objective
    if type_ is None or is_opaque(type_):
        return
    measured = [it for it in measurements_of(spec, document) if it.instance_type == type_]
    of_components = [*_components(spec, variant, type_, measured, traffic)] if measured else []
    yield from of_components
    if objective is None or counts is None or counts.start is None or counts.max is None:
        return
    if not measured and objective.budget_per_hour is None:
        return
    from inferstack.sizing.sizes import demand_of, sizes  # noqa: PLC0415 - most specs name no file

    if any(it is not None for it in objective.asked):
        demand = demand_of(objective)
    elif of_components:
        demand = of_components[0].demand
    else:
        return
    scaling_path, _, scaling = next(iter(variant_scalings(spec)), ((), variant, None))
    prices = NO_PRICES if demand.budget_per_hour is None else prices_for(region_of(spec), None)
    own = (it.price_per_hour for it in measured)
    price = next((it for it in own if it is not None), prices.of(type_))
    rows = [] if hosts_components(spec) else measured
    found = Compared(
        start_path=(*path, "initial_instance_count"),
        instance_type=type_,
        scaling=scaling,
        scaling_path=scaling_path,
        start=counts.start,
        most=counts.max,
        demand=demand,
        # What is over the budget may still be fast enough.
        measured=sizes(rows, replace(demand, budget_per_hour=None), NO_PRICES),
        price=price,
        currency=prices.currency,
    )
    if traffic is not None and price is not None and demand.budget_per_hour is not None:
        takes = {it.component: it.seconds_a_request for it in (*of_components, found)}
        found = replace(found, average=_average(spec, variant, traffic, takes))
    yield found


def _components(
    spec: ModelSpec,
    variant: Variant,
    instance_type: str,
    measured: "Sequence[Measurement]",
    traffic: "Traffic | None",
) -> Iterator[Compared]:
    """The components on a variant, if `inferstack size` can count the copies of them all."""
    if not hosts_components(spec):
        return
    from inferstack.sizing.component_sizes import CannotSizeError, copies_of, fleet_question  # noqa: PLC0415 - as above
    from inferstack.sizing.into_spec import NotWritableError  # noqa: PLC0415 - as above
    from inferstack.sizing.sharing.hosts import CannotPackError  # noqa: PLC0415 - as above

    try:
        question = fleet_question(spec, variant.variant_name, measured, traffic)
        found = [copies_of(it, instance_type) for it in question.components]
    except (CannotSizeError, CannotPackError, NotWritableError, SpecError):
        # Which `size` says.
        return
    for it in found:
        path, component, demand = it.asked.path, it.asked.component, it.asked.demand
        own, scaling, first = component.objective, component.autoscaling, first_copies(component)
        has_limits = own is not None and any(getattr(own, key) is not None for key in demand.limits)
        yield Compared(
            component=it.asked.name,
            objective_path=(*path, "objective") if has_limits else ("objective",),
            start_path=(*path, "runtime_config", "copy_count"),
            instance_type=instance_type,
            scaling=scaling,
            scaling_path=(*path, "autoscaling"),
            start=first,
            most=first if scaling is None else most_capacity(scaling),
            demand=demand,
            measured=(it.size, *it.others),
        )


def _average(
    spec: ModelSpec, variant: Variant, traffic: "Traffic", takes: "Mapping[str | None, Decimal | None]"
) -> Decimal | None:
    """The instances that run on average over the traffic; None if scaling does not follow from it alone.

    ``takes`` has the seconds that a request takes, by component, or for the variant itself.
    """
    from inferstack.sizing.sharing.policies import scaling_of_variant  # noqa: PLC0415 - most specs name no file
    from inferstack.sizing.sharing.scaling import simulated  # noqa: PLC0415 - as above

    if hosts_components(spec):
        return _average_of_components(spec, variant, traffic, takes)
    simulation = scaling_of_variant(spec, variant, traffic.period, seconds=takes[None])
    if simulation.left_out:
        return None
    held = simulated(traffic.totals, simulation.scaling.at_least(1)).held
    return Decimal(sum(held)) / len(held)


def _average_of_components(
    spec: ModelSpec, variant: Variant, traffic: "Traffic", takes: "Mapping[str | None, Decimal | None]"
) -> Decimal | None:
    from inferstack.sizing.sharing.hosts import CannotPackError, Simulation, host_of  # noqa: PLC0415 - as above
    from inferstack.sizing.sharing.ways import TooManyError, on_fleet  # noqa: PLC0415 - as above
    from inferstack.sizing.traffic import requests_by_base  # noqa: PLC0415 - as above

    seconds = {name: it for name, it in takes.items() if name is not None and it is not None}
    try:
        host = host_of(spec, variant, Simulation(traffic.period, seconds_of=seconds))
        names = [it.name for it in host.models]
        if not names or host.left_out or not traffic.requests.keys() >= {*names}:
            return None
        requests = requests_by_base(traffic, names, host.adapters)
        instances = on_fleet(requests, host.models, host.fleet).placed.instances
    except (CannotPackError, TooManyError):
        return None
    return Decimal(sum(instances)) / len(instances)

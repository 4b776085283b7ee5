"""The files that an objective names: traffic becomes numbers, measurements are compared with the spec."""

from collections.abc import Iterator
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
        about = [it for it in (_compared(spec, document, traffic), _priced(spec)) if it is not None]
    except SpecError as error:
        yield from error.problems
        return
    for rule in MEASURED.values():
        for it in about:
            if isinstance(it, rule.applies_to) and rule.code not in spec.ignored_codes:
                for problem in rule.check(it):
                    yield document.located(problem, rule.code, rule.severity)


def _priced(spec: ModelSpec) -> Priced | None:
    """The instance types of a spec with the price file's part on its region; None without one.

    What is not for sale on demand may still be reserved, and the file has no prices of asynchronous
    inference.
    """
    region = region_of(spec)
    if region is None or is_async(spec) or not Path(PRICE_FILE).is_file():
        return None
    try:
        prices = read_price_file(Path(PRICE_FILE)).regions.get(region)
    except SpecError:
        # Whatever needs a price says so.
        return None
    if prices is None:
        return None
    types = (
        it
        for path, variant in every_variant(spec)
        if variant.capacity_reservation_config is None
        for it in written_instance_types(path, variant)
    )
    known = tuple((path, name) for path, name in types if not is_opaque(name))
    return Priced(known, region, prices)


def _compared(spec: ModelSpec, document: Document, traffic: "Traffic | None") -> Compared | None:
    """The only variant of a spec with what is known of its instances; None if that is nothing."""
    objective = spec.objective
    if objective is None:
        return None
    fleet, counts = every_variant(spec), instance_counts(spec)
    if all(it is None for it in objective.asked) or len(fleet) != 1 or counts is None:
        return None
    if objective.measurements is None and objective.budget_per_hour is None:
        return None
    from inferstack.sizing.sizes import demand_of, sizes  # noqa: PLC0415 - most specs name no file

    (path, variant), demand = fleet[0], demand_of(objective)
    type_ = variant.instance_type
    if type_ is None or is_opaque(type_) or counts.start is None or counts.max is None:
        return None
    scaling_path, _, scaling = next(iter(variant_scalings(spec)), ((), variant, None))
    rows = list(_measured_on(type_, spec, document))
    prices = NO_PRICES if demand.budget_per_hour is None else prices_for(region_of(spec), None)
    own = (it.price_per_hour for it in rows)
    price = next((it for it in own if it is not None), prices.of(type_))
    is_priced = price is not None and demand.budget_per_hour is not None
    return Compared(
        path=path,
        variant=variant,
        instance_type=type_,
        scaling=scaling,
        scaling_path=scaling_path,
        start=counts.start,
        most=counts.max,
        demand=demand,
        # What is over the budget may still be fast enough.
        measured=sizes(rows, replace(demand, budget_per_hour=None), NO_PRICES),
        price=price,
        average=None if traffic is None or not is_priced else _average(spec, variant, traffic),
        currency=prices.currency,
    )


def _average(spec: ModelSpec, variant: Variant, traffic: "Traffic") -> Decimal | None:
    """The instances that run on average over the traffic; None if scaling does not follow from it alone."""
    from inferstack.sizing.sharing.policies import scaling_of_variant  # noqa: PLC0415 - most specs name no file
    from inferstack.sizing.sharing.scaling import simulated  # noqa: PLC0415 - as above

    if hosts_components(spec):
        return _average_of_components(spec, variant, traffic)
    simulation = scaling_of_variant(spec, variant, traffic.period)
    if simulation.left_out:
        return None
    held = simulated(traffic.totals, simulation.scaling.at_least(1)).held
    return Decimal(sum(held)) / len(held)


def _average_of_components(spec: ModelSpec, variant: Variant, traffic: "Traffic") -> Decimal | None:
    from inferstack.sizing.sharing.hosts import CannotPackError, Simulation, host_of  # noqa: PLC0415 - as above
    from inferstack.sizing.sharing.ways import TooManyError, on_fleet  # noqa: PLC0415 - as above
    from inferstack.sizing.traffic import requests_by_base  # noqa: PLC0415 - as above

    try:
        host = host_of(spec, variant, Simulation(traffic.period))
        names = [it.name for it in host.models]
        if not names or host.left_out or not traffic.requests.keys() >= {*names}:
            return None
        requests = requests_by_base(traffic, names, host.adapters)
        instances = on_fleet(requests, host.models, host.fleet).placed.instances
    except (CannotPackError, TooManyError):
        return None
    return Decimal(sum(instances)) / len(instances)


def _measured_on(instance_type: str, spec: ModelSpec, document: Document) -> "Iterator[Measurement]":
    """What was measured on a type of instance; not with components, of which an instance holds any number."""
    for it in measurements_of(spec, document):
        if it.instance_type == instance_type and not hosts_components(spec):
            yield it

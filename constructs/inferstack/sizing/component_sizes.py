"""Inference components: the copies of each from its own measurements, then the fleet that holds them all.

    objective + measurements of a copy -> copies of each component (sizes)
    copies + what one needs -> instances at the fewest, the first and the most (placement)
    the spec with that scaling + traffic -> instances on average (sharing)

The simulated spec is the one that is written, with whatever else scales its copies.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from inferstack.endpoint.cost import NO_PRICES, Prices
from inferstack.endpoint.placement import HostFleet, settled
from inferstack.facts.scaling import OF_COPIES, first_copies, least_capacity, most_capacity
from inferstack.facts.walk import bases_of_adapters, components, variant_scalings, variants
from inferstack.format.inference_component import InferenceComponent
from inferstack.format.kinds import ModelSpec
from inferstack.format.objective import Objective
from inferstack.format.variant import Variant
from inferstack.problems import SpecError, SpecPath
from inferstack.problems.words import choose, listed
from inferstack.sizing.into_spec import SpecChanges, named_variant, require_writable, scaling_changes
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.sharing.hosts import (
    CannotPackError,
    SharedFleet,
    Simulation,
    component_of,
    components_on,
    host_of,
    room_of,
)
from inferstack.sizing.sharing.ways import OnFleet, TooManyError, check_counts, on_fleet
from inferstack.sizing.sizes import (
    CountedInstances,
    Demand,
    Size,
    cost_of_a_million,
    demand_of,
    over_budget,
    sizes,
)
from inferstack.sizing.traffic import Traffic, name_problems, requests_by_base
from inferstack.sizing.traffic_points import UNDATED, Period
from inferstack.source.edit import with_value

_OF_ALL = (
    "requests_per_minute",
    "lowest_requests_per_minute",
    "concurrency",
    "lowest_concurrency",
    "tokens_per_second",
)
"""What an objective says of all components together."""


class CannotSizeError(ValueError):
    """Why the copies of a component cannot be counted."""


class AskedComponent(msgspec.Struct, frozen=True):
    """A component, what its copies must do, and what was measured of one."""

    path: SpecPath
    name: str
    component: InferenceComponent
    demand: Demand
    measured: tuple[Measurement, ...]


class SizedComponent(msgspec.Struct, frozen=True):
    """A component, and its copies, which are counted as instances are."""

    asked: AskedComponent
    size: Size
    others: tuple[Size, ...] = ()
    """What was measured on the same type, too."""


class SizedFleet(CountedInstances, frozen=True, kw_only=True):
    """The instances of one type that hold the copies of all components."""

    instance_type: str
    components: tuple[SizedComponent, ...]
    copies: Mapping[str, tuple[int, int, int]] = {}
    """The fewest, the first and the most copies of each, with what schedules allow."""
    changes: SpecChanges = SpecChanges({})
    """What the spec gets."""
    left_out: tuple[str, ...] = ()
    """What of the spec is not simulated, in words."""


class FleetQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The variant whose fleet is sized, and the components on it."""

    spec: ModelSpec
    path: SpecPath
    variant: Variant
    components: tuple[AskedComponent, ...]
    traffic: Traffic | None
    requests: Mapping[str, tuple[Decimal, ...]]
    """The requests of each component minute by minute, with those of its adapters; empty without traffic."""

    @property
    def spare_instances(self) -> int:
        """Instances beyond those that the copies need."""
        return 0 if self.spec.objective is None else self.spec.objective.spare_instances

    @property
    def budget_per_hour(self) -> Decimal | None:
        """What all instances may cost in an hour, which each demand says."""
        return self.components[0].demand.budget_per_hour


def fleet_question(
    spec: ModelSpec, name: str | None, measurements: Sequence[Measurement], traffic: Traffic | None
) -> FleetQuestion:
    """What the components on a variant must do, and what was measured of them.

    Raises:
        CannotSizeError: when a component has no measurements, or nothing says how many requests it gets.
        NotWritableError: when it is not clear which variant is meant.
        SpecError: when the traffic names other components.
    """
    path, variant = named_variant(spec, name)
    require_writable(variant)
    here, adapters = components_on(spec, variant), bases_of_adapters(spec)
    bases = [it for _, it, component in components(spec) if component.base_name is None]
    if not here:
        raise CannotSizeError(f"no component runs on `{variant.variant_name}`")
    for row in measurements:
        if row.component not in bases and (row.component is not None or len(bases) > 1):
            raise CannotSizeError(_not_a_component(row, bases, adapters))
    for _, it, component in components(spec):
        if component.base_name is not None and component.objective is not None:
            how = f"write all that its copies do into the `objective` of `{component.base_name}`"
            raise CannotSizeError(f"`{it}` is an adapter, and has an `objective`: {how}")
    requests: Mapping[str, tuple[Decimal, ...]] = {}
    if traffic is not None:
        names = [it for _, it, _ in here]
        problems = list(name_problems(traffic, names, [*bases, *adapters]))
        if problems:
            raise SpecError(problems)
        requests = requests_by_base(traffic, names, adapters)
    asked = []
    for at, of, component in here:
        rows = tuple(it for it in measurements if it.component in (of, None))
        if not rows:
            type_ = variant.instance_type
            how = f"measure one copy on {type_}, and name `{of}` in the column `component`"
            raise CannotSizeError(f"`{of}` has no measurements: {how}")
        demand = demand_of(_objective(spec, of, component, requests.get(of, ())), requests.get(of, ()))
        asked.append(AskedComponent(at, of, component, demand, rows))
    return FleetQuestion(
        spec=spec,
        path=path,
        variant=variant,
        components=tuple(asked),
        traffic=traffic,
        requests=requests,
    )


def _not_a_component(row: Measurement, bases: Sequence[str], adapters: Mapping[str, str]) -> str:
    name = row.component
    if name is None:
        how = "name it in the column `component`, or the file in the `objective` of the component"
        return f"`{row.configuration}` was measured of any of {listed(bases, last='or')}: {how}"
    if name in adapters:
        base = adapters[name]
        return f"`{name}` was measured, which is an adapter: measure its base `{base}` with all its requests"
    return f"`{name}` was measured, but is no component of the spec; {choose(name, bases)}"


def _objective(
    spec: ModelSpec, name: str, component: InferenceComponent, requests: Sequence[Decimal]
) -> Objective:
    """What a component is for: what it says itself, and for the rest, what the endpoint is for."""
    whole = replace(spec.objective or Objective(), spare_instances=0)
    if sum(it.base_name is None for _, _, it in components(spec)) > 1:
        whole = replace(whole, **dict.fromkeys(_OF_ALL))
    if requests:
        most, least = float(max(requests)), float(min(requests))
        whole = replace(whole, requests_per_minute=most, lowest_requests_per_minute=least)
    own = {} if component.objective is None else asdict(component.objective)
    found = replace(whole, **{key: it for key, it in own.items() if it is not None})
    if all(it is None for it in found.asked):
        how = "write `objective: {requests_per_minute: …}` in it, or name a file of `traffic`"
        raise CannotSizeError(f"nothing says how many requests `{name}` gets: {how}")
    return found


# ---------------------------------------------------------------- fleets


def fleets(question: FleetQuestion, prices: Prices) -> list[SizedFleet]:
    """The fleet of each instance type on which a copy was measured, the cheapest that meets the demand first.

    Those that do not meet it come last. Without prices, fewer instances on average come first.
    """
    types = dict.fromkeys(row.instance_type for it in question.components for row in it.measured)
    return sorted((_fleet(question, it, prices) for it in types), key=lambda it: (*it.rank, it.instance_type))


def _fleet(question: FleetQuestion, instance_type: str, prices: Prices) -> SizedFleet:
    found, objections = list[SizedComponent](), list[str]()
    rows = (row for it in question.components for row in it.measured if row.instance_type == instance_type)
    own = (row.price_per_hour for row in rows)
    price = next((it for it in own if it is not None), prices.of(instance_type))
    for asked in question.components:
        try:
            found.append(copies_of(asked, instance_type))
        except CannotPackError as error:
            objections.append(str(error))
    for it in found:
        objections += (f"`{it.asked.name}`, {it.size.title}: {why}" for why in it.size.objections)
    if not objections:
        try:
            return _counted(question, instance_type, tuple(found), price)
        except TooManyError as error:
            objections.append(str(error))
    return SizedFleet(
        instance_type=instance_type,
        components=tuple(found),
        is_counted=False,
        price=price,
        objections=tuple(objections),
    )


def copies_of(asked: AskedComponent, instance_type: str) -> SizedComponent:
    """The copies of a component in its best configuration on a type.

    Raises:
        CannotPackError: when there is none, or no instance of the type has room for a copy.
    """
    component_of(asked.name, asked.component, instance_type, room_of(instance_type))
    # All are on the same type, so what an instance costs does not tell them apart.
    here = (it for it in asked.measured if it.instance_type == instance_type)
    rows = [replace(it, price_per_hour=None, component=asked.name) for it in here]
    if not rows:
        raise CannotPackError(f"`{asked.name}` was not measured on {instance_type}")
    first, *others = sizes(rows, asked.demand, NO_PRICES)
    return SizedComponent(asked, replace(first, metric=OF_COPIES[first.metric]), tuple(others))


def _counted(
    question: FleetQuestion, instance_type: str, found: Sequence[SizedComponent], price: Decimal | None
) -> SizedFleet:
    """The instances that hold these copies.

    Raises:
        TooManyError: with thousands of copies or instances.
    """
    changes = _changes_of_copies(question, instance_type, found)
    spec = _changed(question.spec, changes.values)
    host = _host(spec, question, found)
    copies = _numbers_of_copies(question, spec)
    check_counts(copies, host.fleet)
    spare = question.spare_instances
    low, start, high = (
        spare + _instances(host, {name: counts[at] for name, counts in copies.items()}) for at in range(3)
    )
    run = None
    if question.traffic is not None:
        run = on_fleet(question.requests, host.models, replace(host.fleet, low=low, high=None))
        high = max(high, *run.placed.instances)
    managed = question.variant.managed_instance_scaling
    is_fixed = managed is not None and managed.status == "DISABLED"
    if is_fixed:
        low = start = high
    held = (high,) if run is None or is_fixed else run.placed.instances
    average = Decimal(sum(held)) / len(held)
    per_hour = None if price is None else average * price
    usual = sum((it.asked.demand.of(it.size.measurement).usual for it in found), Decimal(0))
    of_fleet = _changes_of_fleet(question, low, start, high)
    return SizedFleet(
        instance_type=instance_type,
        components=tuple(found),
        copies=copies,
        changes=SpecChanges({**changes.values, **of_fleet}, changes.left),
        left_out=host.left_out if run is not None else (),
        min_capacity=low,
        count=high,
        average=average,
        minutes_short=0 if run is None else _minutes_short(run, found, question.requests),
        price=price,
        per_million=cost_of_a_million(per_hour, usual),
        objections=tuple(over_budget(per_hour, question.budget_per_hour, is_average=run is not None)),
        doubts=tuple(
            f"`{it.asked.name}`, {it.size.title}: {doubt}" for it in found for doubt in it.size.doubts
        ),
    )


def _host(spec: ModelSpec, question: FleetQuestion, found: Sequence[SizedComponent]) -> SharedFleet:
    """The fleet of the spec that has these copies."""
    # Without traffic, nothing is simulated.
    period = Period(UNDATED, 1) if question.traffic is None else question.traffic.period
    seconds = {
        it.asked.name: takes for it in found if (takes := it.size.measurement.seconds_a_request) is not None
    }
    return host_of(spec, dict(variants(spec))[question.path], Simulation(period, seconds_of=seconds))


def _numbers_of_copies(question: FleetQuestion, spec: ModelSpec) -> dict[str, tuple[int, int, int]]:
    names = {it.name for it in question.components}
    here = [(name, it, first_copies(it)) for _, name, it in components(spec) if name in names]
    return {
        name: (first, first, first)
        if it.autoscaling is None
        else (least_capacity(it.autoscaling), first, most_capacity(it.autoscaling))
        for name, it, first in here
    }


def _instances(host: SharedFleet, copies: Mapping[str, int]) -> int:
    tenants = [it.component for it in host.models]
    return len(settled(copies, tenants, HostFleet(room=host.fleet.room)).instances)


def _minutes_short(
    run: OnFleet, found: Sequence[SizedComponent], requests: Mapping[str, Sequence[Decimal]]
) -> int:
    """Minutes in which a component gets more requests than its copies can answer."""
    short = set[int]()
    for it in found:
        name, rate = it.asked.name, it.size.measurement.requests_per_minute
        pairs = zip(requests[name], run.copies[name].serving, strict=True)
        short.update(minute for minute, (asked, serving) in enumerate(pairs) if asked > serving * rate)
    return len(short)


# ---------------------------------------------------------------- what the spec gets


def _changed(spec: ModelSpec, values: Mapping[SpecPath, Any]) -> ModelSpec:
    data = msgspec.json.decode(msgspec.json.encode(spec))
    for path, value in values.items():
        data = with_value(data, path, value)
    return msgspec.convert(data, type(spec))


def _changes_of_copies(
    question: FleetQuestion, instance_type: str, found: Sequence[SizedComponent]
) -> SpecChanges:
    """The type, and for each component the copies that it starts with, and its scaling."""
    values: dict[SpecPath, Any] = {(*question.path, "instance_type"): instance_type}
    left: list[str] = []
    has_other_type = question.variant.instance_type != instance_type
    for it in found:
        path, component, copies = it.asked.path, it.asked.component, it.size.count
        if copies != first_copies(component):
            values[(*path, "runtime_config", "copy_count")] = copies
        scaling = component.autoscaling
        at = (*path, "autoscaling")
        scaled = scaling_changes(question.spec, at, scaling, it.size, has_other_type=has_other_type)
        values.update(scaled.values)
        left += (f"`{it.asked.name}`: {line}" for line in scaled.left)
    return SpecChanges(values, tuple(left))


def _changes_of_fleet(question: FleetQuestion, low: int, start: int, high: int) -> dict[SpecPath, Any]:
    path, managed = question.path, question.variant.managed_instance_scaling
    values: dict[SpecPath, Any] = {(*path, "initial_instance_count"): start}
    for at, scaled, _ in variant_scalings(question.spec):
        if scaled is question.variant:
            return {**values, (*at, "min_capacity"): low, (*at, "max_capacity"): high}
    if managed is not None and managed.status == "DISABLED":
        return values
    limits, at = {"min_instance_count": low, "max_instance_count": high}, (*path, "managed_instance_scaling")
    if managed is not None:
        values.update({(*at, key): it for key, it in limits.items()})
    elif low < high:
        values[at] = {"status": "ENABLED", **limits}
    return values

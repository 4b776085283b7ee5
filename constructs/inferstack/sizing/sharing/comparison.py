"""Specs and traffic in, a comparison for each fleet out: shared, or an endpoint for each model."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.catalog import instances
from inferstack.facts.kinds import hosts_components, kind_of
from inferstack.facts.walk import instance_types, model_containers, variants
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecError
from inferstack.problems.words import choose
from inferstack.sizing.sharing.hosts import CannotPackError, SharedFleet, Simulation, hosts_of, one_host
from inferstack.sizing.sharing.multi_model import (
    ColdStarts,
    cold_starts,
    compared_instances,
    loads_of_uncached,
)
from inferstack.sizing.sharing.policies import scaling_of_variant
from inferstack.sizing.sharing.scaling import CopyScaling
from inferstack.sizing.sharing.ways import ScaledModel, Sharing, TooManyError, compared
from inferstack.sizing.traffic import Traffic, name_problems, requests_by_base
from inferstack.sizing.traffic_points import UNDATED, Period

ANY_MODEL = ""
"""The name for the memory of models that have none of their own."""
WEEK = Period(UNDATED, 7 * 24 * 60)
"""The week that scheduled actions are about, from a Monday on."""


class FleetComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What was found for one fleet."""

    name: str
    instance_type: str
    models: tuple[str, ...]
    traffic: Traffic
    sharing: Sharing
    limit: str
    """The key of the spec that limits the number of instances."""
    most_instances: int | None = None
    """The most instances that the spec allows; None if it is about several specs."""
    left_out: tuple[str, ...] = ()
    cold_starts: ColdStarts | None = None
    """For a multi-model endpoint, if the memory of its models is known."""


class SharingQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared, apart from the specs. Without ``traffic``, it comes from scheduled actions."""

    traffic: Traffic | None = None
    simulation: Simulation = Simulation(WEEK)
    startup: int = 0
    memory: Mapping[str, int] = msgspec.field(default_factory=dict)
    """MiB that models take, by name."""


def comparisons(specs: Sequence[ModelSpec], question: SharingQuestion) -> list[FleetComparison]:
    """Compares models that share a fleet with the same models on endpoints of their own.

    The components of several specs are put on one fleet.

    Raises:
        CannotPackError: when the specs do not say enough for it.
        SpecError: when specs and traffic do not name the same models.
    """
    if len(specs) == 1 and kind_of(specs[0]).archives == "many":
        return [_of_multi_model(specs[0], question)]
    for spec in specs:
        if not hosts_components(spec):
            wanted = "`kind: inference-components`, or a single spec of `kind: multi-model`"
            raise CannotPackError(f"the models of `{spec.endpoint_name}` share no fleet: that takes {wanted}")
    hosts = [host for spec in specs for host in hosts_of(spec, question.simulation)]
    return [_of_host(it, hosts, question) for it in ([one_host(hosts)] if len(specs) > 1 else hosts)]


def period_of(traffic: Traffic | None) -> Period:
    """The minutes of some traffic; without any, the week that scheduled actions are about."""
    return WEEK if traffic is None else traffic.period


def _of_host(host: SharedFleet, all_: Sequence[SharedFleet], question: SharingQuestion) -> FleetComparison:
    traffic = question.traffic
    if traffic is None:
        traffic = traffic_of_windows(host.models)
    else:
        known = [name for it in all_ for name in (*it.adapters, *(model.name for model in it.models))]
        problems = list(name_problems(traffic, [it.name for it in host.models], known))
        if problems:
            raise SpecError(problems)
    requests = requests_by_base(traffic, [it.name for it in host.models], host.adapters)
    try:
        sharing = compared(requests, host.models, host.fleet, startup=question.startup)
    except TooManyError as error:
        raise CannotPackError(f"{host.name}: {error}; check targets, limits and traffic") from None
    return FleetComparison(
        name=host.name,
        instance_type=host.instance_type,
        models=tuple(requests),
        traffic=traffic,
        sharing=sharing,
        limit="max_instance_count",
        most_instances=host.fleet.high,
        left_out=host.left_out,
    )


# ---------------------------------------------------------------- multi-model endpoints


def _of_multi_model(spec: ModelSpec, question: SharingQuestion) -> FleetComparison:
    if question.traffic is None:
        raise CannotPackError("a multi-model endpoint needs `--traffic FILE`: its spec names no models")
    variant = variants(spec)[0][1]
    instance_type = instance_types(variant)[0]
    simulation = question.simulation
    simulated = scaling_of_variant(spec, variant, simulation.period, seconds=simulation.seconds)
    requests = question.traffic.requests
    sharing, counts = compared_instances(requests, simulated.scaling, startup=question.startup)
    limits = [simulated.scaling.limits, *simulated.scaling.changes.values()]
    return FleetComparison(
        name=spec.endpoint_name,
        instance_type=instance_type,
        models=tuple(requests),
        traffic=question.traffic,
        sharing=sharing,
        limit="max_capacity",
        most_instances=max(it.high for it in limits),
        left_out=simulated.left_out,
        cold_starts=_cold_starts(spec, instance_type, question, counts),
    )


def _cold_starts(
    spec: ModelSpec, instance_type: str, question: SharingQuestion, counts: Sequence[int]
) -> ColdStarts | None:
    """The loads of models; the memory of their kind of instance is that of its GPUs, if it has any."""
    requests = {} if question.traffic is None else question.traffic.requests
    if any(_is_uncached(container) for _, _, container in model_containers(spec)):
        return ColdStarts(dict(loads_of_uncached(requests)), (), 0)
    for name in question.memory:
        if name not in (ANY_MODEL, *requests):
            which = f"the traffic has no such model; {choose(name, [*requests])}"
            raise CannotPackError(f"`--model-memory` names `{name}`: {which}")
    memory = {name: question.memory.get(name, question.memory.get(ANY_MODEL, 0)) for name in requests}
    if not all(memory.values()):
        return None
    hardware = instances.find(instance_type)
    if hardware is None:
        raise CannotPackError(f"the memory of `{instance_type}` is not known")
    each = hardware.gpus * hardware.gpu_memory_mib_each or hardware.memory_mib
    return cold_starts(requests, memory, counts, each)


def _is_uncached(container: object) -> bool:
    config = getattr(container, "multi_model_config", None)
    return config is not None and config.model_cache_setting == "Disabled"


# ---------------------------------------------------------------- traffic out of scheduled actions


def traffic_of_windows(models: Sequence[ScaledModel]) -> Traffic:
    """For specs whose traffic was never measured: the requests that keep the scheduled minimum of each model
    busy, minute by minute for a week.

    Raises:
        CannotPackError: for a model without scheduled actions or without a target, or if no action sets a
            minimum.
    """
    traffic = Traffic(requests={it.name: _requests(it.name, it.scaling) for it in models}, start=UNDATED)
    if not traffic.peak:
        raise CannotPackError("no scheduled action sets a `min_capacity` above 0; add `--traffic FILE`")
    return traffic


def _requests(name: str, scaling: CopyScaling) -> tuple[Decimal, ...]:
    target = scaling.target
    if not scaling.changes or target is None:
        lacks = "scheduled actions" if not scaling.changes else "a target for requests per copy"
        raise CannotPackError(f"`{name}` has no {lacks} that would give its traffic; add `--traffic FILE`")
    limits, requests = scaling.limits, []
    for minute in range(WEEK.minutes):
        limits = scaling.changes.get(minute, limits)
        requests.append(target * min(limits.low, limits.high))
    return tuple(requests)

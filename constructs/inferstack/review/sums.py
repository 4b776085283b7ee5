"""What all endpoints need and cost together: quotas by account and region, totals by stage."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from inferstack.endpoint import cost
from inferstack.endpoint.counts import InstanceCounts
from inferstack.endpoint.data import Cost, Endpoint, Fleet
from inferstack.review.data import Quota, Reviewed, Total


class _Need(msgspec.Struct, frozen=True):
    """How many instances of a type one endpoint has, and has meanwhile."""

    key: str
    always: int
    meanwhile: int


_Where = tuple[str | None, str | None, str]
"""Account, region and instance type."""


def quotas(reviewed: Sequence[Reviewed]) -> tuple[Quota, ...]:
    """The quotas that the endpoints need together, by account, region and instance type."""
    needs: dict[_Where, dict[str, _Need]] = {}
    for it in reviewed:
        if it.after is not None:
            for instance_type, need in _needs(it, it.after):
                place = (it.after.account, it.after.region, instance_type)
                # A stack that two stages make in the same place is one stack.
                found = needs.setdefault(place, {}).get(it.after.stack)
                if found is None or found.meanwhile < need.meanwhile:
                    needs[place][it.after.stack] = need
    made = (_quota(place, list(found.values())) for place, found in needs.items())
    return tuple(sorted(made, key=lambda it: (it.account or "", it.region or "", it.name)))


def _quota(place: _Where, found: Sequence[_Need]) -> Quota:
    account, region, instance_type = place
    return Quota(
        name=cost.quota_name(instance_type),
        account=account,
        region=region,
        instances=sum(it.always for it in found),
        while_updating=sum(it.meanwhile for it in found),
        endpoints=tuple(it.key for it in found),
    )


def _needs(it: Reviewed, after: Endpoint) -> Iterator[tuple[str, _Need]]:
    """Each type of a variant with pools may have to be enough alone."""
    found: dict[str, tuple[int, int]] = {}
    for fleet in after.fleets:
        if fleet.instances is not None:
            most = fleet.instances.max
            for name in fleet.instance_types:
                always, meanwhile = found.get(name, (0, 0))
                found[name] = (always + most, meanwhile + max(most, _meanwhile(it, fleet, name)))
    yield from ((name, _Need(it.key, *counts)) for name, counts in found.items())


def _meanwhile(it: Reviewed, fleet: Fleet, instance_type: str) -> int:
    """Instances of a type in the fleet that an update replaces, and in the one that replaces it."""
    more, old = while_updating(it, fleet), fleet if it.fate == "not compared" else _fleet_before(it, fleet)
    if not more or old is None or old.instances is None or instance_type not in old.instance_types:
        return more
    return old.instances.max + more


def _fleet_before(it: Reviewed, fleet: Fleet) -> Fleet | None:
    """The fleet of the same variant before the change."""
    found = () if it.before is None else it.before.fleets
    return next((one for one in found if (one.name, one.is_shadow) == (fleet.name, fleet.is_shadow)), None)


def while_updating(it: Reviewed, fleet: Fleet) -> int:
    """Instances that the update runs beside the old fleet; without a base, those of any update."""
    if it.fate == "not compared":
        return fleet.update.instances
    old = _fleet_before(it, fleet)
    if not it.has_new_fleet or old is None or old.instances is None or fleet.instances is None:
        return 0
    as_many = _new_fleet(old.instances, fleet.instances, grows=fleet.grows_with_copies)
    return min(fleet.update.instances, as_many) if fleet.update.how == "rolling" else as_many


def _new_fleet(old: InstanceCounts, new: InstanceCounts, *, grows: bool) -> int:
    """How large a new fleet is at most before the old one is gone. What scales keeps its present number, and
    has its new limits only afterwards.
    """
    if grows:
        return new.max
    return new.start if old.min == old.max else old.max


def totals(reviewed: Sequence[Reviewed]) -> tuple[Total, ...]:
    """The cost at each stage, where there are several, and of all together."""
    stages = list(dict.fromkeys(_stage(it) for it in reviewed))
    of_stages = (
        [it for stage in stages for it in _totals(_at(reviewed, stage), stage)] if len(stages) > 1 else []
    )
    return (*of_stages, *_totals(_each_stack_once(reviewed), None, is_sum=True))


def _stage(it: Reviewed) -> str | None:
    found = it.after if it.after is not None else it.before
    return None if found is None else found.stage


def _at(reviewed: Iterable[Reviewed], stage: str | None) -> list[Reviewed]:
    return [it for it in reviewed if _stage(it) == stage]


def _each_stack_once(reviewed: Iterable[Reviewed]) -> list[Reviewed]:
    """A stack that two stages make in the same place is one stack: the larger one counts."""
    found: dict[object, Reviewed] = {}
    for it in reviewed:
        one = it.after if it.after is not None else it.before
        if one is not None:
            place = (one.account, one.region, one.stack)
            other = found.get(place)
            if other is None or _most(it) > _most(other):
                found[place] = it
    return list(found.values())


def _most(it: Reviewed) -> int:
    return 0 if it.after is None else it.after.cost.instance_hours.max


def _totals(reviewed: Sequence[Reviewed], stage: str | None, *, is_sum: bool = False) -> Iterator[Total]:
    after = [it.after.cost for it in reviewed if it.after is not None]
    before = [it.before.cost for it in reviewed if it.before is not None]
    groups = list(cost.by_currency([*after, *before]))
    for group in groups:
        now, was = ([it for it in costs if any(it is one for one in group)] for costs in (after, before))
        yield Total(stage=stage, is_sum=is_sum, cost=cost.together(now), before=_before(was))


def _before(costs: Sequence[Cost]) -> Cost | None:
    return cost.together(costs) if costs else None

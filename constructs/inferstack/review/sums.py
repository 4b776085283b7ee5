"""What all endpoints need and cost together: quotas by account and region, totals by stage."""

import math
from collections.abc import Iterable, Iterator, Sequence

from inferstack.endpoint import cost
from inferstack.endpoint.cost import Cost
from inferstack.endpoint.counts import added
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_template import Picture
from inferstack.endpoint.quota import Claim, beside, needs, together
from inferstack.review.data import EndpointFate, Quota, Reviewed, Total

_Place = tuple[str | None, str | None, str]
"""Account, region and name of a stack."""


def quotas(reviewed: Sequence[Reviewed]) -> tuple[Quota, ...]:
    """The quotas that the endpoints need together, by account, region and name."""
    claims = (
        Claim(it.after.account, it.after.region, it.after.stack, it.key, need)
        for it in reviewed
        if it.after is not None
        for need in needs(*_fleets(it), replaces=_replaces(it), keeps_counts=it.keeps_counts)
    )
    quotas_ = [
        Quota(
            name=name,
            account=account,
            region=region,
            needed=added(it.need.always for it in those),
            while_updating=added(it.need.meanwhile for it in those),
            endpoints=tuple(it.key for it in those),
        )
        for (account, region, name), those in together(claims).items()
    ]
    return tuple(sorted(quotas_, key=lambda it: (it.account or "", it.region or "", it.name)))


def _fleets(it: Reviewed) -> tuple[Sequence[Fleet], Sequence[Fleet]]:
    """The fleets before and after an update; what is not compared is taken to be updated as it is."""
    after = () if it.after is None else it.after.fleets
    if it.fate == "not compared":
        return after, after
    return () if it.before is None else it.before.fleets, after


def _replaces(it: Reviewed) -> bool:
    """Whether the update makes new fleets beside the old ones; without a base, any update does."""
    return it.fate == "not compared" or (it.has_new_fleet and it.fate != "moved")


def while_updating(it: Reviewed, fleet: Fleet) -> int | None:
    """Instances that the update runs beside the old fleet; without a base, those of any update."""
    if not _replaces(it):
        return 0
    old = {(one.name, one.is_shadow): one for one in _fleets(it)[0]}
    return beside(old.get((fleet.name, fleet.is_shadow)), fleet, keeps_count=it.keeps_counts)


def totals(reviewed: Sequence[Reviewed]) -> tuple[Total, ...]:
    """The cost at each stage, where there are several, and of all together."""
    old = [*_old_stacks(reviewed)]
    stages = list(dict.fromkeys(_stage(it) for it in reviewed))
    of_stages = [
        it
        for stage in stages
        for it in _totals(_at(reviewed, stage), [one for one in old if one.stage == stage], stage)
    ]
    every = _totals(_each_stack_once(reviewed), old, None, is_sum=True)
    return (*(of_stages if len(stages) > 1 else ()), *every)


def _stage(it: Reviewed) -> str | None:
    found = it.after if it.after is not None else it.before
    return None if found is None else found.stage


def _at(reviewed: Iterable[Reviewed], stage: str | None) -> list[Reviewed]:
    return [it for it in reviewed if _stage(it) == stage]


def _each_stack_once(reviewed: Iterable[Reviewed]) -> list[Reviewed]:
    """A stack that two stages make in the same place is one stack: the larger one counts."""
    found: dict[_Place, Reviewed] = {}
    for it in reviewed:
        one = it.after if it.after is not None else it.before
        if one is not None:
            other = found.get(_place(one))
            if other is None or _most(it.after) > _most(other.after):
                found[_place(one)] = it
    return list(found.values())


def _place(one: Picture) -> _Place:
    return one.account, one.region, one.stack


def _most(one: Picture | None) -> float:
    most = 0 if one is None else one.cost.instance_hours.max
    return math.inf if most is None else most


def _old_stacks(reviewed: Sequence[Reviewed]) -> Iterator[Picture]:
    """The stacks that no deployment changes any more, each once: they run until somebody deletes them."""
    made = {_place(it.after) for it in reviewed if it.after is not None}
    left = [it.before for it in reviewed if it.fate in _LEAVES_OLD_STACK and it.before is not None]
    found: dict[_Place, Picture] = {}
    for one in sorted(left, key=_most):
        found[_place(one)] = one
    yield from (one for place, one in found.items() if place not in made)


_LEAVES_OLD_STACK = frozenset[EndpointFate]({"removed", "moved", "replaced"})
"""What may become of an endpoint while its stack stays: that of a replaced one does under another name."""


def _totals(
    reviewed: Sequence[Reviewed], old_stacks: Sequence[Picture], stage: str | None, *, is_sum: bool = False
) -> Iterator[Total]:
    after = [it.after.cost for it in reviewed if it.after is not None]
    before = [it.before.cost for it in reviewed if it.before is not None]
    old = [it.cost for it in old_stacks]
    for group in cost.by_currency([*after, *before, *old]):
        now, was, stays = (
            [it for it in costs if any(it is one for one in group)] for costs in (after, before, old)
        )
        yield Total(
            stage=stage,
            is_sum=is_sum,
            cost=cost.together(now),
            before=_together(was),
            until_deleted=_together(stays),
        )


def _together(costs: Sequence[Cost]) -> Cost | None:
    return cost.together(costs) if costs else None

"""Models that share the instances of a multi-model endpoint: its instances, and how often a model is loaded.

SageMaker loads a model when a request names it, and unloads those that were not used for longest when memory
runs short. https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-endpoints.html
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.sizing.sharing.scaling import Scaling, needed, simulated
from inferstack.sizing.sharing.ways import Service, Sharing, Span, Ways, service

ALL_MODELS = "all models"
"""The name under which the requests of all models are counted together."""


def compared_instances(
    requests: Mapping[str, Sequence[Decimal]], scaling: Scaling, *, startup: int = 0
) -> tuple[Sharing, Sequence[int]]:
    """Instances of one endpoint for all models, beside an endpoint with at least one instance for each.

    The second result is how many instances there are in each minute.
    """
    totals = [sum(column, Decimal(0)) for column in zip(*requests.values(), strict=True)]
    scaling, alone_scaling = scaling.at_least(1), scaling.from_one()
    copies, wanted = simulated(totals, scaling, startup=startup), needed(totals, scaling)
    alone_at_once = [needed(it, alone_scaling) for it in requests.values()]
    alone = sum(sum(simulated(it, alone_scaling, startup=startup).held) for it in requests.values())
    fixed = sum(max(it) * len(it) for it in alone_at_once)
    services: dict[str, Service] = {ALL_MODELS: service(totals, copies, scaling.target)}
    sharing = Sharing(
        delayed=Ways(sum(copies.held), alone, fixed),
        at_once=Ways(sum(wanted), sum(map(sum, alone_at_once)), fixed),
        peak=Span.of(copies.held),
        peak_at_once=Span.of(wanted),
        handover=Span.of([max(pair) for pair in zip(copies.held, wanted, strict=True)]),
        short_of_room=0,
        services=services,
    )
    return sharing, copies.held


class ColdStarts(msgspec.Struct, frozen=True):
    """How often a model was loaded because a request named it, and the most memory that models took."""

    by_model: Mapping[str, int]
    never_fit: tuple[str, ...]
    """Models that are larger than the memory."""
    most_memory: int

    @property
    def total(self) -> int:
        """Those of all models."""
        return sum(self.by_model.values())


def cold_starts(
    requests: Mapping[str, Sequence[Decimal]], memory: Mapping[str, int], available: Sequence[int]
) -> ColdStarts:
    """Counts the minutes in which a model must be loaded; what was not used for longest makes room.

    ``memory`` is what each model takes, ``available`` what there is in each minute, in MiB. The memory of all
    instances counts as one, so a model that several instances load counts once.
    """
    cache, found, never = _Cache(), Counter[str](), set[str]()
    for minute, room in enumerate(available):
        cache.shrink_to(room)
        for name in (it for it in requests if requests[it][minute]):
            if memory[name] > room:
                never.add(name)
                found[name] += 1
            else:
                found[name] += cache.used(name, memory[name], room)
    return ColdStarts(dict(sorted(found.items())), tuple(sorted(never)), cache.most)


class _Cache:
    """Models in memory, the one not used for longest first."""

    def __init__(self) -> None:
        self._loaded: OrderedDict[str, int] = OrderedDict()
        self._taken = 0
        self.most = 0

    def used(self, name: str, size: int, room: int) -> bool:
        """Notes a use; whether the model had to be loaded for it."""
        if name in self._loaded:
            self._loaded.move_to_end(name)
            return False
        self.shrink_to(room - size)
        self._loaded[name] = size
        self._taken += size
        self.most = max(self.most, self._taken)
        return True

    def shrink_to(self, room: int) -> None:
        """Unloads models until the others take no more than this."""
        while self._taken > room:
            _, size = self._loaded.popitem(last=False)
            self._taken -= size


def loads_of_uncached(requests: Mapping[str, Sequence[Decimal]]) -> Counter[str]:
    """The loads with `model_cache_setting: Disabled`: one for each request."""
    return Counter({name: int(sum(of_name, Decimal(0))) for name, of_name in requests.items()})

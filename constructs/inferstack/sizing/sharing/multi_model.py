"""Models that share the instances of a multi-model endpoint: its instances, and how often a model is loaded.

SageMaker loads a model when a request names it, and unloads those that were not used for longest when memory
runs short. https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-endpoints.html
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.sizing.sharing.scaling import CopyScaling, needed, simulated
from inferstack.sizing.sharing.ways import ModelSeries, Series, Sharing, Span, Ways, service

ALL_MODELS = "all models"
"""The name under which the requests of all models are counted together."""


def compared_instances(
    requests: Mapping[str, Sequence[Decimal]], scaling: CopyScaling, *, startup: int = 0
) -> tuple[Sharing, Sequence[int]]:
    """Instances of one endpoint for all models, and of endpoints with at least one instance for each.

    The second result is how many instances there are in each minute.
    """
    totals = [sum(column, Decimal(0)) for column in zip(*requests.values(), strict=True)]
    scaling, alone_scaling = scaling.at_least(1), scaling.from_one()
    copies, wanted = simulated(totals, scaling, startup=startup), needed(totals, scaling)
    alone_at_once = [needed(it, alone_scaling) for it in requests.values()]
    alone = sum(sum(simulated(it, alone_scaling, startup=startup).held) for it in requests.values())
    fixed = sum(max(it) * len(it) for it in alone_at_once)
    sharing = Sharing(
        delayed=Ways(sum(copies.held), alone, fixed),
        at_once=Ways(sum(wanted), sum(map(sum, alone_at_once)), fixed),
        peak=Span.of(copies.held),
        peak_at_once=Span.of(wanted),
        handover=Span.of([max(pair) for pair in zip(copies.held, wanted, strict=True)]),
        short_of_room=0,
        services={ALL_MODELS: service(totals, copies, scaling.target)},
        series=Series(copies.held, [0] * len(totals), {ALL_MODELS: ModelSeries(totals, copies, wanted)}),
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
        """The cold starts of all models."""
        return sum(self.by_model.values())


def cold_starts(
    requests: Mapping[str, Sequence[Decimal]],
    memory: Mapping[str, int],
    instances: Sequence[int],
    each: int,
) -> ColdStarts:
    """Counts the minutes in which a model must be loaded; what was not used for longest makes room.

    ``memory`` is what each model takes, ``each`` what an instance has, in MiB; ``instances`` is how many
    there are in each minute. A model is loaded on one of them; one that several would load counts once.
    """
    caches, loads, never = _Caches(each), Counter[str](), set[str]()
    for minute, count in enumerate(instances):
        # With one for each model, nothing is ever unloaded.
        caches.resize(min(count, len(requests)))
        for name in (it for it in requests if requests[it][minute]):
            if memory[name] > each or not count:
                never.add(name)
                loads[name] += 1
            else:
                loads[name] += caches.used(name, memory[name])
    return ColdStarts(dict(sorted(loads.items())), tuple(sorted(never)), caches.most)


class _Cache:
    """Models in the memory of an instance, the one not used for longest first."""

    def __init__(self, size: int) -> None:
        self.loaded: OrderedDict[str, int] = OrderedDict()
        self.free = size

    def load(self, name: str, size: int) -> list[str]:
        """Loads a model; what was unloaded for it."""
        unloaded = []
        while self.free < size:
            other, its_size = self.loaded.popitem(last=False)
            self.free += its_size
            unloaded.append(other)
        self.loaded[name] = size
        self.free -= size
        return unloaded


class _Caches:
    """The memory of some instances of one size."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._instances: list[_Cache] = []
        self._by_name: dict[str, _Cache] = {}
        self.most = 0

    def resize(self, count: int) -> None:
        """Adds instances, or takes some away with what is on them."""
        for gone in self._instances[count:]:
            for name in gone.loaded:
                del self._by_name[name]
        del self._instances[count:]
        self._instances += [_Cache(self._each) for _ in range(count - len(self._instances))]

    def used(self, name: str, size: int) -> bool:
        """Notes a use; whether the model had to be loaded for it, on the instance with most memory left."""
        cache = self._by_name.get(name)
        if cache is not None:
            cache.loaded.move_to_end(name)
            return False
        cache = max(self._instances, key=lambda it: it.free)
        for other in cache.load(name, size):
            del self._by_name[other]
        self._by_name[name] = cache
        taken = self._each * len(self._instances) - sum(it.free for it in self._instances)
        self.most = max(self.most, taken)
        return True


def loads_of_uncached(requests: Mapping[str, Sequence[Decimal]]) -> Counter[str]:
    """The loads with `model_cache_setting: Disabled`: one for each request."""
    return Counter({name: int(sum(of_name, Decimal(0))) for name, of_name in requests.items()})

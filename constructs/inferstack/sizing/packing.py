"""How few instances hold some copies: each takes accelerators, cores and memory of one instance.

This is vector bin packing, which nobody solves exactly in general. Several simple orders, each filling one
instance after the other, come within one instance of the best on fleets of the size of an endpoint's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec


class Room(msgspec.Struct, frozen=True, order=True):
    """What an instance has, or a copy needs: accelerators, cores, and MiB of host memory."""

    accelerators: Fraction = Fraction(0)
    cores: Fraction = Fraction(0)
    memory: Fraction = Fraction(0)

    @classmethod
    def of(cls, accelerators: float, cores: float, memory: float) -> "Room":
        """Exact shares: 0.1 of a core ten times is one core."""
        return cls(*(Fraction(str(it)) for it in (accelerators, cores, memory)))

    @property
    def amounts(self) -> tuple[Fraction, Fraction, Fraction]:
        """The three amounts."""
        return self.accelerators, self.cores, self.memory

    def holds(self, other: "Room") -> bool:
        """Whether there is room for something."""
        return all(has >= needs for has, needs in zip(self.amounts, other.amounts, strict=True))

    def without(self, other: "Room") -> "Room":
        """What is left."""
        return Room(*(has - needs for has, needs in zip(self.amounts, other.amounts, strict=True)))

    def plus(self, other: "Room") -> "Room":
        """Both together."""
        return Room(*(has + more for has, more in zip(self.amounts, other.amounts, strict=True)))

    def shares_of(self, whole: "Room") -> tuple[Fraction, ...]:
        """Each amount as a share of that of a whole instance; nothing of nothing is 0."""
        pairs = zip(self.amounts, whole.amounts, strict=True)
        return tuple(part / all_ if all_ else Fraction(0) for part, all_ in pairs)


class Instance(msgspec.Struct):
    """An instance with the copies on it, by name, and the room that is left."""

    left: Room
    copies: list[str] = msgspec.field(default_factory=list)


class NeverFitsError(ValueError):
    """A copy needs more than a whole instance has; ``args`` are the names of such copies."""


_Order = Callable[[tuple[Fraction, ...]], object]
_ORDERS: tuple[_Order, ...] = (
    sum,
    max,
    lambda shares: sorted(shares, reverse=True),
    lambda shares: shares[0],
    lambda shares: shares[1],
    lambda shares: shares[2],
    lambda shares: sum(it * it for it in shares),
)
"""By what copies are sorted, the largest first. Each is the best one for some fleets."""


def packed(copies: Mapping[str, int], needs: Mapping[str, Room], instance: Room) -> list[Instance]:
    """Copies on as few instances as the heuristic finds, each instance of the same size.

    Raises:
        NeverFitsError: when a copy does not fit on an empty instance.
    """
    wanted = [name for name, count in copies.items() for _ in range(count)]
    never = sorted({name for name in wanted if not instance.holds(needs[name])})
    if never:
        raise NeverFitsError(*never)
    ways = (_filled(order, wanted, needs, instance) for order in _ORDERS)
    return min(ways, key=len)


def fewest_possible(copies: Mapping[str, int], needs: Mapping[str, Room], instance: Room) -> int:
    """A bound that no packing is below: what all copies take together, of whatever there is least of."""
    totals = [
        sum((shares[at] * count for shares, count in _shares(copies, needs, instance)), Fraction(0))
        for at in range(3)
    ]
    return -int(-max(totals) // 1)


def _shares(
    copies: Mapping[str, int], needs: Mapping[str, Room], instance: Room
) -> Iterable[tuple[tuple[Fraction, ...], int]]:
    return [(needs[name].shares_of(instance), count) for name, count in copies.items()]


def _filled(
    order: _Order, wanted: Sequence[str], needs: Mapping[str, Room], instance: Room
) -> list[Instance]:
    """Opens an instance only when none has room, and fills the one that a copy leaves the least room on."""
    by_size = sorted(wanted, key=lambda name: (order(needs[name].shares_of(instance)), name), reverse=True)
    instances: list[Instance] = []
    for name in by_size:
        fitting = [it for it in instances if it.left.holds(needs[name])]
        if fitting:
            chosen = min(fitting, key=lambda it: sum(it.left.shares_of(instance)))
        else:
            chosen = Instance(instance)
            instances.append(chosen)
        chosen.left = chosen.left.without(needs[name])
        chosen.copies.append(name)
    return instances

"""How few instances hold some copies: each takes accelerators, cores and memory of one instance.

This is vector bin packing, which nobody solves exactly in general. Several simple orders, each filling one
instance after the other, come within one instance of the best on fleets of the size of an endpoint's.
"""

import math
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


Share = tuple[int, int, int]
"""Accelerators, cores and memory in units, of which a whole instance has the same number of each."""


class Units(msgspec.Struct, frozen=True):
    """What copies need in whole numbers, which are many times faster than fractions."""

    whole: Share
    needs: Mapping[str, Share]

    @classmethod
    def of(cls, needs: Mapping[str, Room], instance: Room) -> "Units":
        """The units of some rooms.

        Raises:
            NeverFitsError: when a copy does not fit on an empty instance.
        """
        never = sorted(name for name, it in needs.items() if not instance.holds(it))
        if never:
            raise NeverFitsError(*never)
        shares = {name: it.shares_of(instance) for name, it in needs.items()}
        scale = math.lcm(*(it.denominator for of_name in shares.values() for it in of_name))
        whole = (scale, scale, scale)
        return cls(whole, {name: _scaled(of_name, scale) for name, of_name in shares.items()})


def _scaled(shares: Sequence[Fraction], scale: int) -> Share:
    accelerators, cores, memory = (int(it * scale) for it in shares)
    return accelerators, cores, memory


_Order = Callable[[Share], object]
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
    wanted = {name: needs[name] for name, count in copies.items() if count}
    return [
        instance_with(names, needs, instance) for names in packed_units(copies, Units.of(wanted, instance))
    ]


def instance_with(names: Iterable[str], needs: Mapping[str, Room], instance: Room) -> Instance:
    """An instance with these copies on it."""
    found = Instance(instance)
    for name in names:
        found.left = found.left.without(needs[name])
        found.copies.append(name)
    return found


def packed_units(copies: Mapping[str, int], units: Units) -> Sequence[Sequence[str]]:
    """The names of the copies on each instance, as :func:`packed` finds them."""
    fewest = fewest_units(copies, units)
    best: Sequence[Sequence[str]] | None = None
    for order in _ORDERS:
        found = _filled(order, copies, units)
        if best is None or len(found) < len(best):
            best = found
        if len(best) <= fewest:
            break
    return best or ()


def fewest_possible(copies: Mapping[str, int], needs: Mapping[str, Room], instance: Room) -> int:
    """A bound that no packing is below: what all copies take together, of whatever there is least of."""
    return fewest_units(copies, Units.of({name: needs[name] for name in copies if copies[name]}, instance))


def copies_on(instance: Room, needs: Room) -> int:
    """How many copies with the same needs fit on an empty instance; 0 for copies that need nothing."""
    pairs = zip(instance.amounts, needs.amounts, strict=True)
    return min((int(has // wanted) for has, wanted in pairs if wanted), default=0)


def fewest_units(copies: Mapping[str, int], units: Units) -> int:
    """The bound of :func:`fewest_possible`, for copies in units."""
    there = [(units.needs[name], count) for name, count in copies.items() if count]
    totals = [sum(share[at] * count for share, count in there) for at in range(3)]
    return -(-max(totals) // units.whole[0])


def _filled(order: _Order, copies: Mapping[str, int], units: Units) -> list[list[str]]:
    """Opens an instance only when none has room, and fills the one that a copy leaves the least room on.

    Copies of one name follow one another, so that the instance of the first is filled with them.
    """
    of = {name: units.needs[name] for name, count in copies.items() if count}
    least = [min(amounts) for amounts in zip(*of.values(), strict=True)]
    # Room by the number of the instance, without those that have no room for anything.
    left: dict[int, Share] = {}
    filled: list[list[str]] = []
    for name in sorted(of, key=lambda it: (order(of[it]), it), reverse=True):
        (one, two, three), missing = of[name], copies[name]
        while missing:
            fitting = [
                (a + b + c, at) for at, (a, b, c) in left.items() if a >= one and b >= two and c >= three
            ]
            chosen = min(fitting)[1] if fitting else len(filled)
            if not fitting:
                left[chosen] = units.whole
                filled.append([])
            a, b, c = left[chosen]
            # CDK stands for a number that only the deployment knows by a negative one.
            count = min([missing, *(has // it for has, it in ((a, one), (b, two), (c, three)) if it > 0)])
            a, b, c = left[chosen] = a - count * one, b - count * two, c - count * three
            if a < least[0] or b < least[1] or c < least[2]:
                del left[chosen]
            filled[chosen] += [name] * count
            missing -= count
    return filled

"""Packing by a solver of integer programs instead of rules of thumb; needs the extra `exact`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

from inferstack.sizing.packing import Instance, Room, fewest_possible, packed

_SECONDS = 10.0
"""For one packing; the best that was found until then counts."""


def packed_exactly(
    copies: Mapping[str, int], needs: Mapping[str, Room], instance: Room
) -> Sequence[Instance]:
    """Copies on as few instances as possible.

    Raises:
        NeverFitsError: when a copy does not fit on an empty instance.
        ModuleNotFoundError: without the extra.
    """
    known = packed(copies, needs, instance)
    if len(known) <= fewest_possible(copies, needs, instance):
        return known
    better = _solved(copies, needs, instance, len(known) - 1)
    return known if better is None else better


def _solved(
    copies: Mapping[str, int], needs: Mapping[str, Room], instance: Room, most: int
) -> list[Instance] | None:
    """A packing on at most so many instances, if there is one."""
    import highspy  # noqa: PLC0415 - an extra

    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.silent()
    model.setOptionValue("time_limit", _SECONDS)
    used = [model.addBinary() for _ in range(most)]
    on = {(name, at): model.addIntegral(0, copies[name]) for name, at in product(copies, range(most))}
    for name, count in copies.items():
        model.addConstr(sum(on[name, at] for at in range(most)) == count)
    shares = {name: [float(it) for it in needs[name].shares_of(instance)] for name in copies}
    for at, amount in product(range(most), range(3)):
        taken = sum(on[name, at] * shares[name][amount] for name in copies)
        model.addConstr(taken - used[at] <= 0)
    for one, other in pairwise(used):
        model.addConstr(one >= other)
    model.minimize(sum(used))
    if model.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    counts = [{name: round(model.val(on[name, at])) for name in copies} for at in range(most)]
    return _instances(counts, needs, instance)


def _instances(
    counts: Sequence[Mapping[str, int]], needs: Mapping[str, Room], instance: Room
) -> list[Instance] | None:
    """The solver's answer in exact numbers; None if its rounding has put too much on an instance."""
    found = []
    for of_names in counts:
        left, names = instance, [name for name, count in of_names.items() for _ in range(count)]
        for name in names:
            if not left.holds(needs[name]):
                return None
            left = left.without(needs[name])
        if names:
            found.append(Instance(left, names))
    return found

"""Packing by a solver of integer programs instead of rules of thumb; needs the extra `exact`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

from inferstack.endpoint.packing import Units, fewest_units, packed_units

_SECONDS = 10.0
"""For one packing; the best that was found until then counts."""


def packed_exactly(copies: Mapping[str, int], units: Units) -> Sequence[Sequence[str]]:
    """The names of the copies on each of as few instances as possible.

    Raises:
        ModuleNotFoundError: without the extra.
    """
    import highspy  # noqa: F401, PLC0415 - to say so at once

    known = packed_units(copies, units)
    if len(known) <= fewest_units(copies, units):
        return known
    better = _solved({name: count for name, count in copies.items() if count}, units, len(known) - 1)
    return known if better is None else better


def _solved(copies: Mapping[str, int], units: Units, most: int) -> Sequence[Sequence[str]] | None:
    """A packing on at most so many instances, if there is one."""
    import highspy  # noqa: PLC0415 - an extra

    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.silent()
    model.setOptionValue("time_limit", _SECONDS)
    used = [model.addBinary() for _ in range(most)]
    on = {(name, at): model.addIntegral(0, copies[name]) for name, at in product(copies, range(most))}
    for name, count in copies.items():
        model.addConstr(sum(on[name, at] for at in range(most)) == count)
    for at, amount in product(range(most), range(3)):
        taken = sum(on[name, at] * (units.needs[name][amount] / units.whole[amount]) for name in copies)
        model.addConstr(taken - used[at] <= 0)
    for one, other in pairwise(used):
        model.addConstr(one >= other)
    model.minimize(sum(used))
    if model.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    counts = [{name: round(model.val(on[name, at])) for name in copies} for at in range(most)]
    return _names(counts, units)


def _names(counts: Sequence[Mapping[str, int]], units: Units) -> Sequence[Sequence[str]] | None:
    """The solver's answer; None if its rounding has put too much on an instance."""
    for of_names in counts:
        for amount in range(3):
            if (
                sum(units.needs[name][amount] * count for name, count in of_names.items())
                > units.whole[amount]
            ):
                return None
    return [
        [name for name, count in of_names.items() for _ in range(count)]
        for of_names in counts
        if any(of_names.values())
    ]

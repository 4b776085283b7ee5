"""Rules that compare a spec with the load test that its objective names, and with the prices beside it.

They see what was measured on the spec's own instance type only, and specs with a single variant only.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import msgspec

from inferstack.check.rules.base import GUIDE
from inferstack.facts.scaling import PER_INSTANCE
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.variant import Variant
from inferstack.problems import Problem, SpecPath
from inferstack.problems.rules import RuleTable

if TYPE_CHECKING:
    # Most specs have no measurements, and need none of this.
    from inferstack.sizing.sizes import Demand, Size

_SCALING = f"{GUIDE}/endpoint-scaling-loadtest.html"

MEASURED = RuleTable()
"""The rules by code."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A variant of a spec, and what is known of its instance type. Counts are in instances."""

    path: SpecPath
    variant: Variant
    instance_type: str
    scaling: Autoscaling | None
    scaling_path: SpecPath
    start: int
    most: int
    demand: "Demand"
    measured: "Sequence[Size]"
    """What the measured configurations of this type would take, the best first; empty if there are none."""
    price: Decimal | None
    currency: str

    @property
    def best(self) -> "Size | None":
        """The configuration of this type that answers most requests within the limit."""
        fast = [it for it in self.measured if not it.objections]
        return max(fast, key=lambda it: it.measurement.requests_per_minute, default=None)

    @property
    def targets(self) -> Iterator[tuple[SpecPath, Decimal]]:
        """The targets in requests per minute and instance, with their paths."""
        for index, policy in enumerate(() if self.scaling is None else self.scaling.policies):
            if policy.metric in PER_INSTANCE:
                path = (*self.scaling_path, "policies", index, "target_value")
                yield path, Decimal(str(policy.target_value))


@MEASURED.warning("IS561", _SCALING)
def instances_meet_the_objective(compared: Compared) -> Iterator[Problem]:
    """An endpoint should have enough instances for its objective, by what one of them did in the load test.

    Where a policy has a target per instance, that target decides (IS551).
    """
    best, wanted = compared.best, compared.demand.peak
    if best is None or next(compared.targets, None) is not None:
        return
    can = compared.most * best.usable
    if can < wanted:
        path, fix = (*compared.scaling_path, "max_capacity"), f"raise it to {best.count}"
        if compared.scaling is None:
            path = (*compared.path, "initial_instance_count")
            fix = f"start {best.count}, or let `autoscaling` add them"
        answered = f"{_counted(compared.most)} can answer {can:.0f} of {wanted:f} requests a minute"
        yield Problem(path, f"{answered}, {_by(best)}", fix)


@MEASURED.warning("IS562", _SCALING)
def target_is_below_the_knee(compared: Compared) -> Iterator[Problem]:
    """A target should not be above what an instance did in the load test, times the safety factor.

    Instances would be added only when those that run are slow already.
    """
    best = compared.best
    for path, target in compared.targets:
        if best is not None and target > best.usable:
            planned = f"the {best.usable.normalize():f} that are planned for"
            fix = f"lower it to {best.target_value}"
            yield Problem(path, f"{target:f} is more than {planned}, {_by(best)}", fix)


@MEASURED.warning("IS563")
def type_meets_the_limit(compared: Compared) -> Iterator[Problem]:
    """Some configuration on the spec's instance type should have met the latency limit in the load test."""
    if compared.measured and compared.best is None:
        shown = min(compared.measured, key=lambda it: it.measurement.usual_latency or Decimal(0))
        message = f"no configuration on {compared.instance_type} met it, not even "
        message += f"`{shown.title}`: {shown.objections[0]}"
        fix = "choose another type with `inferstack size`, or measure another configuration"
        yield Problem(("objective", "latency"), message, fix)


@MEASURED.warning("IS564")
def instances_are_within_the_budget(compared: Compared) -> Iterator[Problem]:
    """All the instances that an endpoint can have should cost no more than its budget."""
    budget = compared.demand.budget_per_hour
    if budget is None or compared.price is None or compared.most * compared.price <= budget:
        return
    cost = compared.most * compared.price
    fleet = f"{_counted(compared.most)} of {compared.instance_type}"
    message = f"{fleet} cost {cost:f} {compared.currency} an hour, which is over the budget of {budget:f}"
    fix = f"have {budget // compared.price:f} at most, or raise the budget"
    yield Problem(("objective", "budget_per_hour"), message, fix)


@MEASURED.warning("IS567")
def start_is_enough_for_the_quietest_minute(compared: Compared) -> Iterator[Problem]:
    """A scaled endpoint should start with as many instances as it needs when it is quietest."""
    best, lowest = compared.best, compared.demand.lowest
    if best is None or lowest is None or compared.scaling is None or compared.start == 0:
        return
    can = compared.start * best.usable
    if can < lowest:
        answered = f"{_counted(compared.start)} can answer {can:.0f} of {lowest:f} requests a minute"
        path = (*compared.path, "initial_instance_count")
        yield Problem(path, f"{answered}, {_by(best)}", f"start at least {best.min_capacity}")


def _counted(instances: int) -> str:
    return f"{instances} instance{'s' if instances != 1 else ''}"


def _by(size: "Size") -> str:
    return f"since `{size.title}` did {size.measurement.requests_per_minute:f} on one"

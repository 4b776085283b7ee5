"""Rules on an objective: whether scaling, load test, alarms, measurements and costs agree with it."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

import msgspec

from inferstack.check.rules.alarms.custom_metrics import alarm_rules
from inferstack.check.rules.alarms.definitions import metrics_of_rule
from inferstack.check.rules.base import GUIDE, METRICS_PAGE, error, warning
from inferstack.facts.alarms import evaluation
from inferstack.facts.quantity import UnfitQuantity, absolute_threshold
from inferstack.facts.scaling import (
    PER_INSTANCE,
    TRACKED_AT_ONCE,
    least_capacity,
    most_capacity,
    named_policies,
)
from inferstack.facts.walk import objectives, variant_scalings, variants
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.kinds import ModelSpec
from inferstack.format.load_testing import TrafficPattern
from inferstack.problems import Problem, SpecPath
from inferstack.problems.rules import RuleTable
from inferstack.problems.words import counted, likest

if TYPE_CHECKING:
    # Most specs have no measurements, and need none of this.
    from inferstack.sizing.prices import RegionPrices
    from inferstack.sizing.sizes import CountedIn, Demand, Size

_SCALING = f"{GUIDE}/endpoint-scaling-loadtest.html"
_LOAD = f"{GUIDE}/inference-recommender-load-test.html"
_CENT = Decimal("0.01")
_MILLISECONDS_A_MINUTE = 60_000


@error("IS560")
def one_source_of_requests(spec: ModelSpec) -> Iterator[Problem]:
    """An objective states its requests either as numbers or as a traffic file."""
    objective = spec.objective
    if objective is None:
        return
    # What only says how long requests are is for `fit`.
    is_counted = objective.traffic is not None or objective.tokens_per_request is not None
    if not is_counted and all(it is None for _, of in objectives(spec) for it in of.asked):
        message = "the objective does not say how many requests there are"
        fix = "add `requests_per_minute`, `concurrency`, `tokens_per_second`, or a file of `traffic`"
        yield Problem(("objective",), message, fix, lacks="requests_per_minute")
    for path, it in objectives(spec) if objective.traffic is not None else ():
        for key in ("requests_per_minute", "lowest_requests_per_minute"):
            if getattr(it, key) is not None:
                message = f"`traffic` gives it as well: {objective.traffic}"
                yield Problem((*path, key), message, f"remove `{key}`, or `traffic`", of_key=True)


@error("IS550")
def lowest_is_not_above_the_highest(spec: ModelSpec) -> Iterator[Problem]:
    """The lowest number of requests cannot be above the highest."""
    for path, it in objectives(spec):
        for key in ("requests_per_minute", "concurrency"):
            most, lowest = getattr(it, key), getattr(it, f"lowest_{key}")
            if lowest is not None and most is not None and lowest > most:
                message = f"{lowest:g} is above `{key}`, {most:g}"
                yield Problem((*path, f"lowest_{key}"), message, "swap them")


@warning("IS551", _SCALING)
def scaling_gets_to_the_objective(spec: ModelSpec) -> Iterator[Problem]:
    """The largest capacity should be enough for the objective at the target of its policy.

    Otherwise each instance gets more requests than it was planned for, just when the endpoint is busiest.
    """
    objective = spec.objective
    if objective is None or len(variants(spec)) > 1:
        return
    followed = dict.fromkeys(PER_INSTANCE, (objective.requests_per_minute, "requests a minute"))
    followed[TRACKED_AT_ONCE] = objective.concurrency, "requests at once"
    for path, scaled, policy, name in named_policies(spec):
        most, target = most_capacity(scaled.scaling), policy.target_value
        wanted, unit = followed.get(name, (None, ""))
        if wanted is not None and 0 < most * target < wanted:
            message = f"{most} instances at {target:g} {unit} answer {most * target:g} of {wanted:g}"
            fix = f"raise `max_capacity` to {-int(-wanted // target)}, or measure what an instance can do"
            yield Problem((*path, "target_value"), message, fix)


@warning("IS552", _LOAD)
def load_test_gets_to_its_end(spec: ModelSpec) -> Iterator[Problem]:
    """A load test should have enough users to reach the number of requests that ends it.

    Each user waits for an answer before the next request, so at a latency of half a second 250 users send
    30,000 requests a minute, and 50 users never do.
    """
    test = spec.load_test
    stop = None if test is None else test.stopping_conditions
    if test is None or stop is None or stop.max_invocations is None or test.traffic_pattern is None:
        return
    users = _most_users(test.traffic_pattern)
    for limit in stop.model_latency_thresholds or ():
        latency = limit.value_in_milliseconds
        needed = -(-stop.max_invocations * latency // _MILLISECONDS_A_MINUTE)
        if 0 < users < needed:
            most = users * _MILLISECONDS_A_MINUTE // latency
            message = f"{users} users who wait {latency} ms send at most {most} requests a minute"
            fix = f"raise the number of users to {needed}, or lower `max_invocations`"
            yield Problem(("load_test", "traffic_pattern"), message, fix)


def _most_users(pattern: TrafficPattern) -> int:
    """How many users there are when there are most; 0 if the pattern does not say it."""
    phases, stairs = (it.most_users for it in pattern.phases or ()), pattern.stairs
    return max([0 if stairs is None else stairs.number_of_steps * stairs.users_per_step, *phases])


@warning("IS565")
def some_instances_are_not_spare(spec: ModelSpec) -> Iterator[Problem]:
    """The smallest number of instances should be above `spare_instances`, or none is left for requests."""
    spare, found = 0 if spec.objective is None else spec.objective.spare_instances, variants(spec)
    if spare == 0 or len(found) != 1:
        return
    path, variant = found[0]
    scaling = next(iter(variant_scalings(spec)), None)
    if scaling is not None:
        key, fewest = (*scaling[0], "min_capacity"), least_capacity(scaling[2])
    elif variant.initial_instance_count is not None:
        key, fewest = (*path, "initial_instance_count"), variant.initial_instance_count
    else:
        return
    if fewest <= spare:
        message = f"`spare_instances` is {spare}, so of {fewest} none is left for requests"
        yield Problem(key, message, f"raise it to {spare + 1} or more")


@warning("IS566", METRICS_PAGE)
def alarm_notices_a_missed_limit(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm on the percentile that the objective limits should not wait for a higher latency."""
    limit = None if spec.objective is None else spec.objective.latency
    for path, rule in alarm_rules(spec) if limit is not None else ():
        for metric in metrics_of_rule(spec, rule)[:1] if rule.metric == "ModelLatency" else ():
            statistic = metric.statistic if rule.statistic is None else rule.statistic
            if limit is None or statistic.lower() != limit.percentile.lower() or evaluation(rule).looks_down:
                continue
            with suppress(UnfitQuantity):
                milliseconds = absolute_threshold(rule.threshold, metric) / 1000
                if milliseconds > limit.value_in_milliseconds:
                    allowed = f"{limit.value_in_milliseconds:g} ms"
                    message = f"the objective allows {allowed} at {limit.percentile}, but the alarm "
                    yield Problem(
                        (*path, "threshold"), f"{message}waits for {milliseconds:g} ms", f"write {allowed}"
                    )


# ---------------------------------------------------------------- measurements and prices beside the spec

MEASURED = RuleTable()
"""The rules below, by code. Those on :class:`Compared` look only at specs with one variant, and only at what
was measured on its instance type.
"""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A variant of a spec, or a component on it, and what is known of its instance type."""

    component: str | None = None
    """The component, if the copies of one are compared: counts are in copies then."""
    objective_path: SpecPath = ("objective",)
    """Where its limits are written."""
    start_path: SpecPath
    instance_type: str
    scaling: Autoscaling | None
    scaling_path: SpecPath
    start: int
    most: int
    demand: "Demand"
    measured: "Sequence[Size]"
    """What the measured configurations of this type would take, the best first; empty if there are none."""
    price: Decimal | None = None
    average: Decimal | None = None
    """Instances that run on average over the traffic, if there is any that says it."""
    currency: str = ""

    @property
    def best(self) -> "Size | None":
        """The configuration of this type that needs the fewest instances within the limits."""
        fast = [it for it in self.measured if not it.objections]
        return min(fast, key=lambda it: self.demand.of(it.measurement).peak / it.usable, default=None)

    @property
    def seconds_a_request(self) -> "Decimal | None":
        """How long a request takes in that configuration, if it is known."""
        return None if self.best is None else self.best.measurement.seconds_a_request

    def targets(self, need: "CountedIn") -> Iterator[tuple[SpecPath, Decimal]]:
        """The targets per instance or copy in the unit of a need, with their paths."""
        for index, policy in enumerate(() if self.scaling is None else self.scaling.policies):
            if policy.metric in need.metrics:
                path = (*self.scaling_path, "policies", index, "target_value")
                yield path, Decimal(str(policy.target_value))

    def counted(self, count: int) -> str:
        """So many instances, or copies of the component."""
        if self.component is None:
            return counted(count, "instance")
        return f"{count} {'copy' if count == 1 else 'copies'} of `{self.component}`"

    def basis(self, size: "Size", need: "CountedIn") -> str:
        """What a number that is planned for follows from."""
        factor = self.demand.safety_factor
        times = "" if factor == 1 else f", times the `safety_factor` {factor:f}"
        return f"since `{size.title}` answered {need.each.normalize():f} on one{times}"

    def planned(self, need: "CountedIn") -> Decimal:
        """How much of a need an instance or copy is planned for."""
        return self.demand.safety_factor * need.each


@MEASURED.warning("IS561", _SCALING)
def instances_meet_the_objective(compared: Compared) -> Iterator[Problem]:
    """An endpoint should have enough instances for its objective, and a component enough copies, judging by
    what one did in the load test.

    Where a policy has a target per instance, that target decides (IS551).
    """
    best = compared.best
    if best is None:
        return
    need = max(compared.demand.needs(best.measurement), key=lambda it: it.most / it.each)
    if compared.component is None and next(compared.targets(need), None) is not None:
        return
    can = compared.most * compared.planned(need)
    if can < need.most:
        path, fix = (*compared.scaling_path, "max_capacity"), f"raise it to {best.count}"
        if compared.scaling is None:
            path = compared.start_path
            fix = f"start with {best.count}, or let `autoscaling` add them"
        answered = f"{compared.counted(compared.most)} can answer {can:.0f} of {need.most:f} {need.unit}"
        yield Problem(path, f"{answered}, {compared.basis(best, need)}", fix)


@MEASURED.warning("IS562", _SCALING)
def target_is_below_the_knee(compared: Compared) -> Iterator[Problem]:
    """A target should not be above what an instance or copy did in the load test, times the safety factor.

    More would be added only when those that run are slow already.
    """
    best = compared.best
    for need in () if best is None else compared.demand.needs(best.measurement):
        planned = compared.planned(need)
        for path, target in compared.targets(need):
            if best is not None and target > planned:
                message = f"{target:f} is above the {planned.normalize():f} to plan for"
                fix = f"lower it to {math.floor(planned)}"
                yield Problem(path, f"{message}, {compared.basis(best, need)}", fix)


@MEASURED.warning("IS563")
def type_meets_the_limit(compared: Compared) -> Iterator[Problem]:
    """At least one configuration on the spec's type, and of each component on it, should have met the latency
    limit in the load test.
    """
    able = [it for it in compared.measured if it.is_counted]
    if able and compared.best is None:
        shown = min(able, key=lambda it: (it.measurement.usual_latency or 0, it.measurement.users or 0))
        which = "" if compared.component is None else f" of `{compared.component}`"
        message = f"no configuration{which} on {compared.instance_type} is known to meet the limit, not even "
        message += f"`{shown.title}`: {shown.objections[0]}"
        fix = "choose another type with `inferstack size`, or measure another configuration"
        keys = [*compared.demand.limits]
        yield Problem((*compared.objective_path, *(keys if len(keys) == 1 else ())), message, fix)


@MEASURED.warning("IS564")
def instances_are_within_the_budget(compared: Compared) -> Iterator[Problem]:
    """An endpoint should cost no more than its budget: on average over the traffic file of its objective, or
    without one, at its largest capacity.
    """
    budget, average = compared.demand.budget_per_hour, compared.average
    if budget is None or compared.price is None:
        return
    cost = (compared.most if average is None else average) * compared.price
    if cost <= budget:
        return
    if average is None:
        fleet = f"{counted(compared.most, 'instance')} of {compared.instance_type} cost {cost:f}"
        fix = f"allow {budget // compared.price:f} at most, or raise the budget"
    else:
        fleet = f"{average:.3g} of {compared.instance_type}, the average over the traffic, "
        fleet += f"cost {cost.quantize(_CENT, ROUND_CEILING):f}"
        fix = "raise the budget, or choose another configuration with `inferstack size`"
    message = f"{fleet} {compared.currency} an hour, which is over the budget of {budget:f}"
    yield Problem(("objective", "budget_per_hour"), message, fix)


@MEASURED.warning("IS567")
def start_is_enough_for_the_quietest_minute(compared: Compared) -> Iterator[Problem]:
    """What scales should start with as many instances or copies as its quietest minute needs."""
    best = compared.best
    if best is None or compared.scaling is None or compared.start == 0:
        return
    for need in compared.demand.needs(best.measurement):
        can, lowest = compared.start * compared.planned(need), need.lowest
        if lowest is not None and can < lowest:
            answered = f"{compared.counted(compared.start)} can answer {can:.0f} of {lowest:f} {need.unit}"
            fix = f"start with at least {best.min_capacity}"
            yield Problem(compared.start_path, f"{answered}, {compared.basis(best, need)}", fix)


class Priced(msgspec.Struct, frozen=True):
    """The instance types of a spec, and what the price file has of its region."""

    types: tuple[tuple[SpecPath, str], ...]
    region: str
    prices: "RegionPrices"


@MEASURED.warning("IS720", "https://aws.amazon.com/sagemaker/ai/pricing/")
def region_has_the_instance_type(priced: Priced) -> Iterator[Problem]:
    """An instance type should be one that AWS's price list has for the region.

    The committed price file is asked. One that was written by hand says nothing about other types.
    """
    if priced.prices.without_price is None:
        return
    there = sorted({*priced.prices.hosting, *priced.prices.without_price})
    for path, name in priced.types:
        if name not in there:
            read = f"the price list that was read on {priced.prices.read}"
            message = f"{priced.region} has no {name} for hosting, by {read}"
            update = f"if the list is old, run `inferstack prices update --region {priced.region}`"
            fix = f"choose another region, or another type: {likest(name, there)}; {update}"
            yield Problem(path, message, fix)

"""Rules on what an endpoint is for: the numbers of scaling and of the load test must be able to get there."""

from collections.abc import Iterator
from contextlib import suppress

from inferstack.check.rules.alarms.custom_metrics import alarm_rules
from inferstack.check.rules.alarms.definitions import metrics_of_rule
from inferstack.check.rules.base import GUIDE, METRICS_PAGE, error, warning
from inferstack.facts.alarms import evaluation
from inferstack.facts.quantity import UnfitQuantity, absolute_threshold
from inferstack.facts.scaling import PER_INSTANCE, least_capacity, most_capacity, named_policies
from inferstack.facts.walk import variant_scalings, variants
from inferstack.format.kinds import ModelSpec
from inferstack.format.load_testing import TrafficPattern
from inferstack.problems import Problem

_SCALING = f"{GUIDE}/endpoint-scaling-loadtest.html"
_LOAD = f"{GUIDE}/inference-recommender-load-test.html"
_SECONDS_A_MINUTE = 60
_MILLISECONDS_A_MINUTE = 60_000


@error("IS560")
def one_source_of_requests(spec: ModelSpec) -> Iterator[Problem]:
    """An objective gives its requests either as numbers or as a file of traffic."""
    it = spec.objective
    if it is None:
        return
    if it.traffic is None and it.requests_per_minute is None:
        message = "the objective does not say how many requests there are"
        fix = "add `requests_per_minute`, or a file of `traffic`"
        yield Problem(("objective",), message, fix, lacks="requests_per_minute")
    for key in ("requests_per_minute", "lowest_requests_per_minute"):
        if it.traffic is not None and getattr(it, key) is not None:
            message = f"`traffic` says it as well: {it.traffic}"
            yield Problem(("objective", key), message, f"remove `{key}`, or `traffic`", of_key=True)


@error("IS550")
def lowest_is_not_above_the_highest(spec: ModelSpec) -> Iterator[Problem]:
    """The lowest number of requests cannot be above the highest."""
    it = spec.objective
    if it is None or it.lowest_requests_per_minute is None or it.requests_per_minute is None:
        return
    lowest, most = it.lowest_requests_per_minute, it.requests_per_minute
    if lowest > most:
        message = f"{lowest:g} is above `requests_per_minute`, {most:g}"
        yield Problem(("objective", "lowest_requests_per_minute"), message, "swap them")


@warning("IS551", _SCALING)
def scaling_gets_to_the_objective(spec: ModelSpec) -> Iterator[Problem]:
    """The largest capacity should be enough for the objective at the target of its policy.

    Otherwise each instance gets more requests than it was planned for, just when the endpoint is busiest.
    """
    wanted = None if spec.objective is None else spec.objective.requests_per_minute
    if wanted is None or len(variants(spec)) > 1:
        return
    for path, scaled, policy, name in named_policies(spec):
        most, target = most_capacity(scaled.scaling), policy.target_value
        if name in PER_INSTANCE and 0 < most * target < wanted:
            message = (
                f"{most} instances at {target:g} requests a minute answer {most * target:g} of {wanted:g}"
            )
            fix = f"raise `max_capacity` to {-int(-wanted // target)}, or measure what an instance can do"
            yield Problem((*path, "target_value"), message, fix)


@warning("IS552", _LOAD)
def load_test_gets_to_its_end(spec: ModelSpec) -> Iterator[Problem]:
    """A load test should have enough users to send as many requests as end it.

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
            message = f"{users} users who wait {latency} ms send {most} requests a minute at most"
            fix = f"let the number of users rise to {needed}, or end at fewer than {stop.max_invocations}"
            yield Problem(("load_test", "traffic_pattern"), message, fix)


def _most_users(pattern: TrafficPattern) -> int:
    """How many users there are when there are most; 0 if the pattern does not say it."""
    phases = (
        it.initial_number_of_users + it.spawn_rate * it.duration_in_seconds // _SECONDS_A_MINUTE
        for it in pattern.phases or ()
    )
    stairs = pattern.stairs
    return max([0 if stairs is None else stairs.number_of_steps * stairs.users_per_step, *phases])


@warning("IS565")
def some_instances_are_not_spare(spec: ModelSpec) -> Iterator[Problem]:
    """The fewest instances that run should be more than the spare ones, which requests do not count on."""
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
        message = f"`spare_instances` is {spare}: of {fewest}, none is left for requests"
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

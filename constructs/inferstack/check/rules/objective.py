"""Rules on what an endpoint is for: the numbers of scaling and of the load test must be able to get there."""

from collections.abc import Iterator

from inferstack.check.rules.base import GUIDE, error, warning
from inferstack.facts.scaling import most_capacity, named_policies
from inferstack.facts.walk import variants
from inferstack.format.kinds import ModelSpec
from inferstack.format.load_testing import TrafficPattern
from inferstack.problems import Problem

_SCALING = f"{GUIDE}/endpoint-scaling-loadtest.html"
_LOAD = f"{GUIDE}/inference-recommender-load-test.html"
# Both count requests per minute and instance.
_PER_INSTANCE = frozenset({"SageMakerVariantInvocationsPerInstance", "InvocationsPerInstance"})
_SECONDS_A_MINUTE = 60
_MILLISECONDS_A_MINUTE = 60_000


@error("IS550")
def lowest_is_not_above_the_highest(spec: ModelSpec) -> Iterator[Problem]:
    """The lowest number of requests cannot be above the highest."""
    it = spec.objective
    lowest = None if it is None else it.lowest_requests_per_minute
    if it is not None and lowest is not None and lowest > it.requests_per_minute:
        message = f"{lowest:g} is above `requests_per_minute`, {it.requests_per_minute:g}"
        yield Problem(("objective", "lowest_requests_per_minute"), message, "swap them")


@warning("IS551", _SCALING)
def scaling_gets_to_the_objective(spec: ModelSpec) -> Iterator[Problem]:
    """The largest capacity should be enough for the objective at the target of its policy.

    Otherwise each instance gets more requests than it was planned for, just when the endpoint is busiest.
    """
    if spec.objective is None or len(list(variants(spec))) > 1:
        return
    wanted = spec.objective.requests_per_minute
    for path, scaled, policy, name in named_policies(spec):
        most, target = most_capacity(scaled.scaling), policy.target_value
        if name in _PER_INSTANCE and 0 < most * target < wanted:
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

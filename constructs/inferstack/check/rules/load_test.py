"""Rules on load tests by Inference Recommender: what AWS asks of a job before it starts one."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from inferstack.check.rules.base import API, GUIDE, error, warning
from inferstack.facts.kinds import hosts_components, kind_of
from inferstack.facts.walk import is_async, variant_scalings, variants
from inferstack.format.kinds import ModelSpec
from inferstack.format.load_testing import LoadPhase, LoadTest, TrafficPattern
from inferstack.problems import Problem, SpecPath

_LOAD = f"{GUIDE}/inference-recommender-load-test.html"
_REFUSED = f"{GUIDE}/inference-recommender-troubleshooting.html"
_DEFAULT = f"{GUIDE}/instance-recommendation-create.html"
_EXISTING = f"{GUIDE}/inference-recommender-existing-endpoint.html"
_PATTERN = f"{API}/API_TrafficPattern.html"

_AT: SpecPath = ("load_test",)
_PHASES = (*_AT, "traffic_pattern", "phases")
_ADVANCED = "Advanced"
_MOST_AT_FIRST, _MOST_CONFIGURATIONS = 3, 10
_OF_TYPE = {"PHASES": "phases", "STAIRS": "stairs"}
_SECONDS_A_MINUTE = 60


@error("IS553", _PATTERN)
def traffic_is_of_its_type(spec: ModelSpec) -> Iterator[Problem]:
    """The traffic pattern `PHASES` has `phases`, and `STAIRS` has `stairs`."""
    pattern = None if spec.load_test is None else spec.load_test.traffic_pattern
    if pattern is None:
        return
    at = (*_AT, "traffic_pattern")
    for traffic_type, key in _OF_TYPE.items():
        given = getattr(pattern, key) is not None
        if given and traffic_type != pattern.traffic_type:
            yield Problem((*at, key), f"`{key}` with `traffic_type: {pattern.traffic_type}`", "remove it")
        elif not given and traffic_type == pattern.traffic_type:
            yield Problem(at, f"`traffic_type: {traffic_type}` without `{key}`", f"add `{key}`", lacks=key)


@error("IS554", _LOAD)
def advanced_job_is_complete(spec: ModelSpec) -> Iterator[Problem]:
    """A load test (`Advanced`) needs traffic, conditions that end it, and what to run on: one to ten
    configurations. It begins with one to three users, and compares P95.
    """
    test = spec.load_test
    if test is None or test.job_type != _ADVANCED:
        return
    for key in ("traffic_pattern", "stopping_conditions"):
        if getattr(test, key) is None:
            yield Problem(_AT, f"`job_type: {_ADVANCED}` without `{key}`", f"add `{key}`", lacks=key)
    yield from _configurations(test)
    for phase in _phases(test.traffic_pattern)[:1]:
        if phase.initial_number_of_users > _MOST_AT_FIRST:
            message = f"the load test begins with {phase.initial_number_of_users} users"
            fix = f"begin with 1 to {_MOST_AT_FIRST}, and add users with `spawn_rate`"
            yield Problem((*_PHASES, 0, "initial_number_of_users"), message, fix)
    yield from _percentiles(test)


def _configurations(test: LoadTest) -> Iterator[Problem]:
    others = test.endpoint_configurations or ()
    count = len(test.instance_types or ()) + len(others)
    if count == 0 and not test.endpoints:
        message = f"`job_type: {_ADVANCED}` without anything to run on"
        yield Problem(_AT, message, "add `instance_types`", lacks="instance_types")
    if count > _MOST_CONFIGURATIONS:
        at = "endpoint_configurations" if others else "instance_types"
        yield Problem(
            (*_AT, at), f"{count} configurations", f"test at most {_MOST_CONFIGURATIONS} in one job"
        )
    for number, it in enumerate(others):
        if (it.instance_type is None) == (it.serverless_config is None):
            found = "neither" if it.instance_type is None else "both"
            message = f"{found} of `instance_type` and `serverless_config`"
            yield Problem((*_AT, "endpoint_configurations", number), message, "write one of them")


def _percentiles(test: LoadTest) -> Iterator[Problem]:
    stop = test.stopping_conditions
    for number, limit in enumerate(() if stop is None else stop.model_latency_thresholds or ()):
        if limit.percentile != "P95":
            path = (*_AT, "stopping_conditions", "model_latency_thresholds", number, "percentile")
            yield Problem(path, f"`{limit.percentile}` in a load test", "write `P95`")


@error("IS555", _REFUSED)
def traffic_fits_in_the_job(spec: ModelSpec) -> Iterator[Problem]:
    """The traffic of a load test cannot take longer than `job_duration_in_seconds`."""
    test = spec.load_test
    if test is None or test.job_duration_in_seconds is None or test.traffic_pattern is None:
        return
    stairs = test.traffic_pattern.stairs
    seconds = sum(it.duration_in_seconds for it in _phases(test.traffic_pattern))
    seconds += 0 if stairs is None else stairs.duration_in_seconds
    if seconds > test.job_duration_in_seconds:
        message = f"the traffic takes {seconds} s, and the job only {test.job_duration_in_seconds}"
        path = (*_AT, "job_duration_in_seconds")
        yield Problem(path, message, f"write at least {seconds}, or shorten the traffic")


@warning("IS556", _DEFAULT)
def default_job_has_traffic_of_its_own(spec: ModelSpec) -> Iterator[Problem]:
    """A `Default` job cannot have the keys that shape a load test: it has its own traffic and limits.

    AWS's page on such jobs has none of these keys, and users report that jobs with them are refused.
    """
    test = spec.load_test
    if test is not None and test.job_type == "Default":
        for key in ("traffic_pattern", "resource_limit", "endpoint_configurations"):
            if getattr(test, key) is not None:
                fix = f"remove it, or write `job_type: {_ADVANCED}`"
                yield Problem((*_AT, key), f"`{key}` in a `Default` job", fix, of_key=True)


@warning("IS557", _REFUSED)
def phases_follow_on_one_another(spec: ModelSpec) -> Iterator[Problem]:
    """A phase of a load test should begin with about as many users as the phase before ended with.

    AWS's page on refusals says that the two numbers may differ by three at most.
    """
    pattern = None if spec.load_test is None else spec.load_test.traffic_pattern
    for number, (before, after) in enumerate(pairwise(_phases(pattern)), 1):
        last = (
            before.initial_number_of_users
            + before.spawn_rate * before.duration_in_seconds // _SECONDS_A_MINUTE
        )
        first = after.initial_number_of_users
        if abs(last - first) > _MOST_AT_FIRST:
            message = f"this phase begins with {first} users, and the one before ends with {last}"
            fix = f"begin with {max(1, last - _MOST_AT_FIRST)} to {last + _MOST_AT_FIRST}"
            yield Problem((*_PHASES, number, "initial_number_of_users"), message, fix)


@error("IS558", _REFUSED)
def recommender_measures_it(spec: ModelSpec) -> Iterator[Problem]:
    """Inference Recommender does not test instances of the t2 family, whose performance varies, nor
    provisioned concurrency.
    """
    test = spec.load_test
    if test is None:
        return
    named = [((*_AT, "instance_types", number), it) for number, it in enumerate(test.instance_types or ())]
    for number, configuration in enumerate(test.endpoint_configurations or ()):
        path = (*_AT, "endpoint_configurations", number)
        if configuration.instance_type is not None:
            named.append(((*path, "instance_type"), configuration.instance_type))
        serverless = configuration.serverless_config
        if serverless is not None and serverless.provisioned_concurrency is not None:
            at = (*path, "serverless_config", "provisioned_concurrency")
            yield Problem(at, "load tests cannot have provisioned concurrency", "remove it", of_key=True)
    for path, instance_type in named:
        if instance_type.startswith("ml.t2."):
            message = f"`{instance_type}` varies in performance, so Inference Recommender does not test it"
            yield Problem(path, message, "test another family, such as ml.m5")


@error("IS559", _EXISTING)
def own_endpoint_can_be_measured(spec: ModelSpec) -> Iterator[Problem]:
    """An existing endpoint that a load test measures must be a real-time endpoint with one variant and
    without autoscaling, multi-model serving and inference components.
    """
    test = spec.load_test
    for number, endpoint in enumerate(() if test is None else test.endpoints or ()):
        reason = _unmeasurable(spec)
        if endpoint.endpoint_name == spec.endpoint_name and reason is not None:
            message = f"the endpoint {reason}, so Inference Recommender cannot measure it as it is"
            path = (*_AT, "endpoints", number, "endpoint_name")
            yield Problem(path, message, "remove it, or name another endpoint with the same model")


def _unmeasurable(spec: ModelSpec) -> str | None:
    found = list(variants(spec))
    reasons = {
        "has several variants": len(found) > 1,
        "is autoscaled": any(variant_scalings(spec)),
        "is asynchronous": is_async(spec),
        "is serverless": any(it.serverless_config is not None for _, it in found),
        "serves many models": kind_of(spec).archives == "many",
        "has inference components": hosts_components(spec),
    }
    return next((said for said, applies in reasons.items() if applies), None)


def _phases(pattern: TrafficPattern | None) -> Sequence[LoadPhase]:
    return () if pattern is None else pattern.phases or ()

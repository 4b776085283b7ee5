"""What a job will do, from its request: how many tests, on what, for how long, and what that costs."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from inferstack.endpoint.cost import Prices
from inferstack.format.load_testing import LoadPhase
from inferstack.sizing.job_requests import Request, Requests

_SECONDS_AN_HOUR = 3_600
MOST_MINUTES_OF_DEFAULT = 45
"""https://docs.aws.amazon.com/sagemaker/latest/dg/instance-recommendation-create.html"""


class Test(msgspec.Struct, frozen=True):
    """Tests of one configuration, one for each combination of its environment variables."""

    on: str
    """An instance type, or serverless capacity in words."""
    count: int
    is_instance: bool = True


class JobPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a job will do. None is what AWS decides."""

    name: str
    tests: tuple[Test, ...] = ()
    most_tests: int | None = None
    """The job's own limit of tests."""
    at_once: int | None = None
    traffic: str | None = None
    seconds_per_test: int | None = None
    job_seconds: int | None = None
    """After that, no further test starts."""

    @property
    def test_count(self) -> int:
        """How many tests there are."""
        every = sum(it.count for it in self.tests)
        return every if self.most_tests is None else min(every, self.most_tests)

    @property
    def instance_seconds(self) -> int | None:
        """How long instances are under load, at most and all together; starting them comes on top."""
        if self.seconds_per_test is None:
            return None
        return self.seconds_per_test * min(
            self.test_count, sum(it.count for it in self.tests if it.is_instance)
        )

    def cost(self, prices: Prices) -> Decimal | None:
        """What instances under load cost at most; None if a time or a price is not known."""
        on = [it for it in self.tests if it.is_instance]
        each = [price for it in on for price in [prices.of(it.on)] * it.count if price is not None]
        if self.seconds_per_test is None or not each or len(each) < sum(it.count for it in on):
            return None
        costliest = sorted(each, reverse=True)[: self.test_count]
        return sum(costliest, Decimal()) * self.seconds_per_test / _SECONDS_AN_HOUR


def plan_of(requests: Requests) -> JobPlan:
    """What the job of these requests will do."""
    operation, request = next(reversed(requests.items()))
    if operation != "CreateInferenceRecommendationsJob":
        name = str(next(iter(request.values())))
        types = request.get("ComputeSpec", {}).get("InstanceTypes", ())
        return JobPlan(name=name, tests=tuple(Test(it, 1) for it in types))
    inputs, limit = request["InputConfig"], request["InputConfig"].get("ResourceLimit", {})
    supported = inputs["ContainerConfig"].get("SupportedInstanceTypes", ())
    pattern = inputs.get("TrafficPattern")
    return JobPlan(
        name=request["JobName"],
        tests=(*map(_test, inputs.get("EndpointConfigurations", ())), *(Test(it, 1) for it in supported)),
        most_tests=limit.get("MaxNumberOfTests"),
        at_once=limit.get("MaxParallelOfTests"),
        traffic=None if pattern is None else _traffic(pattern),
        seconds_per_test=None if pattern is None else traffic_seconds(pattern),
        job_seconds=inputs.get("JobDurationInSeconds"),
    )


def _test(configuration: Mapping[str, Any]) -> Test:
    ranges = configuration.get("EnvironmentParameterRanges", {}).get("CategoricalParameterRanges", ())
    count = math.prod(len(it["Value"]) for it in ranges)
    if "ServerlessConfig" not in configuration:
        return Test(configuration["InstanceType"], count)
    serverless = configuration["ServerlessConfig"]
    size = f"{serverless['MemorySizeInMB']} MB x {serverless['MaxConcurrency']}"
    return Test(f"serverless {size}", count, is_instance=False)


def traffic_seconds(pattern: Request) -> int:
    """The length of the traffic of one test."""
    stairs = pattern.get("Stairs", {}).get("DurationInSeconds", 0)
    return int(sum((it["DurationInSeconds"] for it in pattern.get("Phases", ())), stairs))


def _traffic(pattern: Request) -> str:
    if pattern.get("Stairs"):
        stairs = pattern["Stairs"]
        each = stairs["UsersPerStep"]
        return f"{each} to {each * stairs['NumberOfSteps']} users in {stairs['NumberOfSteps']} steps"
    return ", then ".join(_phases(pattern))


def _phases(pattern: Request) -> Iterator[str]:
    for it in pattern.get("Phases", ()):
        first = it["InitialNumberOfUsers"]
        last = LoadPhase(
            initial_number_of_users=first,
            spawn_rate=it["SpawnRate"],
            duration_in_seconds=it["DurationInSeconds"],
        ).most_users
        yield f"{first} users" if first == last else f"{first} to {last} users"

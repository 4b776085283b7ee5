"""What an endpoint is for: how many requests, how fast, at what cost. Nothing of it is deployed."""

from typing import Annotated

from msgspec import Meta

from inferstack.format.base import Block, FileBeside, form

Percentile = Annotated[str, form(r"^P[0-9]{1,2}(\.[0-9]+)?$")]
# Far beyond any endpoint: they keep the numbers that follow from them readable.
Rate = Annotated[float, Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000_000})]
Milliseconds = Annotated[float, Meta(extra_json_schema={"minimum": 1, "maximum": 3_600_000})]
Tokens = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000_000})]
Share = Annotated[float, Meta(extra_json_schema={"minimum": 0.01, "maximum": 1})]
Money = Annotated[float, Meta(extra_json_schema={"minimum": 0.01, "maximum": 1_000_000_000})]


class LatencyLimit(Block):
    """The latency that requests may have at most."""

    percentile: Percentile
    """Percentile of the latency, such as `P95`."""
    value_in_milliseconds: Milliseconds
    """The limit, in milliseconds."""


class ComponentObjective(Block):
    """What one component must do. What it leaves out is as the objective of the spec says, apart from the
    requests."""

    requests_per_minute: Rate | None = None
    """Requests per minute at the busiest time."""
    lowest_requests_per_minute: Rate | None = None
    """Requests per minute at the quietest: autoscaling goes down to what these need."""
    measurements: FileBeside | None = None
    """The file of a load test. `inferstack size` ranks what it says, and rules compare the spec with it."""
    concurrency: Rate | None = None
    """Requests that are answered at the same time at the busiest. A language model takes long for each, so
    they say more than requests per minute, and a policy follows them, too."""
    lowest_concurrency: Rate | None = None
    """The same at the quietest."""
    tokens_per_second: Rate | None = None
    """Tokens that a language model writes in a second at the busiest, for all requests."""
    tokens_per_request: Tokens | None = None
    """Tokens of a request with its answer, as most have: `inferstack fit` and a rule reckon with them."""
    latency: LatencyLimit | None = None
    """The latency limit that a configuration must meet."""
    time_to_first_token: LatencyLimit | None = None
    """The limit for the time until a language model writes its first token."""
    inter_token_latency: LatencyLimit | None = None
    """The limit for the time from one token to the next."""
    safety_factor: Share | None = None
    """The share of what was measured to plan with. AWS suggests starting with 0.5. Without it, instances are
    planned to be as busy as in the load test, and `inferstack size` says so."""

    @property
    def asked(self) -> tuple[float | None, float | None, float | None]:
        """How much there is when it is busiest, in each of the units that count instances."""
        return self.requests_per_minute, self.concurrency, self.tokens_per_second


class Objective(ComponentObjective):
    """What the endpoint must do. `inferstack size` finds the instances for it from measurements."""

    traffic: FileBeside | None = None
    """A file of requests per minute over a day or a week, instead of `requests_per_minute` and
    `lowest_requests_per_minute`: they are those of its busiest and its quietest minute."""
    spare_instances: Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": 1_000})] = 0
    """Instances beyond those that the requests need, for when one fails."""
    budget_per_hour: Money | None = None
    """What all instances together may cost in an hour, in the currency of the prices: on average over the
    `traffic`, or without any, at the busiest."""

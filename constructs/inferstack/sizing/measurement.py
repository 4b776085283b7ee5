"""One measured configuration, and why a measurement of it does not count."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import pairwise

import msgspec

_MS_A_MINUTE = 60_000
_SECONDS_A_MINUTE = 60
# Within a fifth of what they can send at most, users do nothing but wait.
_WAITING = Decimal("0.8")
MOST_FAILED = Decimal("0.05")
"""The share of failed requests above which a run says nothing: what fails is faster than what is answered, or
slower.
"""

Percentiles = Mapping[Decimal, Decimal]
"""Milliseconds by percentile, such as 95."""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What one instance did in a load test, or one copy of a component."""

    configuration: str
    instance_type: str
    requests_per_minute: Decimal
    latencies: Percentiles = msgspec.field(default_factory=dict)
    """From the request to the last byte of the answer."""
    time_to_first_token: Percentiles = msgspec.field(default_factory=dict)
    inter_token_latency: Percentiles = msgspec.field(default_factory=dict)
    tokens_per_second: Decimal | None = None
    """Tokens in the answers of all users together."""
    price_per_hour: Decimal | None = None
    users: int | None = None
    """How many users sent requests to it at the same time, each waiting for an answer before the next."""
    ended_badly: tuple[str, ...] = ()
    """Why the run says nothing about the instance, by the load test's own words."""
    doubts: tuple[str, ...] = ()
    """What it does not prove, although it counts."""
    leaves_instances_open: bool = False
    """Whether its file does not say on how many instances of which type it ran."""
    component: str | None = None
    """The inference component of which one copy was measured; None if the file does not say it."""

    @property
    def unit(self) -> str:
        """What was measured: a copy of a component, or an instance."""
        return "instance" if self.component is None else "copy"

    @property
    def usual_latency(self) -> Decimal | None:
        """The latency at the lowest percentile that was measured."""
        return self.latencies[min(self.latencies)] if self.latencies else None

    @property
    def most_that_users_send(self) -> Decimal | None:
        """Requests per minute, by Little's law: each user waits for an answer before the next request."""
        if self.users is None or not self.usual_latency:
            return None
        return self.users * _MS_A_MINUTE / self.usual_latency

    @property
    def seconds_a_request(self) -> Decimal | None:
        """How long a request takes, by the same law; None if the users were not counted."""
        return None if self.users is None else self.users * _SECONDS_A_MINUTE / self.requests_per_minute

    @property
    def keeps_users_waiting(self) -> bool:
        """Whether the users could hardly have sent more, as always in a closed loop: it does not show whether
        they or the instance were the limit.
        """
        most = self.most_that_users_send
        return most is not None and self.requests_per_minute >= _WAITING * most

    @property
    def faults(self) -> Iterator[str]:
        """Why the measurement does not count."""
        yield from self.ended_badly
        for what, of_what in LATENCIES.items():
            measured: Percentiles = getattr(self, of_what)
            for low, high in pairwise(sorted(measured)):
                if measured[high] < measured[low]:
                    wrong = f"{measured[high]:.6g} ms at P{high:f}, but {measured[low]:.6g} at P{low:f}"
                    yield f"{what} of {wrong}: it cannot be lower at a higher percentile"


LATENCIES = {
    "a latency": "latencies",
    "a time to first token": "time_to_first_token",
    "an inter-token latency": "inter_token_latency",
}
"""What is measured at percentiles, in words, by field."""


def too_many_failed(failed: int, requests: int) -> Iterator[str]:
    """Says so, if more than :data:`MOST_FAILED` of the requests failed."""
    if failed > MOST_FAILED * requests:
        yield f"{failed} of {requests} requests failed"

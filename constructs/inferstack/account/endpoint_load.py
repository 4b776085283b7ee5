"""The load on a deployed endpoint: one number of users after the other, with what it has taken so far."""

import asyncio
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from time import monotonic

from msgspec.structs import replace

from inferstack.account.connection import AccountError, Connection
from inferstack.account.invoking import Invocation, invoking, running_variants
from inferstack.endpoint.cost import Prices
from inferstack.sizing.bench import Point
from inferstack.sizing.closed_loop import LoadRun, Pace, closed_loop
from inferstack.triton.measuring.sending import Send

_HOUR = 3600
_SCALED = "the endpoint was scaled during the load, so its instances did not share all of the load"


class EndpointLoad:
    """Runs of load on an endpoint. ``seconds``: how long an answer is waited for.

    Raises:
        AccountError: when the endpoint cannot be asked, or is not in service; also by its methods.
    """

    def __init__(
        self,
        connection: Connection,
        region: str,
        invocation: Invocation,
        pace: Pace,
        prices: Prices,
        *,
        seconds: float,
    ) -> None:
        self._connection, self._region, self._invocation = connection, region, invocation
        self._pace, self._prices, self._seconds = pace, prices, seconds
        self.variants = running_variants(connection, region, invocation.endpoint)
        self.sent, self.spent = 0, Decimal(0)

    @property
    def per_hour(self) -> Decimal | None:
        """What the instances cost in an hour, load or not; None if that is not known."""
        prices = [self._prices.of(it.instance_type or "") for it in self.variants]
        if None in prices:
            return None
        each = zip(prices, self.variants, strict=True)
        return sum((price * it.instances for price, it in each if price), Decimal(0))

    @property
    def currency(self) -> str:
        """That of the prices."""
        return self._prices.currency

    def seconds_left(self, budget: float | None) -> float:
        """The seconds that are left of a budget."""
        per_hour = self.per_hour
        if budget is None or not per_hour:
            return float("inf")
        return float((Decimal(str(budget)) - self.spent) / per_hour * _HOUR)

    def try_once(self) -> None:
        """Sends one request, without which a load would show nothing."""
        failure = asyncio.run(self._once())
        self.sent += 1
        if failure is not None:
            raise AccountError(f"{self._invocation.endpoint} does not answer: {failure}")

    def point(self, users: int, *, requests: int, longest: float) -> Point:
        """A run with so many users, of so many requests and seconds at most."""
        begun = monotonic()
        try:
            run = asyncio.run(self._run(users, replace(self._pace, requests=requests, longest=longest)))
            self.sent += run.sent
            before = self.variants
            self.variants = running_variants(self._connection, self._region, self._invocation.endpoint)
        finally:
            self.spent += (self.per_hour or Decimal(0)) * Decimal(monotonic() - begun) / _HOUR
        note = None if before == self.variants else _SCALED
        return Point(self._invocation.endpoint, run, note=note)

    async def _once(self) -> str | None:
        async with self._users(1) as send:
            return await send()

    async def _run(self, users: int, pace: Pace) -> LoadRun:
        async with self._users(users) as send:
            return await closed_loop(send, users, pace)

    def _users(self, users: int) -> AbstractAsyncContextManager[Send]:
        return invoking(self._connection, self._region, self._invocation, users=users, seconds=self._seconds)

"""``inferstack measure --endpoint``: the load on a deployed endpoint, bounded in requests, time and money."""

import argparse
import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from time import monotonic

from msgspec.structs import replace

from inferstack.account.connection import AccountError, Connection, connect
from inferstack.account.invoking import Invocation, RunningVariant, fleets, invoking
from inferstack.catalog.triton_container import DEFAULT_MODEL, set_variable
from inferstack.check.load import LoadedSpec
from inferstack.cli.measure_report import Goal, loads, picture_of, show_points, write_measurements
from inferstack.cli.pictures import draw
from inferstack.cli.terminal import Refusal, passing, tell
from inferstack.endpoint.cost import Prices
from inferstack.facts.walk import region_of
from inferstack.sizing.bench import Point
from inferstack.sizing.closed_loop import LoadRun, Pace, closed_loop
from inferstack.sizing.prices import HOW_TO_GET_PRICES, prices_for
from inferstack.triton.measuring.sending import Send
from inferstack.triton.measuring.serving import request_to
from inferstack.triton.rehearsal import Rehearsal

_HOUR = 3600


def measure_endpoint(
    loaded: LoadedSpec, rehearsal: Rehearsal | None, goal: Goal, pace: Pace, options: argparse.Namespace
) -> int:
    """Measures the endpoint that the options name. Without a ``rehearsal``, the options have a body."""
    try:
        load = _Load(loaded, _invocation(rehearsal, options), pace, options)
        points = load.run()
    except AccountError as error:
        raise Refusal(str(error)) from None
    if options.picture is not None:
        draw(options.picture, lambda: picture_of(points, goal))
    return int(not any(it.run.answers for it in points))


def _invocation(rehearsal: Rehearsal | None, options: argparse.Namespace) -> Invocation:
    component, target = options.component, options.target_model
    if rehearsal is None:
        return Invocation(
            options.endpoint, options.body.read_bytes(), options.content_type, component, target
        )
    [repository] = rehearsal.repositories
    model = repository.served(set_variable(rehearsal.environment, DEFAULT_MODEL))
    if model is None:
        raise Refusal(f"it is not clear which model of {repository.archive} answers: add `default_model`")
    body, form = request_to(model.config, options.rows)
    archive = repository.archive if repository.multi_model else None
    return Invocation(options.endpoint, body, form, component, archive)


class _Load:
    """The runs, one for each number of users, and what they may still take."""

    def __init__(
        self, loaded: LoadedSpec, invocation: Invocation, pace: Pace, options: argparse.Namespace
    ) -> None:
        self._invocation, self._pace, self._options = invocation, pace, options
        self._connection: Connection = connect(region_of(loaded.spec))
        if self._connection.region is None:
            raise Refusal("no region is known; add --region")
        self._region = self._connection.region
        self._prices: Prices = prices_for(self._region, options.prices)
        self._fleets = self._asked()
        self._spent, self._points, self._sent = Decimal(0), list[Point](), 0

    def run(self) -> list[Point]:
        """What was measured, which is printed, and written into the file that the options name."""
        options = self._options
        self._require_bounds()
        try:
            with passing() as show:
                self._try_once()
                self._runs(show)
        finally:
            show_points(self._points, loads(self._points), options.format)
            if self._points:
                tell(self._summary())
        if options.out is not None:
            [fleet] = self._fleets
            write_measurements(options.out, self._points, str(fleet.instance_type), fleet.instances)
        return self._points

    def _asked(self) -> tuple[RunningVariant, ...]:
        return fleets(self._connection, self._region, self._options.endpoint)

    def _require_bounds(self) -> None:
        if self._options.budget is not None and self._per_hour is None:
            raise Refusal(f"--budget: the price of its instances is not known; {HOW_TO_GET_PRICES}")
        types = [it.instance_type for it in self._fleets]
        if self._options.out is not None and (len(types) != 1 or types[0] is None):
            raise Refusal("--out: `size` counts instances of one type, which this endpoint does not have")

    @property
    def _per_hour(self) -> Decimal | None:
        """What the instances cost in an hour, load or not; None if that is not known."""
        found = [self._prices.of(it.instance_type or "") for it in self._fleets]
        if None in found:
            return None
        return sum(
            (price * it.instances for price, it in zip(found, self._fleets, strict=True) if price), Decimal(0)
        )

    def _left(self) -> float:
        """The seconds that are left of the budget."""
        budget, per_hour = self._options.budget, self._per_hour
        if budget is None or not per_hour:
            return float("inf")
        return float((Decimal(str(budget)) - self._spent) / per_hour * _HOUR)

    def _try_once(self) -> None:
        found = asyncio.run(self._once())
        self._sent += 1
        if found is not None:
            raise Refusal(f"{self._options.endpoint} does not answer: {found}")

    async def _once(self) -> str | None:
        async with self._users(1) as send:
            return await send()

    def _runs(self, show: Callable[[str], None]) -> None:
        for users in self._options.concurrency:
            requests, seconds = self._options.requests - self._sent, min(self._pace.longest, self._left())
            if requests < 1 or seconds <= 0:
                tell(
                    f"stopped before {users} users: {'--requests' if requests < 1 else '--budget'} is used up"
                )
                return
            show(f"{users} users")
            begun = monotonic()
            try:
                self._add(
                    asyncio.run(self._run(users, replace(self._pace, requests=requests, longest=seconds)))
                )
            finally:
                self._spend(monotonic() - begun)

    def _add(self, run: LoadRun) -> None:
        self._sent += run.sent
        before, self._fleets = self._fleets, self._asked()
        scaled = None
        if before != self._fleets:
            scaled = "the endpoint was scaled during the load, so its instances did not share all of the load"
        self._points.append(Point(self._options.endpoint, run, note=scaled))

    def _spend(self, seconds: float) -> None:
        self._spent += (self._per_hour or Decimal(0)) * Decimal(seconds) / _HOUR

    async def _run(self, users: int, pace: Pace) -> LoadRun:
        async with self._users(users) as send:
            return await closed_loop(send, users, pace)

    def _users(self, users: int) -> AbstractAsyncContextManager[Send]:
        return invoking(
            self._connection, self._region, self._invocation, users=users, seconds=self._options.timeout
        )

    def _summary(self) -> str:
        counts = ", ".join(f"{it.instances} x {it.instance_type or 'serverless'}" for it in self._fleets)
        price = self._per_hour
        cost = "" if price is None else f"; {self._spent:.4f} {self._prices.currency} of their time"
        return f"{self._sent} requests to {counts}{cost}"

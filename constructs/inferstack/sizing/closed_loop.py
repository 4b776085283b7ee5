"""Load in a closed loop: each of some users sends a request, waits for its answer, and sends the next.

A run is measured in windows of time until the last three of them agree. The first is a warm-up. Each window
lasts from one answer to another: a model with batches gives many at once, and windows that end by the clock
would have one batch more or less, in each run alike.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from time import perf_counter, process_time

import msgspec

from inferstack.triton.measuring.sending import Send

PERCENTILES: tuple[float, ...] = (50, 90, 95, 99)
_WINDOWS = 3
_AGREE = 0.1
_BUSY = 0.85
"""The share of a processor from which the client may be what limits the rate."""


class Pace(msgspec.Struct, frozen=True):
    """How long a run takes: windows of so many seconds, until they agree, but not longer than the longest."""

    window: float = 1.0
    longest: float = 20.0
    answers: int = 20
    """A window lasts until it has this many answers, and one for each user."""
    requests: int | None = None
    """The most requests that a run may send."""
    percentiles: tuple[float, ...] = PERCENTILES


class LoadRun(msgspec.Struct, frozen=True, kw_only=True):
    """What some users at once got in the last windows of a run."""

    users: int
    seconds: float
    answers: int
    latencies: Mapping[float, float]
    """Milliseconds by percentile; empty without an answer."""
    errors: Mapping[str, int] = msgspec.field(default_factory=dict)
    """How often each failure came in the whole run."""
    sent: int = 0
    """Requests of the whole run."""
    steady: bool = True
    """Whether the windows agreed."""
    busy: bool = False
    """Whether the client used a whole processor, and may be what limits the rate."""

    @property
    def per_second(self) -> float:
        """Answers in a second."""
        return self.answers / self.seconds if self.seconds else 0.0

    @property
    def per_minute(self) -> Decimal:
        """Answers in a minute, in four digits, which is more than a measurement knows."""
        return rounded(self.per_second * 60)

    @property
    def failed(self) -> float:
        """The share of requests that failed."""
        return sum(self.errors.values()) / max(1, self.sent)

    def latency(self, percentile: float) -> float:
        """Milliseconds at a percentile that the pace has; infinity without an answer."""
        return self.latencies.get(percentile, math.inf)


def rounded(number: float) -> Decimal:
    """A measured number in four digits."""
    return Decimal(f"{number:.4g}")


# ---------------------------------------------------------------- running


class _Window(msgspec.Struct, frozen=True):
    """Answers of one window: how long it was, and the seconds that each took, ascending."""

    seconds: float
    took: list[float]

    @property
    def rate(self) -> float:
        return len(self.took) / self.seconds

    @property
    def tail(self) -> float:
        return percentile(self.took, 95)


class _Loop:
    """The users of a run, and what they have got so far."""

    def __init__(self, send: Send, pace: Pace) -> None:
        self._send, self._pace = send, pace
        self.sent = 0
        self.took: list[float] = []
        self.answered = perf_counter()
        """When the last answer of a window came, or the loop began."""
        self.errors: Counter[str] = Counter()
        self.stopping = False

    async def user(self) -> None:
        while not self.stopping and (self._pace.requests is None or self.sent < self._pace.requests):
            self.sent += 1
            begun = perf_counter()
            error = await self._send()
            if error is None:
                self.answered = perf_counter()
                self.took.append(self.answered - begun)
            else:
                self.errors[error] += 1
                # A server that refuses at once would be asked as fast as it can refuse.
                await asyncio.sleep(0.01)

    def window_since(self, begun: float) -> _Window:
        """The answers since the last window, which ended then."""
        if not self.took:
            self.answered = perf_counter()
        found, self.took = sorted(self.took), []
        return _Window(max(1e-9, self.answered - begun), found)


async def closed_loop(
    send: Send, users: int, pace: Pace, *, warmed: Callable[[], None] = lambda: None
) -> LoadRun:
    """Sends requests as so many users until the rate and the latency are steady.

    ``send`` sends one and returns why it failed, or None. ``warmed`` is called when the warm-up has ended.
    However it ends, no request is under way afterwards.
    """
    loop = _Loop(send, pace)
    tasks = [asyncio.ensure_future(loop.user()) for _ in range(users)]
    windows: list[_Window] = []
    begun = perf_counter()
    deadline = begun + pace.longest
    try:
        warm_up = await _window(loop, tasks, users, pace, begun + pace.longest / 3)
        warmed()
        used, begun = process_time(), perf_counter()
        while not (_steady(windows) or perf_counter() > deadline or all(it.done() for it in tasks)):
            windows.append(await _window(loop, tasks, users, pace, deadline))
        busy = bool(windows) and process_time() - used > _BUSY * (perf_counter() - begun)
    finally:
        loop.stopping = True
        await asyncio.gather(*tasks)
    # Few requests may be over before the warm-up is.
    last = windows[-_WINDOWS:] or [warm_up]
    took = sorted(it for window in last for it in window.took)
    return LoadRun(
        users=users,
        seconds=sum(it.seconds for it in last),
        answers=len(took),
        latencies={at: percentile(took, at) * 1000 for at in pace.percentiles} if took else {},
        errors=dict(loop.errors.most_common()),
        sent=loop.sent,
        steady=_steady(windows),
        busy=busy,
    )


async def _window(
    loop: _Loop, tasks: Sequence[asyncio.Future[None]], users: int, pace: Pace, deadline: float
) -> _Window:
    """Waits for the next window to end: a slow model has answered few requests in a second."""
    begun = loop.answered
    enough, before = max(users, pace.answers), loop.errors.total()
    while True:
        left = min(pace.window, max(0.0, deadline - perf_counter()))
        done, _ = await asyncio.wait(tasks, timeout=left, return_when=asyncio.ALL_COMPLETED)
        so_far = len(loop.took) + loop.errors.total() - before
        if so_far >= enough or len(done) == len(tasks) or perf_counter() >= deadline:
            return loop.window_since(begun)


def _steady(windows: Sequence[_Window]) -> bool:
    last = windows[-_WINDOWS:]
    if len(last) < _WINDOWS or not all(it.took for it in last):
        return False
    return _agree([it.rate for it in last]) and _agree([it.tail for it in last])


def _agree(values: Sequence[float]) -> bool:
    mean = sum(values) / len(values)
    return all(abs(it - mean) <= _AGREE * mean for it in values)


def percentile(ascending: Sequence[float], at: float) -> float:
    """The smallest value that so many percent of the values do not exceed; infinity without values."""
    if not ascending:
        return math.inf
    return ascending[max(0, math.ceil(at / 100 * len(ascending)) - 1)]

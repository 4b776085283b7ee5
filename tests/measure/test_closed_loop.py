"""Users who wait for each answer: what they count, when a run ends, and that nothing is left under way."""

import asyncio
import math
from time import perf_counter

import pytest

from inferstack.sizing.closed_loop import LoadRun, Pace, closed_loop, percentile

SHORT = Pace(window=0.02, longest=2.0, answers=3)


class Server:
    """Answers after some seconds, and counts who waits."""

    def __init__(self, seconds: float = 0.001, error: str | None = None) -> None:
        self.seconds, self.error = seconds, error
        self.waiting = self.most = self.asked = 0
        self.answered: list[float] = []

    async def send(self) -> str | None:
        self.waiting += 1
        self.asked += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(self.seconds)
        self.waiting -= 1
        self.answered.append(perf_counter())
        return self.error


def run(server: Server, users: int = 4, pace: Pace = SHORT) -> LoadRun:
    return asyncio.run(closed_loop(server.send, users, pace))


def test_so_many_users_wait_at_once_and_nobody_waits_in_the_end() -> None:
    server = Server()
    found = run(server, 7)
    assert (server.most, server.waiting) == (7, 0)
    assert (found.users, found.sent) == (7, server.asked)
    assert 0 < found.answers <= found.sent


def test_failures_are_counted_by_their_words_and_are_no_answers() -> None:
    found = run(Server(error="status 500: no"), 2, Pace(window=0.02, longest=0.2, answers=3))
    assert found.answers == 0
    assert found.errors == {"status 500: no": found.sent}
    assert (found.failed, found.latencies, found.latency(95)) == (1.0, {}, math.inf)


def test_no_more_requests_are_sent_than_allowed() -> None:
    server = Server()
    assert run(server, 4, Pace(window=0.02, longest=2.0, requests=10)).sent == 10
    assert server.asked == 10


def test_answers_that_come_in_batches_are_counted_by_whole_batches() -> None:
    server = Server(0.05)
    found = run(server, 8, Pace(window=0.03, longest=2.0, answers=8))
    batches = [server.answered[at] for at in range(7, len(server.answered), 8)]
    count, rest = divmod(found.answers, 8)
    assert rest == 0
    spans = [late - early for early, late in zip(batches, batches[count:], strict=False)]
    assert min(abs(it - found.seconds) for it in spans) < 0.01


def test_a_server_that_answers_nothing_in_time_is_not_steady() -> None:
    found = run(Server(0.2), 2, Pace(window=0.02, longest=0.1, answers=1))
    assert not found.steady


def test_the_warm_up_is_over_before_anything_counts() -> None:
    server, at = Server(), list[int]()
    found = asyncio.run(closed_loop(server.send, 1, SHORT, warmed=lambda: at.append(server.asked)))
    assert len(at) == 1
    assert found.answers <= server.asked - at[0] + 1


def test_an_interruption_waits_for_what_is_under_way() -> None:
    server = Server(0.05)

    async def interrupted() -> None:
        task = asyncio.ensure_future(closed_loop(server.send, 3, SHORT))
        while server.waiting < 3:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert (server.asked, server.waiting) == (3, 0)


@pytest.mark.parametrize(
    ("values", "at", "wanted"),
    [([1.0], 50, 1), ([1, 2, 3, 4], 50, 2), ([1, 2, 3, 4], 75, 3), ([1, 2, 3, 4], 99, 4), ([], 50, math.inf)],
)
def test_a_percentile_is_a_value_that_was_measured(values: list[float], at: float, wanted: float) -> None:
    assert percentile(values, at) == wanted

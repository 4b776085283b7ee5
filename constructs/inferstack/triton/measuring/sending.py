"""Many users of one server at once: an asynchronous client, each of whose connections stays open."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from inferstack.triton.rehearsal.confinement import Confinement, Reply
from inferstack.triton.rehearsal.outcome import RehearsalRefused

Send = Callable[[], Awaitable[str | None]]
"""Sends one request and waits for its answer; returns why it failed, None if it did not."""

_OK = 200
_LONGEST_REASON = 300


class Request(msgspec.Struct, frozen=True):
    """What every user sends to a port, again and again."""

    path: str
    body: bytes
    headers: Mapping[str, str]


@asynccontextmanager
async def users_of(
    confinement: Confinement, port: int, request: Request, seconds: float
) -> AsyncIterator[Send]:
    """A function that sends the request, for any number of users at once. ``seconds``: for each answer.

    Raises:
        RehearsalRefused: without aiohttp.
    """
    aiohttp = _client()
    connector = aiohttp.TCPConnector(limit=0, socket_factory=lambda _: confinement.unconnected())
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        url = f"http://127.0.0.1:{port}{request.path}"

        async def send() -> str | None:
            try:
                async with session.post(url, data=request.body, headers=request.headers) as answer:
                    content = await answer.read()
                    return None if answer.status == _OK else reason(answer.status, content)
            except TimeoutError:
                return f"no answer within {seconds:g} s"
            except aiohttp.ClientError as error:
                return f"no answer: {error or type(error).__name__}"

        yield send


def _client() -> Any:
    try:
        import aiohttp  # noqa: PLC0415 - comes with an extra
    except ModuleNotFoundError:
        how = "install it with: pip install 'inferstack[measure]'"
        raise RehearsalRefused(f"aiohttp is not installed; {how}") from None
    return aiohttp


def reason(status: int, content: bytes) -> str:
    """Why a request failed, in the server's words."""
    said = " ".join(Reply(status, content, 0.0).text.split())
    return f"status {status}: {said[:_LONGEST_REASON]}"

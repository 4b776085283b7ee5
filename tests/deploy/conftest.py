"""One emulated AWS for all tests of a process, empty at the start of each; nothing else can be reached."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.server import reset, running
from xdist.scheduler import LoadScopeScheduling

_CLOSED = "http://127.0.0.1:9"
_LOOPBACK = ("127.", "::1", "localhost")
_LIVES = ("test_cdk_cli.py", "test_own_stack.py", "test_review.py")
"""Modules whose tests look at the same lives of stacks, or the same reviews: one worker runs them, once."""


class _OneWorkerForALife(LoadScopeScheduling):
    """Any worker runs any test, except those of a life.

    The marker for that has no effect with pytest 9.2: https://github.com/pytest-dev/pytest-xdist/issues/1386
    """

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if module.endswith(_LIVES) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _OneWorkerForALife:
    return _OneWorkerForALife(config, log)


@pytest.fixture(scope="session", autouse=True)
def nothing_but_loopback() -> Iterator[None]:
    """Refuses connections from this process to other machines, and sends those of programs to a closed port."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _CLOSED)
    local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise ConnectionRefusedError(f"tests may not connect to {address}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**proxies, **local}.items():
            patch.setitem(os.environ, name, value)
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(scope="session")
def _server(nothing_but_loopback: None) -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture
def aws(_server: str) -> EmulatedAws:
    """The emulated AWS, empty."""
    reset()
    return EmulatedAws(_server)

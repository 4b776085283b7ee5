"""One emulated AWS for all tests of a process, empty at the start of each; nothing else can be reached."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.server import reset, running

_CLOSED = "http://127.0.0.1:9"
_LOOPBACK = ("127.", "::1", "localhost")


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

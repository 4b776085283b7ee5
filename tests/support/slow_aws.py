"""An emulated AWS in which endpoints take time and keys expire: what real deployments meet."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from emulator.clients import EmulatedAws
from emulator.cloudformation import change_sets, deployment
from emulator.deploying import status

_PATIENCE = 60.0
_EXPIRED = b"""<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>
<Message>The security token included in the request is expired</Message></Error></ErrorResponse>"""


def wait_until(reached: Callable[[], bool]) -> None:
    """Waits for something that happens in other processes."""
    end = time.monotonic() + _PATIENCE
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


class SlowEndpoints:
    """Deployments run in parallel with the request that starts them, and stop at the endpoint until released."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._deploy, self._provision = deployment.deploy, deployment._provision
        self._waiting, self._released = threading.Event(), threading.Event()
        patch.setattr(change_sets, "deploy", self._beside)
        patch.setattr(deployment, "_provision", self._held)

    def _beside(self, stack: Any, template: Any, parameters: Any) -> None:
        thread = threading.Thread(target=self._deploy, args=(stack, template, parameters), daemon=True)
        thread.start()
        wait_until(lambda: stack.is_busy or not thread.is_alive())

    def _held(self, running: Any, logical_id: str) -> None:
        if logical_id == "Endpoint":
            self._waiting.set()
            self._released.wait(_PATIENCE)
        self._provision(running, logical_id)

    def wait(self) -> None:
        """Waits until a deployment has reached its endpoint."""
        assert self._waiting.wait(_PATIENCE), "no deployment came so far"

    def release(self, aws: EmulatedAws, stack: str) -> str:
        """Lets deployments finish; returns the stack's status when this one has."""
        self._released.set()
        wait_until(lambda: not status(aws, stack).endswith("IN_PROGRESS"))
        return status(aws, stack)


class Door:
    """A way to the emulated AWS that can be closed: then all keys count as expired."""

    def __init__(self, url: str) -> None:
        self.url, self.closed = url, False


@contextmanager
def door(aws: EmulatedAws) -> Iterator[Door]:
    """Opens a way to AWS for the block."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = (403, {}, _EXPIRED) if way.closed else self._forwarded(body)
            code, headers, content = answer
            # Without adding a date and a server: the answer already has them.
            self.send_response_only(code)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _forwarded(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            request = Request(aws.url + self.path, body or None, dict(self.headers), method=self.command)
            try:
                with urlopen(request, timeout=_PATIENCE) as found:
                    return found.status, dict(found.headers), found.read()
            except HTTPError as error:
                return error.code, dict(error.headers), error.read()

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _answer  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    way = Door(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield way
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

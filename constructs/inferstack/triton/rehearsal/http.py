"""Requests to a server inside a confinement."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection, HTTPException
from time import monotonic

from inferstack.triton.protocol import header_length
from inferstack.triton.rehearsal.confinement import Confinement

TRITON_LENGTH = "Inference-Header-Content-Length"
"""Header with the length of the JSON, on Triton's own port."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server answered. With status 0 it did not answer, and the body says why."""

    status: int
    body: bytes
    milliseconds: float
    header_length: int | None = None
    """Length of the JSON at the beginning of the body, where binary values follow it."""

    @property
    def text(self) -> str:
        """The reason in a refusal: what the server calls its error, else the whole body."""
        text = self.body.decode(errors="replace")
        try:
            found = json.loads(text)
        except ValueError:
            return text
        return str(found["error"]) if isinstance(found, dict) and "error" in found else text


@dataclass(frozen=True, slots=True)
class Client:
    """Talks to one port. ``seconds``: how long it waits for an answer."""

    confinement: Confinement
    port: int
    seconds: float

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request on a connection of its own. Never raises for what the server does."""
        begun = monotonic()
        connection = HTTPConnection("localhost")
        try:
            connection.sock = self.confinement.connect(self.port, self.seconds)
            connection.request(method, path, body, {} if headers is None else dict(headers))
            response = connection.getresponse()
            content = response.read()
            return Reply(response.status, content, _since(begun), _header_length(response.headers))
        except TimeoutError:
            return Reply(0, f"no answer within {self.seconds:g} s".encode(), _since(begun))
        except (OSError, HTTPException) as error:
            return Reply(0, f"no answer: {error or type(error).__name__}".encode(), _since(begun))
        finally:
            connection.close()


def _header_length(headers: Message) -> int | None:
    """SageMaker's port writes the length into the content type, Triton's own into a header."""
    length = header_length(headers.get("Content-Type", ""))
    own = headers.get(TRITON_LENGTH)
    return length if length is not None or own is None else int(own)


def _since(begun: float) -> float:
    return (monotonic() - begun) * 1000

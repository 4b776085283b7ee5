"""An AWS that answers requests to endpoints with the bytes that it would send, so that botocore itself reads them.

Streams, errors and objects come as in the services' own protocols; what a test gives is checked by botocore's models.
"""

import io
import json
import struct
from binascii import crc32
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from botocore.awsrequest import AWSResponse
from botocore.validate import ParamValidator
from support.answers import Refused, log_in, play_clients
from urllib3.exceptions import ProtocolError

_CALLER = (
    b"<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account>"
    b"</GetCallerIdentityResult></GetCallerIdentityResponse>"
)
_COMMON = {"ThrottlingException", "AccessDeniedException", "ExpiredTokenException"}
"""Errors of any service: https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html"""


class Sent(NamedTuple):
    """What a container sends."""

    content: bytes
    content_type: str = "application/json"
    variant: str = "AllTraffic"
    """Empty where something else than AWS answers."""


class Parts(NamedTuple):
    """A stream: its parts, the exception that ends it, and whether the connection breaks off."""

    parts: tuple[bytes, ...]
    error: Refused | None = None
    breaks: bool = False


class Stored(NamedTuple):
    """An object in S3."""

    content: bytes


Given = Any
"""Sent, Parts, Stored, Refused, an exception, JSON, or a list of these: each once, and the last from then on."""


def _event(headers: Mapping[str, str], payload: bytes) -> bytes:
    """A message of an event stream: https://smithy.io/2.0/aws/amazon-eventstream.html"""
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    message = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return message + struct.pack("!I", crc32(message))


class _Wire(io.BytesIO):
    """What urllib3 gives."""

    def __init__(self, content: bytes, *, breaks: bool = False) -> None:
        super().__init__(content)
        self._breaks = breaks

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()
        if self._breaks:
            raise ProtocolError("Connection broken: IncompleteRead")


class PlayedRuntime:
    """What AWS answers, by operation, and what it was asked."""

    def __init__(self) -> None:
        self.given: dict[str, Given] = {"GetCallerIdentity": None}
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.models: dict[str, Any] = {}
        self._counts: dict[str, int] = {}

    def note(self, params: Mapping[str, Any], model: Any) -> None:
        self.models[model.name] = model
        self.asked.append((model.name, dict(params)))

    def params(self, operation: str) -> list[Mapping[str, Any]]:
        """The parameters of each request of an operation."""
        return [params for name, params in self.asked if name == operation]

    def meet(self, url: str) -> AWSResponse:
        operation = self.asked[-1][0]
        given = self.given[operation]
        if isinstance(given, list):
            count = self._counts.get(operation, 0)
            self._counts[operation] = count + 1
            given = given[min(count, len(given) - 1)]
        status, headers, wire = self._answer(self.models[operation], given)
        return AWSResponse(url, status, headers, wire)

    def _answer(self, operation: Any, given: Given) -> tuple[int, dict[str, str], _Wire]:
        match given:
            case Exception():
                raise given
            case Refused() if operation.service_model.service_name == "s3":
                error = f"<Error><Code>{given.code}</Code><Message>{given.message}</Message></Error>"
                return given.status, {}, _Wire(error.encode())
            case Refused():
                known = {it.name for it in operation.error_shapes} | _COMMON | {"ValidationException"}
                assert given.code in known, f"{operation.name} has no {given.code}"
                said = {"__type": given.code, "message": given.message}
                body = given.message if given.message.startswith("{") else json.dumps(said)
                return given.status, {"x-amzn-errortype": given.code}, _Wire(body.encode())
            case Sent():
                headers = {"content-type": given.content_type, "content-length": str(len(given.content))}
                named = {"x-amzn-invoked-production-variant": given.variant} if given.variant else {}
                return 200, headers | named, _Wire(given.content)
            case Parts():
                types = {":message-type": "event", ":event-type": "PayloadPart"}
                events = [
                    _event({**types, ":content-type": "application/octet-stream"}, it) for it in given.parts
                ]
                if given.error is not None:
                    types = {":message-type": "exception", ":exception-type": given.error.code}
                    body = json.dumps({"Message": given.error.message}).encode()
                    events.append(_event({**types, ":content-type": "application/json"}, body))
                content_type = {"x-amzn-sagemaker-content-type": "text/event-stream"}
                return 200, content_type, _Wire(b"".join(events), breaks=given.breaks)
            case Stored():
                return 200, {"content-length": str(len(given.content))}, _Wire(given.content)
            case None:
                return 200, {}, _Wire(_CALLER)
            case _:
                report = ParamValidator().validate(given, operation.output_shape)
                assert not report.has_errors(), report.generate_report()
                return self._json(operation, given)

    @staticmethod
    def _json(operation: Any, given: Mapping[str, Any]) -> tuple[int, dict[str, str], _Wire]:
        if operation.service_model.metadata["protocol"] == "json":
            return 200, {}, _Wire(json.dumps(given).encode())
        members = operation.output_shape.members
        headers = {
            members[name].serialization["name"]: value
            for name, value in given.items()
            if members[name].serialization.get("location") == "header"
        }
        return 202, headers, _Wire(b"{}")


class _Now:
    """Clients live as long as the tests: making them takes longer than all that is asked of them."""

    runtime = PlayedRuntime()
    clients: dict[tuple[str, str], Any] = {}


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PlayedRuntime:
    """An AWS without answers, credentials for it, and a clock that only waiting moves on."""
    log_in(monkeypatch, tmp_path)
    seconds = [0.0]
    monkeypatch.setattr("inferstack.account.requests.sleep", lambda it: seconds.append(seconds.pop() + it))
    for module in ("account.requests", "cli.invoke"):
        monkeypatch.setattr(f"inferstack.{module}.monotonic", lambda: seconds[0])
    _Now.runtime = PlayedRuntime()
    play_clients(monkeypatch, _Now.clients, _noted, _met)
    return _Now.runtime


def _noted(params: Mapping[str, Any], model: Any, **_: object) -> None:
    _Now.runtime.note(params, model)


def _met(request: Any, **_: object) -> AWSResponse:
    return _Now.runtime.meet(request.url)

"""An AWS that answers boto3's requests with what a test gives, in forms that botocore's models allow."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.parsers import ResponseParserFactory
from botocore.validate import ParamValidator

CHURN = """\
kind: single-model
endpoint_name: churn
env: {region: us-east-1}
execution_role: arn:aws:iam::123456789012:role/hosting
model:
  image: {framework: xgboost, version: "1.7-1"}
  model_data_url: s3://acme-models/churn/model.tar.gz
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 2}
alarms: false
"""
"""A spec of an endpoint for such an AWS."""


class Refused(NamedTuple):
    """A refusal of AWS's."""

    code: str
    message: str = ""
    status: int = 400


Given = Any
"""An answer, a refusal, a function of the request's parameters that gives one, or a list of these: then each is given
once, and the last one from then on."""


def optional(shape: Any, value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members of an answer that the model does not require."""
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            if name in value:
                yield from [] if name in shape.required_members else [(*path, name)]
                yield from optional(member, value[name], (*path, name))
    elif shape.type_name == "list":
        for index, entry in enumerate(value):
            yield from optional(shape.member, entry, (*path, index))


def policy_text(document: Any) -> str:
    """A policy as IAM's answers have it."""
    return quote(json.dumps(document))


class Raw(io.BytesIO):
    """What urllib3 would give."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


class Answers:
    """What AWS answers, by operation, and what it was asked."""

    def __init__(self) -> None:
        self.given: dict[str, Given] = {}
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.shapes: dict[str, Any] = {}
        self.left_out: tuple[str, tuple[Any, ...]] | None = None
        self._now: Any = None
        self._counts: dict[str, int] = {}

    def note(self, params: Mapping[str, Any], model: Any, **_: object) -> None:
        self.shapes[model.name] = model.output_shape
        self.asked.append((model.name, dict(params)))

    def meet(self, request: Any, **_: object) -> AWSResponse:
        operation, params = self.asked[-1]
        answer = self._next(operation, params)
        if isinstance(answer, Refused):
            self._now = {"Error": {"Code": answer.code, "Message": answer.message}}
            status = answer.status
        else:
            self._now, status = self._valid(operation, answer), 200
        self._now["ResponseMetadata"] = {"HTTPStatusCode": status, "HTTPHeaders": {}}
        return AWSResponse(request.url, status, {}, Raw(b""))

    def _next(self, operation: str, params: Mapping[str, Any]) -> Any:
        given = self.given[operation]
        if isinstance(given, list):
            count = self._counts.get(operation, 0)
            self._counts[operation] = count + 1
            given = given[min(count, len(given) - 1)]
        return given(params) if callable(given) else given

    def _valid(self, operation: str, answer: Any) -> Any:
        report = ParamValidator().validate(answer, self.shapes[operation])
        assert not report.has_errors(), f"{operation}: {report.generate_report()}"
        made = deepcopy(answer)
        if self.left_out is not None and self.left_out[0] == operation:
            *parents, last = self.left_out[1]
            within = made
            try:
                for step in parents:
                    within = within[step]
                del within[last]
            except (KeyError, IndexError):
                pass  # Another answer to the same operation.
        return made

    def parse(self, *_: object) -> Any:
        """What botocore's parser would make of the answer that was sent last."""
        return self._now


class _Parser:
    def __init__(self, now: "_Now") -> None:
        self._now = now

    def parse(self, *_: object) -> Any:
        return self._now.answers.parse()


class _Now:
    """Clients live as long as the tests: making them takes longer than all that is asked of them."""

    answers = Answers()
    clients: dict[tuple[str, str], Any] = {}


def log_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Works in a folder, with credentials for an AWS that is not there, and without waiting between attempts."""
    monkeypatch.chdir(folder)
    for name in ("PROFILE", "SESSION_TOKEN", "ENDPOINT_URL", "DEFAULT_REGION", "MAX_ATTEMPTS", "RETRY_MODE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    settings = {"ACCESS_KEY_ID": "testing", "SECRET_ACCESS_KEY": "testing", "REGION": "us-east-1"}
    for name in ("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"):
        settings[name] = str(folder / "none")
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


def play_clients(
    monkeypatch: pytest.MonkeyPatch,
    clients: dict[tuple[str, str], Any],
    noted: Callable[..., None],
    met: Callable[..., AWSResponse],
) -> None:
    """Makes boto3's clients once, whose requests one function notes, and another answers."""
    session = boto3.Session

    class Session(session):  # type: ignore[misc, valid-type]
        def client(self, service: str, *, region_name: str, config: Any) -> Any:
            if (service, region_name) not in clients:
                made = super().client(service, region_name=region_name, config=config)
                made.meta.events.register("provide-client-params", noted)
                made.meta.events.register("before-send", met)
                clients[service, region_name] = made
            return clients[service, region_name]

    monkeypatch.setattr(boto3, "Session", Session)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Answers:
    """An AWS without answers, and credentials for it."""
    log_in(monkeypatch, tmp_path)
    _Now.answers = Answers()
    play_clients(monkeypatch, _Now.clients, _noted, _met)
    monkeypatch.setattr(ResponseParserFactory, "create_parser", lambda *_: _Parser(_Now()))
    return _Now.answers


def _noted(**found: Any) -> None:
    _Now.answers.note(**found)


def _met(request: Any, **_: object) -> AWSResponse:
    return _Now.answers.meet(request)

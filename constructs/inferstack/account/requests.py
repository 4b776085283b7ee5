"""Requests to an endpoint, one at a time: whole, as a stream, or asynchronous; and what they have taken.

Whatever AWS says to try again is tried again here, and counted: boto3 would do some of it in silence.
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointWithResponseStream.html
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointAsync.html
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.account.connection import AccountError, Connection, error_code, explained, require_no_page
from inferstack.account.existing import described
from inferstack.account.invoking import Invocation
from inferstack.endpoint.of_answers import Answer

_RIGHTS = (
    "the least rights for this are what `inferstack invoke --print-policy` prints; for the object of an "
    "asynchronous answer they include s3:ListBucket, without which S3 refuses what is not there yet"
)
LONGEST_ANSWER, LONGEST_STREAM = 70.0, 480.0
"""Seconds. A container has 60 for an answer, for which AWS advises to wait 70, and 8 minutes for a stream."""
_LARGEST_INLINE = 128_000
"""The most bytes that an asynchronous request may carry itself."""
_FIRST_PAUSE, _LONGEST_PAUSE, _SLOWER = 1.0, 15.0, 2.0
_LATE = "ReadTimeoutError"
_NO_CAPACITY = "has no capacity"
_FEW = 4


class _Again(msgspec.Struct, frozen=True):
    """A refusal that asks to try again."""

    code: str
    why: str
    words: str = ""
    most: int | None = None
    """How often, if that does not depend on the time only."""


_AGAIN = (
    _Again("ModelNotReadyException", "the model, or a serverless container, was not ready"),
    _Again("ValidationError", "the component had no copy, and its requests start one", _NO_CAPACITY),
    _Again("ThrottlingException", "AWS asked for fewer requests"),
    _Again("TooManyRequestsException", "AWS asked for fewer requests"),
    _Again("ServiceUnavailable", "the service was not available", most=_FEW),
    _Again("InternalFailure", "the service failed", most=_FEW),
    _Again("InternalDependencyException", "the service failed", most=_FEW),
    _Again("InternalStreamFailure", "the service failed in the stream", most=_FEW),
)


class Waits(msgspec.Struct, frozen=True):
    """How often it was asked, how long that took before the last time, and why once was not enough."""

    requests: int = 1
    seconds: float = 0
    why: str = ""


class TimedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and what it took."""

    content: bytes
    content_type: str = ""
    variant: str = ""
    """The variant that has answered, if AWS says it."""
    seconds: float
    """From the last request to the end of the answer."""
    first: float | None = None
    """From the last request to the first part of a stream."""
    parts: int = 0
    waits: Waits = Waits()


class RequestError(AccountError):
    """A request has no answer. ``texts`` are AWS's own words, for a diagnosis."""

    def __init__(self, said: str, code: str | None, fix: str = "", texts: tuple[str, ...] = ()) -> None:
        super().__init__(said, code, fix)
        self.texts = texts
        self.waits = Waits()

    @property
    def is_about_endpoint(self) -> bool:
        """Whether the endpoint has failed. Credentials, rights, the network, or too few of AWS's servers say
        nothing about the endpoint, and neither do answers that are not AWS's.
        """
        return self.code == _LATE or not (self.fix or self.code is None)


class NotYetError(RequestError):
    """An asynchronous answer has not come in time."""


Show = Callable[[str], None]
Send = Callable[[], TimedAnswer]


def answered(send: Send, *, until: float, starts_copies: bool, show: Show) -> TimedAnswer:
    """Sends a request as often as AWS asks to, until a time.

    ``starts_copies``: whether a component without copies gets one because it is asked.

    Raises:
        RequestError: when there is no answer.
    """
    begun, waits, pause = monotonic(), Waits(), _FIRST_PAUSE
    while True:
        waits = replace(waits, seconds=monotonic() - begun)
        try:
            return replace(send(), waits=waits)
        except RequestError as error:
            error.waits = waits
            again = next((it for it in _AGAIN if it.code == error.code and it.words in error.said), None)
            is_futile = again is None or (again.words == _NO_CAPACITY and not starts_copies)
            if again is None or is_futile or waits.requests == again.most or monotonic() + pause > until:
                raise
        show(f"{again.why}; asking again in {pause:.0f} s")
        sleep(pause)
        waits = Waits(waits.requests + 1, why=again.why)
        pause = min(pause * _SLOWER, _LONGEST_PAUSE)


# ---------------------------------------------------------------- whole answers, and streams


def whole(client: Any, invocation: Invocation) -> TimedAnswer:
    """Sends one request, and reads the answer to its end."""
    with _failing():
        begun = monotonic()
        answer = client.invoke_endpoint(**invocation.arguments)
        content = answer["Body"].read()
        if not answer.get("InvokedProductionVariant"):
            # A model may answer with a page, too.
            require_no_page("InvokeEndpoint", content, answer["ResponseMetadata"]["HTTPStatusCode"])
        return _got(answer, content, begun)


def stream(client: Any, invocation: Invocation, show: Show) -> TimedAnswer:
    """Sends one request, and reads all parts of the answer."""
    with _failing():
        begun, first, parts = monotonic(), None, []
        answer = client.invoke_endpoint_with_response_stream(**invocation.arguments)
        for event in answer["Body"]:
            part = event.get("PayloadPart", {}).get("Bytes", b"")
            if part:
                first = monotonic() - begun if first is None else first
                parts.append(part)
                show(part.decode("utf-8", "replace"))
        return replace(_got(answer, b"".join(parts), begun), first=first, parts=len(parts))


def _got(answer: Answer, content: bytes, begun: float) -> TimedAnswer:
    return TimedAnswer(
        content=content,
        content_type=answer.get("ContentType", ""),
        variant=answer.get("InvokedProductionVariant", ""),
        seconds=monotonic() - begun,
    )


@contextmanager
def _failing() -> Iterator[None]:
    from botocore.eventstream import ParserError  # noqa: PLC0415 - comes with an extra
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - comes with boto3

    try:
        with explained("no answer", rights=_RIGHTS):
            yield
    except (ParserError, HTTPError) as error:
        # What reads a stream lets these through.
        said = f"the stream breaks off: {error}"
        raise RequestError(said, "StreamBroken", texts=(str(error),)) from None
    except RequestError:
        raise
    except AccountError as error:
        raise RequestError(error.said, error.code, error.fix, (*_words(error),)) from None


def _words(error: AccountError) -> Iterator[str]:
    """What AWS has said, with the container's own words."""
    response: Any = getattr(error.__context__, "response", None)
    if response is None:
        yield f"{error.code}: {error.said}"
        return
    said = response.get("Error", {})
    yield f"{said.get('Code', '')}: {said.get('Message', '')}"
    yield from filter(None, (response.get("OriginalMessage"), response.get("ErrorCode")))


# ---------------------------------------------------------------- asynchronous answers


class AnswerPlaces(msgspec.Struct, frozen=True):
    """Where an asynchronous answer will be, or else what SageMaker says of its failure."""

    output: str
    failure: str | None
    begun: float


def asynchronous(client: Any, invocation: Invocation, input_location: str | None) -> AnswerPlaces:
    """Puts a request into the endpoint's queue: with its body, or with the place of that."""
    begun = monotonic()
    sent = {name: it for name, it in invocation.arguments.items() if name != "Body"}
    if input_location is not None:
        sent["InputLocation"] = input_location
    else:
        sent["Body"] = invocation.body
        _require_inline(client, invocation)
    with _failing():
        answer = client.invoke_endpoint_async(**sent)
        return AnswerPlaces(answer["OutputLocation"], answer.get("FailureLocation"), begun)


def _require_inline(client: Any, invocation: Invocation) -> None:
    upload = "upload it, and write --input-location s3://…"
    if len(invocation.body) > _LARGEST_INLINE:
        said = f"the body has {len(invocation.body)} bytes, and an asynchronous request takes"
        raise RequestError(f"{said} {_LARGEST_INLINE}", None, upload)
    operation = client.meta.service_model.operation_model("InvokeEndpointAsync")
    if "Body" not in operation.input_shape.members:
        said = "this boto3 cannot send a body to an asynchronous endpoint"
        raise RequestError(said, None, f"install a newer one, or {upload}")


def stored(s3: Any, places: AnswerPlaces, *, until: float, show: Show) -> TimedAnswer:
    """Waits for an asynchronous answer.

    Raises:
        NotYetError: when it has not come in time.
        RequestError: when the request has failed, or S3 cannot be asked.
    """
    pause = _FIRST_PAUSE
    while True:
        for url in filter(None, (places.output, places.failure)):
            found = _object(s3, url)
            if found is None:
                continue
            content = found["Body"].read()
            if url == places.failure:
                text = content.decode("utf-8", "replace")
                said = f"the request has failed: {' '.join(text.split())}"
                raise RequestError(said, "AsyncFailure", texts=(text,))
            return TimedAnswer(
                content=content,
                content_type=found.get("ContentType", ""),
                seconds=monotonic() - places.begun,
            )
        if monotonic() + pause > until:
            failure = "" if places.failure else "; the endpoint has no place for failures"
            said = f"there is no answer at {places.output} yet{failure}"
            raise NotYetError(
                said, None, "an endpoint without instances may be starting one: raise --deadline"
            )
        show(f"waiting for {places.output}")
        sleep(pause)
        pause = min(pause * _SLOWER, _LONGEST_PAUSE)


def _object(s3: Any, url: str) -> Answer | None:
    """What S3 has there; None if nothing is."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    bucket, key = url.removeprefix("s3://").split("/", 1)
    with _failing():
        try:
            found: Answer = s3.get_object(Bucket=bucket, Key=key)
        except ClientError as error:
            if error_code(error) not in ("NoSuchKey", "404"):
                raise
            return None
        return found


# ---------------------------------------------------------------- the endpoint


def description(connection: Connection, region: str, endpoint: str) -> Answer | None:
    """What SageMaker says of an endpoint; None where there is no such endpoint.

    Raises:
        AccountError: when it does not say it.
    """
    with explained(f"the endpoint {endpoint} cannot be asked", rights=_RIGHTS):
        return described(connection.sagemaker(region).describe_endpoint, EndpointName=endpoint)

"""What a deployed endpoint runs on, and what its users see of it."""

import asyncio
import io
import threading
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import Stubber
from support.stubbed import ACCOUNT, StubbedSession

from inferstack.account.connection import AccountError
from inferstack.account.invoking import Invocation, RunningVariant, invoking, running_variants

ARN = f"arn:aws:sagemaker:eu-west-1:{ACCOUNT}:endpoint/ranker"
DATES = {"CreationTime": 0, "LastModifiedTime": 0}
PLAIN = Invocation("ranker", b"{}", "application/json")


@pytest.fixture
def session() -> StubbedSession:
    return StubbedSession()


def deployed(
    stub: Stubber, running: list[dict[str, Any]], asked_for: list[dict[str, Any]], status: str = "InService"
) -> None:
    endpoint = {"EndpointName": "ranker", "EndpointArn": ARN, "EndpointConfigName": "c", **DATES}
    variants = {"ProductionVariants": running} if running else {}
    stub.add_response(
        "describe_endpoint", {**endpoint, **variants, "EndpointStatus": status}, {"EndpointName": "ranker"}
    )
    config = {"EndpointConfigName": "c", "EndpointConfigArn": ARN, "ProductionVariants": asked_for}
    stub.add_response("describe_endpoint_config", {**config, "CreationTime": 0}, {"EndpointConfigName": "c"})


def test_each_variant_has_its_instances_as_they_are_now(session: StubbedSession) -> None:
    running = [{"VariantName": "a", "CurrentInstanceCount": 3}, {"VariantName": "b"}, {"VariantName": "c"}]
    written = [
        {"VariantName": "b", "ServerlessConfig": {"MemorySizeInMB": 2048, "MaxConcurrency": 5}},
        {"VariantName": "a", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1},
    ]
    deployed(session.stub("sagemaker"), running, written)
    found = running_variants(session.connection(), "eu-west-1", "ranker")
    assert found == (
        RunningVariant("a", "ml.g5.xlarge", 3),
        RunningVariant("b", None, 0),
        RunningVariant("c", None, 0),
    )
    assert session.made == [("sagemaker", "eu-west-1")]


def test_an_endpoint_without_variants_runs_on_nothing(session: StubbedSession) -> None:
    deployed(session.stub("sagemaker"), [], [{"VariantName": "a"}])
    assert running_variants(session.connection(), "eu-west-1", "ranker") == ()


@pytest.mark.parametrize("status", ["Creating", "Updating", "Failed"])
def test_an_endpoint_that_is_not_in_service_is_not_measured(status: str, session: StubbedSession) -> None:
    deployed(session.stub("sagemaker"), [], [{"VariantName": "a"}], status)
    with pytest.raises(AccountError, match=f"^the endpoint ranker is {status}; wait until it is in service$"):
        running_variants(session.connection(), "eu-west-1", "ranker")


def test_an_endpoint_that_is_not_there_is_looked_for_elsewhere(session: StubbedSession) -> None:
    words = 'Could not find endpoint "ranker".'
    session.stub("sagemaker").add_client_error("describe_endpoint", "ValidationException", words, 400)
    place = "eu-west-1 of the account 123456789012; check name, region and credentials"
    with pytest.raises(AccountError, match=f"^there is no endpoint ranker in {place}$"):
        running_variants(session.connection(), "eu-west-1", "ranker")


def test_who_may_not_look_at_an_endpoint_is_told_the_rights_that_it_takes(session: StubbedSession) -> None:
    session.stub("sagemaker").add_client_error("describe_endpoint", "AccessDeniedException", "Not you.", 400)
    with pytest.raises(AccountError) as raised:
        running_variants(session.connection(), "eu-west-1", "ranker")
    assert str(raised.value) == (
        "the endpoint ranker cannot be asked: AWS answers AccessDeniedException: Not you; measuring needs "
        "sagemaker:InvokeEndpoint and sagemaker:DescribeEndpoint on the endpoint, and "
        "sagemaker:DescribeEndpointConfig on its configuration"
    )


# ---------------------------------------------------------------- Requests


def answered(session: StubbedSession, invocation: Invocation = PLAIN) -> str | None:
    async def once() -> str | None:
        connection = session.connection()
        async with invoking(connection, "eu-west-1", invocation, users=2, seconds=3) as send:
            return await send()

    return asyncio.run(once())


@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ({}, {}),
        ({"component": "chat"}, {"InferenceComponentName": "chat"}),
        ({"target_model": "a.tar.gz"}, {"TargetModel": "a.tar.gz"}),
    ],
)
def test_a_request_names_what_it_is_for_and_nothing_else(
    more: dict[str, str], sent: dict[str, str], session: StubbedSession
) -> None:
    body = StreamingBody(io.BytesIO(b"ok"), 2)
    request = {"EndpointName": "ranker", "Body": b"{}", "ContentType": "application/json", **sent}
    session.stub("sagemaker-runtime").add_response("invoke_endpoint", {"Body": body}, request)
    assert answered(session, Invocation("ranker", b"{}", "application/json", **more)) is None
    assert session.made == [("sagemaker-runtime", "eu-west-1")]
    # The answer has been read to its end: only then has the user got it.
    assert body.read() == b""


def test_all_users_wait_for_their_answers_at_once(
    session: StubbedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = 40
    all_of_them = threading.Barrier(users, timeout=10)

    def invoke(**_: object) -> dict[str, Any]:
        all_of_them.wait()
        return {"Body": io.BytesIO(b"ok")}

    monkeypatch.setattr(session.stub("sagemaker-runtime").client, "invoke_endpoint", invoke)

    async def together() -> list[str | None]:
        async with invoking(session.connection(), "eu-west-1", PLAIN, users=users, seconds=3) as send:
            return await asyncio.gather(*(send() for _ in range(users)))

    assert asyncio.run(together()) == [None] * users


def test_a_refusal_is_one_short_line(session: StubbedSession) -> None:
    message = "Received\n  server error (500) " + "x" * 400
    session.stub("sagemaker-runtime").add_client_error("invoke_endpoint", "ModelError", message, 424)
    said = answered(session)
    assert said is not None
    assert said.startswith("ModelError: Received server error (500) xxx")
    assert len(said) == len("ModelError: ") + 300


def test_a_refusal_without_words_has_its_code(session: StubbedSession) -> None:
    session.stub("sagemaker-runtime").add_client_error("invoke_endpoint", "ServiceUnavailable", "", 503)
    assert answered(session) == "ServiceUnavailable: "


def test_an_answer_that_does_not_come_is_a_failure_of_that_request(
    session: StubbedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = ReadTimeoutError(endpoint_url="https://runtime")

    def invoke(**_: object) -> None:
        raise lost

    monkeypatch.setattr(session.stub("sagemaker-runtime").client, "invoke_endpoint", invoke)
    assert answered(session) == str(lost)

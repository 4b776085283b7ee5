"""``inferstack invoke``: what an endpoint answers, by bytes that AWS sends, read by botocore itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from account.invoke.conftest import CSV, Invoke
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from support.answers import Refused
from support.played_runtime import Parts, PlayedRuntime, Sent, Stored

ANSWER = Sent(b"0.93", "text/csv")
URL = "https://runtime.sagemaker.us-east-1.amazonaws.com"


def chat(**message: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def delta(text: str, reason: str | None = None) -> bytes:
    part = {"choices": [{"delta": {"content": text}, "finish_reason": reason}]}
    return f"data: {json.dumps(part)}\n\n".encode()


def tensors(**more: object) -> Sent:
    output = {"name": "Y", "datatype": "FP32", "shape": [1, 1], "data": [0.5], **more}
    return Sent(json.dumps({"model_name": "net", "outputs": [output]}).encode())


def model_error(status: int, said: str) -> Refused:
    whose = "client" if status < 500 else "server"
    message = (
        f'Received {whose} error ({status}) from primary with message "{said}". See https://logs for more.'
    )
    body = {
        "Message": message,
        "OriginalStatusCode": status,
        "OriginalMessage": said,
        "LogStreamArn": "arn:x",
    }
    return Refused("ModelError", json.dumps(body), 424)


NO_COPY = Refused(
    "ValidationError",
    "Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress (if"
    " configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.",
)
NO_ENDPOINT = Refused("ValidationError", "Endpoint churn of account 123456789012 not found.")
NOT_READY = Refused("ModelNotReadyException", "Model is not ready for inference", 429)
THROTTLED = Refused("ThrottlingException", "Rate exceeded", 400)
DENIED = Refused(
    "AccessDeniedException",
    "User: arn:aws:iam::123456789012:user/ci is not authorized to perform: sagemaker:InvokeEndpoint on resource:"
    " arn:aws:sagemaker:us-east-1:123456789012:endpoint/churn",
    403,
)
EXPIRED = Refused("ExpiredTokenException", "The security token included in the request is expired", 403)
HELLO = Sent(chat(role="assistant", content="Hello there."))
GENERATED = Sent(chat(content="Hi."))
QUEUED = {"InferenceId": "1", "OutputLocation": "s3://acme-answers/churn/1.out"}
QUEUED_WITH_FAILURES = {**QUEUED, "FailureLocation": "s3://acme-answers/failed/1-error.out"}
MISSING = Refused("NoSuchKey", "The specified key does not exist.", 404)


def described(status: str) -> dict[str, Any]:
    return {
        "EndpointName": "churn",
        "EndpointArn": "arn:aws:sagemaker:us-east-1:123456789012:endpoint/churn",
        "EndpointConfigName": "Churn-1",
        "EndpointStatus": status,
        "CreationTime": 0,
        "LastModifiedTime": 0,
    }


# The spec, what AWS answers, the options, the exit status, and what is printed.
SITUATIONS: dict[str, tuple[str, dict[str, Any], tuple[str, ...], int, tuple[str, ...]]] = {
    "answers": (
        "churn",
        {"InvokeEndpoint": ANSWER},
        CSV,
        0,
        ("endpoint churn: works: answers in", "answer: 0.93"),
    ),
    "answers nothing": ("churn", {"InvokeEndpoint": Sent(b"")}, CSV, 1, ("failed: the answer is empty",)),
    "answers no JSON": ("churn", {"InvokeEndpoint": Sent(b"{")}, CSV, 1, ("failed: the answer is not JSON",)),
    "answers with an error and 200": (
        "churn",
        {"InvokeEndpoint": Sent(b'{"error": "CUDA out of memory", "code": 424}')},
        CSV,
        1,
        ("failed: the container answers with an error", "CUDA out of memory"),
    ),
    "answers with a member that is called error": (
        "churn",
        {"InvokeEndpoint": Sent(b'{"prediction": 1, "error": 0.2}')},
        CSV,
        0,
        ("works",),
    ),
    "a proxy answers": (
        "churn",
        {"InvokeEndpoint": Sent(b"<html><title>Blocked</title></html>", "text/html", "")},
        CSV,
        3,
        (
            'unknown: no answer: the answer to InvokeEndpoint is not AWS\'s, but a page of HTML titled "Blocked"',
        ),
    ),
    "a model answers with a page": (
        "churn",
        {"InvokeEndpoint": Sent(b"<html></html>", "text/html")},
        CSV,
        0,
        ("works",),
    ),
    "nobody knows what it takes": (
        "churn",
        {},
        (),
        3,
        ("unknown: nothing was sent", "--body FILE --content-type"),
    ),
    "the container fails": (
        "churn",
        {"InvokeEndpoint": model_error(500, "boom")},
        CSV,
        1,
        ("failed: no answer: ModelError", "symptom: server-error"),
    ),
    "the container has no memory left": (
        "chat",
        {
            "InvokeEndpoint": model_error(
                500, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"
            )
        },
        (),
        1,
        ("failed: no answer: ModelError", "cause", "out of memory"),
    ),
    "the prompt is too long": (
        "chat",
        {"InvokeEndpoint": model_error(400, "This model's maximum context length is 4096 tokens")},
        (),
        1,
        ("cause (certain): prompt-too-long",),
    ),
    "there is no endpoint": (
        "churn",
        {
            "InvokeEndpoint": NO_ENDPOINT,
            "DescribeEndpoint": Refused("ValidationException", 'Could not find endpoint "churn".'),
        },
        CSV,
        1,
        ("failed: there is no endpoint churn in us-east-1 of the account 123456789012",),
    ),
    "the endpoint is created": (
        "churn",
        {"InvokeEndpoint": NO_ENDPOINT, "DescribeEndpoint": described("Creating")},
        CSV,
        3,
        ("running: the endpoint is Creating", "--follow"),
    ),
    "the endpoint has failed": (
        "churn",
        {"InvokeEndpoint": NO_ENDPOINT, "DescribeEndpoint": described("Failed")},
        CSV,
        1,
        ("failed: the endpoint is Failed",),
    ),
    "there is no endpoint, or nobody may look": (
        "churn",
        {"InvokeEndpoint": NO_ENDPOINT, "DescribeEndpoint": DENIED},
        CSV,
        1,
        ("cause (certain): no-such-endpoint",),
    ),
    "may not invoke": (
        "churn",
        {"InvokeEndpoint": DENIED},
        CSV,
        3,
        ("unknown: no answer: AWS answers AccessDeniedException", "--print-policy"),
    ),
    "the token has expired": ("churn", {"InvokeEndpoint": EXPIRED}, CSV, 3, ("unknown", "log in again")),
    "the token has expired before": (
        "churn",
        {"GetCallerIdentity": EXPIRED},
        CSV,
        3,
        ("unknown: AWS cannot be asked",),
    ),
    "there is no network": (
        "churn",
        {"InvokeEndpoint": EndpointConnectionError(endpoint_url=URL)},
        CSV,
        3,
        ("unknown", "check the network"),
    ),
    "takes too long": (
        "churn",
        {"InvokeEndpoint": ReadTimeoutError(endpoint_url=URL)},
        CSV,
        1,
        ("failed", "symptom: client-timeout"),
    ),
    "is throttled for a moment": (
        "churn",
        {"InvokeEndpoint": [THROTTLED, THROTTLED, ANSWER]},
        CSV,
        0,
        ("works", "asked 3 times in 3 s: AWS asked for fewer requests"),
    ),
    "is throttled": (
        "churn",
        {"InvokeEndpoint": THROTTLED},
        (*CSV, "--deadline", "1"),
        3,
        ("unknown", "wait a moment"),
    ),
    "the service fails once": (
        "churn",
        {"InvokeEndpoint": [Refused("InternalFailure", "", 500), ANSWER]},
        CSV,
        0,
        ("asked 2 times",),
    ),
    "the service fails": (
        "churn",
        {"InvokeEndpoint": Refused("InternalFailure", "", 500)},
        CSV,
        1,
        ("failed: no answer: AWS answers InternalFailure", "asked 4 times"),
    ),
    "an archive is loaded": (
        "many",
        {"InvokeEndpoint": [NOT_READY, ANSWER]},
        (*CSV, "--target-model", "a.tar.gz"),
        0,
        (
            "model a.tar.gz: works",
            "asked 2 times in 1 s: the model, or a serverless container, was not ready",
        ),
    ),
    "an archive is never loaded": (
        "many",
        {"InvokeEndpoint": NOT_READY},
        (*CSV, "--target-model", "a.tar.gz", "--deadline", "1"),
        1,
        ("failed: no answer: ModelNotReadyException", "symptom: model-not-ready"),
    ),
    "no archive is named": ("many", {}, CSV, 3, ("unknown: nothing was sent", "--target-model")),
    "a copy is woken": (
        "parts",
        {"InvokeEndpoint": [NO_COPY, NO_COPY, GENERATED]},
        ("--only", "asleep"),
        0,
        (
            "component asleep: works",
            "asked 3 times in 3 s: the component had no copy, and its requests start one",
        ),
    ),
    "a copy does not wake": (
        "parts",
        {"InvokeEndpoint": NO_COPY},
        ("--only", "asleep", "--deadline", "1"),
        1,
        ("failed: no answer: ValidationError", "cause (certain): no-copy"),
    ),
    "nothing wakes a copy": (
        "parts",
        {"InvokeEndpoint": NO_COPY},
        ("--only", "fixed"),
        1,
        ("component fixed: failed", "cause (certain): no-copy"),
    ),
    "a component fails, the other not": (
        "parts",
        {"InvokeEndpoint": [GENERATED, model_error(500, "boom")]},
        ("--only", "asleep", "--only", "fixed"),
        1,
        ("component asleep: works", "component fixed: failed"),
    ),
    "chats": ("chat", {"InvokeEndpoint": HELLO}, (), 0, ("works", "answer: Hello there.")),
    "reasons until its tokens end": (
        "chat",
        {"InvokeEndpoint": Sent(chat(reasoning_content="So"))},
        (),
        0,
        ("works",),
    ),
    "says nothing": (
        "chat",
        {"InvokeEndpoint": Sent(chat(content=""))},
        (),
        1,
        ("failed: the answer has no text",),
    ),
    "answers as another engine": (
        "chat",
        {"InvokeEndpoint": Sent(b'{"generated_text": "a"}')},
        (),
        1,
        ("failed: the answer has another form than the engine's",),
    ),
    "streams": (
        "chat",
        {"InvokeEndpointWithResponseStream": Parts((delta("Hel"), delta("lo", "stop"), b"data: [DONE]\n\n"))},
        ("--stream",),
        0,
        ("works: answers in 0.00 s, the first of 3 parts after", "answer: Hello"),
    ),
    "streams, and fails": (
        "chat",
        {
            "InvokeEndpointWithResponseStream": Parts(
                (delta("Hel"),), Refused("ModelStreamError", "StreamBroken")
            )
        },
        ("--stream",),
        1,
        ("failed: no answer: ModelStreamError", "symptom: stream-broken"),
    ),
    "streams, and SageMaker fails": (
        "chat",
        {"InvokeEndpointWithResponseStream": Parts((delta("a"),), Refused("InternalStreamFailure", "sorry"))},
        ("--stream",),
        1,
        ("failed: no answer: AWS answers InternalStreamFailure", "asked 4 times"),
    ),
    "streams, and breaks off": (
        "chat",
        {"InvokeEndpointWithResponseStream": Parts((delta("a"),), breaks=True)},
        ("--stream",),
        1,
        ("failed: the stream breaks off",),
    ),
    "streams, and stops without an end": (
        "chat",
        {"InvokeEndpointWithResponseStream": Parts((delta("a"), delta("b")))},
        ("--stream",),
        1,
        ("failed: the stream stops before its end",),
    ),
    "streams an error": (
        "chat",
        {
            "InvokeEndpointWithResponseStream": Parts(
                (b'data: {"error": {"message": "no"}}\n\n', b"data: [DONE]\n\n")
            )
        },
        ("--stream",),
        1,
        ("failed: the container answers with an error",),
    ),
    "streams nothing": (
        "chat",
        {"InvokeEndpointWithResponseStream": Parts(())},
        ("--stream",),
        1,
        ("no text",),
    ),
    "answers with tensors": ("net", {"InvokeEndpoint": tensors()}, (), 0, ("works", "Y FP32 [1, 1] = [0.5]")),
    "answers with other tensors": (
        "net",
        {"InvokeEndpoint": tensors(shape=[1, 3], data=[1, 2, 3])},
        (),
        1,
        ("failed: `Y` is declared [1, 1], but the answer has [1, 3]",),
    ),
    "arrays are not streamed": ("net", {}, ("--stream",), 3, ("unknown: nothing was sent: --stream is for",)),
    "is asynchronous": (
        "queue",
        {"InvokeEndpointAsync": QUEUED_WITH_FAILURES, "GetObject": [MISSING, MISSING, Stored(b"0.5")]},
        CSV,
        0,
        ("works: answers in 1.00 s", "answer: 0.5"),
    ),
    "is asynchronous, and fails": (
        "queue",
        {
            "InvokeEndpointAsync": QUEUED_WITH_FAILURES,
            "GetObject": [MISSING, Stored(b"Received server error (500) from primary with message boom")],
        },
        CSV,
        1,
        ("failed: no answer: AsyncFailure", "symptom: server-error"),
    ),
    "is asynchronous, and has no instance yet": (
        "queue",
        {"InvokeEndpointAsync": QUEUED, "GetObject": MISSING},
        (*CSV, "--deadline", "1"),
        3,
        (
            "running: there is no answer at s3://acme-answers/churn/1.out yet; the endpoint has no place for failures",
        ),
    ),
    "is asynchronous, and nobody may read": (
        "queue",
        {"InvokeEndpointAsync": QUEUED, "GetObject": Refused("AccessDenied", "Access Denied", 403)},
        CSV,
        3,
        ("unknown: no answer: AWS answers AccessDenied", "s3:ListBucket"),
    ),
    "lacks what is expected": (
        "churn",
        {"InvokeEndpoint": ANSWER},
        (*CSV, "--expect", "0.94"),
        1,
        ('failed: the answer lacks the text "0.94"', "answer: 0.93"),
    ),
    "has what is expected": ("churn", {"InvokeEndpoint": ANSWER}, (*CSV, "--expect", "0.93"), 0, ("works",)),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_situation_is_said_as_it_is(name: str, runtime: PlayedRuntime, invoke: Invoke) -> None:
    spec, given, words, status, printed = SITUATIONS[name]
    runtime.given |= given
    code, shown = invoke(spec, *words)
    assert (code, [it for it in printed if it not in shown.out]) == (status, []), shown


@pytest.mark.parametrize(
    ("spec", "words", "sent"),
    [
        ("parts", (), [{"InferenceComponentName": it} for it in ("asleep", "adapter", "fixed")]),
        ("ab", CSV, [{"TargetVariant": "Stable"}, {"TargetVariant": "Candidate"}]),
        ("ab", (*CSV, "--only", "candidate"), [{"TargetVariant": "Candidate"}]),
        ("many", (*CSV, "--target-model", "a.tar.gz"), [{"TargetModel": "a.tar.gz"}]),
        ("direct", CSV, [{"TargetContainerHostname": "first"}, {"TargetContainerHostname": "second"}]),
        ("archives", (), [{"TargetModel": "a.tar.gz"}, {"TargetModel": "b.tar.gz"}]),
        ("archives", ("--only", "b.tar.gz"), [{"TargetModel": "b.tar.gz"}]),
        ("churn", (*CSV, "--only", "churn"), [{}]),
    ],
)
def test_each_part_is_asked_by_its_name(
    spec: str,
    words: tuple[str, ...],
    sent: list[dict[str, str]],
    runtime: PlayedRuntime,
    invoke: Invoke,
) -> None:
    runtime.given["InvokeEndpoint"] = tensors() if spec == "archives" else GENERATED
    assert invoke(spec, *words)[0] == 0
    given = ("EndpointName", "Body", "ContentType")
    asked = [
        {name: it for name, it in params.items() if name not in given}
        for params in runtime.params("InvokeEndpoint")
    ]
    assert asked == sent


def test_a_copy_that_nothing_starts_is_not_waited_for(runtime: PlayedRuntime, invoke: Invoke) -> None:
    runtime.given["InvokeEndpoint"] = NO_COPY
    assert invoke("parts", "--only", "fixed")[0] == 1
    assert len(runtime.params("InvokeEndpoint")) == 1
    # An adapter has the copies of its base.
    assert invoke("parts", "--only", "adapter", "--deadline", "1")[0] == 1
    assert len(runtime.params("InvokeEndpoint")) > 2


DOCUMENTS: list[tuple[Any, Any, str]] = [
    ({"a": 1}, {"a": 1, "b": 2}, ""),
    ({"a": {"b": [0.1, "x"]}}, {"a": {"b": [0.10000000001, "x"], "c": None}}, ""),
    ({"a": 1}, {"a": 1.0}, "`a` is 1.0 instead of 1"),
    ({"a": 1}, {"a": True}, "`a` is true instead of 1"),
    ({"a": 0.0}, {"a": False}, "`a` is false instead of 0.0"),
    ({"a": None}, {}, "the answer has no `a`"),
    ({"a": []}, {"a": [1]}, "`a` has 1 entries instead of 0"),
    ({"a": [1, 2]}, {"a": [1, 3]}, "`a`[1] is 3 instead of 2"),
    ([1], {"a": 1}, 'the answer is {"a": 1} instead of [1]'),
]


@pytest.mark.parametrize(("wanted", "found", "lacks"), DOCUMENTS)
def test_an_answer_must_have_the_members_of_a_document(
    wanted: Any, found: Any, lacks: str, runtime: PlayedRuntime, invoke: Invoke
) -> None:
    runtime.given["InvokeEndpoint"] = Sent(json.dumps(found).encode())
    Path("wanted.json").write_text(json.dumps(wanted))
    code, shown = invoke("churn", *CSV, "--expect", "file://wanted.json")
    assert (code, lacks in shown.out) == (int(bool(lacks)), True), shown


def test_the_body_goes_into_the_queue_itself_unless_it_is_in_s3_already(
    runtime: PlayedRuntime, invoke: Invoke
) -> None:
    runtime.given |= {"InvokeEndpointAsync": QUEUED, "GetObject": Stored(b"1")}
    assert invoke("queue", *CSV)[0] == 0
    there = ("--input-location", "s3://acme/in.csv", "--content-type", "text/csv")
    assert invoke("queue", *there)[0] == 0
    first, second = runtime.params("InvokeEndpointAsync")
    assert (first["Body"], "InputLocation" in first) == (b"1,2,3\n", False)
    assert (second["InputLocation"], "Body" in second) == ("s3://acme/in.csv", False)
    Path("large.csv").write_bytes(b"1" * 128_001)
    code, shown = invoke("queue", "--body", "large.csv", "--content-type", "text/csv")
    assert code == 3
    assert "128000; upload it, and write --input-location s3://" in shown.out
    assert len(runtime.params("InvokeEndpointAsync")) == 2


def test_a_chat_is_limited_unless_its_parameters_say_otherwise(
    runtime: PlayedRuntime, invoke: Invoke
) -> None:
    runtime.given["InvokeEndpoint"] = HELLO
    assert invoke("chat")[0] == invoke("chat", "--chat", "Hi", "--parameter", "max_tokens=5")[0] == 0
    bodies = [json.loads(it["Body"]) for it in runtime.params("InvokeEndpoint")]
    assert [it["max_tokens"] for it in bodies] == [256, 5]
    assert bodies[1]["messages"] == [{"role": "user", "content": "Hi"}]


def test_programs_get_the_whole_answer(runtime: PlayedRuntime, invoke: Invoke) -> None:
    long = "x" * 200
    runtime.given["InvokeEndpoint"] = [Sent(chat(content=long)), model_error(500, "boom")]
    both = ("--only", "asleep", "--only", "fixed")
    code, shown = invoke("parts", "--format", "json", *both)
    [first, second] = json.loads(shown.out)
    assert code == 1
    assert (first["state"], first["answer"], first["variant"]) == ("works", long, "AllTraffic")
    assert (second["state"], second["reason"]["code"], second["answer"]) == ("failed", "server-error", None)
    runtime.given["InvokeEndpoint"] = Sent(chat(content=long))
    _, shown = invoke("parts")
    assert max(map(len, shown.out.splitlines())) <= 80


POLICIES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "churn": ("", [("sagemaker:InvokeEndpoint", "endpoint/churn")]),
    "chat": (
        "--stream",
        [
            ("sagemaker:InvokeEndpoint", "endpoint/chat"),
            ("sagemaker:InvokeEndpointWithResponseStream", "endpoint/chat"),
        ],
    ),
    "parts": (
        "",
        [
            ("sagemaker:InvokeEndpoint", "endpoint/parts"),
            ("sagemaker:InvokeEndpoint", "inference-component/adapter"),
            ("sagemaker:InvokeEndpoint", "inference-component/asleep"),
            ("sagemaker:InvokeEndpoint", "inference-component/fixed"),
        ],
    ),
    "queue": (
        "",
        [
            ("s3:GetObject", "acme-answers/churn/*"),
            ("s3:GetObject", "acme-answers/failed/*"),
            ("s3:ListBucket", "acme-answers"),
            ("sagemaker:InvokeEndpointAsync", "endpoint/churn"),
        ],
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_policy_allows_what_is_asked_and_no_more(
    name: str, runtime: PlayedRuntime, invoke: Invoke
) -> None:
    option, rights = POLICIES[name]
    code, shown = invoke(name, "--print-policy", *option.split())
    found = [
        (action, arn.removeprefix("arn:aws:s3:::").removeprefix("arn:aws:sagemaker:us-east-1:*:"))
        for statement in json.loads(shown.out)["Statement"]
        for action in _many(statement["Action"])
        for arn in _many(statement["Resource"])
    ]
    assert (code, sorted(found), runtime.asked) == (0, rights, [])


def _many(one_or_more: str | list[str]) -> list[str]:
    return [one_or_more] if isinstance(one_or_more, str) else one_or_more


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--body", "row.csv"), "--content-type goes together with --body"),
        (("--content-type", "text/csv"), "--content-type goes together with --body"),
        ((*CSV, "--chat", "a"), "--body is a whole request, and --chat makes one"),
        ((*CSV, "--parameter", "a=1"), "--parameter is part of a request of texts"),
        ((*CSV, "--input-location", "s3://a/b"), "cannot be used together"),
        (("--input-location", "a", "--content-type", "b"), "--input-location is a place in S3"),
        (("--stream", "--rerank", "a", "b"), "--stream cannot be used with --rerank"),
        (("--rerank", "a"), "--rerank needs a query"),
        (("--deadline", "0"), "'0' is not a whole number from 1 to 1440"),
    ],
)
def test_wrong_usage_is_explained(words: tuple[str, ...], message: str, invoke: Invoke, capsys: Any) -> None:
    with pytest.raises(SystemExit, match="2"):
        invoke("churn", *words)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (*CSV, "--only", "chrun"),
            "--only chrun: there is nothing of this name to ask; did you mean `churn`",
        ),
        ((*CSV, "--expect", "file://none.json"), "--expect: none.json: it cannot be read"),
        ((*CSV, "--expect", "file://row.csv"), "row.csv: it is not JSON"),
        (("--body", "none.csv", "--content-type", "text/csv"), "none.csv: No such file"),
    ],
)
def test_what_cannot_be_done_is_refused(words: tuple[str, ...], message: str, invoke: Invoke) -> None:
    code, shown = invoke("churn", *words)
    assert (code, message in shown.err) == (1, True), shown

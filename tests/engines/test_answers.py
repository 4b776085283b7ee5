"""What engines answer: texts, vectors, scores and streams, and what is none of them."""

import json
from typing import Any

import pytest

from inferstack.engines.answers import WrongAnswerError, answer_text, any_stream_text, stream_text
from inferstack.engines.requests import Purpose

ERROR = {"object": "error", "message": "no such model", "type": "NotFoundError", "param": None, "code": 404}
ANSWERS: list[tuple[Purpose, Any, str]] = [
    ("chat", {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {}}, "a"),
    ("chat", {"choices": [{"message": {"content": None, "tool_calls": [{"id": "1"}]}}]}, '[{"id": "1"}]'),
    ("complete", {"choices": [{"text": "b", "finish_reason": "length"}]}, "b"),
    ("complete", {"generated_text": "c"}, "c"),
    ("complete", [{"generated_text": "d", "details": {"finish_reason": "length"}}], "d"),
    ("embed", {"object": "list", "data": [{"index": 0, "embedding": [0.1, 0.2]}]}, "1 vector of 2 numbers"),
    ("embed", {"data": [{"embedding": "AAAA"}]}, "1 vector"),
    ("embed", [[0.1], [0.2]], "2 vectors of 1 numbers"),
    ("rerank", {"results": [{"index": 1, "relevance_score": 0.5}]}, "text 1: 0.5"),
    ("rerank", [{"index": 0, "score": 1}], "text 0: 1"),
]


@pytest.mark.parametrize(("purpose", "answer", "said"), ANSWERS)
def test_each_form_of_an_answer_is_read(purpose: Purpose, answer: Any, said: str) -> None:
    assert answer_text(purpose, json.dumps(answer).encode()) == said


WRONG: list[tuple[Purpose, Any, str]] = [
    ("chat", ERROR, "answers with an error"),
    ("chat", {"choices": []}, "another form"),
    ("chat", {"choices": [{"message": {"content": "a"}, "finish_reason": "abort"}]}, "given up"),
    ("chat", [], "another form"),
    ("complete", [], "another form"),
    ("complete", [{"generated_text": "a", "details": {"finish_reason": "error"}}], "given up"),
    ("complete", {"generated_text": None}, "another form"),
    ("embed", [[None]], "another form"),
    ("embed", [[]], "another form"),
    ("embed", {"data": []}, "another form"),
    ("rerank", [{"index": 0}], "without a score"),
    ("rerank", {"error": "overloaded", "error_type": "Overloaded"}, "answers with an error"),
]


@pytest.mark.parametrize(("purpose", "answer", "why"), WRONG)
def test_what_is_no_answer_is_refused(purpose: Purpose, answer: Any, why: str) -> None:
    with pytest.raises(WrongAnswerError, match=why):
        answer_text(purpose, json.dumps(answer).encode())


def lines(*parts: Any, prefix: str = "", end: str = "\n") -> bytes:
    return "".join(f"{prefix}{json.dumps(it, ensure_ascii=False)}{end}" for it in parts).encode()


def token(text: str, **more: object) -> dict[str, object]:
    return {"token": {"id": 1, "text": text, "special": False}, **more}


LAST = {"choices": [{"delta": {"content": "b\u2028"}, "finish_reason": "stop"}]}
FIRST = {"choices": [{"delta": {"role": "assistant", "content": "a"}, "finish_reason": None}]}
STREAMS: list[tuple[bytes, str]] = [
    (
        lines(FIRST, LAST, {"choices": [], "usage": {}}, prefix="data: ", end="\n\n") + b"data: [DONE]\n",
        "ab\u2028",
    ),
    (b": ping\n\nevent: x\n" + lines({"choices": [{"text": "a"}]}, prefix="data:") + b"data: [DONE]", "a"),
    # LMI's lines of JSON, and TGI's events, whose last part has the whole text.
    (lines(token("a"), token("b", generated_text="ab", details={"finish_reason": "length"})), "ab"),
    (
        lines(token("a", generated_text=None, details=None), token("b", generated_text="ab"), prefix="data:"),
        "ab",
    ),
    (
        lines(token("a"), {**token("</s>", generated_text="a"), "token": {"text": "</s>", "special": True}}),
        "a",
    ),
]


@pytest.mark.parametrize(("content", "said"), STREAMS)
def test_each_form_of_a_stream_is_read(content: bytes, said: str) -> None:
    assert stream_text(content) == said


WRONG_STREAMS: list[tuple[bytes, str]] = [
    (lines(FIRST), "before its end"),
    (lines(LAST)[:-9], "not JSON"),
    (lines(FIRST, ERROR), "answers with an error"),
    (lines(token("a"), token("", details={"finish_reason": "error"})), "given up"),
    (lines({"choices": [{"delta": 1}]}), "another form"),
    (lines({"text": "a"}), "another form"),
    (lines("a"), "another form"),
    (b"data: [DONE]\n", "no text"),
]


@pytest.mark.parametrize(("content", "why"), WRONG_STREAMS)
def test_a_stream_that_is_no_answer_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(WrongAnswerError, match=why):
        stream_text(content)


def test_of_other_streams_errors_are_known() -> None:
    assert any_stream_text(b"plain\n{not json") == "plain\n{not json"
    for content, why in ((b" \n", "empty"), (b"a\n" + lines(ERROR), "answers with an error")):
        with pytest.raises(WrongAnswerError, match=why):
            any_stream_text(content)

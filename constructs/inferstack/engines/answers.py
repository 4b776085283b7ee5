"""What engines answer at `/invocations`: the texts, vectors or scores in a body, or why it is no answer.

The forms are those of the requests: OpenAI's, which vLLM, SGLang, LMI, TGI and llama.cpp share for chats, and
vLLM for all it does; `generated_text` of TGI and LMI; lists of TEI and LMI. A stream has one of them in
parts, as server-sent events or as a line of JSON each. Engines also report errors with status 200.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from inferstack.engines.requests import Purpose
from inferstack.problems.words import counted

_EVENT_FIELDS = (":", "event:", "id:", "retry:")
"""Lines of server-sent events without data. https://html.spec.whatwg.org/multipage/server-sent-events.html"""
_DATA, _DONE = "data:", "[DONE]"
_OF_ERRORS = frozenset(
    {"error", "errors", "message", "detail", "code", "status", "type", "object", "error_type", "param"}
)
"""The members of an error; a model's own answer has others, too."""
_OTHER_PART = "a part of the stream has another form than the engine's"
_FAILED = frozenset({"error", "abort"})
"""Reasons for the end of a text that mean that the engine has given up."""


class WrongAnswerError(ValueError):
    """A body is not the answer that was asked for; one line says why."""


class _ChatMessage(msgspec.Struct):
    """What a chat answers. A model that reasons may have used up its tokens before it says anything."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[Any] | None = None

    @property
    def text(self) -> str:
        said = self.content or self.reasoning_content or self.reasoning
        return said or (json.dumps(self.tool_calls) if self.tool_calls else "")


class _Choice(msgspec.Struct):
    message: _ChatMessage | None = None
    delta: _ChatMessage | None = None
    text: str | None = None
    finish_reason: str | None = None

    @property
    def said(self) -> str:
        message = self.message or self.delta
        return self.text or ("" if message is None else message.text)


class _Chosen(msgspec.Struct):
    choices: Annotated[list[_Choice], Meta(min_length=1)]


class _Details(msgspec.Struct):
    finish_reason: str | None = None


class _Generated(msgspec.Struct):
    generated_text: str
    details: _Details | None = None


Vector = Annotated[list[float], Meta(min_length=1)]


class _Embedding(msgspec.Struct):
    embedding: Vector | str
    """A text if it is in Base64."""


class _Embeddings(msgspec.Struct):
    data: Annotated[list[_Embedding], Meta(min_length=1)]


class _Ranked(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None


class _Ranking(msgspec.Struct):
    results: Annotated[list[_Ranked], Meta(min_length=1)]


def answer_text(purpose: Purpose, content: bytes) -> str:
    """What an engine has answered, as a text.

    Raises:
        WrongAnswerError: when the body is something else, or an error.
    """
    answer = read_json(content)
    try:
        match purpose:
            case "chat":
                return _said(msgspec.convert(answer, _Chosen))
            case "complete" if isinstance(answer, dict) and "choices" in answer:
                return _said(msgspec.convert(answer, _Chosen))
            case "complete":
                form = _Generated | Annotated[list[_Generated], Meta(min_length=1)]
                return _generated(msgspec.convert(answer, form))
            case "embed":
                return _vectors(answer)
            case "rerank":
                return _scores(answer)
    except msgspec.ValidationError as error:
        raise WrongAnswerError(f"the answer has another form than the engine's: {error}") from None


def read_json(content: bytes) -> Any:
    """The JSON of an answer.

    Raises:
        WrongAnswerError: when it is empty, no JSON, or nothing but an error.
    """
    if not content.strip():
        raise WrongAnswerError("the answer is empty")
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise WrongAnswerError(f"the answer is not JSON: {error}") from None
    _require_no_error(answer)
    return answer


def _require_no_error(answer: Any) -> None:
    """Refuses an answer that says that something went wrong, and nothing else."""
    if not isinstance(answer, dict) or not answer.keys() <= _OF_ERRORS:
        return
    if answer.get("error") or answer.get("errors") or answer.get("object") == "error":
        raise WrongAnswerError(f"the container answers with an error: {json.dumps(answer)}")


def _said(answer: _Chosen) -> str:
    first = answer.choices[0]
    return _finished(first.said, first.finish_reason)


def _generated(answer: _Generated | Sequence[_Generated]) -> str:
    first = answer if isinstance(answer, _Generated) else answer[0]
    return _finished(first.generated_text, None if first.details is None else first.details.finish_reason)


def _finished(text: str, reason: str | None) -> str:
    if reason in _FAILED:
        raise WrongAnswerError(f"the engine has given up: finish_reason is {reason}")
    if not text.strip():
        raise WrongAnswerError("the answer has no text")
    return text


def _vectors(answer: Any) -> str:
    if isinstance(answer, dict):
        found: list[Any] = [it.embedding for it in msgspec.convert(answer, _Embeddings).data]
    else:
        found = msgspec.convert(answer, Annotated[list[Vector], Meta(min_length=1)])
    sizes = "" if isinstance(found[0], str) else f" of {len(found[0])} numbers"
    return f"{counted(len(found), 'vector')}{sizes}"


def _scores(answer: Any) -> str:
    ranked = (
        msgspec.convert(answer, _Ranking).results
        if isinstance(answer, dict)
        else msgspec.convert(answer, Annotated[list[_Ranked], Meta(min_length=1)])
    )
    scores = [it.score if it.relevance_score is None else it.relevance_score for it in ranked]
    if None in scores:
        raise WrongAnswerError("the answer has a text without a score")
    return ", ".join(f"text {it.index}: {score:.4g}" for it, score in zip(ranked, scores, strict=True))


# ---------------------------------------------------------------- streams


def stream_text(content: bytes) -> str:
    """The text of a stream that has come to its end.

    Raises:
        WrongAnswerError: when it is something else, has an error in it, or stops before its end.
    """
    text, ended = "", False
    for line in _data(content):
        if line == _DONE:
            ended = True
            continue
        try:
            said, reason = _of_part(read_json(line.encode()))
        except msgspec.ValidationError as error:
            raise WrongAnswerError(f"{_OTHER_PART}: {error}") from None
        if reason in _FAILED:
            raise WrongAnswerError(f"the engine has given up: finish_reason is {reason}")
        text, ended = text + said, ended or reason is not None
    if not text.strip():
        raise WrongAnswerError("the stream has no text")
    if not ended:
        raise WrongAnswerError("the stream stops before its end: no part of it is the last")
    return text


def any_stream_text(content: bytes) -> str:
    """The text of a stream of which nothing is known, except that it must say something.

    Raises:
        WrongAnswerError: when it is empty, or has an error in it.
    """
    if not content.strip():
        raise WrongAnswerError("the stream is empty")
    for line in _data(content):
        if line.startswith("{"):
            try:
                part = json.loads(line)
            except (ValueError, RecursionError):
                continue
            _require_no_error(part)
    return content.decode("utf-8", "replace")


def _data(content: bytes) -> Iterator[str]:
    # Texts may have other marks of a line's end in them.
    for written in content.decode("utf-8", "replace").split("\n"):
        line = written.strip()
        if line and not line.startswith(_EVENT_FIELDS):
            yield line.removeprefix(_DATA).strip()


def _of_part(part: Any) -> tuple[str, str | None]:
    """The text of a part, and why it is the last; None if it is not."""
    match part:
        case {"choices": list(choices)}:
            # The part with the usage has no choices.
            found = msgspec.convert(choices, list[_Choice])[:1]
            return "".join(it.said for it in found), next((it.finish_reason for it in found), None)
        case {"token": {"text": str(said)}, **more}:
            is_special = part["token"].get("special") is True
            details = more.get("details")
            reason = details.get("finish_reason") if isinstance(details, dict) else None
            is_last = isinstance(more.get("generated_text"), str) or reason is not None
            return "" if is_special else said, str(reason or "") if is_last else None
    raise WrongAnswerError(f"{_OTHER_PART}: {json.dumps(part)}")

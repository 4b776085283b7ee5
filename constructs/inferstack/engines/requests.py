"""What the engines answer at `/invocations`, where SageMaker sends every request, and what body each takes.

vLLM takes whatever its server knows and the model can do (vllm/entrypoints/sagemaker/api_router.py). SGLang
(sglang/srt/entrypoints/http_server.py) and the nginx in front of llama.cpp take chats only. LMI takes chats
and its own form, in which it also embeds (djl_python/lmi_vllm/vllm_async_service.py), TGI the same two since
2.4 (router/src/sagemaker.rs), TEI what its model is for (router/src/http/server.rs).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from inferstack.engines.tables import numbers
from inferstack.facts.engines import RunningEngine

Purpose = Literal["chat", "complete", "embed", "rerank"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


class BodyForm(msgspec.Struct, frozen=True):
    """The body that an engine takes for one purpose.

    ``key`` holds the text, or the texts if it is of many; ``query`` what they are compared with.
    ``nests``: its parameters are below `parameters`.
    """

    key: str
    query: str | None = None
    is_of_many: bool = False
    nests: bool = False

    @property
    def streams(self) -> bool:
        """Whether an answer can come token by token."""
        return not self.is_of_many

    @property
    def keys(self) -> frozenset[str]:
        """What no parameter can be called."""
        return frozenset({self.key, "stream"} if self.query is None else {self.key, self.query, "stream"})

    def body(
        self, texts: Sequence[Any], parameters: Mapping[str, Any], *, query: str | None, stream: bool
    ) -> dict[str, Any]:
        """The body of a request, as data."""
        named = {} if self.query is None else {self.query: query}
        content = list(texts) if self.is_of_many else texts[0]
        given = {"parameters": dict(parameters)} if self.nests and parameters else parameters
        return {**named, self.key: content, **given, **({"stream": True} if stream else {})}


_CHAT = BodyForm("messages")
_GENERATE = BodyForm("inputs", nests=True)
_EMBED = BodyForm("inputs", is_of_many=True)
_VLLM: Mapping[Purpose, BodyForm] = {
    "chat": _CHAT,
    "complete": BodyForm("prompt"),
    "embed": BodyForm("input", is_of_many=True),
    "rerank": BodyForm("documents", "query", is_of_many=True),
}
_FORMS: Mapping[str, Mapping[Purpose, BodyForm]] = {
    "vllm": _VLLM,
    "huggingface-vllm": _VLLM,
    "sglang": {"chat": _CHAT},
    "huggingface-sglang": {"chat": _CHAT},
    "llama-cpp": {"chat": _CHAT},
    "lmi": {"chat": _CHAT, "complete": _GENERATE, "embed": _EMBED},
    "tgi": {"chat": _CHAT, "complete": _GENERATE},
    "tei": {"embed": _EMBED, "rerank": BodyForm("texts", "query", is_of_many=True)},
}
_TGI_TAKES_ANY_SINCE = (2, 4)
_TGI_CHATS_IF = "MESSAGES_API_ENABLED"
_OF_AWS = "server-sagemaker-"
# What a model is loaded for; without them vLLM decides by its architecture.
_TASKS = ("SM_VLLM_RUNNER", "SM_VLLM_TASK", "OPTION_RUNNER", "OPTION_TASK")
_GENERATING = frozenset({"generate", "text-generation"})


def forms_of(running: RunningEngine, environment: Mapping[str, str]) -> Mapping[Purpose, BodyForm]:
    """What an engine answers at `/invocations`, with the body for it; nothing if that is not known.

    TGI before 2.4 takes either chats or its own form, as a variable says. The proxy of llama.cpp is in AWS's
    own image; what Hugging Face's has there is not known.
    """
    forms = _FORMS.get(running.name, {})
    task = next((environment[name].lower() for name in _TASKS if name in environment), "auto")
    if task != "auto":
        forms = {it: form for it, form in forms.items() if form.is_of_many != (task in _GENERATING)}
    if running.name == "tgi" and numbers(running.version or "") < _TGI_TAKES_ANY_SINCE:
        only: Purpose = "chat" if environment.get(_TGI_CHATS_IF, "").lower() == "true" else "complete"
        return {only: forms[only]}
    return {} if running.name == "llama-cpp" and not running.release.startswith(_OF_AWS) else forms

"""What a request to an endpoint can be for, and that request, made as `inferstack body` makes it."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from inferstack.account.invoking import Invocation
from inferstack.account.status.snapshot import WatchedStack
from inferstack.catalog.triton_container import GENERATING, INFERENCE_TYPE, set_variable
from inferstack.cli.body import AskedTriton, asked_model
from inferstack.cli.choice import ALL, Choice, blocks_of, containers_of
from inferstack.cli.sending import warn_of_size
from inferstack.cli.terminal import Refusal
from inferstack.cli.text_body import NO_STREAM, asked_engine, purpose_of, text_content
from inferstack.engines.answers import (
    WrongAnswerError,
    answer_text,
    any_stream_text,
    read_json,
    stream_text,
)
from inferstack.engines.requests import Purpose
from inferstack.facts.walk import components, is_async, variants
from inferstack.format.kinds import ModelBackedSpec, ModelSpec
from inferstack.format.variant import Variant
from inferstack.texts.placeholders import is_opaque
from inferstack.triton.protocol import BINARY, JSON, deviations, header_length
from inferstack.triton.rehearsal.asking import binary_request, json_request, notes_about_json, read_tensors
from inferstack.triton.repositories import repositories_at

_OWN = "or send a request of your own: --body FILE --content-type TYPE"
_PREFIX = "a request must name an archive below the prefix: add --target-model"
_NO_STREAM_OF_ARCHIVE = "a request for a stream cannot name an archive (TargetModel); remove --stream"
_NO_STREAM_OF_ARRAYS = "--stream is for engines of language models and for --body; remove it"
_TEXTS: dict[Purpose, Any] = {
    "chat": [{"role": "user", "content": "Say hello."}],
    "complete": "Hello, my name is",
    "embed": ["Hello"],
    "rerank": ["Which of these is a fruit?", "An apple", "A bicycle"],
}
_LIMITS: dict[Purpose, dict[str, int]] = {"chat": {"max_tokens": 256}}
"""An engine that is not limited may go on until the context is full; without a limit, others end soon."""

Judge = Callable[[bytes, str], str]
"""What an answer says, from its body and content type; raises WrongAnswerError."""


class RequestTarget(msgspec.Struct, frozen=True):
    """A component, variant, container or archive that a request can be for; ``choice`` leads to its model."""

    names: tuple[str, ...]
    title: str
    choice: Choice = ALL
    variant: str | None = None
    container: str | None = None
    archive: str | None = None
    needs_archive: bool = False


def targets_of(spec: ModelSpec, folder: Path, archive: str | None) -> Iterator[RequestTarget]:
    """Everything that one request each can be for. ``archive``: the only one to ask, if it is named."""
    if components(spec):
        for _, name, _ in components(spec):
            yield RequestTarget((name, spec.endpoint_name), f"component {name}", Choice(component=name))
        return
    # An asynchronous request cannot name a variant.
    found = [it for _, it in variants(spec)]
    for variant in found[:1] if is_async(spec) else found:
        choice = Choice(model=variant.model_name) if variant.model_name in (spec.models or {}) else ALL
        named = variant.variant_name if len(found) > 1 and not is_async(spec) else None
        archives: list[str | None] = [*_archives(spec, folder, choice, archive)]
        hostnames: list[str | None] = [*_hostnames(spec, variant)]
        for container in hostnames or [None]:
            for it in archives or [None]:
                parts = {"variant": named, "container": container, "model": it}
                there = {kind: name for kind, name in parts.items() if name is not None}
                title = " ".join(f"{kind} {name}" for kind, name in there.items())
                others = (spec.endpoint_name, variant.variant_name, variant.model_name)
                names = (*there.values(), *filter(None, others))
                yield RequestTarget(
                    names,
                    title or f"endpoint {spec.endpoint_name}",
                    choice,
                    named,
                    container,
                    it,
                    needs_archive=it is None and _takes_prefix(spec, choice),
                )


def _hostnames(spec: ModelSpec, variant: Variant) -> list[str]:
    """The containers that a request names, of a model that is asked directly. A rule requires their names."""
    named = (spec.models or {}).get(variant.model_name or "")
    model = named or (spec.model if isinstance(spec, ModelBackedSpec) else None)
    if model is None or model.inference_execution_config is None:
        return []
    is_direct = model.inference_execution_config.mode == "Direct"
    return [it.container_hostname or "" for it in model.containers or ()] if is_direct else []


def _takes_prefix(spec: ModelSpec, choice: Choice) -> bool:
    return any(it.takes_prefix for it in containers_of(spec, choice))


def _archives(spec: ModelSpec, folder: Path, choice: Choice, archive: str | None) -> Iterator[str]:
    if not _takes_prefix(spec, choice):
        return
    if archive is not None:
        yield archive
        return
    for block in blocks_of(spec, choice):
        if block.multi_model:
            yield from (it.archive for it in repositories_at(block, folder))


# ---------------------------------------------------------------- the request


class PreparedRequest(msgspec.Struct, frozen=True):
    """A request, and what its answer must be."""

    invocation: Invocation
    judge: Judge


def prepared(
    spec: ModelSpec, folder: Path, target: RequestTarget, watched: WatchedStack, options: argparse.Namespace
) -> PreparedRequest:
    """The request for a target: the user's own, or one that the container takes.

    Raises:
        Refusal: when it is not known what the container takes, or it does not take what is asked for.
    """
    component = target.choice.component
    named = [it and watched.connection.filled(it) for it in (watched.endpoint, component)]
    unknown = next((it for it in named if it is not None and is_opaque(it)), None)
    if unknown is not None:
        raise Refusal(f"only the deployment knows the name {unknown}")
    if target.needs_archive:
        raise Refusal(_PREFIX)
    if options.stream and is_async(spec):
        raise Refusal(NO_STREAM)
    if options.stream and target.archive is not None:
        raise Refusal(_NO_STREAM_OF_ARCHIVE)
    body, content_type, judge = _request(spec, folder, target, options)
    warn_of_size(spec, body)
    invocation = Invocation(
        watched.endpoint,
        body,
        content_type,
        component=named[1],
        target_model=target.archive,
        variant=target.variant,
        container=target.container,
    )
    return PreparedRequest(invocation, judge)


def _request(
    spec: ModelSpec, folder: Path, target: RequestTarget, options: argparse.Namespace
) -> tuple[bytes, str, Judge]:
    purpose = purpose_of(options)
    if options.body is not None or options.input_location is not None:
        body = b"" if options.body is None else options.body.read_bytes()
        judge = (lambda found, _: any_stream_text(found)) if options.stream else _whatever
        return body, options.content_type, judge
    if purpose is None and blocks_of(spec, target.choice):
        if options.stream:
            raise Refusal(_NO_STREAM_OF_ARRAYS)
        asked = asked_model(spec, target.choice, folder, target.archive, "the request")
        return _of_arrays(spec, asked, target.choice)
    try:
        engine = asked_engine(spec, target.choice)
    except Refusal as error:
        raise Refusal(f"{error}; {_OWN}") from None
    asks: Purpose = next(iter(engine.forms)) if purpose is None else purpose
    form = engine.form(asks)
    texts = _TEXTS[asks] if purpose is None else getattr(options, purpose)
    parameters = {**_LIMITS.get(asks, {}), **dict(options.parameter)}
    content = text_content(form, asks, texts, parameters, stream=options.stream)
    if options.stream:
        return content, JSON, lambda found, _: stream_text(found)
    return content, JSON, lambda found, _: answer_text(asks, found)


def _whatever(content: bytes, content_type: str) -> str:
    """Reads an answer of which nothing is known, except that it must say something."""
    if not content.strip():
        raise WrongAnswerError("the answer is empty")
    if content_type.partition(";")[0].strip() == JSON:
        read_json(content)
    return content.decode("utf-8", "replace")


def _of_arrays(spec: ModelSpec, asked: AskedTriton, choice: Choice) -> tuple[bytes, str, Judge]:
    """A request with ones in the declared shapes, and a reading of the declared outputs."""
    environments = [it.environment for it in containers_of(spec, choice)]
    if any(set_variable(it, INFERENCE_TYPE) in GENERATING for it in environments):
        raise Refusal(f"its container generates, and the model's inputs do not say from what; {_OWN}")
    config = asked.model.config
    stateful = [it for it in asked.repository.models if it.config.HasField("sequence_batching")]
    in_sequence = bool(stateful) if asked.model.is_ensemble else asked.model in stateful

    def judge(content: bytes, content_type: str) -> str:
        if not content:
            raise WrongAnswerError("the answer is empty")
        try:
            outputs = read_tensors(content, header_length(content_type))
        except ValueError as error:
            raise WrongAnswerError(str(error)) from None
        wrong = [*deviations(config, {it.name: (it.data_type, it.shape) for it in outputs}, 1)]
        if wrong:
            raise WrongAnswerError("; ".join(wrong))
        shown = (f"{it.name} {it.data_type} {[*it.shape]} = {[*it.first]}" for it in outputs)
        return ", ".join(shown)

    if notes_about_json(config):
        body, header = binary_request(config, 1, in_sequence=in_sequence)
        return body, f"{BINARY}{header}", judge
    return json_request(config, in_sequence=in_sequence), JSON, judge

"""The part of ``inferstack body`` that makes requests of texts, for engines of language models."""

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from inferstack.cli.choice import ALL, Choice, chosen_by, containers_of, load_to_look_at
from inferstack.cli.sending import command, streaming_program, warn_of_size
from inferstack.cli.terminal import Refusal
from inferstack.engines.engine import ENGINES
from inferstack.engines.requests import PURPOSES, BodyForm, Purpose, forms_of
from inferstack.facts.engines import RunningEngine, engine_of
from inferstack.facts.walk import PlacedContainer, bases_of_adapters, components, is_async, runs
from inferstack.format.kinds import ModelSpec
from inferstack.problems.words import listed
from inferstack.source.whole_files import complete_or_absent
from inferstack.triton.protocol import JSON

NO_STREAM = "an asynchronous endpoint stores its answers and streams nothing; remove --stream"
FILE = "file://"
_PURPOSES: Mapping[Purpose, str] = {
    "chat": "chats",
    "complete": "texts to complete",
    "embed": "texts to embed",
    "rerank": "texts to rank",
}


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments for requests of texts."""
    add = parser.add_mutually_exclusive_group().add_argument
    chat = f"what a user says, or {FILE}FILE.json with a list of messages"
    add("--chat", metavar="TEXT", type=_messages, help=chat)
    add("--complete", metavar="TEXT", type=text_or_file, help=f"a text to go on with, or {FILE}FILE")
    add("--embed", metavar="TEXT", type=text_or_file, nargs="+", help="texts to embed")
    rank = "a query, and the texts to rank by it"
    add("--rerank", metavar=("QUERY", "TEXT"), type=text_or_file, nargs="+", help=rank)
    parser.add_argument("--stream", action="store_true", help="with --chat or --complete: token by token")


def purpose_of(options: argparse.Namespace) -> Purpose | None:
    """What a request of texts is for; None for one of arrays."""
    return next((it for it in PURPOSES if getattr(options, it) is not None), None)


def wrong_use_of_texts(options: argparse.Namespace) -> Iterator[str]:
    """What is wrong with the arguments for texts, besides what argparse sees."""
    purpose = purpose_of(options)
    if options.stream and purpose not in ("chat", "complete"):
        yield "--stream needs --chat or --complete"
    if purpose is None:
        return
    arrays = ("input", "json", "read", "content_type", "sample_payload", "rows", "target_model")
    for name in arrays:
        if getattr(options, name):
            yield f"--{name.replace('_', '-')} is about arrays, and cannot be used with --{purpose}"
    yield from wrong_texts(options)


def wrong_texts(options: argparse.Namespace) -> Iterator[str]:
    """What is wrong with the texts themselves."""
    if options.rerank is not None and len(options.rerank) == 1:
        yield "--rerank needs a query and at least one text"


def text_or_file(written: str) -> str:
    """A text, or that of a file."""
    file = Path(written.removeprefix(FILE))
    try:
        return file.read_text("utf-8") if written.startswith(FILE) else os.fsencode(written).decode("utf-8")
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{file}: it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise argparse.ArgumentTypeError(f"{str(file)!a}: it is not UTF-8") from None


def _messages(written: str) -> list[Any]:
    """The messages of a chat: those of a file, or what a user says."""
    if not written.startswith(FILE):
        return [{"role": "user", "content": text_or_file(written)}]
    try:
        return msgspec.json.decode(text_or_file(written), type=list[dict[str, Any]])
    except (msgspec.DecodeError, RecursionError) as error:
        form = 'a list of messages, such as [{"role": "user", "content": "…"}]'
        raise argparse.ArgumentTypeError(f"{written}: it is not {form}: {error}") from None


# ---------------------------------------------------------------- the request


class AskedEngine(msgspec.Struct, frozen=True):
    """An engine, what it answers, and how a request names it."""

    running: RunningEngine
    forms: Mapping[Purpose, BodyForm]
    choice: Choice

    @property
    def title(self) -> str:
        """The engine and its version, LMI's own for LMI."""
        name, version = self.running.name, self.running.version
        if name == "lmi":
            return f"LMI {self.running.release.rpartition('lmi')[2]}"
        title = ENGINES[name].title if name in ENGINES else name
        return title if version is None else f"{title} {version}"

    def form(self, purpose: Purpose) -> BodyForm:
        """The body that it takes for a purpose.

        Raises:
            Refusal: when it does not answer such requests.
        """
        if purpose not in self.forms:
            instead = ", ".join(f"--{it}" for it in self.forms)
            takes = listed([_PURPOSES[it] for it in self.forms], last="and", quote="")
            raise Refusal(f"at /invocations, {self.title} takes {takes}, and no --{purpose}; write {instead}")
        return self.forms[purpose]


def make_of_texts(options: argparse.Namespace) -> int:
    """Writes the body of a request of texts and says how to send it.

    Raises:
        SpecError: with what is wrong with the spec.
        Refusal: when it is not clear which engine is meant, or the engine does not answer such requests.
    """
    spec = load_to_look_at(options.spec, stage=options.stage).spec
    purpose = purpose_of(options) or PURPOSES[0]
    asked = asked_engine(spec, chosen_by(options))
    form = asked.form(purpose)
    if options.stream and is_async(spec):
        raise Refusal(NO_STREAM)
    content = text_content(
        form, purpose, getattr(options, purpose), dict(options.parameter), stream=options.stream
    )
    out = Path("request.json") if options.out is None else options.out
    with complete_or_absent(out) as file:
        file.write(content)
    print(
        f"{out}\n  engine        {asked.title}\n  content type  {JSON}\n  size          {len(content)} bytes"
    )
    send = streaming_program if options.stream else command
    print(send(spec, asked.choice, JSON, out))
    warn_of_size(spec, content)
    return 0


def text_content(
    form: BodyForm, purpose: Purpose, texts: Any, written: Mapping[str, str | int | bool], *, stream: bool
) -> bytes:
    """The body of a request of texts.

    Raises:
        Refusal: for a parameter that the body has already.
    """
    parameters = {name: _value(value) for name, value in written.items()}
    taken = sorted(form.keys & parameters.keys())
    if taken:
        fix = "write --stream" if taken == ["stream"] else "leave it out"
        raise Refusal(f"--parameter {taken[0]}: the body has that from --{purpose}; {fix}")
    query, texts = (texts[0], texts[1:]) if form.query is not None else (None, texts)
    made = form.body(texts if form.is_of_many else [texts], parameters, query=query, stream=stream)
    return f"{json.dumps(made, ensure_ascii=False)}\n".encode()


def _value(written: str | int | bool) -> Any:
    """The value of a parameter: any JSON, or else the text."""
    try:
        return msgspec.json.decode(written) if isinstance(written, str) else written
    except (msgspec.DecodeError, RecursionError):
        return written


def asked_engine(spec: ModelSpec, chosen: Choice) -> AskedEngine:
    """The only engine that a request can be for, or that of what is chosen.

    Raises:
        Refusal: when nothing is known about the engine, or several can be meant.
    """
    answering = [it for it in map(_answered, containers_of(spec, chosen)) if it is not None]
    if not answering:
        known = "those of AWS's images of vLLM, SGLang, LMI, TGI, TEI and llama.cpp"
        raise Refusal(f"it is not known which requests the container takes; known are {known}")
    _, running, forms = answering[0]
    names = _names(spec, answering) if chosen == ALL else []
    # Variants share the requests, so one has to fit all of their models; a component is named.
    if len(names) > 1 and (components(spec) or any(it != forms for *_, it in answering)):
        of = "component" if components(spec) else "model"
        raise Refusal(f"the request could be for any of several {of}s; add --{of}: {listed(names)}")
    component = next(iter(names), None) if components(spec) else None
    return AskedEngine(running, forms, Choice(component=component) if chosen == ALL else chosen)


_Answering = tuple[PlacedContainer, RunningEngine, Mapping[Purpose, BodyForm]]


def _answered(placed: PlacedContainer) -> _Answering | None:
    running = engine_of(placed)
    forms = {} if running is None else forms_of(running, placed.environment)
    return None if running is None or not forms else (placed, running, forms)


def _names(spec: ModelSpec, answering: Sequence[_Answering]) -> list[str]:
    """The components that run these containers, bases before their adapters; else their models."""
    paths = [placed.path for placed, *_ in answering]
    if not components(spec):
        return list(dict.fromkeys(placed.model for placed, *_ in answering if placed.model is not None))
    bases = list(dict.fromkeys(run.name for run in runs(spec) if run.container in paths))
    return [*bases, *(it for it, base in bases_of_adapters(spec).items() if base in bases)]

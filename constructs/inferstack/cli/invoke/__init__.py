"""``inferstack invoke``: one request for everything that an endpoint runs, and what went wrong with it.

targets     what a request can be for, and the request itself
expecting   what a user expects of the answer
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from inferstack.account.connection import AccountError
from inferstack.account.invoke_rights import invoke_policy
from inferstack.account.invoking import Invocation
from inferstack.account.requests import (
    LONGEST_ANSWER,
    LONGEST_STREAM,
    NotYetError,
    RequestError,
    Show,
    TimedAnswer,
    Waits,
    answered,
    asynchronous,
    description,
    stored,
    stream,
    whole,
)
from inferstack.account.status.outcome import Standing, outcome_of
from inferstack.account.status.snapshot import Snapshot, WatchedStack
from inferstack.cli.arguments import add_paths, add_region, whole_number_within
from inferstack.cli.body import add_parameters
from inferstack.cli.deployment import COLORS, Deployment, deployments_of, exit_status, refused, specs_of
from inferstack.cli.diagnose import diagnosis_fields, diagnosis_lines
from inferstack.cli.escaping import json_text
from inferstack.cli.invoke.expecting import Expectation, expected
from inferstack.cli.invoke.targets import RequestTarget, prepared, targets_of
from inferstack.cli.terminal import Refusal, painted, passing
from inferstack.cli.text_body import FILE, add_text_arguments, purpose_of, wrong_texts
from inferstack.diagnosis.clues import clues_in
from inferstack.diagnosis.reading import lines_of_answer
from inferstack.diagnosis.verdict import Diagnosis, diagnosed
from inferstack.engines.answers import WrongAnswerError
from inferstack.facts.scaling import scaled_parts, steps_of
from inferstack.facts.walk import bases_of_adapters, is_async
from inferstack.format.kinds import ModelSpec
from inferstack.problems import printable
from inferstack.problems.words import choose

_DEADLINE, _LONGEST_DEADLINE = 10, 1440
"""Minutes. A copy that starts from zero takes some."""
_WIDTH = 80


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What has come of one request, or why none was sent."""

    deployment: Deployment
    target: str
    state: Standing
    message: str
    answer: TimedAnswer | None = None
    text: str = ""
    """What the answer says."""
    waited: str = ""
    """How often it was asked, and why."""
    diagnosis: Diagnosis | None = None


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack invoke``."""
    add_paths(command)
    add = command.add_argument
    add("--stage", help="ask only this stage; without it, all that can be deployed")
    add_region(command)
    only = "ask only this endpoint, component, variant, model, container or archive; can be repeated"
    add("--only", metavar="NAME", action="append", default=[], help=only)
    target = "ask this archive of a multi-model endpoint (TargetModel)"
    add("--target-model", metavar="ARCHIVE", help=target)
    add_text_arguments(command)
    add_parameters(command, "parameter of a request of texts, such as max_tokens=20; can be repeated")
    add("--body", metavar="FILE", type=Path, help="send this instead, with --content-type")
    location = "asynchronous endpoints: the request is there already; with --content-type"
    add("--input-location", metavar="s3://…", help=location)
    add("--content-type", metavar="TYPE", help="the content type of --body or --input-location")
    expect = f"a text that the answer must have, or {FILE}FILE.json with members that it must have"
    add("--expect", metavar="TEXT", help=expect)
    deadline = f"how long to wait for each, such as for a copy that starts (default: {_DEADLINE})"
    minutes = whole_number_within(1, _LONGEST_DEADLINE)
    add("--deadline", metavar="MINUTES", type=minutes, default=_DEADLINE, help=deadline)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add("--print-policy", action="store_true", help="print the least IAM policy for this, and ask nothing")
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Send one request for each component, variant, container or archive of the endpoints, and check what
    they answer. Endpoints answer as to any client: that may cost money, and start copies from zero.

    Exit status: 0 all answer as they should, 1 one does not, 3 that is not known, or not yet.
    """
    for message in _wrong_usage(options):
        options.wrong_usage(message)
    wanted = None if options.expect is None else _expected(options)
    if options.print_policy:
        specs, problems = specs_of(options)
        if not problems:
            print(json.dumps(invoke_policy([it for it, _ in specs], stream=options.stream), indent=2))
        return refused(problems) if problems else 0
    deployments, problems = deployments_of(options)
    if problems:
        return refused(problems)
    chosen = _chosen(deployments, options)
    if not chosen:
        raise Refusal("there is nothing to ask: no spec has this stage")
    asked: list[Asked] = []
    with passing() as show:
        for deployment, target in chosen:
            asked.append(_asked(deployment, target, wanted, show, options))
            if options.format == "text":
                show("")
                print("\n".join(_lines(asked[-1])), flush=True)
    if options.format == "json":
        print(json_text([_fields(it) for it in asked]), flush=True)
    return exit_status(it.state for it in asked)


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    purpose = purpose_of(options)
    own = [name for name in ("body", "input_location") if getattr(options, name) is not None]
    flags = [f"--{it.replace('_', '-')}" for it in own]
    if len(own) > 1:
        yield "--body and --input-location cannot be used together"
    if own and purpose is not None:
        yield f"{flags[0]} is a whole request, and --{purpose} makes one: choose one of them"
    if own and options.parameter:
        yield f"--parameter is part of a request of texts, and cannot be used with {flags[0]}"
    if bool(own) != (options.content_type is not None):
        yield "--content-type goes together with --body or --input-location"
    yield from wrong_texts(options)
    if options.stream and purpose in ("embed", "rerank"):
        yield f"--stream cannot be used with --{purpose}"
    if options.input_location is not None and not options.input_location.startswith("s3://"):
        yield "--input-location is a place in S3, such as s3://bucket/request.json"


def _expected(options: argparse.Namespace) -> Expectation:
    try:
        return expected(options.expect)
    except argparse.ArgumentTypeError as error:
        raise Refusal(f"--expect: {error}") from None


# ---------------------------------------------------------------- one request


def _chosen(
    deployments: Sequence[Deployment], options: argparse.Namespace
) -> list[tuple[Deployment, RequestTarget]]:
    every = [
        (it, target)
        for it in deployments
        for target in targets_of(it.loaded.spec, _folder(it), options.target_model)
    ]
    known = [*dict.fromkeys(name for _, target in every for name in target.names)]
    for name in options.only:
        if name not in known:
            raise Refusal(f"--only {name}: there is nothing of this name to ask; {choose(name, known)}")
    return [it for it in every if not options.only or not {*options.only}.isdisjoint(it[1].names)]


def _folder(deployment: Deployment) -> Path:
    return Path(deployment.loaded.document.file).parent


def _asked(
    deployment: Deployment,
    target: RequestTarget,
    wanted: Expectation | None,
    show: Show,
    options: argparse.Namespace,
) -> Asked:
    spec, watched = deployment.loaded.spec, deployment.watched
    made = partial(Asked, deployment=deployment, target=target.title)
    if watched is None:
        return made(state=Standing.UNKNOWN, message=deployment.refused)
    if options.input_location is not None and not is_async(spec):
        return made(
            state=Standing.UNKNOWN, message="--input-location is for asynchronous endpoints; use --body"
        )
    try:
        request = prepared(spec, _folder(deployment), target, watched, options)
    except Refusal as error:
        return made(state=Standing.UNKNOWN, message=f"nothing was sent: {error}")
    try:
        answer = _answer(watched, request.invocation, spec, target, show, options)
    except RequestError as error:
        return _unanswered(deployment, watched, target, error)
    made = partial(made, answer=answer, waited=_waited(answer.waits))
    try:
        text = request.judge(answer.content, answer.content_type)
    except WrongAnswerError as error:
        return made(state=Standing.FAILED, message=str(error), diagnosis=_diagnosis([str(error)], deployment))
    missing = [] if wanted is None else [*wanted.missing(text, answer.content)]
    if missing:
        return made(state=Standing.FAILED, message="; ".join(missing), text=text)
    return made(state=Standing.WORKS, message=_took(answer), text=text)


def _answer(
    watched: WatchedStack,
    invocation: Invocation,
    spec: ModelSpec,
    target: RequestTarget,
    show: Show,
    options: argparse.Namespace,
) -> TimedAnswer:
    """The answer to a request.

    Raises:
        RequestError: when there is none.
    """
    until = monotonic() + options.deadline * 60
    seconds = LONGEST_STREAM if options.stream else LONGEST_ANSWER
    client = watched.connection.runtime(watched.region, connections=1, seconds=seconds)
    again = partial(answered, until=until, starts_copies=_starts_copies(spec, target), show=show)
    if not is_async(spec):
        if options.stream:
            return again(lambda: stream(client, invocation, show))
        return again(lambda: whole(client, invocation))
    s3 = watched.connection.s3(watched.region)
    return again(
        lambda: stored(s3, asynchronous(client, invocation, options.input_location), until=until, show=show)
    )


def _starts_copies(spec: ModelSpec, target: RequestTarget) -> bool:
    """Whether a component without copies gets one because it is asked; an adapter's are its base's."""
    name = target.choice.component or ""
    base = bases_of_adapters(spec).get(name, name)
    return any(
        it.component is not None and it.name == base and it.wakes_from is not None and [*steps_of(it)]
        for it in scaled_parts(spec)
    )


def _unanswered(
    deployment: Deployment, watched: WatchedStack, target: RequestTarget, error: RequestError
) -> Asked:
    """Why there is no answer: what AWS says of the endpoint, or what a diagnosis makes of the error."""
    made = partial(Asked, deployment=deployment, target=target.title, waited=_waited(error.waits))
    if isinstance(error, NotYetError):
        return made(state=Standing.RUNNING, message=str(error))
    if not error.is_about_endpoint:
        return made(state=Standing.UNKNOWN, message=str(error))
    found = _diagnosis(error.texts, deployment)
    if found is not None and found.code == "no-such-endpoint":
        outcome = _of_endpoint(watched)
        if outcome is not None:
            return made(state=outcome[0], message=outcome[1])
    message = error.said if found is None else f"no answer: {error.code}"
    return made(state=Standing.FAILED, message=message, diagnosis=found)


def _of_endpoint(watched: WatchedStack) -> tuple[Standing, str] | None:
    """How an endpoint stands that AWS has not found for a request; None if that is not known."""
    try:
        found = description(watched.connection, watched.region, watched.endpoint)
    except AccountError:
        return None
    if found is None:
        return Standing.FAILED, f"there is no {watched.title}; deploy it first"
    outcome = outcome_of(Snapshot(endpoint=found), watched.title)
    if outcome.state is Standing.WORKS:
        return None
    return outcome.state, f"{outcome.message}; `inferstack status` says more, and waits with --follow"


def _diagnosis(texts: Sequence[str], deployment: Deployment) -> Diagnosis | None:
    """What is known of such an error; None if nothing is."""
    found = diagnosed(clues_in(lines_of_answer([*texts])), deployment.beside)
    return found if found.code else None


# ---------------------------------------------------------------- for people, and programs


def _took(answer: TimedAnswer) -> str:
    took = f"answers in {answer.seconds:.2f} s"
    if answer.first is None:
        return took
    return f"{took}, the first of {answer.parts} parts after {answer.first:.2f} s"


def _waited(waits: Waits) -> str:
    if waits.requests == 1:
        return ""
    return f"asked {waits.requests} times in {waits.seconds:.0f} s: {waits.why}"


def _lines(asked: Asked) -> Iterator[str]:
    title = printable(f"{asked.deployment.loaded.title}: {asked.target}")
    state = painted(asked.state, COLORS[asked.state], sys.stdout)
    yield f"{title}: {state}: {printable(asked.message)}"
    if asked.waited:
        yield f"  {asked.waited}"
    if asked.answer is not None:
        text = " ".join((asked.text or asked.answer.content.decode("utf-8", "replace")).split())
        line = printable(f"  answer: {text[:_WIDTH]}")
        yield line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
    if asked.diagnosis is not None:
        first, *others = diagnosis_lines(asked.diagnosis, "answer")
        yield f"  {first}"
        yield from (f"  {printable(it)}" for it in others)


def _fields(asked: Asked) -> dict[str, Any]:
    answer, loaded = asked.answer, asked.deployment.loaded
    return {
        "spec": loaded.document.file,
        "stage": loaded.stage,
        "target": asked.target,
        "state": asked.state,
        "message": asked.message,
        "waited": asked.waited,
        "seconds": None if answer is None else round(answer.seconds, 3),
        "seconds_to_first_part": None if answer is None or answer.first is None else round(answer.first, 3),
        "parts": None if answer is None or answer.first is None else answer.parts,
        "variant": None if answer is None else answer.variant or None,
        "content_type": None if answer is None else answer.content_type or None,
        "answer": asked.text or None,
        "reason": None if asked.diagnosis is None else diagnosis_fields(asked.diagnosis),
    }

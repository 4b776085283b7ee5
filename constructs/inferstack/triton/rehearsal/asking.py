"""Asks models in every form that a client of the endpoint can choose, and each model of a server that is
ready.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from inferstack.catalog.triton_container import GENERATING
from inferstack.triton.protocol import BINARY, JSON, deviations, without_json
from inferstack.triton.rehearsal.confinement import TRITON_LENGTH, Client, Reply
from inferstack.triton.rehearsal.explanations import failure
from inferstack.triton.rehearsal.host import Host
from inferstack.triton.rehearsal.layout import LaidOut
from inferstack.triton.rehearsal.outcome import (
    Answer,
    Failure,
    ModelOutcome,
    binary_request,
    input_elements,
    json_request,
    read_tensors,
)

# ----------------------------------------------------------------
# Asks one model in every form that a client of the endpoint can choose.


@dataclass(frozen=True, slots=True)
class Way:
    """How clients reach a model: path (``shown`` to people), headers, and the container's inference type."""

    shown: str
    path: str
    headers: Mapping[str, str]
    inference_type: str | None = None


_LARGEST_JSON = 4_000_000
_SUCCESS = 200


def ask_sagemaker(client: Client, way: Way, config: Any, *, in_sequence: bool) -> Iterator[Answer]:
    """Asks through SageMaker's port: JSON with a batch of one, binary with a batch of two if possible.

    The second batch size reveals models that only work for the first.
    """
    if not notes_about_json(config):
        body = json_request(config, in_sequence=in_sequence)
        reply = client.ask("POST", way.path, body, {**way.headers, "Content-Type": JSON})
        yield _answer("JSON", config, 1, reply)
    batch = 1 if in_sequence else min(2, max(1, config.max_batch_size))
    body, header = binary_request(config, batch, in_sequence=in_sequence)
    reply = client.ask("POST", way.path, body, {**way.headers, "Content-Type": f"{BINARY}{header}"})
    yield _answer("binary", config, batch, reply)


def ask_triton(client: Client, path: str, config: Any, *, in_sequence: bool) -> Answer:
    """Asks through Triton's own port, with a batch of one."""
    if not notes_about_json(config):
        body = json_request(config, in_sequence=in_sequence)
        return _answer("JSON", config, 1, client.ask("POST", path, body))
    body, header = binary_request(config, 1, in_sequence=in_sequence)
    return _answer("binary", config, 1, client.ask("POST", path, body, {TRITON_LENGTH: str(header)}))


def notes_about_json(config: Any) -> tuple[str, ...]:
    """Why a model was not asked in JSON."""
    barred = without_json(config)
    if barred:
        return (
            f"JSON cannot carry the 16-bit floats of {', '.join(barred)}: clients must send and ask binary",
        )
    if input_elements(config) > _LARGEST_JSON:
        return ("its inputs are too large for JSON; asked in binary only",)
    return ()


def _answer(form: str, config: Any, batch: int, reply: Reply) -> Answer:
    if reply.status != _SUCCESS:
        return Answer(form, batch, reply.milliseconds, failure=refusal(reply))
    try:
        outputs = read_tensors(reply.body, reply.header_length)
    except (ValueError, KeyError) as error:
        what = f"the answer is none of the protocol: {error}"
        return Answer(form, batch, reply.milliseconds, failure=Failure(what))
    answered = {output.name: (output.data_type, output.shape) for output in outputs}
    found = tuple(deviations(config, answered, batch))
    return Answer(form, batch, reply.milliseconds, outputs, deviations=found)


def refusal(reply: Reply) -> Failure:
    """The failure of a reply that is not the expected one."""
    if reply.status == 0:
        return failure(reply.text, "")
    return failure(f"status {reply.status}", reply.text)


# ----------------------------------------------------------------
# Asks each model of a server that is ready, in the way that it can be reached.


BY_OWN_PORT = "Triton's own port"
NOT_LOADED = "not loaded"
NOT_ASKED = "not asked"


def ask_answering(host: Host, laid_out: LaidOut, name: str, way: Way) -> ModelOutcome:
    """Asks the model that clients of the endpoint reach, in every form that they may choose."""
    if way.inference_type in GENERATING:
        why = f"the local Triton has no inference type `{way.inference_type}`; only loading was rehearsed"
        return _outcome(laid_out, name, NOT_ASKED, first=(why,))
    config = laid_out.configs[name].config
    answers = tuple(ask_sagemaker(host.sagemaker, way, config, in_sequence=laid_out.in_sequence(name)))
    return _outcome(laid_out, name, f"POST {way.shown}", answers, last=notes_about_json(config))


def ask_member(host: Host, laid_out: LaidOut, name: str, *, loaded: bool) -> ModelOutcome:
    """Asks a model that clients of the endpoint do not reach by itself, such as a step of an ensemble."""
    if not loaded:
        why = "the container loads the default model and what it needs, and nothing needs this one"
        return _outcome(laid_out, name, NOT_LOADED, first=(why,))
    config = laid_out.configs[name].config
    if config.model_transaction_policy.decoupled:
        why = "a decoupled model answers as often as it likes; only loading it was rehearsed"
        return _outcome(laid_out, name, BY_OWN_PORT, first=(why,))
    path = f"/v2/models/{quote(name, safe='')}/infer"
    answer = ask_triton(host.triton, path, config, in_sequence=laid_out.in_sequence(name))
    return _outcome(laid_out, name, BY_OWN_PORT, (answer,))


def _outcome(
    laid_out: LaidOut,
    name: str,
    way: str,
    answers: tuple[Answer, ...] = (),
    *,
    first: tuple[str, ...] = (),
    last: tuple[str, ...] = (),
) -> ModelOutcome:
    """What came of a model; its own notes are between the ``first`` ones and the ``last``."""
    notes = (*first, *laid_out.notes[name], *last)
    return ModelOutcome(name, way, laid_out.stand_in(name), answers, notes, laid_out.run_by(name))


def loaded_models(host: Host) -> frozenset[str]:
    """Names of the models that are ready."""
    reply = host.triton.ask("POST", "/v2/repository/index", b'{"ready": true}')
    found = json.loads(reply.body) if reply.status == 200 else []
    return frozenset(entry["name"] for entry in found)

"""Asks each model of a server that is ready, in the way that it can be reached."""

import json
from urllib.parse import quote

from inferstack.catalog.triton_container import GENERATING
from inferstack.triton.rehearsal.asking import Way, ask_sagemaker, ask_triton, notes_about_json
from inferstack.triton.rehearsal.host import Host
from inferstack.triton.rehearsal.layout import LaidOut
from inferstack.triton.rehearsal.outcome import Answer, ModelOutcome

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

"""Asks the models of a server that is ready: in every form that a client of the endpoint can choose, or by
Triton's own port. Requests are made from what a model declares, without numpy.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Any
from urllib.parse import quote

import msgspec

from inferstack.catalog.triton_container import GENERATING
from inferstack.triton.protocol import (
    BINARY,
    BYTES,
    FORMATS,
    JSON,
    Carried,
    answered,
    body_with,
    data_type,
    deviations,
    length_first,
    texts_in,
    without_json,
)
from inferstack.triton.rehearsal.confinement import TRITON_LENGTH, Client, Reply
from inferstack.triton.rehearsal.container import Host
from inferstack.triton.rehearsal.layout import LaidOut
from inferstack.triton.rehearsal.outcome import Answer, Failure, ModelOutcome, Tensor, failure
from inferstack.triton.rehearsal.stand_in import SMALL

BY_OWN_PORT = "Triton's own port"
NOT_LOADED = "not loaded"
NOT_ASKED = "not asked"
_LARGEST_JSON = 4_000_000
_SUCCESS = 200
_TEXT = "rehearsal"
_SHOWN_VALUES = 4
# A sequence of one request.
_SEQUENCE = {"sequence_id": 1, "sequence_start": True, "sequence_end": True}


class Way(msgspec.Struct, frozen=True):
    """How clients reach a model: path (``shown`` to people), headers, and the container's inference type."""

    shown: str
    path: str
    headers: Mapping[str, str]
    inference_type: str | None = None


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
        why = "the container loads the default model and what it needs, which does not include this one"
        return _outcome(laid_out, name, NOT_LOADED, first=(why,))
    config = laid_out.configs[name].config
    if config.model_transaction_policy.decoupled:
        why = "a decoupled model may answer several times; only loading it was rehearsed"
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
    """The outcome of a model; its own notes are between the ``first`` ones and the ``last``."""
    notes = (*first, *laid_out.notes[name], *last)
    return ModelOutcome(name, way, laid_out.stand_in(name), answers, notes, laid_out.run_by(name))


def loaded_models(host: Host) -> frozenset[str]:
    """Names of the models that are ready."""
    reply = host.triton.ask("POST", "/v2/repository/index", b'{"ready": true}')
    found = json.loads(reply.body) if reply.status == 200 else []
    return frozenset(entry["name"] for entry in found)


# ---------------------------------------------------------------- One model, in each form


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
        return (f"JSON cannot carry the 16-bit floats of {', '.join(barred)}: clients must use binary",)
    if sum(prod(shape) for _, _, shape in _inputs(config, 1)) > _LARGEST_JSON:
        return ("its inputs are too large for JSON; asked only in binary",)
    return ()


def _answer(form: str, config: Any, batch: int, reply: Reply) -> Answer:
    if reply.status != _SUCCESS:
        return Answer(form, batch, reply.milliseconds, failure=refusal(reply))
    try:
        outputs = read_tensors(reply.body, reply.header_length)
    except ValueError as error:
        return Answer(form, batch, reply.milliseconds, failure=Failure(str(error)))
    answered = {output.name: (output.data_type, output.shape) for output in outputs}
    found = tuple(deviations(config, answered, batch))
    return Answer(form, batch, reply.milliseconds, outputs, deviations=found)


def refusal(reply: Reply) -> Failure:
    """The failure that an unexpected reply shows."""
    if reply.status == 0:
        return failure(reply.text, "")
    return failure(f"status {reply.status}", reply.text)


# ---------------------------------------------------------------- Requests and answers


def json_request(config: Any, *, in_sequence: bool) -> bytes:
    """A body with every declared input, for a batch of one: ones, or a short text, in declared shapes.

    ``in_sequence``: as the only request of a sequence, which models with state require.
    """
    tensors = [
        Carried(name, kind, shape, [_one(kind)] * prod(shape)) for name, kind, shape in _inputs(config, 1)
    ]
    return body_with(tensors, _SEQUENCE if in_sequence else {}, binary=False)[0]


def binary_request(config: Any, batch: int, *, in_sequence: bool) -> tuple[bytes, int]:
    """A request for any batch, with binary values after the JSON; also returns the JSON's length."""
    tensors = [
        Carried(name, kind, shape, _packed_one(kind) * prod(shape))
        for name, kind, shape in _inputs(config, batch)
    ]
    return body_with(tensors, _SEQUENCE if in_sequence else {}, binary=True)


def _inputs(config: Any, batch: int) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Name, type and shape of each declared input."""
    leading = [batch] if config.max_batch_size > 0 else []
    for tensor in config.input:
        shape = (*leading, *(SMALL if size < 0 else size for size in tensor.dims))
        yield tensor.name, data_type(tensor), shape


def _one(name: str) -> object:
    """A one: more models take it than a zero, as a length, a count, a mask or a token."""
    match name:
        case "BOOL":
            return True
        case "BYTES":
            return _TEXT
        case "FP16" | "FP32" | "FP64":
            return 1.0
        case _:
            return 1


def _packed_one(name: str) -> bytes:
    if name == BYTES:
        return length_first(_TEXT.encode())
    return struct.pack(f"<{FORMATS[name]}", _one(name))


def read_tensors(body: bytes, header_length: int | None) -> tuple[Tensor, ...]:
    """The tensors of an answer. ``header_length`` is that of the JSON, where binary values follow it.

    Raises:
        ValueError: when the body is not an answer in the protocol.
    """
    return tuple(
        Tensor(it.name, it.data_type, tuple(it.shape), tuple(_first(it)))
        for it in answered(body, header_length)
    )


def _first(tensor: Carried) -> Sequence[object]:
    data = tensor.values
    if not isinstance(data, bytes):
        return data[:_SHOWN_VALUES]
    if tensor.data_type == BYTES:
        return [text.decode(errors="replace") for text in islice(texts_in(data), _SHOWN_VALUES)]
    form = FORMATS.get(tensor.data_type)
    if form is None:
        return ()
    count = min(_SHOWN_VALUES, len(data) // struct.calcsize(form))
    return struct.unpack_from(f"<{count}{form}", data)

"""Asks one model in every form that a client of the endpoint can choose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inferstack.triton.declared import deviations
from inferstack.triton.protocol import BINARY, JSON, without_json
from inferstack.triton.rehearsal.explanations import failure
from inferstack.triton.rehearsal.http import TRITON_LENGTH, Client, Reply
from inferstack.triton.rehearsal.outcome import Answer, Failure
from inferstack.triton.rehearsal.tensors import binary_request, input_elements, json_request, read_tensors


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

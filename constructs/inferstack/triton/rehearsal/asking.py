"""One model asked in every form that a client of the endpoint can choose."""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.triton.rehearsal.explanations import failure
from inferstack.triton.rehearsal.http import BINARY, TRITON_LENGTH, Client, Reply
from inferstack.triton.rehearsal.outcome import Answer, Failure
from inferstack.triton.rehearsal.tensors import (
    binary_request,
    deviations,
    input_elements,
    json_request,
    read_answer,
    without_json,
)

_JSON = "application/json"
_LARGEST_JSON = 4_000_000
_SUCCESS = 200


def ask_sagemaker(client: Client, path: str, config: Any, headers: Mapping[str, str]) -> Iterator[Answer]:
    """Asks through SageMaker's port: JSON with a batch of one, binary with a batch of two where there is one.

    The second batch size shows models that only work for the first.
    """
    if not _skips_json(config):
        reply = client.ask("POST", path, json_request(config, 1), {**headers, "Content-Type": _JSON})
        yield _answer("JSON", config, 1, reply)
    batch = min(2, max(1, config.max_batch_size))
    body, header = binary_request(config, batch)
    kind = {"Content-Type": f"{BINARY}{header}"}
    yield _answer("binary", config, batch, client.ask("POST", path, body, {**headers, **kind}))


def ask_triton(client: Client, path: str, config: Any) -> Iterator[Answer]:
    """Asks through Triton's own port, with a batch of one."""
    if not _skips_json(config):
        yield _answer("JSON", config, 1, client.ask("POST", path, json_request(config, 1)))
        return
    # Output comes in JSON here, unless asked for otherwise; the length of its JSON is in a header then.
    body, header = binary_request(config, 1)
    yield _answer("binary", config, 1, client.ask("POST", path, body, {TRITON_LENGTH: str(header)}))


def notes_about_json(config: Any) -> tuple[str, ...]:
    """Why a model was not asked in JSON."""
    barred = without_json(config)
    if barred:
        return (
            f"JSON cannot carry the 16-bit floats of {', '.join(barred)}: clients must send and ask binary",
        )
    if input_elements(config, 1) > _LARGEST_JSON:
        return ("its inputs are too large for JSON; asked in binary only",)
    return ()


def _skips_json(config: Any) -> bool:
    return bool(notes_about_json(config))


def _answer(form: str, config: Any, batch: int, reply: Reply) -> Answer:
    if reply.status != _SUCCESS:
        return Answer(form, batch, reply.milliseconds, failure=failure(reply.text))
    try:
        outputs = read_answer(reply.body, reply.header_length)
    except (ValueError, KeyError) as error:
        words = f"the answer is none of the protocol: {error}"
        return Answer(form, batch, reply.milliseconds, failure=Failure(words))
    found = tuple(deviations(config, batch, outputs))
    return Answer(form, batch, reply.milliseconds, outputs, deviations=found)

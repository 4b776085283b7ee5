"""What a rehearsal sends, reads and finds, as data."""

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from inferstack.triton.protocol import BYTES, FORMATS, data_type, length_first
from inferstack.triton.rehearsal.stand_in import SMALL

# ---------------------------------------------------------------- Why there can be no rehearsal


class RehearsalRefused(Exception):  # noqa: N818 - no error of the program: the user reads its text
    """Says in one line what is missing on this machine or in the files, and how to get it."""


NO_ROOM = "the environment variable TMPDIR chooses another folder"
"""How to get another place for what a rehearsal writes."""


# ----------------------------------------------------------------
# Makes requests from what a model declares, and reads answers, without numpy.


_TEXT = "rehearsal"
_SHOWN_VALUES = 4
# A sequence of one request.
_SEQUENCE = {"sequence_id": 1, "sequence_start": True, "sequence_end": True}


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of an answer: the protocol's name of its type, its shape, and its first values."""

    name: str
    data_type: str
    shape: tuple[int, ...]
    first: tuple[object, ...]

    @property
    def size(self) -> int:
        """How many values it has."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    data_type: str
    shape: tuple[int, ...]


def input_elements(config: Any) -> int:
    """How many values a request has, for a batch of one."""
    return sum(prod(asked.shape) for asked in _asked(config, 1))


def json_request(config: Any, *, in_sequence: bool) -> bytes:
    """A body with every declared input, for a batch of one: ones, or a short text, in declared shapes.

    ``in_sequence``: as the only request of a sequence, which models with state require.
    """
    inputs = [
        {**_described(asked), "data": [_one(asked.data_type)] * prod(asked.shape)}
        for asked in _asked(config, 1)
    ]
    return json.dumps({"inputs": inputs, "parameters": _SEQUENCE if in_sequence else {}}).encode()


def binary_request(config: Any, batch: int, *, in_sequence: bool) -> tuple[bytes, int]:
    """The same for any batch, with binary values after the JSON; the number is the bytes of the JSON."""
    described: list[dict[str, Any]] = []
    values = b""
    for asked in _asked(config, batch):
        data = _packed_one(asked.data_type) * prod(asked.shape)
        described.append({**_described(asked), "parameters": {"binary_data_size": len(data)}})
        values += data
    parameters = {**(_SEQUENCE if in_sequence else {}), "binary_data_output": True}
    header = json.dumps({"inputs": described, "parameters": parameters}).encode()
    return header + values, len(header)


def _asked(config: Any, batch: int) -> Iterator[_Asked]:
    leading = [batch] if config.max_batch_size > 0 else []
    for tensor in config.input:
        shape = (*leading, *(SMALL if size < 0 else size for size in tensor.dims))
        yield _Asked(tensor.name, data_type(tensor), shape)


def _described(asked: _Asked) -> dict[str, Any]:
    return {"name": asked.name, "datatype": asked.data_type, "shape": list(asked.shape)}


def _one(name: str) -> object:
    """One rather than zero, since more models take it: as a length, a count, a mask, a token."""
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
        ValueError: when the body is no answer of the protocol.
    """
    header = json.loads(body if header_length is None else body[:header_length])
    values = b"" if header_length is None else body[header_length:]
    tensors: list[Tensor] = []
    for output in header.get("outputs", []):
        size = output.get("parameters", {}).get("binary_data_size")
        own, values = (None, values) if size is None else (values[:size], values[size:])
        first = output.get("data", [])[:_SHOWN_VALUES] if own is None else _unpacked(own, output["datatype"])
        tensors.append(Tensor(output["name"], output["datatype"], tuple(output["shape"]), tuple(first)))
    return tuple(tensors)


def _unpacked(data: bytes, name: str) -> Sequence[object]:
    if name == BYTES:
        return list(_texts(data))
    form = FORMATS.get(name)
    if form is None:
        return ()
    count = min(_SHOWN_VALUES, len(data) // struct.calcsize(form))
    return struct.unpack_from(f"<{count}{form}", data)


def _texts(data: bytes) -> Iterator[str]:
    place = 0
    for _ in range(_SHOWN_VALUES):
        if place + 4 > len(data):
            return
        (length,) = struct.unpack_from("<I", data, place)
        yield data[place + 4 : place + 4 + length].decode(errors="replace")
        place += 4 + length


# ---------------------------------------------------------------- What a rehearsal found, as data


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, Triton's own words about it, and what they mean as far as that is known."""

    what: str
    words: tuple[str, ...] = ()
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request. ``form`` is `JSON` or `binary`; ``deviations`` are from what is declared."""

    form: str
    batch: int
    milliseconds: float
    outputs: tuple[Tensor, ...] = ()
    failure: Failure | None = None
    deviations: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it is what the model declares."""
        return self.failure is None and not self.deviations


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """One model: how it was reached and what it answered.

    ``stand_in`` is the backend that the local server lacks; ``run_by`` the package, with its version, that
    computed instead of it; without one, the answers were zeros. ``notes`` are what the rehearsal cannot show
    about the model, or why it was not asked.
    """

    name: str
    way: str
    stand_in: str | None = None
    answers: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    run_by: str | None = None

    @property
    def good(self) -> bool:
        """Whether every answer is what the model declares."""
        return all(answer.good for answer in self.answers)


@dataclass(frozen=True, slots=True)
class ArchiveOutcome:
    """One archive: how long it took until it answered, in seconds, or why it never did."""

    archive: str
    seconds: float
    failure: Failure | None = None
    models: tuple[ModelOutcome, ...] = ()
    steps: tuple[str, ...] = ()
    """What else went right; a step that went wrong is at the beginning of ``failure``."""

    @property
    def good(self) -> bool:
        """Whether the container serves it."""
        return self.failure is None and all(model.good for model in self.models)

"""Requests from declared inputs, and answers compared with declared outputs."""

import json
import struct

import pytest

from inferstack.triton.config import parse_text
from inferstack.triton.protocol import deviations, without_json
from inferstack.triton.rehearsal.asking import binary_request, json_request, read_tensors
from inferstack.triton.rehearsal.outcome import Tensor

CONFIG = parse_text(
    """
    max_batch_size: 4
    input { name: "N" data_type: TYPE_INT16 dims: [ 3, -1 ] }
    input { name: "T" data_type: TYPE_STRING dims: [ 1 ] }
    output { name: "OUT" data_type: TYPE_FP32 dims: [ -1, 2 ] }
    """
)
TEXT = b"rehearsal"


def test_a_request_has_every_input_in_its_shape_with_open_dimensions_small() -> None:
    assert json.loads(json_request(CONFIG, in_sequence=False))["inputs"] == [
        {"name": "N", "datatype": "INT16", "shape": [1, 3, 2], "data": [1] * 6},
        {"name": "T", "datatype": "BYTES", "shape": [1, 1], "data": [TEXT.decode()]},
    ]


def test_values_of_a_binary_request_stand_behind_its_json() -> None:
    body, length = binary_request(CONFIG, 2, in_sequence=False)
    header = json.loads(body[:length])
    assert [one["shape"] for one in header["inputs"]] == [[2, 3, 2], [2, 1]]
    assert [one["parameters"]["binary_data_size"] for one in header["inputs"]] == [24, 26]
    assert header["parameters"] == {"binary_data_output": True}
    assert body[length:] == struct.pack("<12h", *[1] * 12) + 2 * (struct.pack("<I", 9) + TEXT)


def test_a_model_that_does_not_batch_gets_no_batch_dimension() -> None:
    config = parse_text('input { name: "A" data_type: TYPE_BOOL dims: [ 2 ] }')
    assert json.loads(json_request(config, in_sequence=False))["inputs"][0] == {
        "name": "A",
        "datatype": "BOOL",
        "shape": [2],
        "data": [True, True],
    }


def test_a_request_to_a_model_with_state_is_a_whole_sequence() -> None:
    parameters = json.loads(json_request(CONFIG, in_sequence=True))["parameters"]
    assert parameters == {"sequence_id": 1, "sequence_start": True, "sequence_end": True}


@pytest.mark.parametrize("name", ["FP16", "BF16"])
def test_half_floats_do_not_fit_into_json(name: str) -> None:
    assert without_json(parse_text(f'output {{ name: "B" data_type: TYPE_{name} dims: 1 }}')) == ("B",)


def test_a_binary_answer_is_read_tensor_by_tensor() -> None:
    texts = struct.pack("<I", 2) + b"ab" + struct.pack("<I", 0)
    outputs = [
        {"name": "T", "datatype": "BYTES", "shape": [2], "parameters": {"binary_data_size": len(texts)}},
        {"name": "N", "datatype": "FP64", "shape": [5], "parameters": {"binary_data_size": 40}},
    ]
    header = json.dumps({"outputs": outputs}).encode()
    body = header + texts + struct.pack("<5d", 1, 2, 3, 4, 5)
    assert read_tensors(body, len(header)) == (
        Tensor("T", "BYTES", (2,), ("ab", "")),
        Tensor("N", "FP64", (5,), (1.0, 2.0, 3.0, 4.0)),
    )


@pytest.mark.parametrize(
    ("answer", "deviation"),
    [
        ([Tensor("OUT", "FP32", (1, 7, 2), ())], None),
        ([], "`OUT` is declared, but not in the answer"),
        ([Tensor("OUT", "FP64", (1, 7, 2), ())], "`OUT` is declared FP32, but the answer has FP64"),
        (
            [Tensor("OUT", "FP32", (1, 7, 3), ())],
            "`OUT` is declared [1, -1, 2], but the answer has [1, 7, 3]",
        ),
        (
            [Tensor("OUT", "FP32", (2, 7, 2), ())],
            "`OUT` is declared [1, -1, 2], but the answer has [2, 7, 2]",
        ),
        ([Tensor("OUT", "FP32", (7, 2), ())], "`OUT` is declared [1, -1, 2], but the answer has [7, 2]"),
        (
            [Tensor("OUT", "FP32", (1, 7, 2), ()), Tensor("X", "FP32", (1,), ())],
            "`X` is in the answer, but not declared",
        ),
    ],
)
def test_an_answer_is_held_against_what_is_declared(answer: list[Tensor], deviation: str | None) -> None:
    answered = {it.name: (it.data_type, it.shape) for it in answer}
    assert list(deviations(CONFIG, answered, 1)) == ([] if deviation is None else [deviation])

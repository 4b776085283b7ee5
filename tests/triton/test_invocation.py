"""Bodies of requests and answers: arrays in, the same arrays out, and nothing that the model would refuse."""

import json

import numpy as np
import pytest

from inferstack.triton.arrays import from_bytes, from_json, to_bytes, to_json
from inferstack.triton.config import parse_text
from inferstack.triton.invocation import BodyError, read_answer, request_body
from inferstack.triton.protocol import BINARY, header_length

CONFIG = parse_text(
    """
    max_batch_size: 4
    input { name: "X" data_type: TYPE_FP32 dims: [ 3, -1 ] }
    input { name: "T" data_type: TYPE_STRING dims: [ 1 ] }
    input { name: "O" data_type: TYPE_INT64 dims: [ 1 ] optional: true }
    output { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] }
    """
)
X = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
T = np.array([["grün"], [b"\x00raw"]], dtype=object)
RIGHT = {"X": X, "T": T}
ARRAYS = {
    "BOOL": np.array([True, False]),
    "UINT8": np.array([0, 255], np.uint8),
    "UINT16": np.array([0, 65535], np.uint16),
    "UINT32": np.array([0, 2**32 - 1], np.uint32),
    "UINT64": np.array([0, 2**64 - 1], np.uint64),
    "INT8": np.array([-128, 127], np.int8),
    "INT16": np.array([-(2**15), 7], np.int16),
    "INT32": np.array([-(2**31), 7], np.int32),
    "INT64": np.array([-(2**63), 7], np.int64),
    "FP16": np.array([0.5, -2], np.float16),
    "FP32": np.array([0.1, -2], np.float32),
    "FP64": np.array([0.1, 1e300]),
    "BF16": np.array([1.5, -2], np.float32),
    "BYTES": np.array([b"", b"\xff\x00"], dtype=object),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_binary_values_come_back_as_they_were(kind: str) -> None:
    array = ARRAYS[kind]
    found = from_bytes(to_bytes(array, kind), kind, (2, 1))
    assert found.shape == (2, 1)
    assert found.ravel().tolist() == array.tolist()


@pytest.mark.parametrize("kind", sorted(ARRAYS.keys() - {"BYTES", "FP16", "BF16"}))
def test_values_in_json_come_back_as_they_were(kind: str) -> None:
    text = json.dumps(to_json(ARRAYS[kind], kind))
    assert from_json(json.loads(text), kind, (2, 1)).ravel().tolist() == ARRAYS[kind].tolist()


def test_other_byte_orders_and_strides_send_the_same_bytes() -> None:
    turned = X.astype(">f4").transpose(2, 1, 0)
    assert to_bytes(turned, "FP32") == np.ascontiguousarray(turned.astype("<f4")).tobytes()
    assert request_body(CONFIG, {"X": X.astype(">f4"), "T": T}) == request_body(CONFIG, RIGHT)


def test_values_stand_behind_the_json_in_the_order_of_its_inputs() -> None:
    body = request_body(CONFIG, RIGHT, parameters={"sequence_id": 7})
    length = header_length(body.content_type)
    assert length is not None
    header = json.loads(body.content[:length])
    assert header["inputs"] == [
        {"name": "X", "datatype": "FP32", "shape": [2, 3, 2], "parameters": {"binary_data_size": 48}},
        {"name": "T", "datatype": "BYTES", "shape": [2, 1], "parameters": {"binary_data_size": 17}},
    ]
    assert header["parameters"] == {"sequence_id": 7, "binary_data_output": True}
    assert body.content[length:] == X.tobytes() + b"\5\0\0\0gr\xc3\xbcn\4\0\0\0\0raw"


def test_json_has_the_values_in_itself() -> None:
    body = request_body(CONFIG, {"X": X, "T": np.array([["a"], ["b"]])}, binary=False)
    assert body.content_type == "application/json"
    inputs = json.loads(body.content)["inputs"]
    assert [one["data"] for one in inputs] == [X.ravel().tolist(), ["a", "b"]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Z": X}, "the model has no input `Z`"),
        ({"X": None}, "the input `X` is missing: FP32 [1..4, 3, -1]"),
        (
            {"X": X.astype(np.float64)},
            "declared FP32, but the array is float64; convert it: array.astype('float32')",
        ),
        ({"T": np.array([[1], [2]])}, "declared BYTES, but the array is int64; pass an array of texts"),
        (
            {"X": X[0], "T": T[:1]},
            "lacks the batch, the first dimension; a batch of one is one more pair of brackets in JSON",
        ),
        (
            {"X": X, "T": np.array(["a", "b"])},
            "`T` is declared [1..4, 1], but the array is [2]: it lacks the last dimension; a pair of brackets around each",
        ),
        ({"X": X[:, :2]}, "`X` is declared [1..4, 3, -1], but the array is [2, 2, 2]"),
        ({"X": np.zeros((5, 3, 1), np.float32)}, "`X` has a batch of 5; allowed: 1 to 4"),
        ({"X": X[:0], "T": T[:0]}, "`X` has a batch of 0; allowed: 1 to 4"),
        ({"X": X[:1]}, "all inputs of a request must have the same batch size, found `X` 1, `T` 2"),
        ({"T": np.array([[None], ["a"]], dtype=object)}, "`T`: null is not text"),
    ],
)
def test_what_the_model_would_refuse_is_refused(changes: dict[str, object], said: str) -> None:
    inputs = {name: it for name, it in {**RIGHT, **changes}.items() if it is not None}
    with pytest.raises(BodyError) as error:
        request_body(CONFIG, inputs)  # type: ignore[arg-type]
    assert any(said in problem for problem in error.value.problems), error.value.problems


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(BodyError) as error:
        request_body(CONFIG, {"Z": X, "T": X})
    assert len(error.value.problems) == 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"X": np.full((2, 3, 2), np.nan, np.float32)}, "NaN"), ({}, "UTF-8")],
)
def test_json_refuses_what_it_has_not(changes: dict[str, object], said: str) -> None:
    binary_text = np.array([[b"\xff"], [b"a"]], dtype=object)
    with pytest.raises(BodyError, match=said):
        request_body(CONFIG, {**RIGHT, "T": binary_text, **changes}, binary=False)  # type: ignore[dict-item]


def test_json_refuses_a_model_with_16_bit_floats() -> None:
    config = parse_text('input { name: "X" data_type: TYPE_FP16 dims: [ 1 ] }')
    array = np.zeros(1, np.float16)
    with pytest.raises(BodyError, match="16-bit floats of X"):
        request_body(config, {"X": array}, binary=False)
    assert request_body(config, {"X": array}).content.endswith(b"\0\0")


def test_nothing_is_rounded_to_bf16_unasked() -> None:
    config = parse_text('input { name: "X" data_type: TYPE_BF16 dims: [ 1 ] }')
    assert request_body(config, {"X": np.array([1.5], np.float32)}).content.endswith(b"\xc0\x3f")
    with pytest.raises(BodyError, match="round them yourself"):
        request_body(config, {"X": np.array([0.1], np.float32)})


def test_a_decimal_number_becomes_the_nearest_one_of_bf16_and_of_two_the_even_one() -> None:
    step = 2**-7
    found = from_json([1 + 0.5 * step, 1 + 0.75 * step, 1 + step, 1 + 1.25 * step, 1 + 1.5 * step], "BF16")
    assert found.tolist() == [1, 1 + step, 1 + step, 1 + step, 1 + 2 * step]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *[
            ([1.5], "INT32"),
            ([300], "UINT8"),
            ([-1], "UINT8"),
            ([1], "BOOL"),
            ([True], "INT8"),
            (["a"], "FP32"),
        ],
        *[
            ([1, [2]], "FP32"),
            ([1e6], "FP16"),
            ([1], "BYTES"),
            ([[["a"], "b"]], "BYTES"),
            ([1, True], "INT8"),
        ],
        *[([2**64], "UINT64"), ([[1, 2], [3]], "INT32"), ([None], "FP32")],
    ],
)
def test_values_in_json_are_of_the_type_or_refused(values: list[object], kind: str) -> None:
    with pytest.raises(BodyError):
        from_json(values, kind)


def test_an_optional_input_may_come_or_not() -> None:
    assert request_body(CONFIG, {**RIGHT, "O": np.zeros((2, 1), np.int64)}) != request_body(CONFIG, RIGHT)


def answer(outputs: list[dict[str, object]], values: bytes = b"") -> tuple[bytes, str]:
    header = json.dumps({"outputs": outputs}).encode()
    return header + values, f"{BINARY}{len(header)}" if values else "application/json"


def sized(size: int) -> dict[str, object]:
    return {"name": "Y", "datatype": "FP32", "shape": [1], "parameters": {"binary_data_size": size}}


def test_an_answer_is_read_in_both_forms() -> None:
    binary = {"name": "Y", "datatype": "FP32", "shape": [2], "parameters": {"binary_data_size": 8}}
    text = {"name": "W", "datatype": "BYTES", "shape": [1], "data": ["grün"]}
    found = read_answer(*answer([binary, text], np.array([1, 2], np.float32).tobytes()))
    assert found["Y"].tolist() == [1, 2]
    assert found["W"].tolist() == ["grün".encode()]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ((b'{"error":"no such model"}', "application/json"), "the model answered: no such model"),
        ((b"<html>", "application/json"), "not an answer in Triton's protocol"),
        ((b"[]", "application/json"), "not an answer in Triton's protocol"),
        ((b"{}", f"{BINARY}x"), "not an answer in Triton's protocol"),
        (
            answer([{"name": "Y", "datatype": "FP32", "shape": [3], "data": [1]}]),
            "found 1 values for the shape",
        ),
        (
            answer(
                [{"name": "Y", "datatype": "FP32", "shape": [2], "parameters": {"binary_data_size": 8}}],
                b"1234",
            ),
            "cut off",
        ),
        (
            answer(
                [{"name": "Y", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 6}}],
                b"\7\0\0\0ab",
            ),
            "a text is longer than the rest of the body",
        ),
        (answer([sized(-4)], b"12345678"), "`Y` has -4 bytes"),
        (answer([sized(4)], b"123456"), "2 bytes are left over"),
        (answer([sized(4), sized(4)], b"12345678"), "`Y` is in the answer twice"),
        ((b"{}", f"{BINARY}-2"), "`-2` is not a length"),
        ((b"[" * 200_000, "application/json"), "not an answer in Triton's protocol"),
        (answer([{"name": 1, "datatype": "FP32", "shape": [1], "data": [1]}]), "must be texts"),
        (
            answer([{"name": "Y", "datatype": "FP32", "shape": [2**64, [1]], "data": [1]}]),
            "`shape` of `Y` must be",
        ),
        (
            answer([{"name": "Y", "datatype": "FP32", "shape": [2**50, "x"], "data": [1]}]),
            "`shape` of `Y` must be",
        ),
        (answer([{"name": "Y", "datatype": "FP32", "shape": [True], "data": [1]}]), "`shape` of `Y` must be"),
        (
            answer([{"name": "Y", "datatype": "BYTES", "shape": [1], "data": ["\ud800"]}]),
            "`Y`: .* half a character",
        ),
    ],
)
def test_what_is_no_answer_is_said_in_words(body: tuple[bytes, str], said: str) -> None:
    with pytest.raises(BodyError, match=said):
        read_answer(*body)


DECLARED = parse_text(
    """
    max_batch_size: 4
    output { name: "Y" data_type: TYPE_BF16 dims: [ -1, 2 ] }
    output { name: "S" data_type: TYPE_INT32 dims: [ 1 ] is_shape_tensor: true }
    output { name: "T" data_type: TYPE_STRING dims: [ 1 ] }
    """
)


def described(**changes: tuple[str, list[int]] | None) -> tuple[bytes, str]:
    """An answer as declared, except for some outputs."""
    outputs = {"Y": ("BF16", [2, 3, 2]), "S": ("INT32", [1]), "T": ("BYTES", [2, 1]), **changes}
    widths = {"BF16": 2, "INT32": 4, "FP32": 4, "BYTES": 4}
    there = [(name, kind, shape) for name, it in outputs.items() if it is not None for kind, shape in [it]]
    sizes = [widths[kind] * int(np.prod(shape)) for _, kind, shape in there]
    return answer(
        [
            {"name": name, "datatype": kind, "shape": shape, "parameters": {"binary_data_size": size}}
            for (name, kind, shape), size in zip(there, sizes, strict=True)
        ],
        bytes(sum(sizes)),
    )


@pytest.mark.parametrize("shape", [[1], [2, 1]], ids=["as declared", "with a batch"])
def test_an_answer_as_it_is_declared_is_read(shape: list[int]) -> None:
    assert set(read_answer(*described(S=("INT32", shape)), DECLARED)) == {"Y", "S", "T"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"T": None}, ["`T` is declared, but not in the answer"]),
        ({"Z": ("FP32", [2])}, ["`Z` is in the answer, but not declared"]),
        ({"Y": ("FP32", [2, 3, 2])}, ["`Y` is declared BF16, but the answer has FP32"]),
        ({"Y": ("BF16", [2, 3, 1])}, ["`Y` is declared [1..4, -1, 2], but the answer has [2, 3, 1]"]),
        ({"Y": ("BF16", [2, 2])}, ["`Y` is declared [1..4, -1, 2], but the answer has [2, 2]"]),
        ({"S": ("INT32", [2])}, ["`S` is declared [1..4, 1], but the answer has [2]"]),
        (
            {"T": ("BYTES", [5, 1])},
            [
                "`T` is declared [1..4, 1], but the answer has [5, 1]",
                "the same batch size, found `Y` 2, `T` 5",
            ],
        ),
    ],
)
def test_an_answer_is_held_against_every_output(
    changes: dict[str, tuple[str, list[int]] | None], said: list[str]
) -> None:
    read_answer(*described(**changes))
    with pytest.raises(BodyError) as error:
        read_answer(*described(**changes), DECLARED)
    assert len(error.value.problems) == len(said)
    assert all(part in problem for part, problem in zip(said, error.value.problems, strict=True))

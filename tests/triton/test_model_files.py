"""What model files say of themselves is compared with the configuration and the image; weights are never read."""

import os
import struct
from pathlib import Path

import pytest
from support.archiving import lay_out
from support.checking import check_file
from support.onnx_files import (
    FLOAT,
    FLOAT16,
    INT64,
    STRING,
    doubling,
    field,
    initializer,
    node,
    number,
    onnx_file,
    tensor,
)
from support.repositories import HEAD, spec_file

from inferstack.problems import Problem
from inferstack.triton.model_files import engine_version, onnx_graph
from inferstack.triton.rules.model_files import TENSORRT

X, Y = "{name: X, data_type: TYPE_FP32, dims: [2]}", "{name: Y, data_type: TYPE_FP32, dims: [2]}"


def _read(folder: Path, content: bytes) -> object:
    file = folder / "model.onnx"
    file.write_bytes(content)
    return onnx_graph(file)


# ---------------------------------------------------------------- reading


def test_names_types_and_shapes_are_those_of_onnx_runtime(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="it has no wheel for this machine to compare with")
    tensors = {"A": (FLOAT, ("batch", 2)), "B": (INT64, (1, -1)), "C": (STRING, ()), "D": (FLOAT16, ("n",))}
    outputs = {f"{name}_OUT": it for name, it in tensors.items()}
    nodes = [node("Identity", [name], [f"{name}_OUT"]) for name in tensors]
    weights = [initializer("W", bytes(8), [2]), initializer("D", bytes(6), [3], FLOAT16)]
    for ir in (3, 8):
        content = onnx_file({**tensors, "W": (FLOAT, (2,))}, outputs, nodes, weights, ir=ir)
        graph = onnx_graph(_written(tmp_path, f"{ir}.onnx", content))
        session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
        assert graph is not None
        assert graph.optional == {"W", "D"}
        assert set(graph.inputs) - graph.optional == {it.name for it in session.get_inputs()}
        assert set(graph.outputs) == {it.name for it in session.get_outputs()}
        for found in (*session.get_inputs(), *session.get_outputs()):
            mine = graph.inputs.get(found.name) or graph.outputs[found.name]
            assert _KINDS[found.type] == mine.data_type
            if found.name != "D_OUT":
                # Which is as long as the weights, as ONNX Runtime finds out.
                assert [it if isinstance(it, int) else -1 for it in found.shape] == list(mine.shape or ())


_KINDS = {
    "tensor(float)": "FP32",
    "tensor(int64)": "INT64",
    "tensor(string)": "STRING",
    "tensor(float16)": "FP16",
}


def _written(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def test_weights_of_many_gigabytes_are_stepped_over(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    # A hole in the file takes no space, and reading it would take minutes.
    weights = 50 << 30
    head = field(1, 8) + number(7 << 3 | 2)
    named = field(8, "W") + number(9 << 3 | 2) + number(weights)
    values = number(5 << 3 | 2) + number(len(named) + weights) + named
    tail = field(11, tensor("X", FLOAT, (2,))) + field(12, tensor("Y", FLOAT, (2,)))
    with file.open("wb") as written:
        written.write(head + number(len(values) + weights + len(tail)) + values)
        written.seek(weights, os.SEEK_CUR)
        written.write(tail)
    graph = onnx_graph(file)
    assert graph is not None
    assert (list(graph.inputs), list(graph.outputs)) == (["X"], ["Y"])


GOOD = doubling()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\0", b"\0\0" + GOOD, b"# not ONNX", GOOD[:-1], GOOD[: len(GOOD) // 2], b"\xff" * 64),
        field(7, field(2, "empty")),
    ],
    ids=["empty", "zero", "zeros first", "text", "cut off at the end", "half", "ones", "no outputs"],
)
def test_what_is_no_onnx_says_nothing(content: bytes, tmp_path: Path) -> None:
    assert _read(tmp_path, GOOD) is not None
    assert _read(tmp_path, content) is None


def test_names_are_of_bounded_length_and_fields_of_bounded_number(tmp_path: Path) -> None:
    outputs = field(12, tensor("Y", FLOAT, (2,)))
    assert _read(tmp_path, field(7, field(1, b"") * 200_000 + outputs)) is not None
    assert _read(tmp_path, field(7, field(1, b"") * 600_000 + outputs)) is None
    assert _read(tmp_path, field(7, field(12, tensor("Y" * 5000, FLOAT, (2,))))) is None


def test_a_link_is_not_followed_and_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = _written(tmp_path, "model.onnx", GOOD)
    (tmp_path / "link.onnx").symlink_to(file)
    assert onnx_graph(tmp_path / "link.onnx") is None
    assert onnx_graph(tmp_path) is None
    graph = onnx_graph(file)
    assert graph is not None
    assert list(graph.inputs) == ["X"]
    # As long as before.
    file.write_bytes(doubling("Z"))
    os.utime(file, ns=(0, 1))
    graph = onnx_graph(file)
    assert graph is not None
    assert list(graph.inputs) == ["Z"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with a name")
def test_nothing_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.onnx")
    assert onnx_graph(tmp_path / "model.onnx") is None


# ---------------------------------------------------------------- compared with the configuration


def _said(
    folder: Path, content: bytes, more: str = f"max_batch_size: 4, input: [{X}], output: [{Y}]"
) -> list[Problem]:
    _written(folder, "m.onnx", content)
    file = spec_file(
        folder, f"{{models: {{m: {{backend: onnxruntime, {more}, files: {{1/model.onnx: m.onnx}}}}}}}}"
    )
    return [it for it in check_file(file) if it.code == "IS775"]


def _one(found: list[Problem]) -> tuple[str, str, str]:
    (problem,) = found
    return ".".join(map(str, problem.path[3:])), problem.message, problem.fix


SCALAR = onnx_file({"X": (FLOAT, ())}, {"Y": (FLOAT, ())}, [node("Identity", ["X"], ["Y"])])
TWO = onnx_file({"X": (FLOAT, ("n", 2)), "Z": (FLOAT, ("n", 2))}, {"Y": (FLOAT, ("n", 2))}, [])
FIXED = onnx_file({"X": (FLOAT, (1, 2))}, {"Y": (FLOAT, (1, 2))}, [])
OPEN = onnx_file({"X": (FLOAT, ("n", "m"))}, {"Y": (FLOAT, ("n", "m"))}, [])
UNKNOWN = onnx_file({"X": (FLOAT, None)}, {"Y": (FLOAT, None)}, [])
WEIGHTS = onnx_file(
    {"X": (FLOAT, ("n", 2)), "W": (FLOAT, (2,))},
    {"Y": (FLOAT, ("n", 2))},
    [],
    [initializer("W", bytes(8), [2])],
)
MAP = field(7, field(11, tensor("X", FLOAT, ("n", 2))) + field(12, field(1, "Y") + field(2, field(5, b""))))
UNBATCHED = f"input: [{X}], output: [{Y}]"


@pytest.mark.parametrize(
    ("content", "more", "where", "message", "fix"),
    [
        (
            doubling("X_1"),
            UNBATCHED,
            "input.0.name",
            "1/model.onnx of m has no input `X`",
            "did you mean `X_1`?",
        ),
        (doubling("X", "Y_1"), "", "output.0.name", "1/model.onnx of m has no output `Y`", "allowed: `Y_1`"),
        (
            TWO,
            "",
            "input",
            "1/model.onnx of m needs the input `Z`, too",
            "add it with its data_type and dims",
        ),
        (
            doubling(size=3),
            "",
            "input.0.dims",
            "`X` is [2], but [3] after the batch in 1/model.onnx",
            "`dims: [3]`",
        ),
        (
            FIXED,
            "",
            "input.0.dims",
            "m cannot batch: the first size of `X` in 1/model.onnx is 1",
            "max_batch_size: 0",
        ),
        (FIXED, UNBATCHED, "input.0.dims", "`X` is [2], but [1, 2] in 1/model.onnx", "write `dims: [1, 2]`"),
        (
            SCALAR,
            UNBATCHED,
            "input.0.dims",
            "`X` is a single value in 1/model.onnx, but [2] here",
            "`dims: [1]`",
        ),
    ],
)
def test_what_the_backend_refuses_is_an_error(
    content: bytes, more: str, where: str, message: str, fix: str, tmp_path: Path
) -> None:
    found = _said(tmp_path, content, more) if more else _said(tmp_path, content)
    assert _one(found[:1])[:2] == (where, message)
    assert fix in found[0].fix
    assert found[0].severity == "error"


def test_a_type_is_that_of_the_file(tmp_path: Path) -> None:
    other = onnx_file({"X": (INT64, ("n", 2))}, {"Y": (FLOAT16, ("n", 2))}, [])
    assert [(it.path[3], it.message) for it in _said(tmp_path, other)] == [
        ("input", "`X` is TYPE_FP32, but TYPE_INT64 in 1/model.onnx"),
        ("output", "`Y` is TYPE_FP32, but TYPE_FP16 in 1/model.onnx"),
    ]


def test_a_ragged_input_is_a_list_in_the_file(tmp_path: Path) -> None:
    ragged = f"max_batch_size: 4, input: [{X.replace('}', ', allow_ragged_batch: true}')}], output: [{Y}]"
    found = _said(tmp_path, doubling(), ragged)
    assert _one(found)[:2] == (
        "input.0.allow_ragged_batch",
        "`X` is [-1, 2] in 1/model.onnx, so batches of it cannot be ragged",
    )
    fits = onnx_file({"X": (FLOAT, ("n",))}, {"Y": (FLOAT, ("n", 2))}, [])
    assert _said(tmp_path, fits, ragged) == []


def test_a_map_cannot_be_served(tmp_path: Path) -> None:
    where, message, fix = _one(_said(tmp_path, MAP))
    assert (where, message) == ("", "`Y` in 1/model.onnx is a map; Triton serves only tensors")
    assert "zipmap" in fix


RESHAPED = "dims: [1], reshape: {shape: [1, 1]}"
ONE_BY_ONE = onnx_file({"X": (FLOAT, ("n", 1, 1))}, {"Y": (FLOAT, ("n", 2))}, [])


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (doubling(), ""),
        (doubling(), f"input: [{X.replace('[2]', '[-1, 2]')}], output: [{Y.replace('[2]', '[-1, 2]')}]"),
        (OPEN, ""),
        (UNKNOWN, ""),
        (WEIGHTS, ""),
        (SCALAR, UNBATCHED.replace("[2]", "[1]")),
        (FIXED, UNBATCHED.replace("[2]", "[1, 2]")),
        (doubling(), "max_batch_size: 4"),
        (TWO, f"max_batch_size: 4, output: [{Y}]"),
        (ONE_BY_ONE, f"max_batch_size: 4, input: [{X.replace('dims: [2]', RESHAPED)}], output: [{Y}]"),
        (b"weights", ""),
        (doubling("X_1"), f"runtime: model.py, {UNBATCHED}"),
    ],
    ids=[
        "as declared", "without batches", "sizes left open", "no sizes", "weights among the inputs", "a single value",
        "one size", "nothing declared", "outputs alone", "a reshaped input", "no ONNX", "Python",
    ],
)  # fmt: skip
def test_what_the_backend_takes_is_no_problem(content: bytes, more: str, tmp_path: Path) -> None:
    assert (_said(tmp_path, content, more) if more else _said(tmp_path, content)) == []


def test_controls_of_sequences_and_computed_tensors_feed_the_file_as_well(tmp_path: Path) -> None:
    names = ("X", "START", "STATE", "LENGTHS")
    content = onnx_file(
        dict.fromkeys(names, (FLOAT, ("n", 2))), {"Y": (FLOAT, ("n", 2)), "NEXT": (FLOAT, ("n", 2))}, []
    )
    control = "{name: START, control: [{kind: CONTROL_SEQUENCE_START, fp32_false_true: [0, 1]}]}"
    state = "{input_name: STATE, output_name: NEXT, data_type: TYPE_FP32, dims: [2]}"
    computed = "{kind: BATCH_ELEMENT_COUNT, target_name: [LENGTHS], data_type: TYPE_FP32, source_input: [X]}"
    sequences = (
        f"sequence_batching: {{control_input: [{control}], state: [{state}]}}, batch_input: [{computed}]"
    )
    more = f"max_batch_size: 4, input: [{X}], output: [{Y}], {sequences}"
    assert _said(tmp_path, content, more) == []
    assert _one(_said(tmp_path, content, more.replace("STATE,", "OTHER,")))[1].endswith(
        "needs the input `STATE`, too"
    )


def test_every_version_that_is_loaded_is_read_and_no_other(tmp_path: Path) -> None:
    config = 'backend: "onnxruntime"\ninput { name: "X" data_type: TYPE_FP32 dims: [2] }\n' + (
        'output { name: "Y" data_type: TYPE_FP32 dims: [2] }\nmax_batch_size: 4\n'
    )
    lay_out(tmp_path / "models", {"net/config.pbtxt": config})
    for version, name in (("1", "OLD"), ("2", "X")):
        (tmp_path / "models/net" / version / "model.onnx").mkdir(parents=True)
        _written(tmp_path / "models/net" / version / "model.onnx", "model.onnx", doubling(name))
    file = spec_file(tmp_path, "{repository: models}")
    assert [it.code for it in check_file(file) if it.code == "IS775"] == []
    (tmp_path / "models/net/config.pbtxt").write_text(f"{config}version_policy {{ all {{}} }}")
    (problem,) = (it for it in check_file(file) if it.code == "IS775")
    assert problem.message == "1/model.onnx/model.onnx of net has no input `X`"
    assert (problem.in_file.file, problem.in_file.line) == (
        (tmp_path / "models/net/config.pbtxt").as_posix(),
        2,
    )


def test_a_step_that_names_a_tensor_as_its_file_does_is_right(tmp_path: Path) -> None:
    _written(tmp_path, "m.onnx", doubling("images"))
    net = f"backend: onnxruntime, max_batch_size: 4, input: [{X}], output: [{Y}], files: {{1/model.onnx: m.onnx}}"
    step = "{model_name: m, model_version: -1, input_map: {images: A}, output_map: {Y: B}}"
    ends = f"input: [{X.replace('name: X', 'name: A')}], output: [{Y.replace('name: Y', 'name: B')}]"
    whole = f"platform: ensemble, max_batch_size: 4, {ends}, ensemble_scheduling: {{step: [{step}]}}"
    file = spec_file(tmp_path, f"{{models: {{m: {{{net}}}, whole: {{{whole}}}}}}}", "ensemble")
    fixes = {
        it.code: it.fix
        for it in check_file(file)
        if it.code in ("IS775", "IS960") and "feed" not in it.message
    }
    assert fixes == {"IS775": "allowed: `images`", "IS960": "1/model.onnx has it: declare it in m"}


# ---------------------------------------------------------------- engines, and the image


def _engine(version: tuple[int, int, int, int], tag: bytes = b"ftrt", layout: int = 0) -> bytes:
    return tag + struct.pack("<I", layout) + bytes(16) + bytes(version) + bytes(100)


def _of_engine(folder: Path, content: bytes, image: str) -> list[str]:
    _written(folder, "m.plan", content)
    triton = f"{{models: {{m: {{platform: tensorrt_plan, input: [{X}], output: [{Y}], files: {{1/model.plan: m.plan}}}}}}}}"
    text = HEAD.format(kind="single-model", tail="/model.tar.gz", triton=triton).replace(
        '"25.09"', f'"{image}"'
    )
    file = folder / "spec.yaml"
    file.write_text(text)
    return [it.message for it in check_file(file) if it.code == "IS785"]


@pytest.mark.parametrize(
    ("version", "image", "has"),
    [
        ((8, 6, 1, 6), "24.09", "10.4"),
        ((10, 3, 0, 26), "24.09", "10.4"),
        ((10, 4, 0, 26), "24.01", "8.6"),
        ((8, 6, 1, 6), "26.05", "10"),
    ],
)
def test_an_engine_of_another_tensorrt_is_pointed_out(
    version: tuple[int, int, int, int], image: str, has: str, tmp_path: Path
) -> None:
    built = ".".join(map(str, version[:3]))
    assert _of_engine(tmp_path, _engine(version), image) == [
        f"1/model.plan was built by TensorRT {built}, but the image should have {has}"
    ]


@pytest.mark.parametrize(
    ("content", "image"),
    [
        (_engine((10, 4, 0, 26)), "24.09"),
        (_engine((10, 13, 3, 9)), "26.05"),
        (_engine((8, 6, 3, 0)), "24.03"),
        (_engine((8, 6, 1, 6), tag=b"ptrt"), "24.09"),
        (_engine((8, 6, 1, 6), layout=1), "24.09"),
        (b"ftrt", "24.09"),
        (b"", "24.09"),
    ],
    ids=[
        "the same",
        "a newer image",
        "an image that is not known",
        "another tag",
        "another layout",
        "cut off",
        "empty",
    ],
)
def test_an_engine_that_may_fit_is_no_problem(content: bytes, image: str, tmp_path: Path) -> None:
    assert _of_engine(tmp_path, content, image) == []


def test_an_engines_version_is_read_where_trtexec_reads_it(tmp_path: Path) -> None:
    assert engine_version(_written(tmp_path, "model.plan", _engine((10, 9, 0, 34)))) == (10, 9, 0, 34)
    assert max(TENSORRT) < (25, 9)

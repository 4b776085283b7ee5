"""ONNX really computes if the server's Python has ONNX Runtime, and what the backend refuses is refused."""

from pathlib import Path

import pytest
from support.checking import check_file
from support.onnx_files import FLOAT, INT64, STRING, doubling, initializer, node, onnx_file
from support.rehearsal import SERVER_PYTHON, Rehearse, model, spec

from inferstack.check.load import load_spec
from inferstack.cli.rehearse import rehearsals_of
from inferstack.problems import Problem
from inferstack.triton.rehearsal import ArchiveOutcome, ModelOutcome, rehearse, report
from inferstack.triton.rehearsal.server import find_server

FP32 = "data_type: TYPE_FP32, dims: [2]"
PAIR: tuple[int, tuple[str | int, ...]] = (FLOAT, ("n", 2))
# Archive, file, inputs, outputs, greatest batch, and the answers to a request of ones or of the text `rehearsal`.
MODELS = [
    ("one", doubling(), [f"X, {FP32}"], [f"Y, {FP32}"], 4, {"Y": (2, 2)}),
    (
        "two",
        onnx_file(
            {"A": PAIR, "B": (INT64, ("n", 2))},
            {"SUM": PAIR, "SAME": (INT64, ("n", 2))},
            [node("Add", ["A", "W"], ["SUM"]), node("Add", ["B", "B"], ["SAME"])],
            [initializer("W", b"\0\0\x20\x41\0\0\xa0\x41", [2])],
        ),
        ["B, data_type: TYPE_INT64, dims: [2]", f"A, {FP32}"],
        ["SAME, data_type: TYPE_INT64, dims: [2]", f"SUM, {FP32}"],
        4,
        {"SAME": (2, 2), "SUM": (11, 21)},
    ),
    (
        "scalar",
        onnx_file({"X": (FLOAT, ())}, {"Y": (FLOAT, ())}, [node("Add", ["X", "X"], ["Y"])]),
        ["X, data_type: TYPE_FP32, dims: [1]"],
        ["Y, data_type: TYPE_FP32, dims: [1]"],
        0,
        {"Y": (2,)},
    ),
    (
        "texts",
        onnx_file({"X": (STRING, ("n", 1))}, {"Y": (STRING, ("n", 1))}, [node("Identity", ["X"], ["Y"])]),
        ["X, data_type: TYPE_STRING, dims: [1]"],
        ["Y, data_type: TYPE_STRING, dims: [1]"],
        2,
        {"Y": ("rehearsal",)},
    ),
]
# File, inputs, outputs, greatest batch, and the words of the refusal. Only the last is left to ONNX Runtime.
REFUSED = {
    "other-name": (doubling("INPUT"), f"X, {FP32}", f"Y, {FP32}", 4, "unexpected inference input 'X'"),
    "other-output": (doubling("X", "Z"), f"X, {FP32}", f"Y, {FP32}", 4, "unexpected inference output 'Y'"),
    "other-type": (doubling(), "X, data_type: TYPE_INT64, dims: [2]", f"Y, {FP32}", 4, "configuration expects datatype"),
    "other-size": (doubling(size=3), f"X, {FP32}", "Y, data_type: TYPE_FP32, dims: [3]", 4, "the model expects 2 dim"),
    "no-batch": (
        onnx_file({"X": (FLOAT, (1, 2))}, {"Y": (FLOAT, (1, 2))}, [node("Add", ["X", "X"], ["Y"])]),
        f"X, {FP32}", f"Y, {FP32}", 4, "the first dimension must be -1",
    ),
    "one-too-many": (
        onnx_file({"X": PAIR, "Z": PAIR}, {"Y": PAIR}, [node("Add", ["X", "Z"], ["Y"])]),
        f"X, {FP32}", f"Y, {FP32}", 4, "configuration expects 1 inputs, model provides 2",
    ),
    "no-single-value": (
        onnx_file({"X": (FLOAT, ())}, {"Y": (FLOAT, ())}, [node("Add", ["X", "X"], ["Y"])]),
        f"X, {FP32}", f"Y, {FP32}", 0, "a scalar tensor should only provide 1",
    ),
    "unknown-operator": (
        onnx_file({"X": PAIR}, {"Y": PAIR}, [node("Mystery", ["X"], ["Y"])]),
        f"X, {FP32}", f"Y, {FP32}", 4, "Mystery",
    ),
}  # fmt: skip
BY_RUNTIME_ALONE = {"unknown-operator"}
INSTANCES = "instance_group: [{kind: KIND_CPU, count: 3}]"


def _archive(name: str, inputs: list[str], outputs: list[str], batch: int, more: str = "") -> str:
    io = "input: [{}], output: [{}]".format(
        *(", ".join(f"{{name: {one}}}" for one in side) for side in (inputs, outputs))
    )
    net = f"platform: onnxruntime_onnx, max_batch_size: {batch}, {io}{more}"
    return f"  {name}.tar.gz: {{models: {{net: {{{net}, files: {{1/model.onnx: {name}.onnx}}}}}}}}\n"


ENSEMBLE = """\
  ensemble.tar.gz:
    models:
      lengths:
        backend: python
        max_batch_size: 4
        input: [{name: TEXT, data_type: TYPE_STRING, dims: [1]}]
        output: [{name: LENGTHS, data_type: TYPE_FP32, dims: [2]}]
        files: {1/model.py: lengths.py}
      net:
        backend: onnxruntime
        max_batch_size: 4
        input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: Y, data_type: TYPE_FP32, dims: [2]}]
        instance_group: [{kind: KIND_GPU, count: 2}]
        default_model_filename: twice.onnx
        files: {1/twice.onnx: one.onnx}
      pipe:
        platform: ensemble
        max_batch_size: 4
        input: [{name: TEXT, data_type: TYPE_STRING, dims: [1]}]
        output: [{name: TWICE, data_type: TYPE_FP32, dims: [2]}]
        ensemble_scheduling:
          step:
            - {model_name: lengths, model_version: -1, input_map: {TEXT: TEXT}, output_map: {LENGTHS: lengths}}
            - {model_name: net, model_version: -1, input_map: {X: lengths}, output_map: {Y: TWICE}}
"""
LENGTHS = model(
    'return {"LENGTHS": np.array([[len(text[0])] * 2 for text in given["TEXT"]], dtype=np.float32)}'
)


def _spec(archives: str) -> str:
    return spec("multi-model", f"archives:\n{archives}")


FINE = _spec(
    "".join(_archive(name, inputs, outputs, batch) for name, _, inputs, outputs, batch, _ in MODELS)
    + _archive("counted", [f"X, {FP32}"], [f"Y, {FP32}"], 4, f", {INSTANCES}")
    + _archive("strange", [f"X, {FP32}"], [f"Y, {FP32}"], 4)
    + _archive("nowhere", [f"X, {FP32}"], [f"Y, {FP32}"], 4)
    + ENSEMBLE
)


def _needs_runtime() -> None:
    if "onnxruntime" not in find_server(SERVER_PYTHON).packages:
        pytest.skip("the server's Python has no onnxruntime")


def _outcomes(
    rehearsed: Rehearse, folder: Path, text: str, files: dict[str, bytes]
) -> dict[str, ArchiveOutcome]:
    _needs_runtime()
    for name, content in files.items():
        (folder / f"{name}.onnx").write_bytes(content)
    found = rehearsed(folder, text, {"lengths.py": LENGTHS})
    return {one.archive.removesuffix(".tar.gz"): one for one in found}


@pytest.fixture(scope="module")
def outcomes(rehearsed: Rehearse, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ArchiveOutcome]:
    files = {name: content for name, content, *_ in MODELS}
    files |= {"counted": doubling(), "strange": b"not ONNX"}
    return _outcomes(rehearsed, tmp_path_factory.mktemp("onnx"), FINE, files)


def _only(outcome: ArchiveOutcome) -> ModelOutcome:
    [found] = outcome.models
    return found


@pytest.mark.parametrize(
    ("name", "wanted"), [(row[0], row[5]) for row in MODELS], ids=[row[0] for row in MODELS]
)
def test_the_numbers_are_those_of_the_graph(
    outcomes: dict[str, ArchiveOutcome], name: str, wanted: dict[str, tuple[object, ...]]
) -> None:
    assert outcomes[name].good, report(outcomes[name])
    for answer in _only(outcomes[name]).answers:
        assert {tensor.name: tensor.first for tensor in answer.outputs} == {
            # A second row of a batch repeats the first; four values are read.
            output: (values * answer.batch)[:4]
            for output, values in wanted.items()
        }


def test_an_ensemble_of_python_and_onnx_gives_the_right_numbers(outcomes: dict[str, ArchiveOutcome]) -> None:
    assert outcomes["ensemble"].good, report(outcomes["ensemble"])
    pipe = next(one for one in outcomes["ensemble"].models if one.name == "pipe")
    assert pipe.answers[1].outputs[0].first == (18.0, 18.0, 18.0, 18.0)
    net = next(one for one in outcomes["ensemble"].models if one.name == "net")
    assert (net.stand_in, (net.run_by or "").split()[0]) == ("onnxruntime", "onnxruntime")


def test_the_report_says_what_computed(outcomes: dict[str, ArchiveOutcome]) -> None:
    assert "STAND-IN for the backend `onnxruntime`: computed by onnxruntime 1." in report(outcomes["one"])
    assert outcomes["counted"].good


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("strange", "1/model.onnx is not ONNX: the real backend cannot load it"),
        ("nowhere", "1/model.onnx is not on this machine"),
    ],
)
def test_what_is_no_onnx_is_answered_with_zeros_and_said_so(
    outcomes: dict[str, ArchiveOutcome], name: str, note: str
) -> None:
    found = _only(outcomes[name])
    assert (found.run_by, found.notes) == (None, (note,))
    assert "zeros" in report(outcomes[name])


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Problem], dict[str, ArchiveOutcome]]:
    """What the check says of the wrong archives, and what comes of them all the same."""
    folder = tmp_path_factory.mktemp("refused")
    _needs_runtime()
    file = folder / "spec.yaml"
    rows = REFUSED.items()
    file.write_text(
        _spec("".join(_archive(name, [it], [out], batch) for name, (_, it, out, batch, _) in rows))
    )
    # While the files are elsewhere, nothing is wrong.
    [rehearsal] = rehearsals_of(load_spec(file), file, python=SERVER_PYTHON, seconds=60.0)
    for name, (content, *_) in rows:
        (folder / f"{name}.onnx").write_bytes(content)
    return check_file(file), {it.archive.removesuffix(".tar.gz"): it for it in rehearse(rehearsal)}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_rehearsal_refuses_the_check_refuses_before(
    refused: tuple[list[Problem], dict[str, ArchiveOutcome]], name: str
) -> None:
    problems, outcomes = refused
    assert not outcomes[name].good
    assert REFUSED[name][-1] in report(outcomes[name])
    found = {it.code for it in problems if it.severity == "error" and f"{name}.tar.gz" in it.path}
    assert found == (set() if name in BY_RUNTIME_ALONE else {"IS775"})

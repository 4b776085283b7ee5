"""A typo in the path of a local file is noticed before anything is packed, and missing weights are not a typo."""

from pathlib import Path

import pytest
from support.checking import check_file
from support.locking import ONE, lay_out_spec, write_lock
from support.repositories import spec_file

from inferstack.problems.words import slip_of

IO = "input: [{name: X, data_type: TYPE_FP32, dims: [1]}], output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]"


def said(folder: Path, files: str, *there: str) -> list[str]:
    """What is reported for a model's `files`, some of which exist."""
    for name in there:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    file = spec_file(folder, f"{{models: {{m: {{backend: python, {IO}, files: {{{files}}}}}}}}}")
    return [
        f"{it.message}; {it.fix}".replace(f"{folder.as_posix()}/", "")
        for it in check_file(file)
        if it.code == "IS987"
    ]


@pytest.mark.parametrize(
    ("files", "there", "meant"),
    [
        ("1/model.py: src/modle.py", "src/model.py", "`model.py`"),
        ("1/model.py: src/model.py", "src/Model.py", "`Model.py`"),
        ("1/model.py: scr/model.py", "src/model.py", "`src`"),
        ("1/model.py: model.p", "model.py", "`model.py`"),
    ],
)
def test_a_slip_in_a_path_is_answered_with_what_is_there(
    files: str, there: str, meant: str, tmp_path: Path
) -> None:
    wrong = files.partition(": ")[2]
    assert said(tmp_path, files, there) == [
        f"{wrong} does not exist; did you mean {meant}? if it is elsewhere, ignore IS987"
    ]
    (tmp_path / wrong).parent.mkdir(exist_ok=True)
    assert said(tmp_path, files, there, wrong) == []


def test_all_files_that_may_be_meant_are_named(tmp_path: Path) -> None:
    (one,) = said(tmp_path, "1/model.py: mdel.py", "model.py", "medel.py")
    assert "did you mean `medel.py` or `model.py`?" in one


def test_a_file_is_missed_where_one_of_its_kind_and_model_is_there(tmp_path: Path) -> None:
    files = "1/model.py: src/model.py, 1/words.py: src/vocabulary.py"
    (one,) = said(tmp_path, files, "src/model.py")
    assert one.startswith(
        "src/vocabulary.py does not exist; `model.py` of the same model does, so check the name;"
    )


@pytest.mark.parametrize(
    ("files", "there"),
    [
        ("1/model.py: src/model.py", ["other.py"]),
        ("1/model.py: src/model.py, 1/weights.pt: src/weights.pt", ["src/model.py"]),
        (
            "1/model.py: src/model.py, 1/a1.bin: weights/a1.bin, 1/b1.bin: weights/b1.bin",
            ["weights/other.txt"],
        ),
        ("1/model.py: model.py, 1/en: data/en.txt, 1/es: info/es.txt", ["model.py", "data/en.txt"]),
        ("1/model.py: a/model.py, 2/model.py: b/model.py", ["a/model.py"]),
        (f"1/model.py: {'x' * 300}/model.py", ["model.py"]),
        ("1/model.py: model_2.py", ["model_1.py", "model_.py"]),
    ],
)
def test_weights_that_are_not_on_this_machine_are_no_slip(
    files: str, there: list[str], tmp_path: Path
) -> None:
    assert said(tmp_path, files, *there) == []


def test_what_was_uploaded_need_not_be_here(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    (tmp_path / "weights/net.onnx").rename(tmp_path / "weights/nets.onnx")
    assert [it.code for it in check_file(file) if it.code == "IS987"] == ["IS987"]
    (tmp_path / "weights/nets.onnx").rename(tmp_path / "weights/net.onnx")
    write_lock(file)
    (tmp_path / "weights/net.onnx").rename(tmp_path / "weights/nets.onnx")
    assert [it.code for it in check_file(file)] == []


def test_names_without_a_letter_are_no_slips_of_one_another() -> None:
    assert slip_of("_", ["-"]) == "-"

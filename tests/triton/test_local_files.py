"""A typo in the path of a local file is noticed before anything is packed, and missing weights are not a typo."""

import os
from pathlib import Path

import pytest
from support.checking import check_file
from support.locking import ONE, lay_out_spec, write_lock
from support.program import without_rights
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


# ---------------------------------------------------------------- what packing would refuse


LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 98765\n"


def _naming(folder: Path, local: str) -> Path:
    """A spec whose only model has this local file."""
    return spec_file(folder, f"{{models: {{m: {{backend: python, {IO}, files: {{1/model.py: {local}}}}}}}}}")


def _codes(folder: Path, local: str) -> list[tuple[str, str, str]]:
    found = [it for it in check_file(_naming(folder, local)) if it.code in ("IS765", "IS987", "IS988")]
    assert all(it.severity == "warning" and it.path[-2:] == ("files", "1/model.py") for it in found)
    return [(it.code, it.message.replace(f"{folder.as_posix()}/", ""), it.fix) for it in found]


def test_a_local_file_that_cannot_be_packed_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "model.py").touch()
    (tmp_path / "link.py").symlink_to("model.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "pointer.py").write_text(LFS)
    assert _codes(tmp_path, "model.py") == []
    ((code, message, fix),) = _codes(tmp_path, "link.py")
    assert (code, message) == ("IS765", "link.py is a symbolic link, which cannot be packed")
    assert "cp -L" in fix
    assert _codes(tmp_path, "pipe.py")[0][:2] == (
        "IS765",
        "pipe.py is neither a file nor a folder, which cannot be packed",
    )
    ((code, message, fix),) = _codes(tmp_path, "pointer.py")
    assert (code, message) == ("IS765", "pointer.py is a Git LFS pointer to a file of 98,765 bytes")
    assert "git lfs pull" in fix


def test_a_file_that_cannot_be_read_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "model.py").touch(mode=0)
    file = _naming(tmp_path, "model.py")
    said = without_rights(tmp_path / "model.py", "R_OK", "validate", str(file)).stdout
    assert f"IS765: warning: {tmp_path.as_posix()}/model.py cannot be read; make it readable" in said


def test_a_local_file_outside_the_specs_folder_is_pointed_out(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    (inner / "src").mkdir(parents=True)
    for folder in (inner / "src", tmp_path):
        (folder / "model.py").touch()
    assert _codes(inner, "src/../src/model.py") == []
    ((code, message, fix),) = _codes(inner, "../model.py")
    assert (code, message) == ("IS988", "../model.py is outside the folder of the spec")
    assert fix == "`inferstack package` takes it only with `--allow DIR`; ignore IS988 if that is intended"
    assert [code for code, *_ in _codes(inner, (tmp_path / "elsewhere.py").as_posix())] == ["IS988"]


def test_what_was_uploaded_need_not_be_fit_for_packing(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    (tmp_path / "weights/net.onnx").rename(tmp_path / "net.onnx")
    (tmp_path / "weights/net.onnx").symlink_to(tmp_path / "net.onnx")
    assert "IS765" not in [it.code for it in check_file(file)]

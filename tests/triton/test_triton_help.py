"""What is reported for a wrong model helps: it is true, and following it fixes the model."""

from pathlib import Path

import pytest
from support.archiving import CONFIG, MODEL, PIPE, lay_out
from support.checking import check_file
from support.repositories import spec_file
from support.wrong_models import CASES

SPECS = {case.title: case.spec(wrong=True) for case in CASES}
# Case, code, and the end of its message or fix.
SAID = [
    ("a version folder with a letter", "IS910", "rename the folder `v1` to `1`"),
    ("a file of another backend", "IS910", "or write `backend: onnxruntime`, which loads `model.onnx`"),
    ("the backend's file is missing", "IS910", "or name another with `default_model_filename`: `net.onnx`"),
    ("a policy that loads no version", "IS907", "write `num_versions: 1` or more, or remove it"),
    ("a policy for a version that is not there", "IS907", "choose a version that exists, or remove it"),
    ("an output that is made from itself", "IS954", "depends on `B`, which is made from itself"),
    ("an output that is made from itself", "IS954", "break the cycle of steps"),
    (
        "a misspelt tensor between two steps",
        "IS955",
        "write one name for it and `innner`, if they are the same tensor",
    ),
    ("an output that is mapped and not used", "IS955", "remove it from the map, or use it"),
    ("a model of another archive", "IS956", "declare it next to the ensemble"),
    ("a folder that begins like a version", "IS933", "if it is that version, name it `2`"),
    ("a folder with a number that no version can have", "IS933", "no version is above 9223372036854775807"),
    ("arguments in quotes", "IS969", "the quotes of `--log-format='default'` among its arguments"),
    ("a name in two words for the model that is loaded", "IS969", "call it `my_m`"),
    (
        "a model that only other code calls, and that is not loaded",
        "IS919",
        "set SAGEMAKER_TRITON_ADDITIONAL_ARGS: --load-model=n",
    ),
    (
        "a model that is loaded by a variable that the image is too old for",
        "IS919",
        "set SAGEMAKER_TRITON_LOG_INFO: true --load-model=n",
    ),
    ("an input without the name that no backend completes", "IS935", "add, for example, `name: INPUT0`"),
    (
        "an output without dimensions and name",
        "IS935",
        "add, for example, `name: INPUT0` and `dims: [-1]` for any length",
    ),
    ("an input without a type", "IS935", "add, for example, `data_type: TYPE_FP32`"),
    (
        "an empty reshape of several elements",
        "IS937",
        "remove it, or write a shape with the elements of `dims` [4]",
    ),
    (
        "an empty reshape of a model that does not batch",
        "IS937",
        "write `shape: [1]`, or set `max_batch_size`",
    ),
    ("more than a share can be", "IS948", "is not a number that its field can hold"),
]


@pytest.mark.parametrize(("case", "code", "end"), SAID)
def test_a_problem_says_what_is_and_what_to_do(tmp_path: Path, case: str, code: str, end: str) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(SPECS[case], "utf-8")
    said = [text for it in check_file(file) if it.code == code for text in (it.message, it.fix)]
    assert any(text.endswith(end) for text in said), said


def _fixes(folder: Path, text: str, code: str) -> list[str]:
    file = folder / "spec.yaml"
    file.write_text(text, "utf-8")
    return [it.fix for it in check_file(file) if it.code == code]


@pytest.mark.parametrize(
    ("changed", "slip"),
    [
        ({"innner": "length", "inner": "len"}, "length"),
        ({"innner": "inner", "{name: C,": "{name: scores,", "{Y: C}": "{Y: score}"}, "scores"),
    ],
)
def test_what_a_slip_leaves_unused_is_not_to_be_removed(
    tmp_path: Path, changed: dict[str, str], slip: str
) -> None:
    text = SPECS["a misspelt tensor between two steps"]
    for found, written in changed.items():
        text = text.replace(found, written)
    fixes = _fixes(tmp_path, text, "IS955")
    assert f"write one name for it and `{slip}`, if they are the same tensor" in fixes
    assert not any("remove" in fix for fix in fixes)


@pytest.mark.parametrize(("dims", "said"), [("-1, 3, 224", True), ("3, -1", False), ("-1", False)])
def test_a_batch_among_the_dimensions_is_recognized(tmp_path: Path, dims: str, said: bool) -> None:
    text = SPECS["batches of requests of any size"].replace("dims: [-1]", f"dims: [{dims}]")
    (fix,) = _fixes(tmp_path, text, "IS942")
    assert fix.endswith("; if the first -1 is the batch, remove it: `max_batch_size` adds it") == said


def test_an_ensemble_without_its_models_behind_a_multi_model_endpoint_is_told_where_they_go(
    tmp_path: Path,
) -> None:
    lay_out(tmp_path / "models", PIPE)
    found = check_file(spec_file(tmp_path, "{repository: models}", "multi-model"))
    fixes = [it.fix for it in found if it.code == "IS956"]
    assert fixes
    assert all("models/pipe/pipe, with the models of its steps next to it" in fix for fix in fixes)


def test_a_repository_that_is_a_file_is_called_one(tmp_path: Path) -> None:
    (problem,) = (it for it in check_file(spec_file(tmp_path, "{repository: spec.yaml}")) if it.code > "IS9")
    assert (problem.code, problem.severity) == ("IS901", "error")
    assert "is a file, not a folder" in problem.message


def test_a_folder_without_archives_is_no_repository_of_a_multi_model_endpoint(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", {"readme.txt": ""})
    found = check_file(spec_file(tmp_path, "{repository: models}", "multi-model"))
    assert [it.code for it in found if it.code > "IS9"] == ["IS901"]


def test_a_repository_elsewhere_is_said_to_be_also_if_it_cannot_be_read(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", {**MODEL, "net/config.pbtxt": f"{CONFIG}max_batchsize: 3"})
    (tmp_path / "specs").mkdir()
    found = check_file(spec_file(tmp_path / "specs", "{repository: ../models}"))
    assert [it.code for it in found if it.code > "IS9"] == ["IS900", "IS988"]

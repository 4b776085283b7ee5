"""Installed packages and the model's file decide what runs a model instead of its backend."""

import zipfile
from pathlib import Path

import pytest

from inferstack.triton.config import parse_text
from inferstack.triton.model import TritonModel
from inferstack.triton.rehearsal import probe
from inferstack.triton.rehearsal.layout import local_config
from inferstack.triton.rehearsal.runners import RUNNERS, runner_for

TORCHSCRIPT = 'platform: "pytorch_libtorch" input { name: "x" } output { name: "y" }'
ONNX = (
    'platform: "onnxruntime_onnx" default_model_filename: "model.pt" input { name: "x" } output { name: "y" }'
)
NEEDS = "TorchScript runs for real with `torch` in the rehearsal's Python (pip install torch)"
STRANGE = "1/model.pt is not TorchScript: the real backend cannot load it"


def _model(text: str) -> TritonModel:
    return TritonModel(
        "net", parse_text(text), {"1/model.pt": Path("elsewhere.pt")}, ("1",), lambda _: (), text
    )


def _file(path: Path, *names: str) -> None:
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as content:
        for name in names:
            content.writestr(name, "")


def test_a_file_with_code_and_constants_is_run_by_torch(tmp_path: Path) -> None:
    _file(tmp_path / "1/model.pt", "net/data.pkl", "net/constants.pkl", "net/code/__torch__.py")
    assert runner_for(_model(TORCHSCRIPT), tmp_path, {"torch": "2"}) == ("torch 2", ())


@pytest.mark.parametrize(
    ("text", "packages", "why"),
    [
        (TORCHSCRIPT, {}, (NEEDS,)),
        (TORCHSCRIPT, {"torch": "2"}, (STRANGE,)),
        (f'{TORCHSCRIPT} runtime: "model.py"', {"torch": "2"}, ()),
        (f"{TORCHSCRIPT} sequence_batching {{}}", {"torch": "2"}, ()),
        ('platform: "tensorrt_plan"', {"torch": "2"}, ()),
        (ONNX, {"torch": "2"}, (NEEDS.replace("TorchScript", "ONNX").replace("torch", "onnxruntime"),)),
        (ONNX, {"onnxruntime": "1"}, (STRANGE.replace("TorchScript", "ONNX"),)),
        (f'{ONNX} model_operations {{ op_library_filename: "o.so" }}', {"onnxruntime": "1"}, ()),
        (ONNX.replace('"x"', '"x" data_type: TYPE_BF16'), {"onnxruntime": "1"}, ()),
        (ONNX.replace('"x"', '"x" allow_ragged_batch: true'), {"onnxruntime": "1"}, ()),
        (ONNX.replace('output { name: "y" }', ""), {"onnxruntime": "1"}, ()),
        (f'{ONNX} batch_output {{ target_name: "y" }}', {"onnxruntime": "1"}, ()),
    ],
)
def test_what_nothing_runs_is_said_with_the_reason(
    text: str, packages: dict[str, str], why: tuple[str, ...], tmp_path: Path
) -> None:
    _file(tmp_path / "1/model.pt", "net/data.pkl")
    assert runner_for(_model(text), tmp_path, packages) == (None, why)


@pytest.mark.parametrize("content", [None, b""])
def test_weights_that_are_not_there_are_no_strange_file(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "1").mkdir()
        (tmp_path / "1/model.pt").write_bytes(content)
    assert runner_for(_model(TORCHSCRIPT), tmp_path, {"torch": "2"}) == (None, ())


def test_the_stand_in_learns_what_to_run_from_the_configuration() -> None:
    text = f'{TORCHSCRIPT} default_model_filename: "scaled.pt"'
    assert local_config(_model(text), run_by="torch 2").config == parse_text(
        f"""{TORCHSCRIPT}
        parameters {{ key: "INFERSTACK_FILE" value {{ string_value: "scaled.pt" }} }}
        """
    )


def test_the_probe_looks_for_every_package_that_can_run_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_version", lambda _: "1")
    packages = probe.environment()["packages"]
    assert isinstance(packages, dict)
    assert {runner.package for runner in RUNNERS} == set(packages)

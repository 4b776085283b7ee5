"""Which backend is probably meant by a name that Triton does not have: custom backends are legitimate."""

import pytest

from inferstack.triton.backends import BACKENDS, backends_of_file, meant_backend


@pytest.mark.parametrize(
    "slip", ["pyton", "pythonn", "pithon", "ython", "pytho", "phyton", "PYTHON", "py-thon"]
)
def test_a_slip_of_the_pen_is_recognized(slip: str) -> None:
    assert meant_backend(slip) == "python"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("torchaoti", None), ("torch_aoti", "pytorch"), ("ONNX", "onnxruntime"), ("trt", "tensorrt")],
)
def test_what_a_platform_or_a_framework_runs_on_is_known(name: str, meant: str | None) -> None:
    assert meant_backend(name) == meant


@pytest.mark.parametrize(
    "name",
    [
        "",
        "p",
        "python3",
        "tensorflow2",
        "my_python",
        "pythonic",
        "python_v2",
        "vllm",
        "dali",
        "fil",
        "identity",
    ],
)
def test_another_name_is_left_alone(name: str) -> None:
    assert meant_backend(name) is None


@pytest.mark.parametrize("name", [*BACKENDS, "tensorrtllm"])
def test_a_backend_of_tritons_own_is_right(name: str) -> None:
    assert meant_backend(name) is None


@pytest.mark.parametrize("name", BACKENDS)
def test_the_files_of_a_backend_tell_that_it_is_meant(name: str) -> None:
    backend = BACKENDS[name]
    for file in (backend.file, *backend.platforms.values()):
        assert name in backends_of_file(file), f"`{file}` does not tell of {name}: _LOOKED_FOR lacks it"

"""What is served is the content of an archive: the one that is packed, or one that somebody else made."""

import subprocess
from pathlib import Path

import pytest
from support.program import Command
from support.rehearsal import SERVER_PYTHON, model, spec

from inferstack.cli import main

_TENSORS = "input: [{name: A, data_type: TYPE_FP32, dims: [2]}], output: [{name: B, data_type: TYPE_FP32, dims: [2]}]"
_ONE = f"net: {{backend: python, {_TENSORS}, files: {{1/model.py: net.py}}}}"
SINGLE = spec("single-model", f"models: {{{_ONE}}}")
MANY = spec("multi-model", f"archives: {{a.tar.gz: {{models: {{{_ONE}}}}}}}")
CONFIG = """\
input { name: "A" data_type: TYPE_FP32 dims: 2 }
output { name: "B" data_type: TYPE_FP32 dims: 2 }
"""
TIMES_7 = model('return {"B": given["A"] * 7}')


@pytest.fixture
def rehearse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``rehearse(SPEC, "--archive", …)`` in a folder of its own, where the spec's model copies its input."""
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(model('return {"B": given["A"]}'))

    def run(text: str, *arguments: str) -> int:
        Path("spec.yaml").write_text(text)
        return main(["rehearse", "spec.yaml", "--python", str(SERVER_PYTHON), "--timeout", "60", *arguments])

    return run


def _tar(name: str, files: dict[str, str], *arguments: str) -> str:
    """An archive as users make it."""
    folder = Path(f"{name}-files")
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    subprocess.run(["tar", "-czf", name, "-C", folder, *(arguments or ["."])], check=True)
    return name


def test_an_archive_that_is_there_is_served_instead_of_the_specs_files(
    rehearse: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    made = _tar(
        "mine.tar.gz", {"net/config.pbtxt": f'backend: "python"\n{CONFIG}', "net/1/model.py": TIMES_7}
    )
    assert rehearse(SINGLE, "--archive", made) == 0
    said = capsys.readouterr().out
    assert "mine.tar.gz: ready" in said
    assert "B FP32 [2] = 7, 7" in said


def test_archives_of_a_multi_model_endpoint_may_be_a_model_at_their_top(
    rehearse: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    made = _tar("top.tar.gz", {"config.pbtxt": f'backend: "python"\n{CONFIG}', "1/model.py": TIMES_7})
    played = _tar(
        "trt.tar.gz", {"config.pbtxt": f'platform: "tensorrt_plan"\n{CONFIG}', "1/model.plan": "plan"}
    )
    assert rehearse(MANY, "--archive", made, "--archive", played) == 0
    said = capsys.readouterr().out
    assert "top.tar.gz: ready" in said
    assert "B FP32 [2] = 7, 7" in said
    assert "trt.tar.gz: ready" in said
    assert "STAND-IN for the backend `tensorrt`: zeros" in said


def test_an_archive_that_the_checks_refuse_starts_no_server(
    rehearse: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inferstack.triton.rehearsal.rehearsing.find_server", None)
    made = _tar(
        "deep.tar.gz", {"models/net/config.pbtxt": CONFIG, "models/net/1/model.py": TIMES_7}, "models"
    )
    assert rehearse(SINGLE, "--archive", made) == 1
    said = capsys.readouterr().err
    assert "IS901" in said
    assert "there is one folder level too many" in said


def test_one_endpoint_has_not_several_archives(rehearse: Command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        rehearse(SINGLE, "--archive", "a.tar.gz", "--archive", "b.tar.gz")
    assert "only a multi-model endpoint has several archives" in capsys.readouterr().err

"""The examples of `model_specs`, with made-up artifacts, by the command as users call it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.program import PROGRAM, SOURCE_ROOT
from support.rehearsal import SERVER_PYTHON

MODEL_SPECS = Path(__file__).parents[2] / "model_specs"


def _rehearse(spec: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "rehearse", str(spec), "--python", str(SERVER_PYTHON)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        (
            "dali-inception",
            ["inception/model.dali", "inception/model.graphdef", "inception/inception_labels.txt"],
            [
                r"ensemble_dali_inception \(POST /invocations\)",
                r"binary, batch 2, .* ms: OUTPUT FP32 \[2, 1001\]",
                r"dali \(Triton's own port, STAND-IN for the backend `dali`: zeros\)",
                r"DALI_OUTPUT_0 FP32 \[1, 299, 299, 3\]",
                r"inception_graphdef \(Triton's own port, STAND-IN for the backend `tensorflow`: zeros\)",
            ],
        ),
        (
            "resnet-mme",
            ["resnet/model.pt", "resnet/model.plan"],
            [
                r"resnet_pt_v0.tar.gz: ready after .* s",
                r"resnet \(POST /models/…/invoke, STAND-IN for the backend `pytorch`: zeros\)",
                r"OUTPUT__0 FP32 \[2, 1000\]",
                r"resnet_trt_v0.tar.gz: ready after .* s",
                r"resnet \(POST /models/…/invoke, STAND-IN for the backend `tensorrt`: zeros\)",
                r"loaded \(200\), invoked, listed \(200\), looked up \(200\), unloaded \(200\), gone \(404\)",
            ],
        ),
    ],
    ids=["ensemble", "multi-model"],
)
def test_an_example_is_served_and_the_report_says_what_was_played(
    tmp_path: Path, name: str, files: list[str], expected: list[str]
) -> None:
    spec = tmp_path / f"{name}.yaml"
    spec.write_text((MODEL_SPECS / f"{name}.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    for file in files:
        (tmp_path / "artifacts" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "artifacts" / file).write_text("made up\n")
    done = _rehearse(spec, tmp_path)
    assert done.returncode == 0, done.stderr
    for pattern in expected:
        assert re.search(pattern, done.stdout), (pattern, done.stdout)
    assert "not on this machine" not in done.stdout
    assert "stand-ins, whose numbers and speed mean nothing" in done.stderr


def test_a_spec_without_triton_has_nothing_to_rehearse(tmp_path: Path) -> None:
    done = _rehearse(MODEL_SPECS / "sentiment-ab.yaml", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to rehearse" in done.stderr

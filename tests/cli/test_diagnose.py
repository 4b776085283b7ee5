"""`inferstack diagnose`: what it prints and how it ends. What it finds is tested in `tests/diagnosis`."""

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from inferstack.cli import main

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
SPEC = """\
kind: single-model
endpoint_name: chat
model:
  image: {framework: vllm, version: "0.30.0"}
  environment: {HF_MODEL_ID: org/model, SM_VLLM_TENSOR_PARALEL_SIZE: "4"}
variant: {instance_type: ml.g6e.12xlarge, initial_instance_count: 1}
env: {region: us-east-1}
"""
REFUSED = "vllm serve: error: unrecognized arguments: --tensor-paralel-size 4"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC)


def diagnosing(text: str, *words: str) -> int:
    Path("log.txt").write_text(text)
    return main(["diagnose", "log.txt", *words])


@pytest.mark.parametrize(
    ("text", "verdict", "status"),
    [
        (OOM, "cause (certain): gpu-memory", 1),
        ("Worker (pid:17) was sent SIGKILL!\nPerhaps out of memory? signal 9", "cause (likely): killed", 1),
        ("Error: ShardCannotStart", "symptom: engine-failed", 1),
        ("hello", "cannot-tell: no line", 3),
        ("", "cannot-tell: the text has no line", 3),
        ('{"events": [], "searchedLogStreams": []}', "cannot-tell: the text has no line", 3),
        ("INFO:     Application startup complete.", "healthy: a container served", 0),
    ],
)
def test_a_verdict_and_its_status(text, verdict, status, capsys):
    assert diagnosing(text) == status
    assert capsys.readouterr().out.startswith(verdict)


def test_a_program_gets_every_field(capsys):
    diagnosing(f"start\n{REFUSED}", "spec.yaml", "--format", "json")
    assert json.loads(capsys.readouterr().out) == {
        "verdict": "cause",
        "certain": True,
        "code": "unknown-argument",
        "message": "the server does not know --tensor-paralel-size 4",
        "fix": "did you mean `SM_VLLM_TENSOR_PARALLEL_SIZE`?",
        "line": REFUSED,
        "line_number": 2,
        "place": {"file": "spec.yaml", "line": 5, "column": 41},
        "rule": "IS340",
        "source": "https://docs.python.org/3/library/argparse.html",
    }


def test_a_pipe_is_read_and_a_spec_with_errors_still_helps(capsys, monkeypatch):
    Path("spec.yaml").write_text(SPEC.replace("initial_instance_count: 1", "initial_instance_count: none"))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(OOM.encode())))
    assert main(["diagnose", "-", "spec.yaml"]) == 1
    assert "\n  spec.yaml:" in capsys.readouterr().out


def test_a_line_cannot_command_a_terminal_or_a_pipeline(capsys):
    diagnosing(f"\x1b]0;title\x07##[error]{OOM}\x07")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "##[" not in shown


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x7fELF\0\0", "log.txt: it is an archive or a binary file"),
        (None, "log.txt: No such file or directory"),
    ],
)
def test_what_cannot_be_read_is_refused(content, said, capsys):
    if content is not None:
        Path("log.txt").write_bytes(content)
    assert main(["diagnose", "log.txt"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["spec.yaml", "--stage", "prd"], 'spec.yaml:8:1: IS031: the spec has no stage "prd"'),
        (["log.txt"], "log.txt:1:1: IS102: the spec is missing `kind`"),  # The files are in the wrong order.
    ],
)
def test_what_is_no_spec_of_this_stage_is_refused(words, said, capsys):
    Path("spec.yaml").write_text(f"{SPEC}stages: {{prod: {{}}}}\n")
    assert diagnosing("ModuleNotFoundError: No module named 'lightgbm'", *words) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-", "-"], "only one of FILE and SPEC can be -"),
        (["log.txt", "--stage", "prod"], "--stage and --region are for SPEC"),
        (["log.txt", "--region", "us-east-1"], "--stage and --region are for SPEC"),
    ],
)
def test_options_that_contradict_are_wrong_usage(words, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["diagnose", *words])
    assert said in capsys.readouterr().err

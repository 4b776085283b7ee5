"""Runs for one spec at the same time, also killed ones, lose nothing that another recorded."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.checking import check_file
from support.locking import ONE
from support.program import PROGRAM, Command
from support.s3 import Cloud

STAGES = ("dev", "test", "prod")
# Between reading the lock and writing it, there is time for the others.
SLOW = """
import time
from inferstack.check.lock import update
writing = update.written
def slow(lock):
    print("changing", flush=True)
    time.sleep({seconds})
    return writing(lock)
update.written = slow
"""


def start(stage: str, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-c", SLOW.format(seconds=seconds) + PROGRAM),
            *("package", "a.yaml", "--upload", "--stage", stage, "--out", f"out/{stage}"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left() -> list[str]:
    return [it.name for it in Path().iterdir() if it.name.startswith(".")]


@pytest.fixture(autouse=True)
def _stages(package: Command) -> None:
    names = ", ".join(f"{stage}: {{endpoint_name: one-{stage}}}" for stage in STAGES)
    Path("a.yaml").write_text(f"{ONE}stages: {{{names}}}\n")


@pytest.mark.usefixtures("cloud")
def test_uploads_of_several_stages_at_once_are_all_in_the_lock() -> None:
    running = [start(stage, 1) for stage in STAGES]
    ended = [(it.communicate(timeout=120)[1], it.returncode) for it in running]
    written = ("a.lock.json: written; commit it with a.yaml\n", 0)
    assert ended == [written] * len(STAGES)
    assert sorted(json.loads(Path("a.lock.json").read_text())["stages"]) == sorted(STAGES)
    assert check_file("a.yaml") == []
    assert left() == []


def test_a_run_that_is_killed_over_the_lock_keeps_nobody_waiting(package: Command, cloud: Cloud) -> None:
    with start("dev", 600) as killed:
        assert killed.stdout is not None
        while killed.stdout.readline() != "changing\n":
            pass
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    assert not Path("a.lock.json").exists()
    assert left()
    # Whoever waits in vain is refused in the end.
    assert package("--stage", "prod") == 0
    assert list(json.loads(Path("a.lock.json").read_text())["stages"]) == ["prod"]
    assert left() == []


def test_whoever_waits_too_long_is_told_what_to_do(
    package: Command, cloud: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("inferstack.check.lock.update._LONGEST", 0)
    with start("dev", 600) as other:
        assert other.stdout is not None
        while other.stdout.readline() != "changing\n":
            pass
        assert package("--stage", "prod") == 1
        other.kill()
        other.communicate()
    beside = ".inferstack-a.lock.json.part"
    assert beside in left()
    said = f"another process has been changing it for 0 seconds; if there is none, remove {beside}\n"
    assert capsys.readouterr().err.endswith(f"inferstack: a.lock.json: {said}")
    assert package("--stage", "prod") == 0

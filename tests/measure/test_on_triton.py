"""The whole command on a real Triton: `make test-measure`.

Speeds are compared only where the model waits most of its time, so that a busy machine changes little.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from support.checking import check_file
from support.measured_models import MODELS
from support.program import PROGRAM, SOURCE_ROOT
from support.rehearsal import HAS_SERVER, SERVER_PYTHON

from inferstack.cli import main
from inferstack.sizing.bench import processors
from inferstack.sizing.measurements import read_measurements
from inferstack.triton.rehearsal.server import find_server

pytestmark = pytest.mark.skipif(not HAS_SERVER, reason="there is no server for this platform")
RANKER = Path(__file__).parents[2] / "docs/examples/ranker"
MANY = ",".join(map(str, range(1, 25)))
QUICK = ["--python", str(SERVER_PYTHON), "--window", "0.3", "--longest", "2"]


@pytest.fixture
def ranker(tmp_path: Path) -> Path:
    """The spec of the example, in a folder of its own: 20 ms for a batch, and 2 ms for each of its rows."""
    shutil.copytree(RANKER, tmp_path / "ranker")
    return tmp_path / "ranker" / "ranker.yaml"


def test_the_search_makes_slow_batches_six_times_as_fast_and_writes_how(
    ranker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ranker.with_name("m.csv")
    same = ["--out", str(out)] if processors() == 2 else []
    tried = ["--try", "dynamic_batching,instance_group", "--concurrency", "4,64", "--write", *same]
    assert main(["measure", str(ranker), *tried, *QUICK]) == 0
    printed = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split() for line in printed[1:5]}
    assert list(rows) == ["base", "batching", "instances", "both"]
    assert float(rows["both"][3]) >= 6
    assert float(rows["batching"][3]) >= 2
    assert any(line.startswith("+      dynamic_batching: {") for line in printed)
    assert "# A model that is slow" in ranker.read_text("utf-8")
    assert check_file(ranker) == []
    if same:
        rows = read_measurements(out)
        assert {it.instance_type for it in rows} == {"ml.m5.large"}
        assert len({(it.configuration, it.users) for it in rows}) < len(rows), "the confirmation is missing"
        assert main(["size", str(ranker), "--measurements", str(out)]) == 0


def test_onnx_is_computed_in_batches_and_gives_ratios_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "onnxruntime" not in find_server(SERVER_PYTHON).packages:
        pytest.skip("the server's Python has no onnxruntime")
    file = MODELS["onnx-heavy"].write_spec(tmp_path)
    tried = ["--try", "dynamic_batching", "--concurrency", "16", "--format", "json"]
    assert main(["measure", str(file), *tried, *QUICK]) == 0
    out, err = capsys.readouterr()
    found = {it["batch"]: it for it in json.loads(out)}
    assert [it["verdict"]["clearly_faster"] for it in json.loads(out) if it["verdict"] is not None] in (
        [True],
        [False],
    )
    assert found[0]["triton"]["net"]["batch"] == 1
    assert found[32]["triton"]["net"]["batch"] > 1
    assert "ratios only: `net` is run by onnxruntime" in err
    assert main(["measure", str(file), "--out", str(tmp_path / "m.csv"), *QUICK]) == 1
    assert "--out: ratios only, which `size` cannot use" in capsys.readouterr().err


def test_ctrl_c_prints_what_was_measured_and_leaves_nothing_behind(ranker: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "measure", str(ranker), "--concurrency", MANY, *QUICK],
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = monotonic() + 60
    while not list(scratch.glob("*/triton.log")) or "ready for model" not in _log(scratch):
        assert monotonic() < deadline
        sleep(0.05)
    # The first run has ended by then, and the last has not begun.
    sleep(10)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out.startswith("USERS  PER MINUTE")
    while list(scratch.iterdir()):
        assert monotonic() < deadline + 60
        sleep(0.05)


def _log(scratch: Path) -> str:
    [file] = scratch.glob("*/triton.log")
    # Triton's own word for a model that can be asked.
    return "ready for model" if "READY" in file.read_text("utf-8") else ""

"""The console script is `main`, and wastes no time at its end."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from inferstack import cli

SOURCES = Path(__file__).parents[2] / "constructs"
PROGRAM = """
import atexit, gc
from inferstack.cli import arguments, program

parse = arguments.parse

def watched(words):
    print(f"collects: {gc.isenabled()}")
    return parse(words)

arguments.parse = watched
atexit.register(print, "taken apart")
program()
"""


def ended(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("words", "status"), [(["schema"], 0), (["validate", "nowhere.yaml"], 1)])
def test_it_ends_as_main_does(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    done = ended(*words)
    assert (done.returncode, cli.main(words)) == (status, status)
    out, err = capsys.readouterr()
    assert done.stdout == f"collects: False\n{out}"
    assert done.stderr == err


def test_wrong_usage_is_an_end_as_well() -> None:
    done = ended("nonsense")
    assert done.returncode == 2
    assert "there is no command 'nonsense'" in done.stderr


def test_main_by_itself_leaves_the_collector_alone() -> None:
    """Whoever calls it from Python goes on afterwards."""
    assert cli.main(["explain", "IS101"]) == 0
    assert gc.isenabled()

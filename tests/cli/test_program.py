"""The console script is `main`, and whatever happens while it is imported is told in one line."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from inferstack.cli import main

SOURCES = Path(__file__).parents[2] / "constructs"


def ran(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("words", "status"), [(["explain", "IS101"], 0), (["validate", "nowhere.yaml"], 1)])
def test_it_ends_as_main_does(words: list[str], status: int) -> None:
    done = ran("import sys; from inferstack.cli import program; sys.exit(program())", *words)
    assert done.returncode == status == main(words)


def test_main_leaves_the_collector_alone() -> None:
    """Python code that calls it goes on afterwards."""
    assert main(["explain", "IS101"]) == 0
    assert gc.isenabled()


INTERRUPTED = """
import sys
from inferstack.cli import program

class Interrupting:
    def find_spec(self, name, *_):
        if name == "msgspec":
            sys.meta_path.remove(self)
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.argv = ["inferstack", "schema"]
sys.exit(program())
"""


def test_an_interruption_of_its_imports_is_one_line() -> None:
    done = ran(INTERRUPTED)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "inferstack: interrupted\n")

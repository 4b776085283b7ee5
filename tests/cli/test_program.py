"""The console script is `main`, and wastes no time before it or after it."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inferstack import cli

SOURCES = Path(__file__).parents[2] / "constructs"


def ran(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    calls: list[str] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    yield calls
    gc.enable()


@pytest.mark.parametrize(("words", "status"), [(["explain", "IS101"], 0), (["validate", "nowhere.yaml"], 1)])
def test_it_ends_as_main_does(
    words: list[str], status: int, frozen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["inferstack", *words])
    assert cli.program() == status
    assert frozen == ["freeze"]


def test_wrong_usage_ends_it_as_well(frozen: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["inferstack", "nonsense"])
    with pytest.raises(SystemExit) as ending:
        cli.program()
    assert ending.value.code == 2
    assert frozen == ["freeze"]


def test_main_by_itself_leaves_the_collector_alone(frozen: list[str]) -> None:
    """Python code that calls it goes on afterwards."""
    assert cli.main(["explain", "IS101"]) == 0
    assert not frozen
    assert gc.isenabled()


@pytest.mark.parametrize(("entry", "brought"), [("program", "False"), ("main", "True")])
def test_only_the_program_has_msgspec_without_typing_extensions(entry: str, brought: str) -> None:
    script = f"""
import sys
from inferstack import cli
sys.argv = ["inferstack", "explain", "IS101"]
cli.{entry}()
print("typing_extensions" in sys.modules, file=sys.stderr)
"""
    done = ran(script)
    assert (done.returncode, done.stderr) == (0, f"{brought}\n")


@pytest.mark.parametrize(("entry", "compiled"), [("program", "False"), ("main", "True")])
def test_only_the_program_does_without_the_patterns_of_pyyaml(entry: str, compiled: str) -> None:
    script = f"""
import re, sys
from inferstack import cli
sys.argv = ["inferstack", "validate", "nowhere.yaml"]
cli.{entry}()
from yaml.reader import Reader
print(isinstance(Reader.NON_PRINTABLE, re.Pattern), isinstance(re.compile("a"), re.Pattern), file=sys.stderr)
"""
    assert ran(script).stderr.splitlines()[-1] == f"{compiled} True"


def test_the_program_reads_translations() -> None:
    """The module that does so passes its own pattern to a function of `re`, so compiling it cannot be put off."""
    script = """
import sys
from inferstack import cli
sys.argv = ["inferstack", "explain", "IS101"]
cli.program()
import gettext
print(gettext.c2py("n != 1")(2), file=sys.stderr)
"""
    assert ran(script).stderr == "1\n"


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

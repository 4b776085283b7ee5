"""Type checkers see what the constructs are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
USE = HERE / "typed_use.py"


def mypy(*files: Path) -> str:
    """What it complains of; with the cache of `make check`, as CDK takes it a minute."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def pyright(folder: Path, *files: Path) -> list[str]:
    """What it complains of; not of CDK's own classes, which pyright does not take for CDK's interfaces."""
    config = {
        "include": [str(file) for file in files],
        "extraPaths": [str(ROOT / "constructs"), str(ROOT / "stacks")],
        "pythonVersion": "3.11",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    command += ["--project", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [it["message"] for it in found if "Parameter name mismatch" not in it["message"]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, which is not part of a folder with a configuration."""
    copy = tmp_path_factory.mktemp("typed") / USE.name
    copy.write_text(USE.read_text("utf-8"), "utf-8")
    return copy


def test_mypy_takes_an_endpoint_for_what_it_is(program: Path) -> None:
    assert mypy(program) == ""


def test_pyright_takes_an_endpoint_for_what_it_is(program: Path) -> None:
    assert pyright(program.parent, program) == []

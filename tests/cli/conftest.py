"""A folder to work in, specs to put there, and the program as a separate process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.program import PROGRAM, SOURCE_ROOT, Run, Write

from inferstack.cli import main

SPEC = """\
kind: single-model
endpoint_name: {name}
model:
  image: {{framework: sklearn, version: "1.2-1"}}
  model_data_url: s3://acme-models/{name}/model.tar.gz
variant: {{instance_type: ml.m5.large, initial_instance_count: {count}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    """Writes a spec: ``write("a.yaml", name="bert", count=2, more="…")``."""

    def write(path: str, *, name: str = "bert", count: object = 2, more: str = "") -> Path:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SPEC.format(name=name, count=count) + more, encoding="utf-8")
        return Path(path)

    return write


@pytest.fixture
def run(folder: Path) -> Run:
    """Runs the program as a user does; ``shell`` may redirect its streams (``"$@" | head -1``)."""

    def run(
        *arguments: str, program: str = PROGRAM, shell: str = '"$@"', **env: str
    ) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-c", shell, "bash", sys.executable, "-c", program, *arguments]
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        paths = {"PYTHONPATH": str(SOURCE_ROOT), "PYTHONUTF8": "1"}
        return subprocess.run(
            command,
            cwd=folder,
            env={**own, **paths, **env},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def called(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """As :func:`run`, with `main` itself, which takes a tenth of the time: ``test_program.py`` compares the two."""

    def called(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            try:
                code = main(list(arguments))
            except SystemExit as exit_:
                code = int(exit_.code or 0)
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return called

"""A new project, written by the command."""

from collections.abc import Callable
from pathlib import Path

import pytest

from inferstack.cli import main

Init = Callable[..., Path]


@pytest.fixture
def init(tmp_path: Path) -> Init:
    """Makes a project; ``init("github", kind="pipeline")``."""

    def init(ci: str = "none", *, kind: str = "single-model", region: str = "us-east-1") -> Path:
        folder = tmp_path / "models"
        assert main(["init", str(folder), "--kind", kind, "--region", region, "--ci", ci]) == 0
        return folder

    return init

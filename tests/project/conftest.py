"""A new project, written by the command."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from inferstack.cli import main
from inferstack.project import files

Init = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def _packages_are_looked_at_once() -> Iterator[None]:
    """What is installed is the same for all projects, and takes longer to find out than the rest of a project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "requirements", cache(files.requirements))
        yield


@pytest.fixture
def init(tmp_path: Path) -> Init:
    """Makes a project; ``init("github", kind="pipeline")``."""

    def init(ci: str = "none", *, kind: str = "single-model", region: str = "us-east-1") -> Path:
        folder = tmp_path / "models"
        assert main(["init", str(folder), "--kind", kind, "--region", region, "--ci", ci]) == 0
        return folder

    return init

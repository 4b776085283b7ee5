"""Rehearsals of specs that the tests write."""

from pathlib import Path

import pytest
from support.rehearsal import HAS_SERVER, SERVER_PYTHON, Rehearse

from inferstack.check.load import load_spec
from inferstack.cli.choice import Choice
from inferstack.cli.rehearse import rehearsals_of
from inferstack.triton.rehearsal import ArchiveOutcome, rehearse

_SECONDS = 60.0
if not HAS_SERVER:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def rehearsed() -> Rehearse:
    """Writes a spec and its files into a folder, rehearses it there, and returns the outcomes."""

    def run(
        folder: Path,
        text: str,
        files: dict[str, str],
        seconds: float = _SECONDS,
        component: str | None = None,
    ) -> list[ArchiveOutcome]:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        file = folder / "spec.yaml"
        file.write_text(text, encoding="utf-8")
        rehearsals = rehearsals_of(
            load_spec(file), file, python=SERVER_PYTHON, seconds=seconds, choice=Choice(component=component)
        )
        return [outcome for one in rehearsals for outcome in rehearse(one)]

    return run
